"""A region: the rectangle of latitudes and longitudes that a study covers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arguments import checked
from ..core.arrays import Floats, numbers
from ..core.units import length_m, show
from ..errors import InputError, argument
from .projection import LIMIT_KM, Projection

_NUMBER = r"\s*([+-]?[0-9.]+)\s*"
_CORNERS: Final = re.compile(rf"{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}")
_AROUND: Final = re.compile(rf"\s*(?P<width>.+?)\s*[x×]\s*(?P<height>.+?)\s+around\s+{_NUMBER},{_NUMBER}")
_EXAMPLES: Final = (
    "write south,west,north,east as in '48.82,2.28,48.88,2.39', or '8 km x 6 km around 48.85,2.35' "
    "(latitude, longitude)."
)


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of latitudes and longitudes, in degrees (WGS84).

    Attributes:
        south: The least latitude.
        west: The least longitude.
        north: The greatest latitude.
        east: The greatest longitude.

    Raises:
        InputError: If they are out of range, out of order, or the rectangle reaches so
            far that no plane shows its distances within 1 %.

    Example:
        >>> from sfumato.geo import Region
        >>> print(Region.parse("8 km x 6 km around 48.85,2.35"))
        48.82302,2.29550,48.87698,2.40450
    """

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        corners = (self.south, self.west, self.north, self.east)
        found = numbers(corners, "the region")
        if found.shape != (4,) or not np.isfinite(found).all():
            raise InputError(f"the region {corners} is not four numbers.", _EXAMPLES)
        if max(abs(self.south), abs(self.north)) > 90 or max(abs(self.west), abs(self.east)) > 180:
            raise InputError(f"the region {self} leaves the globe.", _EXAMPLES)
        if self.south > self.north:
            raise InputError(f"the region {self} has its south above its north.", _EXAMPLES)
        if self.west > self.east:
            raise InputError(
                f"the region {self} has its west beyond its east.",
                f"{_EXAMPLES} A region cannot cross the 180th meridian: take its two sides separately.",
            )
        edge = Projection(*self.centre).forward(
            [self.south, self.south, self.north, self.north], [self.west, self.east, self.west, self.east]
        )
        reach = float(np.hypot(*edge.T).max())
        if reach <= 1000 * LIMIT_KM and self.east - self.west > 90:
            raise InputError(
                f"the region {self} is too near a pole: it spans {self.east - self.west:.0f} degrees of "
                "longitude, and more than 90 have no flat map.",
                f"choose a smaller one with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
            )
        if not reach <= 1000 * LIMIT_KM:
            raise InputError(
                f"the region {self} is too wide: its corners are {reach / 1000:,.0f} km from its centre, and "
                f"beyond {LIMIT_KM:,} km a flat map errs by more than 1 %.",
                f"choose a smaller one with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
            )

    def __str__(self) -> str:
        return f"{self.south:.5f},{self.west:.5f},{self.north:.5f},{self.east:.5f}"

    @classmethod
    @checked
    def parse(cls, text: str) -> Region:
        """Read a region: ``"48.82,2.28,48.88,2.39"`` or ``"8 km x 6 km around 48.85,2.35"``.

        Raises:
            InputError: If the text is neither.
            UnitError: If the lengths cannot be read.
        """
        if match := _CORNERS.fullmatch(text):
            south, west, north, east = (_number(part, text) for part in match.groups())
            return cls(south, west, north, east)
        if match := _AROUND.fullmatch(text):
            width, height, lat, lon = match.groups()
            if width.strip("0123456789.") == "":  # "8 x 6 km": one unit for both
                width += height.lstrip("0123456789.")
            return cls.around(_number(lat, text), _number(lon, text), width, height)
        raise InputError(f"the region {text!r} is not understood.", _EXAMPLES)

    @classmethod
    def around(cls, lat: float, lon: float, width: float | str, height: float | str) -> Region:
        """Return the region of given size around a point.

        Args:
            lat: Latitude of the middle, degrees.
            lon: Longitude of the middle, degrees.
            width: From west to east at the middle: metres, or text such as ``"8 km"``.
            height: From south to north.
        """
        x, y = length_m(width, "the width") / 2, length_m(height, "the height") / 2
        if not (x > 0 and y > 0):
            raise InputError(f"the region's size {width} x {height} is not positive.", _EXAMPLES)
        if max(x, y) > 1000 * LIMIT_KM:
            raise InputError(
                f"the region's size {width} x {height} is too large for a flat map.",
                f"stay below {2 * LIMIT_KM:,} km.",
            )
        ends = Projection(lat, lon).inverse([(0, -y), (0, y), (-x, 0), (x, 0)])
        south, north, west, east = (float(end) for end in (ends[0, 0], ends[1, 0], ends[2, 1], ends[3, 1]))
        if not south < lat < north:
            raise InputError(
                f"a region of {width} x {height} around {lat}, {lon} reaches over a pole.",
                "choose a smaller one, or one farther from the pole.",
            )
        if not west < lon < east:
            raise InputError(
                f"a region of {width} x {height} around {lat}, {lon} reaches across the 180th meridian.",
                "choose a smaller one, or one on each side of it.",
            )
        return cls(south, west, north, east)

    @property
    def centre(self) -> tuple[float, float]:
        """Latitude and longitude of the middle."""
        return (self.south + self.north) / 2, (self.west + self.east) / 2

    @property
    def size_m(self) -> tuple[float, float]:
        """Width through the middle and height, in metres."""
        lat, lon = self.centre
        ends = Projection(lat, lon).forward([lat, lat, self.south, self.north], [self.west, self.east, lon, lon])
        return float(ends[1, 0] - ends[0, 0]), float(ends[3, 1] - ends[2, 1])

    def shape_of(self, cells: int) -> tuple[int, int]:
        """Return the columns and rows of a grid of about this many cells, each about as wide as high.

        Args:
            cells: The number of cells.

        Example:
            >>> Region.parse("8 km x 6 km around 48.85,2.35").shape_of(108)
            (12, 9)
        """
        width, height = self.size_m
        if not (width > 0 and height > 0):
            return 1, 1
        columns = min(cells, max(1, round((cells * width / height) ** 0.5)))
        return columns, max(1, round(cells / columns))

    @property
    def size(self) -> str:
        """Width and height in words, such as ``"8 km x 6 km"``."""
        width, height = self.size_m
        return f"{show(width, 'm')} x {show(height, 'm')}"

    def sides(self) -> tuple[Floats, Floats]:
        """Return points along the four sides, latitudes and longitudes; on a plane parallels are curves."""
        along = np.linspace(0, 1, 65)
        lat, lon = self.south + along * (self.north - self.south), self.west + along * (self.east - self.west)
        ends = np.ones_like(along)
        return (
            np.concatenate([self.south * ends, self.north * ends, lat, lat]),
            np.concatenate([lon, lon, self.west * ends, self.east * ends]),
        )

    def contains(self, lat: Floats, lon: Floats) -> NDArray[np.bool_]:
        """Return which points are inside, borders included, array (n,)."""
        inside: NDArray[Any] = (lat >= self.south) & (lat <= self.north) & (lon >= self.west) & (lon <= self.east)
        return inside


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} in the region {whole!r} is not a number.", _EXAMPLES) from None
