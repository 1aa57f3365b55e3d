import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.core import Mechanism
from sfumato.divergences import TOTAL_VARIATION, HockeyStick, MaxDivergence, Profile, hockey_stick, max_divergence
from sfumato.errors import InputError

from .pairs import greedy, several, subsets

DELTAS = st.one_of(st.sampled_from([0.0, 1e-300, 1e-12, 0.02, 0.5, 1.0]), st.floats(0, 1))


@given(several(), DELTAS)
def test_inverse_of_the_profile_is_the_greedy_and_the_best_of_all_sets(rows, delta):
    p, q = rows
    total = float(p.sum())
    assume(abs(delta - total) > 1e-12)  # else the rounding of the sum decides between -inf and a number
    by_profile = float(Profile(p, q).epsilon(delta))
    tolerance = 1e-12 / max(1e-6, abs(total - delta))
    with np.errstate(divide="ignore", invalid="ignore"):
        best = max(
            (np.log((p[list(R)].sum() - delta) / q[list(R)].sum()))
            for R in subsets(len(p))
            if p[list(R)].sum() > delta + 1e-15
        )
    limit = float(p[q == 0].sum())
    assert MaxDivergence(delta)(p, q) == pytest.approx(by_profile, abs=tolerance)
    if abs(delta - limit) > 1e-12 or delta == 0:
        assert by_profile == pytest.approx(greedy(p, q, delta), abs=tolerance)
        assert by_profile == pytest.approx(best, abs=tolerance)


@given(several(), DELTAS)
def test_witness_attains_the_max_divergence(rows, delta):
    p, q = rows
    found = max_divergence(p, q, delta)
    mass, other = p[found.outputs].sum(), q[found.outputs].sum()
    if math.isinf(found.value):
        assert (other == 0 and mass > delta) if found.value > 0 else mass <= delta + 1e-12
    elif abs(mass - delta) > 1e-6:
        assert math.log((mass - delta) / other) == pytest.approx(found.value, abs=1e-9)


@given(several(), st.floats(-5, 5))
def test_profile_is_the_hockey_stick_everywhere(rows, epsilon):
    p, q = rows
    profile = Profile(p, q)
    direct = sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))
    by_sets = max([0.0] + [p[list(R)].sum() - math.exp(epsilon) * q[list(R)].sum() for R in subsets(len(p))])
    for found in (profile.delta(epsilon), hockey_stick(p, q, epsilon), HockeyStick(epsilon)(p, q)):
        assert float(found) == pytest.approx(direct, abs=1e-13)
        assert float(found) == pytest.approx(by_sets, abs=1e-13)
    assert profile.delta(profile.epsilons) == pytest.approx(profile.deltas, abs=1e-13)
    assert profile.delta([-np.inf, np.inf]) == pytest.approx([p.sum(), p[q == 0].sum()], abs=1e-13)
    assert float(profile.delta(0.0)) == pytest.approx(TOTAL_VARIATION(p, q), abs=1e-13)


@given(several())
def test_profile_is_convex_and_falls(rows):
    t = np.linspace(0.01, 5, 50)
    deltas = Profile(*rows).delta(np.log(t))
    assert (np.diff(deltas) <= 1e-14).all()
    assert (np.diff(deltas, 2) >= -1e-13).all()


@given(several(), st.floats(0.001, 0.999))
def test_inverse_undoes_the_profile(rows, share):
    profile = Profile(*rows)
    delta = profile.limit + share * (profile.total - profile.limit)
    if profile.limit < delta < profile.total:
        assert float(profile.delta(profile.epsilon(delta))) == pytest.approx(delta, abs=1e-13)


def test_randomised_response():
    keep = math.e / (1 + math.e)
    p, q = [keep, 1 - keep], [1 - keep, keep]
    assert hockey_stick(p, q, 0.0) == pytest.approx(math.tanh(0.5))
    assert math.tanh(0.5) == pytest.approx(0.462117, abs=1e-6)
    assert max_divergence(p, q).value == pytest.approx(1.0)
    assert list(max_divergence(p, q).outputs) == [0]


