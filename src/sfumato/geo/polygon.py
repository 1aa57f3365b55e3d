"""A polygon: an area that somebody draws, to choose the visits inside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..core.frozen import Frozen
from ..errors import InputError
from .region import Region

_MOST: Final = 1_000  # corners
_DIGITS: Final = 5  # with which a region is written


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Polygon(Frozen):
    """An area with straight sides on a map of latitudes and longitudes, without holes.

    Whether a point exactly on a side counts as inside is not said.

    Args:
        corners: Latitudes and longitudes in degrees (WGS84), array (n, 2), in order; the first may be repeated
            at the end.

    Raises:
        InputError: If there are fewer than three corners or more than 1,000, one is no position, two sides
            cross or touch, or it is too wide for a flat map.

    Example:
        >>> from sfumato.geo import Polygon
        >>> Polygon([(48.85, 2.30), (48.85, 2.36), (48.88, 2.33)]).contains([48.86, 48.88], [2.33, 2.30]).tolist()
        [True, False]
    """

    corners: Floats

    @checked
    def __init__(self, corners: Iterable[Sequence[float]]) -> None:
        given = floats(list(corners), "the corners", shape=(None, 2))
        if len(given) > 1 and (given[0] == given[-1]).all():
            given = given[:-1]
        if not 3 <= len(given) <= _MOST:
            raise InputError(f"the polygon has {len(given)} corners.", f"give 3 to {_MOST:,}.")
        if (np.abs(given[:, 0]) > 90).any() or (np.abs(given[:, 1]) > 180).any():
            raise InputError("a corner of the polygon is not on the globe.", "give latitudes and longitudes.")
        object.__setattr__(self, "corners", readonly(given.copy()))
        if _crosses(given):
            raise InputError("two sides of the polygon cross or touch.", "draw it without crossings.")
        self.region  # noqa: B018  # a polygon that no flat map shows is refused here

    def __repr__(self) -> str:
        return f"a polygon of {len(self.corners)} corners in {self.region}"

    @property
    def region(self) -> Region:
        """The smallest rectangle around it, widened to hundred-thousandths of a degree."""
        (south, west), (north, east) = self.corners.min(axis=0), self.corners.max(axis=0)
        return Region(
            max(-90.0, _below(float(south))),
            max(-180.0, _below(float(west))),
            min(90.0, -_below(-float(north))),
            min(180.0, -_below(-float(east))),
        )

    def contains(self, lat: Any, lon: Any) -> NDArray[np.bool_]:
        """Return which points are inside, array (n,).

        Args:
            lat: Latitudes, degrees, array (n,).
            lon: Longitudes.
        """
        y, x = np.asarray(lat, dtype=float), np.asarray(lon, dtype=float)
        inside = np.zeros(y.shape, dtype=np.bool_)
        for (south, west), (north, east) in zip(self.corners, np.roll(self.corners, -1, axis=0), strict=True):
            if south != north:  # a level side is never crossed
                at = np.flatnonzero((south > y) != (north > y))
                crossing = west + (y[at] - south) / (north - south) * (east - west)
                inside[at] ^= x[at] < crossing
        return inside


def _below(degrees: float) -> float:
    """Return the next smaller number of few digits, or the same one."""
    near = round(degrees, _DIGITS)
    return near if near <= degrees else round(near - 10**-_DIGITS, _DIGITS)


def _crosses(corners: Floats) -> bool:
    """Return whether two sides have a point in common that is not the corner between them."""
    starts, ends = corners, np.roll(corners, -1, axis=0)
    count = len(corners)
    if (starts == ends).all(axis=1).any():
        return True
    for k in range(count):
        others = np.arange(k + 1, count)
        neighbours = (others == k + 1) | ((k == 0) & (others == count - 1))
        a, b = starts[k], ends[k]
        c, d = starts[others], ends[others]
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
    """Return on which side of the line from a to b each c lies."""
    found: Floats = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        c[..., 0] - a[..., 0]
    )
    return found
