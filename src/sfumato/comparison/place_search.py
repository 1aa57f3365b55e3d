"""The least epsilon of a family of mechanisms for places whose loss is no more than a limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from ..errors import SfumatoError, SolverError
from .place_contestants import Made
from .place_rows import PlaceRow
from .shared_time import NOT_REACHED

SLOPE: Final = -0.7
"""Of the logarithm of the loss by that of epsilon, where no other one is known."""

_CLOSE: Final = 0.01  # to the loss asked for
_TRIES: Final = 8  # epsilons for one mechanism
_STEEPEST, _FLATTEST = -3.0, -0.15


class PlaceMatch(NamedTuple):
    """The row of a family at a loss, and the slope by which its epsilon was found."""

    row: PlaceRow
    slope: float


def matched(
    make: Callable[[float], Made], name: str, limit: float, first: float, slope: float = SLOPE
) -> PlaceMatch:
    """Return the row of the least epsilon that is found to lose no more than a limit, and hardly less.

    The secant method in logarithms, held between an epsilon that loses too much and one that does not.

    Args:
        make: Makes the mechanism of an epsilon per kilometre.
        name: The family.
        limit: The loss.
        first: The first epsilon to try.
        slope: A guess of the slope of the logarithm of the loss by that of epsilon.
    """
    x = math.log(first)
    low, high = -math.inf, math.inf  # logarithms of an epsilon that loses too much, and of one that does not
    before: tuple[float, float] | None = None
    best: Made | None = None
    problem = "no epsilon that was tried loses so little."
    for _ in range(_TRIES):
        try:
            made = make(math.exp(x))
        except SolverError:
            problem = NOT_REACHED
            break
        except SfumatoError as error:
            problem = error.problem
            break
        loss = made.row.loss.upper
        if loss <= limit and (best is None or made.row.epsilon < best.row.epsilon):
            best = made
        value = math.log(loss / limit) + _CLOSE / 2
        if abs(value) <= _CLOSE / 2:
            break
        low, high = (x, high) if value > 0 else (low, x)
        if before is not None and x != before[0]:
            slope = min(max((value - before[1]) / (x - before[0]), _STEEPEST), _FLATTEST)
        before = (x, value)
        x -= value / slope
        if not low < x < high:
            x = (low + high) / 2
    if best is None:
        return PlaceMatch(PlaceRow.missing(name, math.exp(x), problem), slope)
    return PlaceMatch(best.attacked, slope)
