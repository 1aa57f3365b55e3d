"""Geometry of lattices: vertices, distances in steps, random rounding to vertices, and convex parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Metric
from ..core.arrays import Floats, freeze, numbers, readonly
from ..core.immutable import Immutable, assign
from ..errors import InputError

TRIANGLE: Final = np.array([(1.0, 0.0), (0.5, math.sqrt(3) / 2)])
"""The two steps of a triangular lattice, array (2, 2)."""

ROWS: Final = {"square": 1.0, "triangular": math.sqrt(3) / 2}
"""The distance of rows, in steps."""

_WIDEST: Final = 10_000_000  # places in the table of vertices
_ROWS_AT_ONCE: Final = 256
_ROUND: Final = 1e-8  # of a step: 8 km are 16 steps of 500 m, despite rounding
_TRIANGULAR: Final = np.array([(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)])
_AT_ONCE: Final = 1 << 20  # differences of vertices processed together
_DIAGONAL: Final = 1 << 24  # more than any number of steps

Integers = NDArray[np.int64]
Kind = Literal["square", "triangular"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)
AROUND: Final = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
"""Steps to a vertex itself and its eight neighbours, south to north within west to east, array (9, 2)."""

_SQUARE: Final = np.delete(AROUND, 4, axis=0)
SNAP_BITS: Final = 20  # positions are first rounded to multiples of the spacing over 2**20
Number = TypeVar("Number", float, Floats)
_ONE: Final = 2**SNAP_BITS
_FARTHEST: Final = 2.0**30  # steps: outside of every lattice
Draw = Callable[[int], NDArray[np.uint64]]
FAR_M: Final = 9_000_000.0
"""Points farther than this from the centre are moved towards it, and from `FARTHEST_M` on to the centre."""

FARTHEST_M: Final = 12_000_000.0
_MARGIN: Final = 4 / 2**SNAP_BITS  # in steps: so that a point moved here is served, however it is snapped
_ROUNDING_M: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VertexTable:
    """Positions of vertices in a list, by their coordinates minus ``low``; -1 elsewhere, with an empty border."""

    low: Integers
    positions: NDArray[np.intp]
    surrounded: NDArray[np.bool_]

    @classmethod
    def of(cls, vertices: Integers) -> Self:
        """Return the table of vertices (n, 2); `InputError` if they are spread too far, or one is given twice."""
        low = vertices.min(axis=0)
        size = vertices.max(axis=0) - low + 1
        if float(np.prod(size + 2.0)) > _WIDEST:
            raise InputError(
                f"the vertices spread over {size[0]:,} x {size[1]:,} steps, most of them without a vertex.",
                "use a lattice for each part.",
            )
        positions = np.full(tuple(size + 2), -1, dtype=np.intp)  # the border keeps neighbours inside
        positions[tuple((vertices - low + 1).T)] = np.arange(len(vertices))
        if np.count_nonzero(positions >= 0) < len(vertices):
            raise InputError("a vertex of the lattice is given twice.", "give each pair of coordinates once.")
        there = positions >= 0
        surrounded = np.zeros_like(there)
        surrounded[1:-1, 1:-1] = np.logical_and.reduce(
            [there[1 + i : size[0] + 1 + i, 1 + j : size[1] + 1 + j] for i, j in AROUND.tolist()]
        )
        return cls(readonly(low - 1), readonly(positions), readonly(surrounded))

    def of_vertices(self, vertices: Integers) -> NDArray[np.intp]:
        """Return the positions of vertices (..., 2), array (...); -1 for one that is not in the list."""
        return self.positions.reshape(-1)[self._places(vertices)]

    def surrounds(self, vertices: Integers) -> NDArray[np.bool_]:
        """Return which vertices (..., 2) are in the list with their eight neighbours, array (...)."""
        return self.surrounded.reshape(-1)[self._places(vertices)]

    def _places(self, vertices: Integers) -> NDArray[np.intp]:
        columns, rows = self.positions.shape
        across = np.clip(vertices[..., 0] - self.low[0], 0, columns - 1) * rows
        return np.asarray(across + np.clip(vertices[..., 1] - self.low[1], 0, rows - 1))

    def pieces(self, kind: Kind, vertices: Integers) -> NDArray[np.intp]:
        """Return the blocks of nine vertices, or triangles of three, in the list (n, 2), by positions."""
        if kind == "square":
            blocks = vertices[:, None, :] + AROUND
        else:
            ups = vertices[:, None, :] + np.array([(0, 0), (1, 0), (0, 1)])
            downs = vertices[:, None, :] + np.array([(0, 0), (-1, 0), (0, -1)])
            blocks = np.concatenate([ups, downs])
        positions = self.of_vertices(blocks)
        return readonly(positions[(positions >= 0).all(axis=1)])


def whole(vertices: ArrayLike) -> Integers:
    """Return pairs of whole numbers as integers, array (n, 2); `InputError` if not such pairs, or too large."""
    array = numbers(vertices, "the vertices")
    if array.ndim != 2 or array.shape[1:] != (2,) or not len(array):
        raise InputError("the vertices of a lattice are pairs of whole numbers.", "pass an array (n, 2).")
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.int64)
    if not (whole == array).all() or not (np.abs(array) <= 2**20).all():
        raise InputError("a vertex of the lattice is no pair of whole numbers below a million.", "pass integers.")
    return whole


def block(extent: Floats) -> tuple[Integers, Floats]:
    """Return square-lattice vertices that serve a rectangle (size in steps), and the place of vertex (0, 0)."""
    counts = np.maximum(1, np.ceil(extent - _ROUND))
    columns, rows = (counts + 2).astype(int)
    return np.array([(a, b) for b in range(rows) for a in range(columns)], dtype=np.int64), -(counts + 1) / 2


def strip(extent: Floats) -> tuple[Integers, Floats]:
    """Return triangular-lattice vertices that serve a rectangle, and the place of vertex (0, 0); see `block`."""
    height = ROWS["triangular"]
    rows = max(1, math.ceil(extent[1] / height - _ROUND))
    start = np.array([-extent[0] / 2, -rows * height / 2])
    vertices = []
    for b in range(rows + 1):
        left = -b / 2  # lattice coordinate of the rectangle's west side in this row
        first = math.floor(left - 1 + _ROUND) + 1
        last = math.ceil(left + extent[0] + 1 - _ROUND) - 1
        vertices += [(a, b) for a in range(first, last + 1)]
    return np.array(vertices, dtype=np.int64), start


def strewn(kind: Kind, extent: Floats, points: Floats, reach: float) -> tuple[Integers, Floats] | None:
    """Return vertices of `block` or `strip` at least within reach of points, and the place of vertex (0, 0).

    The points (k, 2) are relative to the middle of the rectangle. All lengths are in steps, and the reach is to
    the middle of a piece. Returns None where there are too many.
    """
    height = ROWS[kind]
    rows = max(1, math.ceil(extent[1] / height - _ROUND))
    columns = max(1, math.ceil(extent[0] - _ROUND))
    corner = (
        -np.array([columns + 1, rows + 1]) / 2 if kind == "square" else np.array([-extent[0], -rows * height]) / 2
    )
    b = (points[:, 1] - corner[1]) / height
    a = points[:, 0] - corner[0] - (b / 2 if kind == "triangular" else 0)
    nearest = np.unique(np.rint(np.column_stack([a, b])).astype(np.int64), axis=0)
    width = math.ceil(1.5 * (reach + 1)) + 1
    around = np.arange(-width, width + 1)
    if len(nearest) * len(around) ** 2 > _AT_ONCE or (columns + 4.0) * (rows + 4.0) > _WIDEST:
        return None
    offsets = np.stack(np.meshgrid(around, around), axis=-1).reshape(-1, 2)
    vertices = np.unique((nearest[:, None] + offsets).reshape(-1, 2)[:, ::-1], axis=0)[:, ::-1]  # row by row
    if kind == "square":
        inside = ((vertices >= 0) & (vertices < (columns + 2, rows + 2))).all(axis=1)
    else:
        left = vertices[:, 0] + vertices[:, 1] / 2
        inside = (vertices[:, 1] >= 0) & (vertices[:, 1] <= rows)
        inside &= (left > -1 + _ROUND) & (left < extent[0] + 1 - _ROUND)
    return vertices[inside], corner


def steps_along(kind: Kind, apart: Integers) -> Floats:
    """Return lengths of differences of vertices (..., 2) in steps of the lattice, rounded down, array (...)."""
    straight, diagonal = parts_along(kind, apart)
    if kind == "triangular":
        return straight.astype(np.float64)
    exact = straight + math.nextafter(math.sqrt(2), 0) * diagonal
    return np.where(diagonal > 0, np.nextafter(exact, 0), exact)


def parts_along(kind: Kind, apart: Integers) -> tuple[Integers, Integers]:
    """Return straight and diagonal steps of shortest ways along differences of vertices (..., 2), arrays (...)."""
    a, b = np.abs(apart[..., 0]), np.abs(apart[..., 1])
    if kind == "triangular":
        hops: Integers = np.maximum(np.maximum(a, b), np.abs(apart[..., 0] + apart[..., 1]))
        return hops, np.zeros_like(hops)
    diagonal: Integers = np.minimum(a, b)
    return np.maximum(a, b) - diagonal, diagonal


class LatticeSteps(Metric):
    """Distances of vertices (n, 2) in steps of the lattice, computed on demand: 10,000 vertices take 800 MB."""

    __slots__ = ("_kind", "_vertices")

    _kind: Kind
    _vertices: Integers

    def __init__(self, kind: Kind, vertices: Integers) -> None:
        assign(self, unit="", name="lattice steps", triangle=True, symmetric=True, is_stated=False)
        assign(self, _kind=kind, _vertices=freeze(vertices))

    @property
    def array(self) -> Floats:
        """The distances, array (n, n), computed at each call."""
        steps = np.empty((len(self), len(self)))
        for first in range(0, len(self), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            steps[rows] = steps_along(self._kind, self._vertices[rows, None, :] - self._vertices[None, :, :])
        return readonly(steps)

    @property
    def finite(self) -> bool:
        """Whether every distance is finite: always."""
        return True

    def at(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Return the distances of listed pairs, array (k,)."""
        return steps_along(self._kind, self._vertices[rows] - self._vertices[columns])

    def __len__(self) -> int:
        return len(self._vertices)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self._kind, self._vertices)


