"""Geometric, tight, exponential, response, constant: matrices, golden values, and what evidence proves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Metric, MetricPrivacy, Prior, Space, hamming
from sfumato.errors import InfeasibleError, InputError, MetricWarning, UnitError
from sfumato.mechanisms import constant, exponential, geometric, randomised_response, tight_constraints
from sfumato.proofs import prove_metric_privacy

from .. import catalogue

LINE = Space.numbers(range(5))
STEPS = LINE.metric("absolute")
EVEN = Prior.uniform(LINE)
DEEP = 40.0  # exponents beyond need probabilities that the integers do not resolve: less is used up


def tight_epsilon(matrix, metric):
    """The largest log ratio per distance, by brute force in floats."""
    off = ~np.eye(len(matrix), dtype=bool)
    ratios = np.log(matrix[:, None, :] / matrix[None, :, :]).max(axis=2)
    return float((ratios[off] / metric.array[off]).max())


def proved(mechanism, metric, epsilon):
    return prove_metric_privacy(mechanism, MetricPrivacy(epsilon, metric))


@pytest.mark.parametrize(("epsilon", "cost"), [(math.log(2), 0.816666667), (1.0, 0.583505631)])
def test_geometric_golden(epsilon, cost):
    mechanism = geometric(LINE, epsilon)
    assert mechanism.expected_loss(EVEN, STEPS) == pytest.approx(cost, abs=1e-9)
    np.testing.assert_allclose(mechanism.matrix, catalogue.geometric(5, epsilon), atol=1e-9)


def test_tight_constraints_golden():
    mechanism = tight_constraints(LINE, STEPS, 1.0)
    weights = np.diagonal(mechanism.matrix)
    np.testing.assert_allclose(weights, [0.731059, 0.462117, 0.462117, 0.462117, 0.731059], atol=1e-6)
    assert mechanism.expected_loss(EVEN, STEPS) == pytest.approx(0.583505631, abs=1e-9)


def test_exponential_golden():
    mechanism = exponential(LINE, STEPS, 1.0)
    assert mechanism.expected_loss(EVEN, STEPS) == pytest.approx(0.993311918, abs=1e-9)
    assert tight_epsilon(mechanism.matrix, STEPS) == pytest.approx(0.683970616, abs=1e-9)
    assert proved(mechanism, STEPS, 1.0).upper == pytest.approx(0.683970616, abs=1e-9)


def test_geometric_is_noise_moved_to_the_ends():
    # Two-sided geometric noise on all integers, by sums of its series.
    a, n = math.exp(-0.8), 6
    noise = [(1 - a) / (1 + a) * a ** abs(k) for k in range(-400, 401)]
    expected = np.zeros((n, n))
    for s in range(n):
        for k, p in enumerate(noise, start=-400):
            expected[s, min(max(s + k, 0), n - 1)] += p
    np.testing.assert_allclose(geometric(Space.numbers(range(n)), 0.8).matrix, expected, atol=1e-9)


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=12, unique=True),
    st.floats(1e-3, 30),
    st.sampled_from([1.0, 1e-3, 1 / 7]),
)
def test_on_numbers_of_any_spacing_epsilon_is_kept_and_used_up(numbers, epsilon, step):
    space = Space.numbers([step * number for number in numbers])
    metric = space.metric("absolute")
    epsilon = epsilon / step / 1e4
    mechanism = geometric(space, epsilon)
    assert proved(mechanism, metric, epsilon).holds
    if epsilon * min(np.diff(sorted(step * number for number in numbers))) < DEEP:
        assert proved(mechanism, metric, epsilon).upper == pytest.approx(epsilon, rel=1e-6)
        assert not proved(mechanism, metric, 0.99 * epsilon).holds
    np.testing.assert_allclose(tight_constraints(space, metric, epsilon).matrix, mechanism.matrix, atol=1e-7)


@pytest.mark.parametrize("epsilon", [1e-7, 0.01, 1.0, 25.0])
def test_a_long_line_is_private_where_probabilities_are_smaller_than_integers(epsilon):
    space = Space.numbers(range(120), unit="year")
    mechanism = geometric(space, f"{epsilon}/year")
    assert proved(mechanism, space.metric("absolute"), epsilon).holds
    assert (mechanism.weights > 0).all()


def test_near_secrets_are_refused_where_floats_cannot_keep_them_apart():
    space = Space.numbers([0.0, 1e-13, 1.0])
    with pytest.raises(InputError, match="rounding would break"):
        geometric(space, 1.0)


def test_a_single_number_and_equal_numbers():
    assert geometric(Space.numbers([7]), 1.0).matrix.tolist() == [[1.0]]
    space = Space(["a", "b", "c"], [[0.0], [0.0], [1.0]])
    for mechanism in (geometric(space, 1.0), exponential(space, space.metric("absolute"), 1.0)):
        assert mechanism.weights[0].tolist() == mechanism.weights[1].tolist()
        assert proved(mechanism, space.metric("absolute"), 1.0).holds


def test_geometric_needs_numbers_and_its_unit():
    with pytest.raises(InputError, match="coordinates"):
        geometric(Space("abc"), 1.0)
    with pytest.raises(InputError, match="one coordinate"):
        geometric(Space("ab", [[0, 0], [1, 1]]), 1.0)
    with pytest.raises(UnitError, match="km"):
        geometric(Space.numbers(range(3), unit="year"), "1/km")
    with pytest.raises(InputError, match="positive"):
        geometric(LINE, 0)


@st.composite
def planes(draw):
    n = draw(st.integers(2, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    space = Space(range(n), rng.normal(size=(n, 2)), "km")
    return space, space.metric(draw(st.sampled_from(["euclidean", "manhattan", "hamming"])))


@given(planes(), st.floats(0.01, 40))
def test_exponential_keeps_epsilon(place, epsilon):
    space, metric = place
    mechanism = exponential(space, metric, epsilon)
    assert proved(mechanism, metric, epsilon).holds
    if epsilon < 1:  # larger likelihood ratios lose digits in the brute force
        upper = proved(mechanism, metric, epsilon).upper
        assert upper == pytest.approx(tight_epsilon(mechanism.matrix, metric), rel=1e-6)


@given(planes(), st.floats(0.01, 40))
def test_tight_constraints_keep_and_use_up_epsilon_or_say_why_not(place, epsilon):
    space, metric = place
    try:
        mechanism = tight_constraints(space, metric, epsilon)
    except (InfeasibleError, InputError):
        assert np.linalg.solve(np.exp(-epsilon * metric.array), np.ones(len(space))).min() < 1e-7
        return
    found = proved(mechanism, metric, epsilon)
    assert found.holds
    if epsilon * metric.diameter < DEEP:
        assert found.upper == pytest.approx(epsilon, rel=1e-6)


def test_tight_constraints_refuse_a_dense_grid():
    xy = np.array([(x, y) for x in range(4) for y in range(4)], dtype=float)
    space = Space(range(16), xy, "km")
    with pytest.raises(InfeasibleError, match=r"weights would be negative[\s\S]*use sfumato\.design"):
        tight_constraints(space, space.metric("euclidean"), "0.1/km")
    twice = Space(range(2), [[0.0], [0.0]])
    with pytest.raises(InfeasibleError, match="at distance 0"):
        tight_constraints(twice, twice.metric("absolute"), 1.0)


def test_where_the_triangle_inequality_fails_the_closure_is_kept():
    with pytest.warns(MetricWarning):
        metric = Metric([[0, 1, 9], [1, 0, 1], [9, 1, 0]])
    for mechanism in (tight_constraints(Space(range(3)), metric, 1.0), exponential(Space(range(3)), metric, 1.0)):
        assert proved(mechanism, metric.closure(), 1.0).holds


def test_a_metric_of_another_size_is_refused():
    with pytest.raises(InputError, match="for 5 secrets, but there are 3"):
        exponential(Space(range(3)), STEPS, 1.0)


def test_secrets_infinitely_far_apart_share_no_report():
    metric = Metric([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    for make in (exponential, tight_constraints):
        mechanism = make(Space(range(3)), metric, 1.0)
        assert mechanism.matrix[2].tolist() == [0, 0, 1]
        assert proved(mechanism, metric, 1.0).holds


@given(st.integers(1, 40), st.floats(1e-6, 80))
def test_randomised_response(size, epsilon):
    space = Space(range(size))
    mechanism = randomised_response(space, epsilon)
    truth = 1 / (1 + (size - 1) * math.exp(-epsilon))
    np.testing.assert_allclose(np.diagonal(mechanism.matrix), truth, rtol=1e-9)
    found = proved(mechanism, hamming(space), epsilon)
    assert found.holds
    if size > 1 and epsilon < DEEP:
        assert found.upper == pytest.approx(epsilon, rel=1e-6)


def test_constant_reveals_nothing():
    reports = Space("xyz")
    for mechanism in (constant(LINE, [0.5, 0.5, 0], reports), constant(LINE, Prior(reports, [0.5, 0.5, 0]))):
        assert mechanism.observables == reports
        assert mechanism.matrix.tolist() == [[0.5, 0.5, 0.0]] * 5
        assert proved(mechanism, STEPS, 1e-300).upper < 1e-12
    assert constant(LINE, EVEN.probabilities).observables == LINE
    with pytest.raises(InputError, match="sums to"):
        constant(LINE, [0.5] * 5)
