"""Shared time, by a clock that the test moves."""

import math

from sfumato.comparison.engine import SharedTime


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_each_piece_gets_its_part_of_what_is_left():
    clock = Clock()
    shared = SharedTime(80.0, {"quick": 1, "slow": 4, "last": 3}, clock)
    assert shared.share("quick") == 10.0
    clock.now += 1.0  # nine seconds go to the others
    assert shared.share("slow") == 79.0 * 4 / 7
    clock.now += 50.0
    assert shared.share("last") == shared.seconds_left == 29.0


def test_what_takes_too_long_leaves_less_and_never_less_than_nothing():
    clock = Clock()
    shared = SharedTime(10.0, {"one": 1, "two": 1}, clock)
    left = shared.countdown("one")
    assert left() == 5.0
    clock.now += 3.0
    assert left() == 2.0
    clock.now += 30.0
    assert left() == shared.seconds_left == shared.share("two") == 0.0


def test_without_a_limit_everything_has_no_limit():
    clock = Clock()
    shared = SharedTime(math.inf, {"one": 1, "two": 1}, clock)
    left = shared.countdown("one")
    clock.now += 1e9
    assert left() == shared.seconds_left == shared.share("two") == math.inf
