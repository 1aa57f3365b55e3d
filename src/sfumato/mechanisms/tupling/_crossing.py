"""The crossing of a falling curve with a value: a guess, and proofs on either side of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

LEAST: Final = 1e-300
"""Below it a delta counts as this much where its logarithm is taken."""


def passing(curve: Callable[[float], float], delta: float, end: float) -> float:
    """Return about where a falling curve passes delta, between 0 and ``end``.

    Args:
        curve: From epsilon to delta.
        delta: Positive.
        end: The largest epsilon.
    """
    low, high = 0.0, min(1.0, end)
    while high < end and curve(high) > delta:
        low, high = high, min(2 * high, end)
    at_low, at_high = _log(curve(low)) - _log(delta), _log(curve(high)) - _log(delta)
    if at_high >= 0:
        return high
    for _ in range(40):
        if high - low <= 1e-9 * (1 + high):
            break
        # The logarithm of a profile is nearly a line; a step that gains too little is halved.
        middle = low + (high - low) * min(0.95, max(0.05, at_low / (at_low - at_high)))
        value = _log(curve(middle)) - _log(delta)
        if abs(value) < 1e-9:
            return middle
        if value > 0:
            low, at_low, at_high = middle, value, at_high / 2
        else:
            high, at_high, at_low = middle, value, at_low / 2
    return (low + high) / 2


def proved_beyond(proved: Callable[[float], bool], guess: float, step: float, end: float) -> float:
    """Return the first of guess + step, guess + 3 step, guess + 7 step, ... that is proved, or ``end``.

    Args:
        proved: Whether an epsilon is proved to lie on the wanted side.
        guess: Where to start.
        step: Positive to go up, negative to go down.
        end: Where to stop at the latest; it needs no proof.
    """
    at = guess + step
    while (at < end) if step > 0 else (at > end):
        if proved(at):
            return at
        step *= 2
        at += step
    return end


def _log(value: float) -> float:
    return math.log(max(value, LEAST))
