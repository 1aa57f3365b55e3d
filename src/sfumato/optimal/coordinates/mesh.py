"""Triangles that cover the convex hull of some places, finer where it matters.

Every corner is an exact multiple of a power of two, and so are the middles of the sides. So triangles
and the four quarters of each cover the hull without a gap, whatever rounding says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from ...core.arrays import Floats
from ...core.immutable import CompactRepr

Indices = NDArray[np.intp]

_BITS: Final = 44  # of coordinates, so that sums and middles of corners stay exact
DEEPEST: Final = 14  # how often a triangle is quartered at most
_DOUBLINGS: Final = 7  # of corners, until enough are in the hull
_ROUNDING: Final = 2.0**-48  # of a product with a unit vector, beside the coordinates' size


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mesh(CompactRepr):
    """Triangles of nearly equal sides; together they cover the convex hull of the places.

    A corner of a small triangle may lie on the side of a larger one.
    """

    corners: Floats  # array (m, 2), the corners of all triangles, in metres
    triangles: Indices  # array (t, 3), positions in `corners`
    depths: Indices  # array (t,), how often the first triangle was quartered
    directions: Floats  # array (k, 2), unit vectors
    reach: Floats  # array (k,): no place is farther than this in a direction

    @classmethod
    def covering(cls, places: Floats, corners: int) -> Mesh:
        """Return a mesh of equal triangles with about so many corners over places (n, 2), in metres."""
        directions = _directions(places)
        size = float(np.abs(places).max())
        reach = (places @ directions.T).max(axis=0) + _ROUNDING * 2 * size
        low, extent = places.min(axis=0), np.ptp(places, axis=0)
        wide = max(float(extent.max()), size * 2.0**-20) or 1.0
        quantum = 2.0 ** (math.frexp(max(size, wide))[1] - _BITS)
        # The hull fills some of its box; the border takes a row more than that.
        side = math.sqrt(float(np.prod(np.maximum(extent, 0.05 * wide))) / (0.8 * max(corners, 4)))
        step = 2**DEEPEST * max(1, round(side / (8 * quantum * 2**DEEPEST))) * quantum
        origin = (np.floor(low / quantum) - 1) * quantum
        rows = math.ceil(float(extent[1]) / (7 * step)) + 2
        columns = math.ceil(float(extent[0]) / (8 * step)) + 3
        j, i = (index.ravel() for index in np.mgrid[:rows, :columns])
        # Rows are 7 apart and 8 wide: 7 / 8 is exact, and nearly the height of an equilateral triangle.
        start = np.column_stack([8 * step * i - 4 * step * (j % 2) - 4 * step, 7 * step * j - 3.5 * step]) + origin
        right, up = np.array([8 * step, 0.0]), np.array([4 * step, 7 * step])
        above, below = [start, start + right, start + up], [start + right, start + right + up, start + up]
        triangles = np.stack([np.stack(above, 1), np.stack(below, 1)]).reshape(-1, 3, 2)
        return cls._of(triangles, np.zeros(len(triangles), dtype=np.intp), directions, reach)

    @classmethod
    def _of(cls, triangles: Floats, depths: Indices, directions: Floats, reach: Floats) -> Mesh:
        """Return the mesh of triangles (t, 3, 2), without those that surely miss the hull."""
        slack = _ROUNDING * 2 * float(np.abs(triangles).max())
        misses = ((triangles @ directions.T).min(axis=1) - slack > reach).any(axis=1)
        kept, depths = triangles[~misses], depths[~misses]
        corners, where = np.unique(kept.reshape(-1, 2), axis=0, return_inverse=True)
        return cls(corners, where.reshape(-1, 3), depths, directions, reach)

    def __len__(self) -> int:
        return len(self.corners)

    def quartered(self, chosen: NDArray[np.bool_]) -> Mesh:
        """Return the mesh with the chosen triangles, a mask (t,), cut into four each at their sides' middles."""
        chosen = chosen & (self.depths < DEEPEST)
        a, b, c = (self.corners[self.triangles[chosen, k]] for k in range(3))
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        quarters = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        parts = [self.corners[self.triangles[~chosen]], *(np.stack(quarter, axis=1) for quarter in quarters)]
        deeper = self.depths[chosen] + 1
        depths = np.concatenate([self.depths[~chosen], *[deeper] * 4])
        return self._of(np.concatenate(parts), depths, self.directions, self.reach)

    def around(self, corners: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which triangles, a mask (t,), are among the largest at one of the marked corners, a mask (m,)."""
        flat, depths = self.triangles.ravel(), np.repeat(self.depths, 3)
        coarsest = np.full(len(self), DEEPEST, dtype=np.intp)
        np.minimum.at(coarsest, flat, depths)
        marked = corners[flat] & (depths == coarsest[flat])
        found: NDArray[np.bool_] = marked.reshape(-1, 3).any(axis=1)
        return found


def points_inside(places: Floats, count: int) -> Floats:
    """Return points spread over the convex hull of places and surely in it, array (k, 2), metres.

    A few more than ``count`` come, or none where the hull has no area.
    """
    found = places[:0]
    for more in range(_DOUBLINGS if count > 0 else 0):
        mesh = Mesh.covering(places, count * 2**more)
        slack = _ROUNDING * 4 * float(np.abs(mesh.corners).max())
        inside = np.all(mesh.corners @ mesh.directions.T <= mesh.reach - slack, axis=1)
        found = mesh.corners[inside]
        if len(found) >= count:
            break
    return found


def _directions(places: Floats) -> Floats:
    """Return the outward directions of the sides of the hull and of the triangles, array (k, 2)."""
    sides = np.array([[1, 0], [0, 1], [7, 4], [7, -4]]) / np.array([[1], [1], [65**0.5], [65**0.5]])
    found = [sides, -sides]
    try:
        found.append(ConvexHull(places).equations[:, :2])
    except (QhullError, ValueError):  # fewer than three places, or all on one line
        far = places - places[0]
        along = far[int(np.argmax(np.hypot(*far.T)))]
        length = float(np.hypot(*along))
        if length > 0:
            normal = np.array([[-along[1], along[0]]]) / length
            found += [normal, -normal]
    return np.concatenate(found)
