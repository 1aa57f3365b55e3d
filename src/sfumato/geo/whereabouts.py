"""Where on Earth places are, in words: exchanged columns or a wrong file show at a glance."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..rounding import amount
from .towns import nearest_town

_NEAR_M: Final = 100_000.0
_FAR_M: Final = 300_000.0
_IN_TOWN_M: Final = 15_000.0


def whereabouts(lat: ArrayLike, lon: ArrayLike) -> str:
    """Return the box of places, and the large town that is near, if one is.

    Args:
        lat: Latitudes in degrees, array (n,).
        lon: Longitudes in degrees, array (n,).

    Example:
        >>> whereabouts([48.85, 48.87], [2.29, 2.36])
        '48.85 N to 48.87 N, 2.29 E to 2.36 E, in or near Paris'
    """
    y, x = np.asarray(lat, dtype=float), np.asarray(lon, dtype=float)
    box = f"{_angle(y.min(), 'NS')} to {_angle(y.max(), 'NS')}, {_angle(x.min(), 'EW')} to {_angle(x.max(), 'EW')}"
    middle = float(np.median(y)), float(np.median(x))
    town, away = nearest_town(*middle)
    if away <= _IN_TOWN_M:
        return f"{box}, in or near {town.name}"
    if away <= _FAR_M:
        return f"{box}, {amount(away, 'm')} from {town.name}"
    text = f"{box}, with no large town that we know within {amount(_FAR_M, 'm')}"
    if abs(middle[1]) <= 90:
        other, distance = nearest_town(middle[1], middle[0])
        if distance <= _NEAR_M:
            text += (
                f"; with latitude and longitude exchanged they would be {amount(distance, 'm')} from "
                f"{other.name}: see whether the two are swapped"
            )
    return text


def _angle(degrees: float, letters: str) -> str:
    return f"{abs(degrees):.2f} {letters[0] if degrees >= 0 else letters[1]}"