def test_counterexample_f():
    p, q = [0.98, 0.02, 0.0], [0.98, 0.0, 0.02]
    assert TOTAL_VARIATION(p, q) == pytest.approx(0.02)
    assert max_divergence(p, q).value == math.inf
    assert list(max_divergence(p, q).outputs) == [1]
    assert Profile(p, q).epsilon([0.0, 0.01, 0.02]) == pytest.approx([math.inf, math.inf, 0.0])


def test_discretised_gaussian_has_the_golden_profile():
    cuts = np.arange(-9, 10, 0.001)
    normal = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in cuts])
    shifted = np.array([0.5 * math.erfc(-(x - 1) / math.sqrt(2)) for x in cuts])
    p, q = (np.diff(np.concatenate([[0.0], cdf, [1.0]])) for cdf in (shifted, normal))
    golden = [0.382925, 0.238422, 0.126937, 0.020924]
    assert Profile(p, q).delta([0, 0.5, 1, 2]) == pytest.approx(golden, abs=2e-6)


def test_tiny_probabilities_keep_their_digits():
    p, q = [1e-300, 1.0], [1e-310, 1.0]
    profile = Profile(p, q)
    assert profile.epsilons[-1] == pytest.approx(10 * math.log(10), rel=1e-12)
    assert float(profile.delta(math.log(2))) == pytest.approx(1e-300, rel=1e-9)
    assert float(profile.epsilon(5e-301)) == pytest.approx(10 * math.log(10) + math.log(0.5), rel=1e-12)
    extreme = Profile([1.0, 0.0], [5e-324, 1.0])
    assert float(extreme.epsilon(0.5)) == pytest.approx(-math.log(5e-324) + math.log(0.5), rel=1e-12)
    at = float(extreme.epsilon(0.5))
    assert HockeyStick(at)([1.0, 0.0], [5e-324, 1.0]) == pytest.approx(0.5, abs=1e-12)


@given(several(count=4), DELTAS)
def test_all_pairs_at_once(rows, delta):
    matrix = MaxDivergence(delta).pairwise(rows)
    again = [[MaxDivergence(delta)(p, q) for q in rows] for p in rows]
    assert matrix == pytest.approx(np.array(again), abs=1e-13)
    curves = hockey_stick(rows[:, None], rows, [0.0, 1.0])
    assert curves.shape == (2, 4, 4)
    assert curves[1, 2, 3] == pytest.approx(HockeyStick(1.0)(rows[2], rows[3]), abs=1e-15)


def test_a_mechanism_can_be_given():
    mechanism = Mechanism([[0.75, 0.25], [0.25, 0.75]])
    assert MaxDivergence().pairwise(mechanism) == pytest.approx(math.log(3) * (1 - np.eye(2)))


@pytest.mark.parametrize(
    ("p", "q", "words"),
    [
        ([0.5, 0.5], [1.0], "2 probabilities and the second 1"),
        ([0.5, 0.6], [0.5, 0.5], "sums to 1.1"),
        ([1.5, -0.5], [0.5, 0.5], "-0.5"),
        ([np.nan, 1.0], [0.5, 0.5], "nan"),
        ([], [], "not an array of probabilities"),
        ([[0.5, 0.5]], [0.5, 0.5], "one pair"),
    ],
)
def test_refusals(p, q, words):
    for compare in (TOTAL_VARIATION, Profile, max_divergence):
        with pytest.raises(InputError, match=words):
            compare(p, q)


def test_options_out_of_range_are_refused():
    with pytest.raises(InputError):
        MaxDivergence(-0.1)
    with pytest.raises(InputError):
        HockeyStick(math.nan)
    with pytest.raises(InputError):
        Profile([1.0], [1.0]).epsilon(-1.0)
    with pytest.raises(InputError):
        Profile([1.0], [1.0]).delta(math.nan)
    with pytest.raises(InputError):
        TOTAL_VARIATION.rows(np.ones((2, 1)), np.ones((3, 1)))
