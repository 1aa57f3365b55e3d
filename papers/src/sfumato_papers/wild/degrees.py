"""Degrees as metres at a latitude: cells of degrees become rectangles of the local plane."""

from __future__ import annotations

import math
from typing import Final

from sfumato.errors import InputError

_AXIS_M: Final = 6_378_137.0  # WGS84
_FLATTENING: Final = 1 / 298.257223563
_SQUARED: Final = _FLATTENING * (2 - _FLATTENING)  # the eccentricity's square


def degree_m(lat: float) -> tuple[float, float]:
    """Return how long a degree of longitude and a degree of latitude are at a latitude, metres.

    Args:
        lat: Latitude, degrees.

    Raises:
        InputError: If the latitude is beyond 89 degrees.

    Source:
        Snyder, "Map Projections: A Working Manual", equations 4-18 and 4-20.
    """
    if not abs(lat) <= 89:
        raise InputError(f"the latitude {lat:g} is beyond 89 degrees.", "use one where people live, such as 40.")
    phi = math.radians(lat)
    bulge = 1 - _SQUARED * math.sin(phi) ** 2
    east = math.radians(_AXIS_M / math.sqrt(bulge) * math.cos(phi))
    north = math.radians(_AXIS_M * (1 - _SQUARED) / bulge**1.5)
    return east, north
