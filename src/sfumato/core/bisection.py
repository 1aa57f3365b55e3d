"""Bisection: two close arguments between which a condition changes, each of them tested."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

Number = TypeVar("Number", int, float)

_STEPS: Final = 2200  # more than any two floats are halvings apart


class Ends(NamedTuple, Generic[Number]):
    """Two arguments of a condition.

    Attributes:
        fails: The last argument at which the condition was tested and failed, or the one given.
        holds: The last argument at which it was tested and held, or the one given.
    """

    fails: Number
    holds: Number


def bisect(
    condition: Callable[[Number], bool],
    fails: Number,
    holds: Number,
    *,
    middle: Callable[[Number, Number], Number] | None = None,
    relative: float = 0.0,
    done: Callable[[Number, Number], bool] | None = None,
    steps: int = _STEPS,
) -> Ends[Number]:
    """Return the two arguments between which a condition changes, as close together as asked for.

    Every step tests one argument between the two and replaces the end that has the same
    answer. So if the condition holds at ``holds`` to begin with, it was seen to hold at the
    ``holds`` that is returned: a condition that proves something is proved there, even if
    it is not monotone. The same goes for ``fails``.

    Args:
        condition: What is tested. Integers are halved as integers, floats as floats.
        fails: Where it fails; may be below or above ``holds``.
        holds: Where it holds.
        middle: From both ends to an argument between them; by default their mean.
        relative: Stop where the ends differ by at most this part of the larger one.
        done: Stop where this holds for ``fails`` and ``holds``.
        steps: Stop after this many tests.

    Returns:
        Both ends. Without ``relative``, ``done`` or ``steps`` no number lies between them.
    """
    between: Callable[[Any, Any], Any] = middle or _mean
    for _ in range(steps):
        if abs(holds - fails) <= relative * max(abs(holds), abs(fails)) or (done and done(fails, holds)):
            break
        tested = between(fails, holds)
        if tested in (fails, holds):
            break
        if condition(tested):
            holds = tested
        else:
            fails = tested
    return Ends(fails, holds)


def double(condition: Callable[[Number], bool], fails: Number, holds: Number) -> Ends[Number]:
    """Return two arguments between which a condition begins to hold, as `bisect` needs them.

    Args:
        condition: It must hold somewhere far enough from 0.
        fails: Where it fails.
        holds: What is doubled until the condition holds there; not 0.
    """
    while not condition(holds):
        fails, holds = holds, 2 * holds
    return Ends(fails, holds)


def geometric_mean(first: float, second: float) -> float:
    """Return the geometric mean of two positive numbers, for searches over orders of magnitude."""
    return math.sqrt(first * second)


def _mean(first: float, second: float) -> float:
    total = first + second
    return total // 2 if isinstance(total, int) else total / 2
