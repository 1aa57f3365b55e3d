"""Regions on the ground: rectangles and polygons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arguments import check_arguments
from ..core.arrays import Floats, floats, numbers, readonly
from ..core.immutable import Immutable, NotebookRepr
from ..core.units import length_m, show
from ..errors import InputError, argument
from .projection import LIMIT_KM, Projection

_NUMBER = r"\s*([+-]?[0-9.]+)\s*"
_CORNERS: Final = rf"{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}"
_AROUND: Final = rf"\s*(.+?)\s*[x×]\s*(.+?)\s+around\s+{_NUMBER},{_NUMBER}"
_EXAMPLES: Final = (
    "write south,west,north,east as in '48.82,2.28,48.88,2.39', or '8 km x 6 km around 48.85,2.35' "
    "(latitude, longitude)."
)
_MOST: Final = 1_000  # corners
_DIGITS: Final = 5  # with which a region is written


@dataclass(frozen=True, slots=True)
class Region(NotebookRepr):
    """A rectangle of latitudes and longitudes, in degrees (WGS84).

    Raises `InputError` if they are out of range or out of order, or the rectangle is too wide for a plane that
    shows its distances within 1 %.

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
        values = numbers(corners, "the region")
        if values.shape != (4,) or not np.isfinite(values).all():
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
                f"beyond {LIMIT_KM:,} km distances on a flat map are off by more than 1 %.",
                f"choose a smaller one with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
            )

    def __str__(self) -> str:
        return f"{self.south:.5f},{self.west:.5f},{self.north:.5f},{self.east:.5f}"

    @classmethod
    def parse(cls, text: str) -> Region:
        """Read a region: ``"48.82,2.28,48.88,2.39"`` or ``"8 km x 6 km around 48.85,2.35"``; else `InputError`."""
        if match := re.fullmatch(_CORNERS, text):
            south, west, north, east = (_number(part, text) for part in match.groups())
            return cls(south, west, north, east)
        if match := re.fullmatch(_AROUND, text):
            width, height, lat, lon = match.groups()
            if width.strip("0123456789.") == "":  # "8 x 6 km": one unit for both
                width += height.lstrip("0123456789.")
            return cls.around(_number(lat, text), _number(lon, text), width, height)
        raise InputError(f"the region {text!r} is not understood.", _EXAMPLES)

    @classmethod
    def around(cls, lat: float, lon: float, width: float | str, height: float | str) -> Region:
        """Return the region of a width and height (metres, or text such as ``"8 km"``) around a point."""
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

    @check_arguments
    def shape_of(self, cells: int) -> tuple[int, int]:
        """Return the columns and rows of a grid of about this many nearly square cells.

        Example:
            >>> Region.parse("8 km x 6 km around 48.85,2.35").shape_of(108)
            (12, 9)
        """
        if cells < 1:
            raise InputError(f"{argument('cells', cells)} is less than 1.", "use a whole number of at least 1.")
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
        """Return latitudes and longitudes of points along the four sides: on a plane, parallels are curves."""
        along = np.linspace(0, 1, 65)
        lat, lon = self.south + along * (self.north - self.south), self.west + along * (self.east - self.west)
        ends = np.ones_like(along)
        return (
            np.concatenate([self.south * ends, self.north * ends, lat, lat]),
            np.concatenate([lon, lon, self.west * ends, self.east * ends]),
        )

    def contains(self, lat: Floats, lon: Floats) -> NDArray[np.bool_]:
        """Return which points are inside, borders included, array (n,)."""
        return (lat >= self.south) & (lat <= self.north) & (lon >= self.west) & (lon <= self.east)


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} in the region {whole!r} is not a number.", _EXAMPLES) from None


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Polygon(Immutable):
    """An area with straight sides on a map of latitudes and longitudes, without holes.

    It is undefined whether a point exactly on a side is inside. ``corners`` are latitudes and longitudes in
    degrees (WGS84), array (n, 2), in order; the first may be repeated at the end. Raises `InputError` if there are
    fewer than three corners or more than 1,000, one is no position, two sides cross or touch, or it is too wide
    for a flat map.

    Example:
        >>> from sfumato.geo import Polygon
        >>> Polygon([(48.85, 2.30), (48.85, 2.36), (48.88, 2.33)]).contains([48.86, 48.88], [2.33, 2.30]).tolist()
        [True, False]
    """

    corners: Floats

    def __init__(self, corners: Iterable[Sequence[float]]) -> None:
        points = floats(list(corners), "the corners", shape=(None, 2))
        if len(points) > 1 and (points[0] == points[-1]).all():
            points = points[:-1]
        if not 3 <= len(points) <= _MOST:
            raise InputError(f"the polygon has {len(points)} corners.", f"give 3 to {_MOST:,}.")
        if (np.abs(points[:, 0]) > 90).any() or (np.abs(points[:, 1]) > 180).any():
            raise InputError("a corner of the polygon is not on the globe.", "give latitudes and longitudes.")
        object.__setattr__(self, "corners", readonly(points.copy()))
        if _crosses(points):
            raise InputError("two sides of the polygon cross or touch.", "draw it without crossings.")
        self.region  # noqa: B018  # a polygon that no flat map shows is refused here

    def __repr__(self) -> str:
        return f"a polygon of {len(self.corners)} corners in {self.region}"

    @property
    def region(self) -> Region:
        """The smallest rectangle around it, widened to hundred-thousandths of a degree."""
        (south, west), (north, east) = self.corners.min(axis=0).tolist(), self.corners.max(axis=0).tolist()
        low, high = (max(-90.0, _floor(south)), max(-180.0, _floor(west))), (-_floor(-north), -_floor(-east))
        return Region(*low, min(90.0, high[0]), min(180.0, high[1]))

    def contains(self, lat: Any, lon: Any) -> NDArray[np.bool_]:
        """Return which points, in degrees, are inside, array (n,)."""
        y, x = np.atleast_1d(np.asarray(lat, dtype=float)), np.atleast_1d(np.asarray(lon, dtype=float))
        inside = np.zeros(y.shape, dtype=np.bool_)
        for (south, west), (north, east) in zip(self.corners, np.roll(self.corners, -1, axis=0), strict=True):
            if south != north:  # a level side is never crossed
                at = np.flatnonzero((south > y) != (north > y))
                crossing = west + (y[at] - south) / (north - south) * (east - west)
                inside[at] ^= x[at] < crossing
        return inside


