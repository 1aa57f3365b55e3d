"""Steps of the search: few for curves of every kind, and never outside what is known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.bracket import bisect
from sfumato.optimal.epsilon_search import Steps, log_odds


def run(curve, target, first, tolerance=0.01, most=40):
    """Search where a growing curve of epsilon crosses a target; return both ends and the number of steps."""
    steps = Steps(target, first, tolerance)

    def holds(epsilon):
        steps.odds[epsilon] = curve(epsilon)
        return steps.odds[epsilon] >= target

    found = bisect(
        holds,
        0.0,
        math.inf,
        middle=steps.following,
        stop=lambda low, high: steps.close(low, high) or len(steps.odds) >= most,
    )
    return found, len(steps.odds)


@given(st.floats(-3, 3), st.floats(0.5, 4), st.floats(-4, 4), st.floats(-3, 3), st.floats(-0.2, 0.2))
def test_nearly_straight_lines_take_few_steps(target, slope, shift, start, bend):
    def curve(epsilon):
        x = math.log(epsilon)
        return slope * (x - shift) + bend * math.sin(x)

    found, count = run(curve, target, math.exp(start))
    assert curve(found.fails) < target <= curve(found.holds)
    assert found.holds <= 1.0101 * found.fails
    assert count <= 14


@given(st.floats(0.1, 0.9), st.floats(-6, 6))
def test_steps_and_plateaus_are_found_too(level, at):
    jump = math.exp(at)
    found, count = run(lambda epsilon: 5.0 if epsilon >= jump else -5.0, level, 1.0)
    assert found.fails < jump <= found.holds
    assert found.holds <= 1.0101 * found.fails
    assert count <= 30


def test_log_odds_are_between_what_is_seen_blindly_and_clearly():
    assert log_odds(0.5, 1.0, 0.0) == 0
    assert log_odds(0.2, 0.1, 0.3) == pytest.approx(0)
    assert log_odds(0.1, 1.0, 0.0) == pytest.approx(math.log(9))
    assert log_odds(2.0, 1.0, 0.0) == -12
    assert log_odds(-1.0, 1.0, 0.0) == 12
    assert log_odds(1 - 1e-15, 1.0, 0.0) == -12
