import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.divergences import MaxDivergence, hockey_stick
from sfumato.errors import InputError
from sfumato.privacy import TestingRegion, TradeOff

from ...divergences.pairs import several, subsets


@given(several(), st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_every_randomised_test_is_in_the_region(rows, coins):
    p, q = rows
    reject = np.array(coins[: len(p)])
    alarm, missed = min(1.0, float(p @ reject)), min(1.0, float(q @ (1 - reject)))
    region = TestingRegion(TradeOff(p, q))
    assert region.contains(alarm, missed, 1e-12)
    assert region.contains(1 - alarm, 1 - missed, 1e-12)


@given(several())
def test_vertices_are_tests_and_enclose_the_area(rows):
    p, q = rows
    region = TestingRegion(TradeOff(p, q))
    tests = np.array([[0.0, 1.0], *([p[list(R)].sum(), 1 - q[list(R)].sum()] for R in subsets(len(p)))])
    for corner in region.vertices:
        assert np.abs(tests - corner).sum(axis=1).min() < 1e-12
    x, y = region.vertices.T
    shoelace = float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    assert region.area == pytest.approx(shoelace, abs=1e-12)


@given(several(count=3), st.floats(0, 2), st.floats(0, 0.5))
def test_inclusion_is_differential_privacy(rows, epsilon, delta):
    needed = max(float(hockey_stick(p, q, epsilon)) for p, q in itertools.permutations(rows, 2))
    if abs(needed - delta) > 1e-9:
        inside = TestingRegion.of(rows).is_within(TestingRegion.of_epsilon(epsilon, delta))
        assert inside == (needed <= delta)


@given(st.floats(0, 3), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_region_of_epsilon_and_delta_is_its_inequalities(epsilon, delta, a, b):
    grown = math.exp(epsilon)
    points = ((a, b), (1 - a, 1 - b))
    room = min(min(grown * y + delta - (1 - x), grown * x + delta - (1 - y)) for x, y in points)
    found = TestingRegion.of_epsilon(epsilon, delta).contains(a, b)
    if abs(room) > 1e-9:
        assert found == (room > 0)


def test_total_error_does_not_give_epsilon():
    """Desfontaines, 2.2.6, prints P_FA + P_MD >= 2 / (1 + e^eps) as equivalent to eps-DP; it only follows."""
    p, q = [0.98, 0.02, 0.0], [0.98, 0.0, 0.02]
    region = TestingRegion.of([p, q])
    assert region.lower.least_total_error == pytest.approx(0.98)
    assert region.lower.least_total_error >= 2 / (1 + math.e)
    assert MaxDivergence()(p, q) == math.inf
    assert not region.is_within(TestingRegion.of_epsilon(1.0))
    assert region.is_within(TestingRegion.of_epsilon(1.0, 0.02))


@given(st.floats(0, 5))
def test_total_error_that_epsilon_allows_is_the_hyperbolic_tangent(epsilon):
    least = TestingRegion.of_epsilon(epsilon).lower.least_total_error
    assert least == pytest.approx(1 - math.tanh(epsilon / 2))
    assert least == pytest.approx(2 / (1 + math.exp(epsilon)))


def test_one_order_is_not_the_other():
    """The thesis writes one inequality; only both orders together say that no test is better than allowed."""
    rows = np.array([[0.5, 0.5, 0.0], [0.45, 0.45, 0.1]])
    assert float(hockey_stick(rows[0], rows[1], 0.2)) == 0
    assert float(hockey_stick(rows[1], rows[0], 0.2)) == pytest.approx(0.1)
    assert not TestingRegion.of(rows).is_within(TestingRegion.of_epsilon(0.2))


def test_errors_that_are_no_probabilities_are_refused():
    with pytest.raises(InputError, match="pass two probabilities"):
        TestingRegion.of_epsilon(1.0).contains(-0.1, 0.5)
    assert "area" in repr(TestingRegion.of_epsilon(1.0))
