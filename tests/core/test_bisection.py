"""Bisections: the ends that come back were tested, lie next to each other, and stop where asked."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.bracket import Ends, bisect, double, geometric_mean


@given(st.integers(-1000, 1000), st.integers(0, 2000), st.booleans())
def test_integers_end_next_to_each_other(level, far, upwards):
    sign = 1 if upwards else -1
    found = bisect(lambda k: sign * k >= level, fails=sign * (level - 1 - far), holds=sign * (level + far))
    assert found == Ends(sign * (level - 1), sign * level)


@given(st.floats(1e-300, 1e300))
def test_floats_end_next_to_each_other(level):
    below, above = bisect(lambda x: x >= level, fails=0.0, holds=math.inf if level > 1e300 else 2 * level)
    assert above == level
    assert math.nextafter(below, math.inf) == level


@given(st.lists(st.booleans(), min_size=5, max_size=60))
def test_both_ends_were_tested_even_if_the_condition_is_not_monotone(answers):
    seen, pending = {0.0: False, 1.0: True}, list(answers)

    def condition(x):
        seen[x] = pending.pop() if pending else True
        return seen[x]

    found = bisect(condition, fails=0.0, holds=1.0)
    assert seen[found.holds] is True
    assert seen[found.fails] is False


def test_it_stops_where_asked():
    tested = []

    def condition(x):
        tested.append(x)
        return x > math.pi

    close = bisect(condition, fails=0.0, holds=8.0, relative=1e-3)
    assert close.fails <= math.pi < close.holds <= close.fails * (1 + 2e-3)
    tested.clear()
    bisect(condition, fails=0.0, holds=8.0, steps=3)
    assert tested == [4.0, 2.0, 3.0]
    tested.clear()
    bisect(condition, fails=0.0, holds=8.0, stop=lambda fails, holds: fails >= 2 and holds <= 4)
    assert tested == [4.0, 2.0]


def test_a_geometric_mean_halves_the_order_of_magnitude():
    tested = []

    def condition(x):
        tested.append(x)
        return x >= 10

    found = bisect(condition, fails=1e-4, holds=1e4, middle=geometric_mean, relative=0.2)
    assert tested[:2] == pytest.approx([1.0, 100.0])
    assert found.fails < 10 <= found.holds


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_doubling_ends_around_the_first_power_that_holds(level, start):
    found = double(lambda x: x >= level, fails=0.0, holds=start)
    assert found.fails < level <= found.holds or found == Ends(0.0, start)
    assert found.holds in (start, 2 * found.fails)
    assert bisect(lambda x: x >= level, *found).holds == min(max(level, 0.0), found.holds)


def test_doubled_integers_stay_integers():
    assert double(lambda k: k > 20, fails=1, holds=3) == Ends(12, 24)
    assert isinstance(double(lambda k: k > 20, fails=1, holds=3).holds, int)
