import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato.errors import InputError
from sfumato.privacy import (
    DistributionPrivacy,
    Family,
    FamilyDistance,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
    Promise,
    close_beliefs,
    worst_beliefs,
)

from .families import beliefs, channels, events, excess, least_epsilon

RADII = st.sampled_from([0.0, 0.01, 0.125, 0.5, 1.0])
NAMES = ["believed 0", "true 0", "true 1", "believed 1"]


def extreme(centre, radius, scores):
    """The largest expected score within total variation of a centre, by linear programming."""
    n = len(centre)
    # Variables: the distribution, and what each entry gains.
    gain = np.hstack([np.eye(n), -np.eye(n)])
    found = linprog(
        -np.concatenate([scores, np.zeros(n)]),
        A_ub=np.vstack([gain, np.concatenate([np.zeros(n), np.ones(n)])]),
        b_ub=np.concatenate([centre, [radius]]),
        A_eq=[np.concatenate([np.ones(n), np.zeros(n)])],
        b_eq=[1.0],
    )
    return -found.fun


def highest(centre, radius, scores):
    """The belief near a centre whose expected score is largest: mass moves from the worst place to the best."""
    moved, left = np.array(centre, dtype=float), radius
    for place in np.argsort(scores):
        gone = min(left, moved[place])
        moved[place] -= gone
        moved[np.argmax(scores)] += gone
        left -= gone
    return moved


@given(beliefs(count=1), RADII, st.lists(st.integers(-4, 4), min_size=4, max_size=4))
def test_the_worst_belief_by_hand_is_that_of_the_linear_program(rows, radius, scores):
    found, wanted = highest(rows[0], radius, scores), np.array(scores, dtype=float)
    assert found @ wanted == pytest.approx(extreme(rows[0], radius, wanted), abs=1e-7)
    assert np.abs(found - rows[0]).sum() / 2 <= radius + 1e-12


def by_all_sets(matrix, rows, radius, delta):
    """The worst epsilon over both balls and both orders, by a knapsack for every set of reports."""
    best = 0.0
    for first, second in (rows, rows[::-1]):
        for event in events(matrix.shape[1]):
            scores = matrix[:, event].sum(axis=1)
            high = highest(first, radius, scores) @ scores - delta
            low = highest(second, radius, -scores) @ scores
            if high > 1e-15:
                best = max(best, math.log(high / low) if low > 1e-15 else math.inf)
    return best


@given(channels(), beliefs(count=2), RADII, st.sampled_from([0.0, 1e-6, 0.05, 0.3]))
@settings(max_examples=20)
def test_worst_beliefs_by_all_sets_of_reports(matrix, rows, radius, delta):
    found = worst_beliefs(matrix, Family(rows), radius, delta)
    wanted = by_all_sets(matrix, rows, radius, delta)
    if math.isinf(wanted):
        assert found.epsilon.upper > 30
    else:
        assert found.epsilon.lower <= wanted + 1e-9
        assert found.epsilon.upper >= wanted - 1e-9
    if found.closed:
        assert found.epsilon.upper == found.epsilon.lower or found.epsilon.upper == pytest.approx(wanted, abs=1e-6)
    p, q = found.first @ matrix, found.second @ matrix
    assert found.epsilon.lower <= least_epsilon(p, q, delta) + 1e-9
    for belief, position in [(found.first, found.pair[0]), (found.second, found.pair[1])]:
        assert np.abs(belief - rows[position]).sum() / 2 <= radius + 1e-12


@given(channels(positive=True), beliefs(count=2), st.sampled_from([0.0, 0.02, 0.2]), st.sampled_from([0.0, 0.03]))
@settings(max_examples=15)
def test_worst_beliefs_are_closed_and_worse_than_any_tried(matrix, rows, radius, delta):
    found = worst_beliefs(matrix, Family(rows), radius, delta)
    assert found.closed
    generator = np.random.default_rng(3)
    exact = DistributionPrivacy(Family(rows), delta).measure(matrix)
    assert found.epsilon.upper >= exact.lower
    if radius == 0:
        assert found.epsilon.upper == pytest.approx(exact.value, abs=1e-9)
    for _ in range(10):
        tried = [highest(row, radius, generator.normal(size=4)) for row in rows]
        p, q = np.array(tried) @ matrix
        assert least_epsilon(p, q, delta) <= found.epsilon.upper + 1e-9


def test_beliefs_found_again_by_rounding_do_not_end_the_search():
    matrix = np.array([[3, 1, 60, 0], [46, 3, 15, 0], [3, 11, 50, 0], [15, 18, 31, 0]]) / 64
    family = Family(np.array([[0, 4, 4, 0], [0, 5, 3, 0]]) / 8)
    found = worst_beliefs(matrix, family, 0.2, 0.03)
    assert found.closed
    generator = np.random.default_rng(0)
    for _ in range(300):
        p, q = np.array([highest(row, 0.2, generator.normal(size=4)) for row in family.distributions]) @ matrix
        assert max(least_epsilon(p, q, 0.03), least_epsilon(q, p, 0.03)) <= found.epsilon.upper


