"""Degrees of reports: latitudes and longitudes are released with seven decimals, a centimetre on the ground.

Rounding a report tells nothing new about the place that it was drawn for. What it leaves out are the last
digits of floats, which no promise is about.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .arrays import Floats

_UNITS: Final = 1e7  # per degree


def released(latlon: Floats) -> Floats:
    """Return degrees rounded to seven decimals, array of the same shape: no place moves by more than 8 mm.

    Each is the float nearest to its decimal, so that texts of it have no further digits.
    """
    found: Floats = np.rint(np.asarray(latlon, dtype=np.float64) * _UNITS) / _UNITS + 0.0  # no negative zero
    return found


def released_one(lat: float, lon: float) -> tuple[float, float]:
    """Return one latitude and longitude as `released` does."""
    return round(lat * _UNITS) / _UNITS, round(lon * _UNITS) / _UNITS
