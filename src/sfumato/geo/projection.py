"""From degrees to metres: a local projection around one point."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, numbers
from ..errors import InputError

if TYPE_CHECKING:
    import pyproj

LIMIT_KM: Final = 1500
"""How far from its centre a projection is used; there it stretches by up to 0.95 %."""

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
        """Return metres east and north of the centre, array (n, 2).

        Args:
            lat: Latitudes, array (n,) in degrees.
            lon: Longitudes, array (n,) in degrees.
        """
        north, east = np.ravel(numbers(lat, "the latitude")), np.ravel(numbers(lon, "the longitude"))
        if north.shape != east.shape:
            raise InputError(
                f"{len(north)} latitudes and {len(east)} longitudes were given.",
                "pass as many of the one as the other.",
            )
        x, y = self._proj()(coordinates(east), coordinates(north))
        return np.column_stack([x, y])

    def check_reach(self, xy: Floats) -> None:
        """Refuse places on the plane that are so far from its centre that distances are more than 1 % off.

        Args:
            xy: Array (n, 2), metres east and north of the centre.

        Raises:
            InputError: If one is farther than `LIMIT_KM`, or has no position on the plane.
        """
        reach = float(np.hypot(*xy.T).max())
        if not reach <= 1000 * LIMIT_KM:
            raise InputError(
                f"the places reach {reach / 1000:,.0f} km from the centre of their plane "
                f"({self.lat:g}, {self.lon:g}), and beyond {LIMIT_KM:,} km distances on it are more than 1 % off.",
                "use a plane centred on the places, as sfumato does for itself, and a smaller region.",
            )

    def inverse(self, xy: ArrayLike) -> Floats:
        """Return latitudes and longitudes, array (n, 2), of metres east and north, array (n, 2)."""
        plane = np.array(xy, dtype=np.float64)
        lon, lat = self._proj()(coordinates(plane[:, 0]), coordinates(plane[:, 1]), inverse=True)
        return np.column_stack([lat, lon])

    def _proj(self) -> pyproj.Proj:
        import pyproj  # a fifth of a second: not paid by those who read no places

        return pyproj.Proj(self.crs)


def coordinates(values: ArrayLike) -> array[float]:
    """Return numbers, array (n,), as pyproj takes them for any n: it tries an array of one as a scalar first."""
    return array("d", np.asarray(values, dtype=np.float64).tobytes())