def _floor(degrees: float) -> float:
    """Return the largest number of five decimals that is at most this one."""
    near = round(degrees, _DIGITS)
    return near if near <= degrees else round(near - 10**-_DIGITS, _DIGITS)


def _crosses(corners: Floats) -> bool:
    """Return whether two sides share a point other than the corner between them."""
    starts, ends = corners, np.roll(corners, -1, axis=0)
    count = len(corners)
    if (starts == ends).all(axis=1).any():
        return True
    for k in range(count):
        rest = np.arange(k + 1, count)
        neighbours = (rest == k + 1) | ((k == 0) & (rest == count - 1))
        a, b = starts[k], ends[k]
        c, d = starts[rest], ends[rest]
        sides = np.sign(_turn(a, b, c)), np.sign(_turn(a, b, d)), np.sign(_turn(c, d, a)), np.sign(_turn(c, d, b))
        apart = (sides[0] * sides[1] > 0) | (sides[2] * sides[3] > 0)
        level = (sides[0] == 0) & (sides[1] == 0)  # on one line: they meet where their boxes do
        low, high = np.minimum(c, d), np.maximum(c, d)
        boxes = ((low <= np.maximum(a, b)) & (high >= np.minimum(a, b))).all(axis=1)
        meet = np.where(level, boxes, ~apart)
        back = level & (((b - a) * (d - c)).sum(axis=1) < 0)  # the next side goes back over this one
        if (meet & ~neighbours).any() or (neighbours & back).any():
            return True
    return False


def _turn(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return on which side of the line from a to b each c lies, by the sign."""
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