def implying_pairs(kind: Kind, vertices: Integers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs (s, t) of vertices (n, 2) whose rows imply those of all pairs, arrays (k,).

    They are the neighbours, and every pair (s, t) where no neighbour u of s lies on a shortest way to t. For any
    other pair the row of (s, t) follows from those of (s, u) and (u, t), whose distances add up; (u, t) is nearer,
    so this ends (docs/proofs/coordinates.md). Vertices with all their neighbours have one in every direction, so
    only those at borders and bays are examined.
    """
    around = _TRIANGULAR if kind == "triangular" else _SQUARE
    beside = VertexTable.of(vertices).of_vertices(vertices[:, None, :] + around)
    s, side = np.nonzero(beside >= 0)
    firsts, seconds = [s], [beside[s, side]]
    border = np.flatnonzero((beside < 0).any(axis=1))
    size = max(1, _AT_ONCE // len(vertices))
    for begin in range(0, len(border), size):
        part = border[begin : begin + size]
        apart = vertices[None, :, :] - vertices[part, None, :]
        length = _length(kind, apart)
        mask = length == 0
        for step, there in zip(around, (beside[part] >= 0).T, strict=True):
            nearer = _length(kind, apart - step) + _length(kind, step) == length
            mask |= nearer & there[:, None]
        near, far = np.nonzero(~mask)
        firsts.append(part[near])
        seconds.append(far)
    return np.concatenate(firsts), np.concatenate(seconds)


def _length(kind: Kind, apart: Integers) -> Integers:
    """Return both parts of lengths in one number: where these numbers add up, both parts do."""
    straight, diagonal = parts_along(kind, apart)
    return straight + _DIAGONAL * diagonal


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """The positions (n, k) of vertices that points are rounded to, or -1, and their probabilities (n, k)."""

    positions: NDArray[np.intp]
    shares: Floats

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether all vertices that a point may be rounded to are in the lattice, array (n,)."""
        return np.asarray(((self.positions >= 0) | (self.shares == 0)).all(axis=1))


def spline_weights(offsets: Integers) -> Integers:
    """Return the quadratic B-spline weights of three neighbours along an axis, as integers that sum to 2**41.

    For offsets (...) from the middle one, of t spacings and in units of the spacing over 2**20, the weights (...,
    3) are (1/2 - t)**2 / 2, 3/4 - t**2 and (1/2 + t)**2 / 2, times 2**41; exact.
    """
    half = 2 ** (SNAP_BITS - 1)
    return np.stack([(half - offsets) ** 2, 6 * half**2 - 2 * offsets**2, (half + offsets) ** 2], axis=-1)


def spline_steps(offsets: Integers, words: NDArray[np.uint64]) -> Integers:
    """Return steps -1, 0 or 1 along an axis, array (...), drawn by `spline_weights` from uniform 64-bit words."""
    half = 2 ** (SNAP_BITS - 1)
    uniform = (words >> np.uint64(63 - 2 * SNAP_BITS)).view(np.int64)
    above = uniform >= (half - offsets) ** 2
    far = uniform >= 8 * half**2 - (half + offsets) ** 2
    return np.asarray(above.astype(np.int64) + far - 1)


def nearest_vertices(places: Integers) -> Integers:
    """Return the nearest vertices of a square lattice to places of `snap`, array (n, 2)."""
    return (places + _ONE // 2) >> SNAP_BITS


def lattice_steps(kind: Kind, x: Number, y: Number) -> tuple[Number, Number]:
    """Return places on the plane, in steps from vertex (0, 0), in lattice coordinates."""
    if kind == "square":
        return x, y
    across = y / ROWS["triangular"]
    return x - across / 2, across


def snap(kind: Kind, plane: Floats) -> Integers:
    """Return places (n, 2), in steps, as lattice coordinates times 2**20; far away where they are not finite."""
    steps = np.column_stack(lattice_steps(kind, plane[:, 0], plane[:, 1]))
    steps = np.clip(np.where(np.isfinite(steps), steps, _FARTHEST), -_FARTHEST, _FARTHEST)
    return np.rint(steps * _ONE).astype(np.int64)


def weights_of(kind: Kind, places: Integers) -> tuple[Integers, Floats]:
    """Return the vertices that places of `snap` may be rounded to, (n, k, 2), and their probabilities, (n, k)."""
    if kind == "square":
        nearest = nearest_vertices(places)
        axes = spline_weights(places - (nearest << SNAP_BITS)) / 2.0 ** (2 * SNAP_BITS + 1)
        return nearest[:, None, :] + AROUND, (axes[:, 0, :, None] * axes[:, 1, None, :]).reshape(len(places), 9)
    corner, side, part = _triangle(places)
    vertices = corner[:, None, :] + side[:, None] * np.array([(0, 0), (1, 0), (0, 1)])
    return vertices, np.column_stack([_ONE - part.sum(axis=1), part]) / _ONE


def vertices_drawn(kind: Kind, places: Integers, words: Draw) -> Integers:
    """Return a vertex for each place of `snap`, array (n, 2), drawn exactly by the weights of `weights_of`."""
    if kind == "square":
        nearest = nearest_vertices(places)
        return nearest + spline_steps(places - (nearest << SNAP_BITS), words(places.size).reshape(places.shape))
    corner, side, part = _triangle(places)
    upto = np.column_stack([part[:, 0], part.sum(axis=1)])
    uniform = (words(len(places)) >> np.uint64(64 - SNAP_BITS)).astype(np.int64)
    step = np.column_stack([uniform < upto[:, 0], (uniform >= upto[:, 0]) & (uniform < upto[:, 1])])
    return corner + side * step


def _triangle(places: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the triangle around each place: a corner, the sign of its sides, and weights over 2**20."""
    base = places >> SNAP_BITS
    part = places - (base << SNAP_BITS)
    upper = (part.sum(axis=1) > _ONE)[:, None]
    return np.where(upper, base + 1, base), np.where(upper, -1, 1), np.where(upper, _ONE - part, part)


@dataclass(frozen=True, slots=True, eq=False)
class ConvexPart(Immutable):
    """A convex polygon on the plane, by its corners: counter-clockwise, array (k, 2), metres.

    Moving points to it makes no distance longer than the plane does: docs/proofs/coordinates.md.
    """

    corners: Floats
    _bounds: tuple[tuple[float, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        assign(self, corners=readonly(np.array(self.corners)))
        assign(self, _bounds=tuple(map(tuple, np.column_stack(self.halves).tolist())))

    @property
    def halves(self) -> tuple[Floats, Floats]:
        """The half-planes whose intersection is the part: normals, array (k, 2), and offsets, array (k,)."""
        sides = np.roll(self.corners, -1, axis=0) - self.corners
        normals = np.column_stack([sides[:, 1], -sides[:, 0]]) / np.hypot(*sides.T)[:, None]
        return normals, (normals * self.corners).sum(axis=1)

    def nearest(self, xy: Floats, reach_m: float) -> Floats:
        """Return points (n, 2), in metres, moved to the nearest point inside; far ones by `pulled_in` first."""
        points = xy.copy()
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
        points[outside] = pulled
        return points

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
    """Return points (n, 2), in metres from the centre, moved straight to a reach where they are beyond it.

    Those beyond `FAR_M` are moved on towards the centre. With a reach of at most 1,500 km, this makes no distance
    on the ground longer than the plane does within the reach, even around the antipode.
    """
    away = np.hypot(xy[:, 0], xy[:, 1])
    far = np.clip((FARTHEST_M - away) / (FARTHEST_M - FAR_M), 0, 1)
    factors = np.divide(reach_m * far, away, out=np.ones_like(away), where=away > reach_m)
    return xy * np.minimum(factors, 1.0)[:, None]


def well_inside(corners: Floats, spacing_m: float) -> ConvexPart | None:
    """Return the polygon of corners (k, 2), in metres, shrunk so that any snapping stays inside; or None."""
    middle = corners.mean(axis=0)
    normals, offsets = ConvexPart(corners).halves
    left = 1 - (_MARGIN * spacing_m + _ROUNDING_M) / float((offsets - normals @ middle).min())
    return ConvexPart(middle + (corners - middle) * left) if left > 0 else None


def served_rectangle(middles: Integers) -> Floats | None:
    """Return the corners of the squares around vertices (n, 2), in steps, if they fill a rectangle; else None."""
    low, high = middles.min(axis=0), middles.max(axis=0)
    if len(middles) < np.prod(high - low + 1):
        return None
    (west, south), (east, north) = low - 0.5, high + 0.5
    return np.array([(west, south), (east, south), (east, north), (west, north)])


def served_polygon(vertices: Integers, pieces: NDArray[np.intp]) -> Floats | None:
    """Return corners of a convex part of the served triangles, in steps: all, or the rectangle in their rows."""
    outline = convex_triangles(vertices, pieces)
    return _between_rows(vertices) if outline is None else outline


def convex_triangles(vertices: Integers, pieces: NDArray[np.intp]) -> Floats | None:
    """Return the corners of served triangles (k, 3), in steps, if their union is convex; else None."""
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
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (p[1] - ay) > (by - ay) * (p[0] - ax):  # a turn to the left
                    break
                chain.pop()
            chain.append(p)
        half.append(chain[:-1])
    return np.array(half[0] + half[1])