@pytest.mark.slow
def test_one_node_still_bounds_the_worst_set():
    generator = np.random.default_rng(0)
    for _ in range(30):
        matrix, rows = generator.dirichlet(np.ones(6) / 2, 5), generator.dirichlet(np.ones(5), 2)
        wanted = by_all_sets(matrix, rows, 0.2, 0.02)
        cut, whole = (worst_beliefs(matrix, Family(rows), 0.2, 0.02, most_nodes=most) for most in (1, 1000))
        for found in (cut, whole):
            assert found.epsilon.lower - 1e-9 <= wanted <= found.epsilon.upper + 1e-9
        assert whole.closed


def test_cut_short_the_answer_is_an_interval():
    generator = np.random.default_rng(2)
    matrix, rows = generator.dirichlet(np.ones(12), 10), generator.dirichlet(np.ones(10), 2)
    whole = worst_beliefs(matrix, Family(rows), 0.3, 0.05)
    cut = worst_beliefs(matrix, Family(rows), 0.3, 0.05, most_nodes=1)
    assert whole.closed
    assert cut.epsilon.lower <= whole.epsilon.upper + 1e-12
    assert cut.epsilon.upper >= whole.epsilon.lower - 1e-12


@given(channels(positive=True), beliefs(count=4), st.sampled_from([0.0, 0.02]))
def test_three_steps_bound_close_beliefs(matrix, rows, delta):
    """A.4.7: e**(3 epsilon) and delta (1 + e**epsilon + e**(2 epsilon)) are enough; so is the metric form."""
    pairs = list(itertools.pairwise(NAMES))
    family = Family(dict(zip(NAMES, rows, strict=True)), pairs)
    promise = Promise.of(DistributionPrivacy(family, delta).measure(matrix))
    bound = close_beliefs(promise, NAMES)
    epsilon = promise.value
    assert isinstance(bound.notion, DistributionPrivacy)
    assert bound.value == pytest.approx(3 * epsilon)
    grown = min(1.0, delta * (1 + math.exp(epsilon) + math.exp(2 * epsilon)))
    assert bound.notion.delta == pytest.approx(grown)
    lifted = rows @ matrix
    assert excess(lifted[0], lifted[3], bound.value) <= bound.notion.delta + 1e-12
    assert bound.notion.measure(matrix).value <= bound.value + 1e-12
    distance = FamilyDistance(np.array([[0, 1, 9, 2], [1, 0, 2, 9], [9, 2, 0, 0.5], [2, 9, 0.5, 0]], dtype=float))
    metric = Promise.of(MetricDistributionPrivacy(family, distance, delta).measure(matrix))
    stepped = close_beliefs(metric, NAMES)
    assert stepped.value == pytest.approx(3.5 * metric.value)
    assert stepped.notion.measure(matrix).value <= stepped.value + 1e-12


def test_a_right_belief_saves_a_step():
    family = Family(dict(zip(NAMES, [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [1.0, 0.0]], strict=True)))
    promise = Promise.of(DistributionPrivacy(family).measure([[0.75, 0.25], [0.25, 0.75]]))
    assert close_beliefs(promise, [*NAMES[:3], NAMES[2]]).value == pytest.approx(2 * promise.value)


def test_refusals():
    family = Family(dict(zip(NAMES, np.eye(4) / 2 + 0.125, strict=True)), [(NAMES[0], NAMES[1])])
    promise = Promise.of(DistributionPrivacy(family).measure(np.full((4, 2), 0.5)))
    with pytest.raises(InputError, match="no pair true 0 to true 1"):
        close_beliefs(promise, NAMES)
    with pytest.raises(InputError, match="no pair"):
        close_beliefs(promise, NAMES[:1])
    other = Promise.of(ProbabilisticDistributionPrivacy(family, 0.1).measure(np.full((4, 2), 0.5)))
    with pytest.raises(InputError, match="probabilistic"):
        close_beliefs(other, NAMES[:2])
    with pytest.raises(InputError, match="infinite value"):
        Promise.of(DistributionPrivacy(Family(np.eye(2))).measure(np.eye(2)))
    with pytest.raises(InputError, match="radius"):
        worst_beliefs(np.eye(4), family, 2.0)
    with pytest.raises(InputError, match="delta"):
        worst_beliefs(np.eye(4), family, 0.1, -1.0)
    with pytest.raises(InputError, match="secrets"):
        worst_beliefs(np.eye(3), family, 0.1)
