"""Where a falling function crosses a level, from both sides."""

from __future__ import annotations

from collections.abc import Callable


def crossing(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return numbers next to each other, the lower of which is above the level and the upper is not.

    Args:
        above: Whether the function is above the level.
        low: Where it is.
        high: Where it is not.
    """
    while high - low > 1e-14 * high and low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if above(middle) else (low, middle)
    return low, high
