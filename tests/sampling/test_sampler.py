"""Samplers against the matrices they declare, and their manners."""

import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import binom, chi2, poisson

import sfumato as sf
from sfumato.errors import InputError
from sfumato.sampling import Sampler, SeededWords, Simulator, SystemWords, sampler, simulator

from .mechanisms import geometric_mechanism, random_mechanism

FALSE_ALARM = 1e-6  # for fixed seeds, by `p_value`
BY_CHANCE = 1e-11  # for the system's words, by `chance`: up to 100 comparisons fail once in 1e9 runs
MECHANISMS = {
    "random, 62 bits": random_mechanism(1, 6, 11),
    "random, 126 bits": random_mechanism(2, 6, 11, tiny=True),
    "geometric": geometric_mechanism(16, 0.5),
    "steep geometric, 126 bits": geometric_mechanism(24, 0.2),
    "one observable": sf.Mechanism([[1.0], [1.0]]),
    "uniform on seven": sf.Mechanism(np.full((3, 7), 1 / 7)),
}


def p_value(mechanism: sf.Mechanism, row: int, counts: np.ndarray) -> float:
    """Of Pearson's test and of a test of rare outcomes, together; an impossible outcome gives 0.

    Outcomes that expect fewer than 5 are pooled. How often they occur at all is tested by
    the tail of Poisson's distribution, as Pearson's is not to be trusted there; in
    Pearson's they join the rarest of the others.
    """
    expected = mechanism.matrix[row] * counts.sum()
    if counts[expected == 0].any():
        return 0.0
    rare = expected < 5
    p_rare = float(poisson.sf(counts[rare].sum() - 1, expected[rare].sum()))
    observed, wanted = counts[~rare].astype(float), expected[~rare]
    observed[np.argmin(wanted)] += counts[rare].sum()
    wanted[np.argmin(wanted)] += expected[rare].sum()
    statistic = ((observed - wanted) ** 2 / wanted).sum()
    p_pearson = float(chi2.sf(statistic, len(wanted) - 1)) if len(wanted) > 1 else 1.0
    return min(1.0, 2 * min(p_rare, p_pearson))


def chance(counts: np.ndarray, law: np.ndarray) -> float:
    """Return a p-value that is never too small: from exact binomial tails and from the relative entropy, together.

    `p_value` relies on limits, which do not hold far out. Here the entropy times n exceeds t with probability
    exp(k - t) (t / k)**k at most, for k + 1 outcomes and t > k.

    Source:
        Agrawal, "Finite-sample concentration of the multinomial in relative entropy", 2020, theorem I.2.
    """
    if counts[law == 0].any():
        return 0.0
    n, k = counts.sum(), np.count_nonzero(law) - 1
    tails = np.minimum(binom.cdf(counts, n, law), binom.sf(counts - 1, n, law))
    t = rel_entr(counts, n * law).sum()
    p_entropy = np.exp(k - t + k * np.log(t / k)) if 0 < k < t else 1.0
    return float(min(1.0, 2 * min(2 * len(law) * tails.min(), p_entropy)))


def counted(drawer: Sampler | Simulator, draws: int) -> np.ndarray:
    """Return how often each secret was reported as each observable, array (secrets, observables)."""
    assert isinstance(drawer.drawable, sf.Mechanism)
    n, m = drawer.drawable.shape
    rows = np.repeat(np.arange(n), draws)
    return np.bincount(rows * m + drawer.draw(rows), minlength=n * m).reshape(n, m)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_sampler_conforms(name: str) -> None:
    # By chance: 57 rows, 6e-10. A share of 1/10 that is 7 % off is seen with probability above 1 - 1e-6.
    mechanism = MECHANISMS[name]
    rows = zip(counted(sampler(mechanism), 300_000), mechanism.matrix, strict=True)
    assert min(chance(counts, law) for counts, law in rows) > BY_CHANCE


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_simulator_conforms(name: str) -> None:
    assert conforms(simulator(MECHANISMS[name], seed=7), 100_000)


def conforms(drawer: Sampler | Simulator, draws: int) -> bool:
    counts, mechanism = counted(drawer, draws), drawer.drawable
    assert isinstance(mechanism, sf.Mechanism)
    return all(p_value(mechanism, row, counts[row]) > FALSE_ALARM / len(counts) for row in range(len(counts)))


def test_the_conformance_test_can_fail() -> None:
    honest, other = random_mechanism(1, 6, 11), random_mechanism(3, 6, 11)
    biased = simulator(other, seed=7)
    object.__setattr__(biased, "drawable", honest)
    assert not conforms(biased, 100_000)
    wrong = np.random.default_rng(1).multinomial(300_000, [0.1 * 1.07, *[(1 - 0.1 * 1.07) / 10] * 10])
    assert chance(wrong, np.array([0.1, *[0.9 / 10] * 10])) < BY_CHANCE


