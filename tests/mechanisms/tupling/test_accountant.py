"""The accountant against listed multisets, multinomial sums, binomial laws and golden values."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato.core import Bracket
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import PairAccountant, accountant
from sfumato.mechanisms.tupling.law import positive_part

from . import exact

DOWN, UP, EVEN = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25] * 4
REFERENCE = 1e-14  # the lists of multisets are floating-point sums themselves


def dirichlet_pair(seed, size=400):
    return np.random.default_rng(seed).dirichlet([0.2] * size, 2)


@options(max_examples=20)
@given(exact.settings(), st.integers(0, 6), st.floats(0, 3))
def test_brackets_hold_the_listed_multisets(setting, dummies, epsilon):
    p, q, nu = setting
    truth = exact.delta(p, q, nu, dummies, epsilon)
    found = PairAccountant(p, q, nu, dummies).delta(epsilon, 1e-3)
    assert found.lower - REFERENCE <= truth <= found.upper + REFERENCE
    assert found.upper - found.lower <= 1e-3 * found.upper + 1e-11


@options(max_examples=15)
@given(exact.settings(), st.integers(1, 6), st.floats(0, 2), st.integers(1, 6))
def test_a_lattice_of_any_spacing_is_bounded_on_both_sides(setting, dummies, epsilon, points):
    """The first lattice has so few points, and a tolerance that large is content with it."""
    p, q, nu = setting
    truth = exact.delta(p, q, nu, dummies, epsilon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.mechanisms.tupling.accountant._COARSE", 2**points)
        found = PairAccountant(p, q, nu, dummies).delta(epsilon, 1e9)
    assert found.lower - REFERENCE <= truth <= found.upper + REFERENCE


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("p", "q", "nu", "dummies"),
    [
        ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.3, 0.3, 0.4), 60),
        ((0.5, 0.25, 0.25), (0.05, 0.15, 0.8), (0.1, 0.1, 0.8), 400),
        ((0.9, 0.1 - 1e-6, 1e-6), (0.88, 0.12 - 2e-6, 2e-6), (0.99, 0.01 - 1e-7, 1e-7), 900),
        ((0.02, 0.01, 0.97), (0.01, 0.02, 0.97), (0.01, 0.01, 0.98), 1000),
    ],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4, 1.0])
def test_brackets_hold_multinomial_sums(p, q, nu, dummies, epsilon):
    truth = exact.delta_of_three_kinds(p, q, nu, dummies, epsilon)
    found = PairAccountant(p, q, nu, dummies).delta(epsilon, 1e-5)
    noise = 1e-10 * truth + 1e-15
    assert found.lower - noise <= truth <= found.upper + noise
    assert found.upper - found.lower <= 1e-5 * found.upper + 1e-11


@pytest.mark.thinned(3)
@pytest.mark.parametrize("dummies", [10_000, 100_000])
@pytest.mark.parametrize("epsilon", [0.0, 0.005, 0.02])
def test_brackets_hold_binomial_sums_of_many_dummies(dummies, epsilon):
    p, q, nu = (0.7, 0.3), (0.4, 0.6), (0.55, 0.45)
    n = dummies + 1
    counts = np.arange(n + 1)
    gain = [(a - math.exp(epsilon) * b) / v for a, b, v in zip(p, q, nu, strict=True)]
    sums = counts * gain[0] + (n - counts) * gain[1]
    truth = float((binom.pmf(counts, n, nu[0]) * np.maximum(sums, 0.0)).sum()) / n
    found = PairAccountant(p, q, nu, dummies).delta(epsilon)
    noise = 1e-9 * truth  # of the binomial law, by logarithms of factorials
    assert found.lower - noise <= truth <= found.upper + noise
    assert found.upper - found.lower <= 1e-3 * found.upper + 2e-9 * dummies / 1e5


@pytest.mark.parametrize(
    ("dummies", "epsilon"), [(1, 1.3762), (2, 1.3455), (5, 0.9572), (10, 0.6564), (20, 0.4431), (40, 0.2970)]
)
def test_golden_epsilons(dummies, epsilon):
    found = PairAccountant(DOWN, UP, EVEN, dummies).epsilon(1e-3)
    assert found.upper - found.lower <= 1.01e-6
    assert abs(found.value - epsilon) <= 5.1e-5


def test_golden_values_of_a_single_report():
    alone = PairAccountant(DOWN, UP, EVEN, 0)
    assert alone.pure_epsilon == pytest.approx(math.log(4), abs=1e-12)
    # .4 - e**epsilon .1 = .001; the table's ln 4 is the value at delta 0.
    assert alone.epsilon(1e-3).upper == pytest.approx(math.log(3.99), abs=1e-6)
    for dummies in (0, 3, 1000):
        found = PairAccountant(DOWN, UP, EVEN, dummies).epsilon(0)
        assert math.log(4) - 1e-11 <= found.lower <= math.log(4) <= found.upper <= math.log(4) + 1e-11


def test_golden_delta_beside_the_published_bound():
    found = PairAccountant(DOWN, UP, EVEN, 20).delta(0.679)
    assert found.value == pytest.approx(2.0e-5, rel=5e-3)


def test_mixtures_of_the_reports_beat_uniform_dummies_as_in_the_table():
    p, q = dirichlet_pair(7)
    even = np.full(400, 1 / 400)
    mixture = 0.999 * (p + q) / 2 + 0.001 * even
    ranges = {10: ((3, 5), (1.4, 2.1)), 100: ((0.65, 1.0), (0.32, 0.45)), 1000: ((0.16, 0.25), (0.08, 0.11))}
    for dummies, (plain, mixed) in ranges.items():
        assert plain[0] < PairAccountant(p, q, even, dummies).epsilon(1e-3, 1e-4).value < plain[1]
        assert mixed[0] < PairAccountant(p, q, mixture, dummies).epsilon(1e-3, 1e-4).value < mixed[1]
    assert PairAccountant(p, q, even, 1000).delta(0.5).upper < 1e-7
    assert PairAccountant(p, q, mixture, 1000).delta(0.5).upper < 1e-11


@options(max_examples=10)
@given(exact.settings(), st.integers(0, 60), st.floats(1e-6, 0.4))
def test_epsilon_inverts_delta(setting, dummies, delta):
    p, q, nu = setting
    account = PairAccountant(p, q, nu, dummies)
    found = account.epsilon(delta)
    if found.upper == math.inf:
        zero = q == 0
        assert p[zero].sum() * nu[zero].sum() ** dummies >= delta * (1 - 1e-6)
    else:
        assert account.delta(min(found.upper + 1e-12, 700)).lower <= delta
        assert not account.exceeds(found.upper, delta) or found.upper >= account.pure_epsilon
        # The bounds of delta are as far apart as the lattice is coarse, whatever delta is.
        assert found.upper - found.lower <= 1e-4 * max(1, 1e-5 / delta)
    if 0 < found.lower < math.inf:
        assert account.delta(found.lower).upper >= delta * (1 - 1e-9)


def test_a_report_that_one_side_never_makes_leaves_its_mass():
    p, q, nu = [0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.2, 0.4, 0.4]
    for dummies in (0, 1, 3):
        rest = 0.5 * 0.2**dummies
        account = PairAccountant(p, q, nu, dummies)
        assert account.epsilon(0.99 * rest) == Bracket.of_bounds(700.0, math.inf)
        assert account.epsilon(1.01 * rest).upper < 20
        assert account.pure_epsilon == math.inf
        assert account.delta(300.0).value == pytest.approx(rest, abs=1e-9)


def test_one_more_dummy_never_hurts():
    p, q = dirichlet_pair(3, 12)
    nu = np.full(12, 1 / 12)
    for epsilon in (0.0, 0.3, 1.0):
        values = [PairAccountant(p, q, nu, k).delta(epsilon) for k in range(25)]
        assert all(b.lower <= a.upper for a, b in pairwise(values))
        assert values[0].lower > values[24].upper


def test_outputs_may_be_merged_or_added():
    # Equal ratios may be merged; an observable that neither reports is as good as a plain dummy's.
    p, q, nu = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.3, 0.3, 0.4]
    parts = [0.25, 0.75]
    finer = [np.concatenate([np.multiply(law[0], parts), law[1:]]) for law in (p, q, nu)]
    split_up = PairAccountant(finer[0], finer[1], finer[2], 9)
    same = PairAccountant(p, q, nu, 9).delta(0.2, 1e-8), split_up.delta(0.2, 1e-8)
    assert same[0].lower <= same[1].upper
    assert same[1].lower <= same[0].upper
    never = [np.append(law, 0.0) for law in (p, q, nu)]
    assert PairAccountant(never[0], never[1], never[2], 9).delta(0.2, 1e-8).value == pytest.approx(
        same[0].value, rel=1e-9
    )


@pytest.mark.parametrize("rare", [1e-4, 1e-9, 1e-30])
@pytest.mark.parametrize("dummies", [1, 6])
def test_a_dummy_that_is_hardly_ever_drawn(rare, dummies):
    p, q, nu = [0.001, 0.599, 0.4], [0.002, 0.4, 0.598], [rare, 0.5, 0.5 - rare]
    for first, second in ((p, q), (q, p)):
        truth = exact.delta(first, second, nu, dummies, 0.3)
        account = PairAccountant(first, second, nu, dummies)
        found = account.delta(0.3)
        assert found.lower - REFERENCE <= truth <= found.upper + REFERENCE
        assert found.upper - found.lower <= 1.1e-4 * found.upper
    assert 0 <= account.epsilon(1e-2).upper <= math.log(2) + 1e-9


def test_equal_distributions_reveal_nothing():
    account = PairAccountant(DOWN, DOWN, EVEN, 7)
    assert account.delta(0.5) == Bracket.exact(0.0)
    assert account.delta(0.0).upper < 1e-12
    assert account.epsilon(1e-9) == Bracket.exact(0.0)


def test_rounded_arguments_stay_within_the_bounds():
    rng = np.random.default_rng(5)
    account = PairAccountant(DOWN, UP, EVEN, 8, rounding=1e-4)
    found = account.delta(0.4)
    for _ in range(20):
        p, q = (np.array(law) * (1 + 1e-4 * rng.uniform(-1, 1, 4)) for law in (DOWN, UP))
        assert found.lower <= exact.delta(p, q, EVEN, 8, 0.4) <= found.upper


@pytest.mark.thinned(2)
@pytest.mark.parametrize("mixed", [False, True])
def test_four_hundred_outputs_and_a_thousand_dummies_take_few_points_of_lattices(mixed, monkeypatch):
    p, q = dirichlet_pair(11)
    nu = 0.999 * (p + q) / 2 + 0.001 / 400 if mixed else np.full(400, 1 / 400)
    account = PairAccountant(p, q, nu, 1000)
    points: list[int] = []

    def counted(*arguments):
        found = positive_part(*arguments)
        points.append(0 if found is None else found.points)
        return found

    monkeypatch.setattr(accountant, "positive_part", counted)
    delta = account.delta(0.1)
    assert sum(points) < 300_000
    epsilon = account.epsilon(1e-3)
    assert sum(points) < 7_000_000  # less than a second's work
    assert delta.upper - delta.lower <= 1e-4 * delta.upper
    assert epsilon.upper - epsilon.lower <= 1.01e-6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dummies": -1}, "number of dummies is -1"),
        ({"dummies": 1.5}, "dummies= is of type float"),
        ({"first": [0.5, 0.5, 0.1, 0.0]}, "sums to 1.1"),
        ({"distribution": [0.5, 0.5]}, "4 observables"),
        ({"distribution": [0.0, 0.5, 0.25, 0.25]}, "observable 0 is reported but never drawn"),
        ({"rounding": -1.0}, "rounding"),
    ],
)
def test_refusals(change, words):
    arguments = {"first": DOWN, "second": UP, "distribution": EVEN, "dummies": 3, **change}
    with pytest.raises(InputError, match=words):
        PairAccountant(**arguments)


def test_questions_out_of_range():
    account = PairAccountant(DOWN, UP, EVEN, 3)
    for epsilon in (-0.1, 701.0, math.nan):
        with pytest.raises(InputError, match="epsilon is"):
            account.delta(epsilon)
    for delta in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="delta"):
            account.epsilon(delta)
    with pytest.raises(InputError, match="tolerance"):
        account.epsilon(0.1, 0.0)


def test_epsilon_is_found_where_the_first_guess_of_it_is_poor():
    """Dummies are almost always the same: the profile falls slowly, then steeply up to epsilon 6.39."""
    p, q = [0.175, 0.385, 0.44], [0.0003, 0.999, 0.0007]
    account = PairAccountant(p, q, [0.999, 0.0005, 0.0005], 2)
    found = account.epsilon(0.5)
    assert found.width <= 1e-5
    assert account.delta(found.upper).upper <= 0.5 <= account.delta(found.lower).upper
