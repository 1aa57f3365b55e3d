"""Nearest points of a fine square lattice, decided exactly: no place is farther from its own than promised."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import InputError

_FARTHEST: Final = 2.0**40  # steps: noise added to such positions fits a word by far
_NEAR_A_BORDER: Final = 2.0**-10  # in steps: more than the rounding of a quotient up to the farthest


def snapped_one(place_m: float, step_m: Fraction) -> int:
    """Return the nearest lattice point along one axis in steps, as `snapped` does.

    Args:
        place_m: Metres, finite, less than 2**40 steps from the origin.
        step_m: The step of the lattice.
    """
    quotient = place_m / float(step_m)
    found = math.floor(quotient + 0.5)
    if abs(abs(quotient - found) - 0.5) < _NEAR_A_BORDER:
        found = math.floor(Fraction(place_m) / step_m + Fraction(1, 2))
    return found


def snapped(points_m: Floats, step_m: Fraction) -> NDArray[np.int64]:
    """Return the nearest lattice point of each place in steps, array (n, 2); on a border the upper one.

    Args:
        points_m: Metres east and north, array (n, 2), finite.
        step_m: The step of the lattice.

    Raises:
        InputError: If a place is 2**40 steps or more from the origin.
    """
    quotients = points_m / float(step_m)
    if not (np.abs(quotients) < _FARTHEST).all():
        raise InputError(
            f"a place is more than {_FARTHEST * float(step_m) / 1000:,.0f} km from the origin of the plane.",
            "centre the plane on the places.",
        )
    found = np.floor(quotients + 0.5).astype(np.int64)
    unsure = np.argwhere(np.abs(np.abs(quotients - found) - 0.5) < _NEAR_A_BORDER)
    for row, axis in unsure.tolist():
        found[row, axis] = math.floor(Fraction(float(points_m[row, axis])) / step_m + Fraction(1, 2))
    return found
