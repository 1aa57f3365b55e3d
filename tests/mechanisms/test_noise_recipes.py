"""Exact noise: every integer step against fractions, and the noise against its probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sfumato.errors import InputError
from sfumato.mechanisms import (
    ContinuousStaircase,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Staircase,
)
from sfumato.sampling import SeededWords, sampler, simulator
from sfumato.sampling.coins import _digit, coins, draw_below
from tests.sampling.test_sampler import BY_CHANCE, chance

FALSE_ALARM = 1e-6
FAMILIES = [
    DiscreteLaplace(1),
    DiscreteLaplace("1/7", 3),
    DiscreteLaplace(0.3),
    DiscreteLaplace("9/2"),
    DiscreteLaplace(1e300),
    DiscreteGaussian(4),
    DiscreteGaussian("1/3"),
    DiscreteGaussian(0.77),
    DiscreteGaussian(900),
    Staircase(1, 5),
    Staircase("1/10", 4, 1),
    Staircase(2.5, 3, 3),
]


def pooled(family, drawn):
    """Return counts and expectations of each number, with both tails pooled where fewer than 20 are expected."""
    end = 0
    while family.tail(end + 1) * len(drawn) > 20:
        end += 1
    k = np.arange(-end, end + 1)
    expected = np.concatenate([family.pmf(k), [2 * family.tail(end + 1)]]) * len(drawn)
    counts = np.array([*(np.bincount(drawn[np.abs(drawn) <= end] + end, minlength=2 * end + 1)), 0])
    counts[-1] = (np.abs(drawn) > end).sum()
    return counts, expected


def p_value(family, drawn):
    """Pearson's, for fixed seeds."""
    counts, expected = pooled(family, drawn)
    if expected[-1] < 20:
        expected, counts = (np.append(x[:-2], x[-2:].sum()) for x in (expected, counts))
    statistic = ((counts - expected) ** 2 / expected).sum()
    return chi2.sf(statistic, len(expected) - 1) if len(expected) > 1 else 1.0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name} {f.sensitivity} {f.variance:.3g}")
def test_noise_has_its_distribution(family):
    assert p_value(family, family.recipe().noise(60_000, SeededWords(11))) > FALSE_ALARM
    none = np.zeros(60_000, dtype=int)
    counts, expected = pooled(family, sampler(family).draw(none))
    assert chance(counts, expected / 60_000) > BY_CHANCE
    assert p_value(family, simulator(family, 12).draw(none)) > FALSE_ALARM


def test_the_test_can_fail():
    drawn = DiscreteLaplace("9/10").recipe().noise(60_000, SeededWords(11))
    assert p_value(DiscreteLaplace(1), drawn) < FALSE_ALARM
    drawn = DiscreteGaussian("43/10").recipe().noise(60_000, SeededWords(11))
    assert p_value(DiscreteGaussian(4), drawn) < FALSE_ALARM


@given(st.integers(1, 2**80), st.data())
def test_digits_are_exact(denominator, data):
    numerators = data.draw(st.lists(st.integers(0, denominator - 1), min_size=1, max_size=5))
    digits, rest = _digit(np.array(numerators, dtype=object), denominator)
    for n, digit, left in zip(numerators, digits.tolist(), rest.tolist(), strict=True):
        assert (digit << 64) // 2**64 == digit
        assert digit * denominator + int(left) == n << 64
        assert 0 <= int(left) < denominator


class Given:
    """Words that were written down."""

    def __init__(self, *words):
        self.words = list(words)

    def draw(self, count):
        taken, self.words = self.words[:count], self.words[count:]
        return np.array(taken, dtype=np.uint64)


@pytest.mark.parametrize("denominator", [3, 3 * 2**70])
def test_a_tie_is_settled_by_the_next_digit(denominator):
    third = denominator // 3
    digit = 2**64 // 3  # all digits of 1/3 in base 2**64 are the same
    given = [(digit - 1,), (digit + 1,), (digit, digit - 1), (digit, digit + 1), (digit, digit, digit - 1)]
    found = [bool(coins(np.array([third], dtype=object), denominator, Given(*words))[0]) for words in given]
    assert found == [True, False, True, False, True]
    half = np.array([1])
    assert not coins(half, 2, Given(2**63, 5))[0]  # exactly one half: the rest is 0
    assert coins(half, 2, Given(2**63 - 1))[0]


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**61 + 1, 2**64, 3 * 2**70 + 1, 2**128 + 5])
def test_uniform_integers(bound):
    drawn = [int(u) for u in draw_below(bound, 4000, SeededWords(3))]
    assert all(0 <= u < bound for u in drawn)
    quarters = np.bincount([4 * u // bound for u in drawn], minlength=4)
    if bound >= 1000:
        assert ((quarters - 1000) ** 2 / 1000).sum() < chi2.isf(FALSE_ALARM, 3)
        assert len(set(drawn)) > 900
    else:
        assert set(drawn) == set(range(bound))


def test_answers_keep_their_shape_and_get_fresh_noise():
    drawer = sampler(DiscreteLaplace("1/100"))
    answers = np.arange(12).reshape(3, 4)
    drawn = drawer.draw(answers)
    assert drawn.shape == (3, 4)
    assert drawn.dtype == np.int64
    assert not np.array_equal(drawn, drawer.draw(answers))
    assert drawer.draw(7).shape == ()
    assert drawer.draw(np.zeros((0, 3), dtype=int)).shape == (0, 3)
    assert drawer.draw(np.zeros(0, dtype=int)).tolist() == []
    assert sampler(DiscreteLaplace(1e300)).draw([5, 6]).tolist() == [5, 6]


def test_a_large_draw_is_one_sequence():
    drawn = DiscreteLaplace("1/3").recipe().noise(300_000, SeededWords(5))
    assert len(drawn) == 300_000
    for part in np.array_split(drawn, 3):
        assert p_value(DiscreteLaplace("1/3"), part) > FALSE_ALARM
    lag = np.corrcoef(drawn[1:], drawn[:-1])[0, 1]
    assert abs(lag) < 5 / math.sqrt(len(drawn))


def test_studies_are_refused():
    for family in (Laplace(1.0), Gaussian(1.0), ContinuousStaircase(1.0)):
        for make in (sampler, lambda it: simulator(it, 1)):
            with pytest.raises(InputError, match="for studies only"):
                make(family)
    for answers in ([0.5], [2**62], [-(2**62)], ["a"]):
        with pytest.raises(InputError, match="not integers"):
            sampler(DiscreteLaplace(1)).draw(answers)


def test_simulated_noise_repeats_itself():
    answers = np.arange(1000)
    first, again, other = (simulator(DiscreteGaussian(50), seed).draw(answers) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_opendp_draws_the_same_noise():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T=int))
    zeros, count = [0] * 200_000, 200_000
    for family, peer in [
        (DiscreteLaplace("2/5"), dp.m.make_laplace(integers, dp.l1_distance(T=int), scale=2.5)),
        (DiscreteGaussian(4), dp.m.make_gaussian(integers, dp.l2_distance(T=float), scale=2.0)),
    ]:
        theirs = np.array(peer(zeros))
        ours = sampler(family).draw(np.zeros(count, dtype=int))
        for drawn in (ours, theirs):
            counts, expected = pooled(family, drawn)
            assert chance(counts, expected / count) > BY_CHANCE
    assert dp.m.make_laplace(integers, dp.l1_distance(T=int), scale=2.5).map(1) == DiscreteLaplace("2/5").epsilon