@pytest.mark.parametrize("name", MECHANISMS)
def test_both_widths_are_covered(name: str) -> None:
    assert MECHANISMS[name].bits == (126 if "126" in name else 62)


def test_an_arg_max_of_the_row_is_found_out() -> None:
    mechanism = MECHANISMS["geometric"]
    counts = np.zeros(16, dtype=int)
    counts[4] = 1000
    assert p_value(mechanism, 4, counts) < FALSE_ALARM


def test_samplers_never_repeat_each_other() -> None:
    mechanism = geometric_mechanism(16, 0.9)
    rows = np.arange(16).repeat(50)
    draws = [sampler(mechanism).draw(rows).tobytes() for _ in range(10)]
    one = sampler(mechanism)
    draws += [one.draw(rows).tobytes() for _ in range(10)]
    assert len(set(draws)) == 20


def test_a_simulator_repeats_itself() -> None:
    mechanism = geometric_mechanism(16, 0.9)
    rows = np.arange(16).repeat(50)
    first, again, other = (simulator(mechanism, seed) for seed in (7, 7, 8))
    drawn = first.draw(rows)
    assert np.array_equal(drawn, again.draw(rows))
    assert not np.array_equal(drawn, other.draw(rows))
    assert not np.array_equal(drawn, first.draw(rows))


def test_shapes() -> None:
    draw = sampler(geometric_mechanism(4, 0.5)).draw
    assert draw(2).shape == ()
    assert draw([0, 1, 3]).shape == (3,)
    assert draw(np.zeros((2, 3, 4), dtype=np.uint8)).shape == (2, 3, 4)
    assert draw([]).shape == (0,)
    assert draw(np.zeros((0, 5))).shape == (0, 5)


def test_blocks_join_without_a_seam() -> None:
    identity = sf.Mechanism(np.eye(5))
    rows = np.arange(5).repeat(60_000)
    assert np.array_equal(sampler(identity).draw(rows), rows)
    assert np.array_equal(simulator(identity, 1).draw(rows[::-1]), rows[::-1])


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([0, 4], "index 4 is not the position of a secret"),
        ([-1], "index -1 is not"),
        ([0.0], "not integers but float64"),
        ([True], "not integers but bool"),
        (["a"], "not integers but"),
        ([2**70], "not integers but object"),
        (np.array([2**63], dtype=np.uint64), "index 9223372036854775808 is not"),
    ],
)
def test_indices_that_are_none(indices: object, words: str) -> None:
    mechanism = geometric_mechanism(4, 0.5)
    for drawer in (sampler(mechanism), simulator(mechanism, 1)):
        with pytest.raises(InputError, match=words):
            drawer.draw(indices)  # type: ignore[arg-type]


def test_what_they_say_of_themselves() -> None:
    mechanism = geometric_mechanism(4, 0.5)
    assert "exact, cryptographic" in repr(sampler(mechanism))
    assert "never" not in repr(sampler(mechanism))
    assert "seed=7" in repr(simulator(mechanism, 7))
    assert "for studies, never for release" in repr(simulator(mechanism, 7))
    assert "for studies, never for release" in repr(SeededWords(7))
    assert not issubclass(Simulator, Sampler)
    assert "cryptographic" in repr(SystemWords())


@pytest.mark.parametrize("seed", [None, -1, 1.5, True, "7"])
def test_seeds_that_are_none(seed: object) -> None:
    with pytest.raises(InputError, match="seed"):
        simulator(geometric_mechanism(4, 0.5), seed)  # type: ignore[arg-type]


def test_system_words_are_fresh_and_even() -> None:
    words = SystemWords().draw(40_000)
    assert words.dtype == np.uint64
    assert len(np.unique(words)) == 40_000  # by chance: 4e-11
    ones = np.array([int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)])
    assert (np.abs(ones - 20_000) < 710).all()  # by chance: 8e-11 (binomial, 64 bits)


@pytest.mark.slow
@pytest.mark.parametrize("tiny", [False, True], ids=["62 bits", "126 bits"])
def test_a_hundred_million_draws_raise_no_alarm(tiny: bool) -> None:
    mechanism = random_mechanism(3, 400, 400, tiny=tiny)
    drawer = sf.simulator(mechanism, seed=1)
    n, m = mechanism.shape
    secrets = np.tile(np.arange(n), 25_000)
    counts = np.zeros(n * m, dtype=np.int64)
    for _ in range(10):
        counts += np.bincount(secrets * m + drawer.draw(secrets), minlength=n * m)
    assert counts.sum() == 100_000_000
    assert min(p_value(mechanism, row, counts.reshape(n, m)[row]) for row in range(n)) > FALSE_ALARM / n
