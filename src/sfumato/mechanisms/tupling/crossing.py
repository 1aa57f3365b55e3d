"""The crossing of a falling curve with a value: a guess, and proofs on either side of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final

from scipy.optimize import brentq

LEAST: Final = 1e-300
"""Below it a delta counts as this much where its logarithm is taken."""

_SAME: Final = 1e-9  # near enough, in epsilon and in the logarithm of delta
_STEPS: Final = 60


def passing(curve: Callable[[float], float], delta: float, end: float) -> float:
    """Return about where a falling curve passes delta, between 0 and ``end``.

    Args:
        curve: From epsilon to delta.
        delta: Positive.
        end: The largest epsilon.
    """

    @cache
    def above(epsilon: float) -> float:
        # The logarithm of a profile is nearly a line.
        value = math.log(max(curve(epsilon), LEAST)) - math.log(delta)
        return value if abs(value) >= _SAME else 0.0

    low, high = 0.0, min(1.0, end)
    while high < end and above(high) > 0:
        low, high = high, min(2 * high, end)
    if above(low) <= 0 or above(high) >= 0:
        return low if above(low) <= 0 else high
    return float(brentq(above, low, high, xtol=_SAME, rtol=_SAME, maxiter=_STEPS, disp=False))


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
