"""Convex parts of what a lattice serves: points outside are moved to the nearest point of one.

Far points are moved to a disc around the part first. Both moves together make no distance longer than the plane
itself does, so that a promise for points served holds for all points; docs/proofs/coordinates.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats, readonly
from ..core.immutable import Immutable
from .vertices import ROWS, SNAP_BITS, Integers

FAR_M: Final = 9_000_000.0
"""Points farther than this from the centre are moved towards it, and from `FARTHEST_M` on to the centre."""

FARTHEST_M: Final = 12_000_000.0

_MARGIN: Final = 4 / 2**SNAP_BITS  # in steps: so that a point moved here is served, whichever way it is snapped
_ROUNDING_M: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class ConvexPart(Immutable):
    """A convex polygon on the plane, by its corners: counter-clockwise, array (k, 2), metres."""

    corners: Floats
    _bounds: tuple[tuple[float, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "corners", readonly(np.array(self.corners)))
        object.__setattr__(self, "_bounds", tuple(map(tuple, np.column_stack(self.halves).tolist())))

    @property
    def halves(self) -> tuple[Floats, Floats]:
        """The half-planes that the part is the common part of: normals, array (k, 2), and offsets, array (k,)."""
        sides = np.roll(self.corners, -1, axis=0) - self.corners
        normals = np.column_stack([sides[:, 1], -sides[:, 0]]) / np.hypot(*sides.T)[:, None]
        return normals, (normals * self.corners).sum(axis=1)

    def nearest(self, xy: Floats, reach_m: float) -> Floats:
        """Return points (n, 2) in metres from the centre, those outside moved to the nearest point inside.

        Points farther than ``reach_m``, at least the distance of the corners, are first moved straight to it; see
        `FAR_M` for points on the other side of the Earth.
        """
        found = xy.copy()
        outside = np.flatnonzero(~self._holds(xy))
        pulled = pulled_in(xy[outside], reach_m)
        start = self.corners
        side = np.roll(start, -1, axis=0) - start
        beyond = np.flatnonzero(~self._holds(pulled))
        from_start = pulled[beyond, None] - start
        along = np.clip((from_start * side).sum(axis=2) / (side**2).sum(axis=1), 0, 1)
        candidates = start + along[:, :, None] * side
        distances = np.hypot(*(pulled[beyond, None] - candidates).transpose(2, 0, 1))
        pulled[beyond] = candidates[np.arange(len(beyond)), distances.argmin(axis=1)]
        found[outside] = pulled
        return found

    def _holds(self, xy: Floats) -> NDArray[np.bool_]:
        x, y = xy[:, 0], xy[:, 1]
        inside = np.ones(len(xy), dtype=bool)
        for east, north, offset in self._bounds:
            inside &= x * east + y * north <= offset
        return inside

    def contains(self, x: float, y: float) -> bool:
        """Return whether one point is inside."""
        return all(x * east + y * north <= offset for east, north, offset in self._bounds)


def pulled_in(xy: Floats, reach_m: float) -> Floats:
    """Return points, those beyond a reach moved straight to it, and those beyond `FAR_M` towards the centre.

    On the ground this makes no distance longer than the plane does within the reach, even around the antipode.

    Args:
        xy: Array (n, 2), metres from the centre of the plane.
        reach_m: At most 1,500 km.
    """
    away = np.hypot(xy[:, 0], xy[:, 1])
    far = np.clip((FARTHEST_M - away) / (FARTHEST_M - FAR_M), 0, 1)
    factors = np.divide(reach_m * far, away, out=np.ones_like(away), where=away > reach_m)
    found: Floats = xy * np.minimum(factors, 1.0)[:, None]
    return found


def well_inside(corners: Floats, spacing_m: float) -> ConvexPart | None:
    """Return a convex polygon whose points are served, whichever way they are snapped; None where nothing is left.

    The corners of what is served are counter-clockwise, array (k, 2), metres.
    """
    middle = corners.mean(axis=0)
    normals, offsets = ConvexPart(corners).halves
    left = 1 - (_MARGIN * spacing_m + _ROUNDING_M) / float((offsets - normals @ middle).min())
    return ConvexPart(middle + (corners - middle) * left) if left > 0 else None


def served_rectangle(middles: Integers) -> Floats | None:
    """Return the corners of what a square lattice serves, in steps, where it is a rectangle; None elsewhere.

    Squares are served around the vertices ``middles``, array (n, 2).
    """
    low, high = middles.min(axis=0), middles.max(axis=0)
    if len(middles) < np.prod(high - low + 1):
        return None
    (west, south), (east, north) = low - 0.5, high + 0.5
    return np.array([(west, south), (east, south), (east, north), (west, north)])


def served_polygon(vertices: Integers, pieces: NDArray[np.intp]) -> Floats | None:
    """Return the corners of a convex part of what a triangular lattice serves, in steps; None where there is none.

    It is all of it where that is convex, and otherwise, where rows of triangles end one step after the other at
    most, the rectangle between their ends. Shapes are as for `convex_triangles`.
    """
    outline = convex_triangles(vertices, pieces)
    return _between_rows(vertices) if outline is None else outline


def convex_triangles(vertices: Integers, pieces: NDArray[np.intp]) -> Floats | None:
    """Return the corners of what a triangular lattice serves, in steps, where that is convex; None elsewhere.

    Vertices are in coordinates of the lattice, array (n, 2); ``pieces`` are the positions of the corners of each
    triangle, array (k, 3).
    """
    x, y = _hull(np.unique(vertices[np.unique(pieces)], axis=0)).T
    if len(pieces) < np.abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)):  # areas, in triangles
        return None
    return np.column_stack([x + y / 2, y * ROWS["triangular"]])


def _between_rows(vertices: Integers) -> Floats | None:
    rows = [vertices[vertices[:, 1] == b, 0] + b / 2 for b in range(*(np.sort(vertices[:, 1])[[0, -1]] + (0, 1)))]
    if any(len(row) < 2 or np.ptp(row) + 1 > len(row) for row in rows):
        return None
    first, last = (np.array([end(row) for row in rows]) for end in (np.min, np.max))
    west, east = first.max(), last.min()
    if west - first.min() > 1 or last.max() - east > 1 or west >= east:
        return None
    south, north = np.array([vertices[:, 1].min(), vertices[:, 1].max()]) * ROWS["triangular"]
    return np.array([(west, south), (east, south), (east, north), (west, north)])


def _hull(points: Integers) -> Integers:
    """Return the corners of the convex hull of points in lexicographic order, counter-clockwise (Andrew)."""
    half: list[list[tuple[int, int]]] = []
    for ordered in (points.tolist(), points[::-1].tolist()):
        chain: list[tuple[int, int]] = []
        for p in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        half.append(chain[:-1])
    return np.array(half[0] + half[1])


def _turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
