"""From degrees to metres: a local projection around one point."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, numbers
from ..errors import InputError
from .geodesic import from_centre, to_degrees
from .nearby import MANY, near_centre

LIMIT_KM: Final = 1500
"""How far from its centre a projection is used; there it stretches by up to 0.95 %."""

CLOSE_M: Final = 1e-7
"""How far apart two projections of a point by different arithmetic may be, metres; in truth some nanometres."""

_HALF_AXIS_M: Final = 6_356_752.3  # the polar one of WGS84, rounded down
_FORM = "+proj=aeqd +lat_0={} +lon_0={} +datum=WGS84 +units=m +no_defs"
_PATTERN: Final = re.compile(re.escape(_FORM).replace(r"\{\}", r"(-?[0-9.e-]+)"))


@dataclass(frozen=True, slots=True)
class Projection:
    """The azimuthal equidistant projection of the WGS84 ellipsoid around a point.

    Distances from the centre are exact. A distance between two other points is never
    shortened, and stretched by at most c / sin c, where c is their angle from the centre:
    by 1e-7 in a town, 1 % at 1,560 km. Farther than `LIMIT_KM` it is not used.

    Attributes:
        lat: Latitude of the centre, degrees.
        lon: Longitude of the centre, degrees.

    Source:
        Snyder, "Map Projections: A Working Manual", chapter 25.
    """

    lat: float
    lon: float

    def __post_init__(self) -> None:
        if not (abs(self.lat) <= 90 and abs(self.lon) <= 180):
            raise InputError(
                f"the centre {self.lat:g}, {self.lon:g} is not a latitude and a longitude.",
                "pass degrees: -90 to 90, -180 to 180.",
            )

    @classmethod
    def from_crs(cls, crs: str) -> Projection:
        """Return the projection whose `crs` this is."""
        match = _PATTERN.fullmatch(crs)
        if match is None:
            raise InputError(
                f"{crs!r} is not a local projection.", f"it looks like {_FORM.format(48.85, 2.35)!r}."
            )
        try:
            return cls(float(match[1]), float(match[2]))
        except ValueError as error:
            raise InputError(
                f"{crs!r} is not centred on a latitude and a longitude.", "use degrees: -90 to 90, -180 to 180."
            ) from error

    @property
    def crs(self) -> str:
        """The projection as a PROJ string."""
        return _FORM.format(float(self.lat), float(self.lon))

    def forward(self, lat: ArrayLike, lon: ArrayLike) -> Floats:
        """Return metres east and north of the centre, array (n, 2); NaN for what is not on the Earth.

        Many points near the centre are brought there by polynomials, which agree with the series to 20 nanometres.

        Args:
            lat: Latitudes, array (n,) in degrees.
            lon: Longitudes, array (n,) in degrees.
        """
        north, east = np.ravel(numbers(lat, "the latitude")), np.ravel(numbers(lon, "the longitude"))
        if north.shape != east.shape:
            raise InputError(
                f"{len(north)} latitudes and {len(east)} longitudes were given.",
                "pass as many latitudes as longitudes.",
            )
        near = near_centre(float(self.lat), float(self.lon)) if len(north) >= MANY else None
        if near is not None:
            return near.forward(north, east)
        known = (np.abs(north) <= 90) & np.isfinite(east)
        x, y = from_centre(
            np, (self.lat, self.lon), np.where(known, north, self.lat), np.where(known, east, self.lon)
        )
        return np.where(known[:, None], np.column_stack([x, y]), np.nan)

    def forward_one(self, lat: float, lon: float) -> tuple[float, float]:
        """Return metres east and north of the centre of one point; see `forward`.

        It is fast, and within `CLOSE_M` of what `forward` returns.
        """
        if not (abs(lat) <= 90 and math.isfinite(lon)):
            return math.nan, math.nan
        return from_centre(math, (self.lat, self.lon), lat, lon)

    def check_reach(self, xy: Floats) -> None:
        """Refuse places on the plane that are so far from its centre that distances are more than 1 % off.

        Args:
            xy: Array (n, 2), metres east and north of the centre.

        Raises:
            InputError: If one is farther than `LIMIT_KM`, or has no position on the plane.
        """
        with np.errstate(over="ignore"):  # infinitely far away is too far
            reach = float(np.hypot(*xy.T).max())
        if not reach <= 1000 * LIMIT_KM:
            raise InputError(
                f"the places reach {reach / 1000:,.6g} km from the centre of their plane "
                f"({self.lat:g}, {self.lon:g}), and beyond {LIMIT_KM:,} km distances on it are more than 1 % off.",
                "use a plane centred on the places, as sfumato does for itself, and a smaller region.",
            )

    def stretch(self, reach_m: float) -> float:
        """Return how much longer than on the ground a distance on the plane can be, at most.

        With s the distance from the centre, lengths around it are stretched by s over the reduced length of the
        geodesic, which is at least b sin(s / b) for the ellipsoid's smaller half-axis b: its curvature is nowhere
        above 1 / b**2 (Sturm). Lengths towards the centre are exact.

        Args:
            reach_m: How far from the centre the points are at most, metres.

        Returns:
            A factor of at least 1, rounded up.
        """
        angle = reach_m / _HALF_AXIS_M
        if reach_m == 0:
            return 1.0
        return (angle / math.sin(angle) if angle > 0 else 1.0) * (1 + 1e-14)  # a small angle may vanish as a float

    def inverse(self, xy: ArrayLike) -> Floats:
        """Return latitudes and longitudes, array (n, 2), of metres east and north, array (n, 2)."""
        x, y = np.array(xy, dtype=np.float64).T
        return np.column_stack(to_degrees(np, (self.lat, self.lon), x, y))

    def inverse_one(self, x: float, y: float) -> tuple[float, float]:
        """Return latitude and longitude of one point, metres east and north; see `inverse`."""
        return to_degrees(math, (self.lat, self.lon), x, y)
