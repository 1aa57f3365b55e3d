"""Lattices: points are rounded at random to vertices around them, so that a guarantee can hold per metre."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Metric, Space
from ..core.arguments import check_arguments
from ..core.arrays import Floats, integer, numbers, readonly
from ..core.immutable import assign
from ..core.units import length_m, show
from ..errors import InputError, argument
from .cells import Grid, Hexagons
from .places import MOST_CELLS, ChosenPlaces, Length, Places, Sizing, area_of, check_size, parsing_of
from .projection import CLOSE_M, Projection
from .region import Region
from .served_parts import HALVES, Rectangles, ServedParts, Triangles
from .vertices import (
    KINDS,
    ROWS,
    SNAP_BITS,
    TRIANGLE,
    ConvexPart,
    Draw,
    Integers,
    Kind,
    LatticeSteps,
    Rounding,
    VertexTable,
    block,
    convex_triangles,
    lattice_steps,
    nearest_vertices,
    served_polygon,
    served_rectangle,
    snap,
    strewn,
    strip,
    vertices_drawn,
    weights_of,
    well_inside,
    whole,
)
from .visits import Visits

_FINEST_M: Final = 1e-9  # metres; floats still separate vertices at the rim of the plane
_ONE: Final = 2**SNAP_BITS
_HALF: Final = _ONE // 2
_WHOLE: Final = 2 * _ONE**2  # the sum of the weights along an axis of a square lattice
Vertex = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Lattice(Places):
    """Vertices of a square or triangular lattice, as the secrets of a mechanism for points.

    A point is first rounded at random to a vertex near it. A square lattice uses nine vertices with quadratic
    B-spline weights, a triangular one the corners of a triangle with barycentric weights. The report then depends
    smoothly on the point, and `CoordinatePrivacy` gives any two points the guarantee that metric privacy gives two
    vertices. A point is served if all vertices that it may be rounded to are in the lattice. Raises `InputError`
    if a vertex occurs twice, no point is served, there are more than 10,000 vertices, or distances on the plane
    are more than 1 % off. ``vertices`` are integer coordinates, array (n, 2), of neighbours ``spacing_m`` metres
    apart; ``origin`` is the position of vertex (0, 0) on the plane, metres, and ``crs`` the PROJ string of a
    `Projection`. The kind is ``square`` or ``triangular``, with steps by (1, 0) and (1/2, sqrt(3)/2).

    Attributes:
        convex_part: A convex part of the served area, on the plane: all of it but some millimetres, if it is
            convex. Of triangles whose rows end at most one step apart it is the rectangle between; otherwise None.

    Example:
        >>> import sfumato as sf
        >>> sf.geo.Lattice.covering("8 km x 6 km around 48.85,2.35", "1 km")
        Square lattice of 99 vertices, 1 km apart
    """

    vertices: Integers = field(init=False)
    spacing_m: float = field(init=False)
    origin: tuple[float, float] = field(init=False)
    kind: Kind = field(init=False)
    convex_part: ConvexPart | None = field(init=False)
    _table: VertexTable = field(init=False)

    def __init__(
        self, vertices: ArrayLike, spacing_m: float, origin: tuple[float, float], crs: str, kind: Kind = "square"
    ) -> None:
        pairs = whole(vertices)
        _check_kind(kind)
        if not (math.isfinite(spacing_m) and spacing_m > 0):
            raise InputError(f"a spacing of {spacing_m:g} m is not positive.", "use a length such as 500.")
        if spacing_m < _FINEST_M:
            raise InputError(
                f"vertices {spacing_m:g} m apart cannot be distinguished on a plane.", "use a length such as 500."
            )
        if len(pairs) > MOST_CELLS:
            raise InputError(f"{len(pairs):,} vertices cannot be used.", f"use at most {MOST_CELLS:,}.")
        west, south = (float(end) for end in np.asarray(origin, dtype=np.float64))
        table = VertexTable.of(pairs)
        with np.errstate(over="ignore"):  # infinitely far away is beyond the reach
            xy = np.array((west, south)) + spacing_m * (pairs @ (TRIANGLE if kind == "triangular" else np.eye(2)))
        Projection.from_crs(crs).check_reach(xy)
        low = pairs.min(axis=0)
        digits = max(2, len(str(int((pairs - low).max()))))
        labels = [f"x{a:0{digits}}y{b:0{digits}}" for a, b in (pairs - low).tolist()]
        Space.__init__(self, labels, xy, "m", crs)
        assign(self, vertices=readonly(pairs), spacing_m=float(spacing_m), origin=(west, south), kind=kind)
        assign(self, _table=table)
        pieces = self.pieces
        if not len(pieces):
            raise InputError(
                "the vertices surround no point, so the lattice serves none.",
                "a square lattice needs at least a block of 3 x 3 vertices, a triangular one a triangle.",
            )
        corners = served_rectangle(pairs[pieces[:, 4]]) if kind == "square" else served_polygon(pairs, pieces)
        part = None if corners is None else well_inside((west, south) + spacing_m * corners, spacing_m)
        object.__setattr__(self, "convex_part", part)

    @classmethod
    def covering(
        cls,
        places: Visits | Region | str,
        spacing: Length,
        *,
        kind: Kind = "square",
        region: Region | str | None = None,
        near: Length | None = None,
    ) -> Lattice:
        """Return a lattice that serves all of a region, with the ring of vertices that this needs.

        Raises `InputError` if there would be more than 10,000 vertices, the region is too wide for a flat map, or
        ``near`` is given without visits. ``places`` are visits, a region, or a region as text, and ``spacing`` is
        the distance of neighbours, such as ``"500 m"`` (a plain number is metres). The kind is ``square`` or
        ``triangular``, and ``region`` by default that of the visits. With ``near`` only points within this
        distance of a visit are served, which leaves out water and forest; the outline may then have bays and
        islands, and the guarantee still holds.
        """
        step = length_m(spacing, "the spacing")
        near_m = math.inf if near is None else length_m(near, "the distance")
        if not near_m > 0:
            raise InputError(f"a distance of {near} to visits is not positive.", "use a length such as '500 m'.")
        if not (math.isfinite(step) and step > 0):
            raise InputError(f"a spacing of {spacing} is not positive.", "use a length such as '500 m'.")
        _check_kind(kind)
        area, visits = area_of(places, region)
        if near is not None and visits is None:
            raise InputError(f"{argument('near')} needs visits.", "pass visits, or leave it out.")
        projection = Projection(*area.centre)
        if region is None and visits is not None:
            xy = projection.forward(visits.lat, visits.lon)
        else:
            xy = projection.forward(*area.sides())
        middle, extent = (xy.min(axis=0) + xy.max(axis=0)) / 2, np.ptp(xy, axis=0)
        cells = float(np.prod(np.ceil(extent / (step, step * ROWS[kind])) + 2))
        shape = block if kind == "square" else strip

        def at(corner: Floats) -> tuple[float, float]:
            return float(middle[0] + corner[0] * step), float(middle[1] + corner[1] * step)

        if near is None or visits is None:
            check_size(cells, area, visits, Sizing.SPACING)
            vertices, corner = shape(extent / step)
            return cls(vertices, step, at(corner), projection.crs, kind)
        from scipy.spatial import cKDTree

        sample = visits if region is None else visits.select(area.contains(visits.lat, visits.lon))
        points = projection.forward(sample.lat, sample.lon)
        reach = near_m + step * (math.sqrt(0.5) if kind == "square" else math.sqrt(1 / 3))
        if cells > MOST_CELLS and (few := strewn(kind, extent / step, (points - middle) / step, reach / step)):
            vertices, corner = few
        else:
            check_size(cells, area, visits, Sizing.SPACING)
            vertices, corner = shape(extent / step)
        origin, pieces = at(corner), VertexTable.of(vertices).pieces(kind, vertices)
        middles = origin + step * (vertices @ (TRIANGLE if kind == "triangular" else np.eye(2)))
        away = np.asarray(cKDTree(points).query(middles[pieces].mean(axis=1))[0])
        return cls(vertices[np.unique(pieces[away <= reach])], step, origin, projection.crs, kind)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Lattice:
        """Return the lattice of a description by `describe`."""
        with parsing_of("a lattice", "shape, spacing_m, origin_m, runs and crs"):
            runs = [tuple(map(operator.index, run)) for run in description["runs"]]
            west, south = (float(end) for end in description["origin_m"])
            spacing, crs, kind = float(description["spacing_m"]), str(description["crs"]), description["shape"]
            size = sum(max(0, last - first + 1) for _, first, last in runs)
            if not all(abs(end) < 2**30 for run in runs for end in run) or not math.isfinite(west + south):
                raise ValueError("a number is too large")
        if not 0 < size <= MOST_CELLS:
            raise InputError(f"a lattice of {size:,} vertices cannot be used.", f"use 3 to {MOST_CELLS:,}.")
        vertices = [(a, b) for b, first, last in runs for a in range(first, last + 1)]
        return cls(vertices, spacing, (west, south), crs, kind)

    def describe(self) -> dict[str, Any]:
        """Return a description as JSON values; ``runs`` are a row, with its least and greatest column."""
        runs: list[list[int]] = []
        for a, b in self.vertices.tolist():
            if runs and runs[-1][0] == b and runs[-1][2] == a - 1:
                runs[-1][2] = a
            else:
                runs.append([b, a, a])
        of_plane = {"spacing_m": self.spacing_m, "origin_m": list(self.origin), "runs": runs, "crs": self.crs}
        return {"kind": "lattice", "shape": self.kind, **of_plane}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.vertices, self.spacing_m, self.origin, self.crs, self.kind)

    def __repr__(self) -> str:
        return f"{self.kind.capitalize()} lattice of {len(self)} vertices, {show(self.spacing_m, 'm')} apart"

    @property
    def pieces(self) -> NDArray[np.intp]:
        """The parts of the plane that are served, by the positions of their vertices, array (pieces, k).

        They are blocks of nine vertices, south to north within west to east, or triangles of three.
        """
        return self._table.pieces(self.kind, self.vertices)

    @property
    def convex(self) -> bool:
        """Whether the served area is convex on the plane."""
        pieces = self.pieces
        if self.kind == "square":
            return served_rectangle(self.vertices[pieces[:, 4]]) is not None
        return convex_triangles(self.vertices, pieces) is not None

    @property
    def reach_m(self) -> float:
        """Distance of the farthest vertex from the centre of the plane, metres, rounded up."""
        return float(np.hypot(*self._centres().T).max()) * (1 + 1e-12)

    @property
    def stretch(self) -> float:
        """Upper bound on the ratio of a distance on the plane to that on the ground, for points served."""
        return self.projection.stretch(self.reach_m)

    def nearest(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]:
        """Return points, those outside moved to the nearest point of a convex part of the served area.

        The guarantee for points served then holds for any two points on Earth: the move makes no distance longer
        than the plane does. Served points outside the convex part are moved as well. Points are arrays (n,) in
        degrees. Raises `InputError` if there is no such part, because the region has bays or islands.
        """
        part = self.convex_part
        if part is None:
            raise InputError(
                f"points outside of {self!r} cannot be moved to its border: what it serves is not convex, and two "
                "near points could be moved far apart, which would break the guarantee.",
                f"use {argument('outside', 'error')} or {argument('outside', 'drop')}",
                "use a lattice that serves a whole rectangle.",
            )
        north, east = numbers(lat, "the latitude").ravel(), numbers(lon, "the longitude").ravel()
        xy = self.projection.forward(north, east)
        there = part.nearest(xy, self.reach_m)
        rows = np.flatnonzero(((there[:, 0] != xy[:, 0]) | (there[:, 1] != xy[:, 1])) & np.isfinite(there[:, 0]))
        north[rows], east[rows] = self.projection.inverse(there[rows]).T
        return north, east

    @property
    def slack_m(self) -> float:
        """The largest change of a distance by the snapping of two points, and by their projection, metres."""
        return math.sqrt(3) * self.spacing_m / 2**SNAP_BITS + 2e-6

    def supports(self) -> tuple[Floats, float]:
        """Return the square of three steps around each vertex, or its neighbours; see `Places.supports`."""
        angles = np.arange(6) * (math.pi / 3)
        around = 3 * HALVES if self.kind == "square" else np.column_stack([np.cos(angles), np.sin(angles)])
        return self._centres()[:, None] + self.spacing_m * around, self.slack_m

    def parts(self) -> tuple[ServedParts, float]:
        """Return the squares around vertices, or the triangles; see `Places.parts`."""
        pieces, centres = self.pieces, self._centres()
        if self.kind == "triangular":
            return Triangles(pieces, centres[pieces], np.tile(np.eye(3), (len(pieces), 1, 1))), self.slack_m
        low, sides = (np.full((len(pieces), 2), length) for length in (-0.5, self.spacing_m))
        return Rectangles(pieces, centres[pieces[:, 4]], sides, low, -low), self.slack_m

    def snap(self, lat: ArrayLike, lon: ArrayLike) -> Integers:
        """Return points in degrees as integers (n, 2): lattice coordinates times 2**20."""
        return snap(self.kind, (self.projection.forward(lat, lon) - self.origin) / self.spacing_m)

    def rounding(self, lat: ArrayLike, lon: ArrayLike) -> Rounding:
        """Return the vertices that points in degrees, arrays (n,), are rounded to, with their probabilities."""
        return self._rounding(self.snap(lat, lon))

    def draw_secrets(self, lat: ArrayLike, lon: ArrayLike, words: Draw) -> NDArray[np.intp]:
        """Return a vertex for each point, drawn exactly as `rounding` says, array (n,); -1 if it is not served."""
        places = self.snap(lat, lon)
        vertices = vertices_drawn(self.kind, places, words)
        return np.where(self._serves(places), self._table.of_vertices(vertices), -1)

    def singly(self) -> SinglePoint:
        """Return a sampler that draws as `draw_secrets` does, prepared for many single points."""
        vertices = [(a, b) for a, b in self.vertices.tolist()]
        middles = {vertices[piece[4]] for piece in self.pieces.tolist()} if self.kind == "square" else ()
        positions = {vertex: position for position, vertex in enumerate(vertices)}
        plane = self.projection, self.spacing_m, self.origin
        return SinglePoint(*plane, self.kind, positions, middles, self.convex_part)

    @check_arguments
    def steps(self) -> Metric:
        """Return the distances of the vertices in steps of the whole lattice; vertices between may be missing.

        A triangular lattice has steps to six neighbours. A square one has steps to four, and diagonals of sqrt(2)
        (octile distance); these lengths are rounded down.
        """
        return LatticeSteps(self.kind, self.vertices)

    @check_arguments
    def sublattice(self, step: int = 2) -> ChosenPlaces:
        """Return every ``step``-th vertex in both directions, for coarser reports of finer places.

        A design with these as ``observables`` has a smaller program. Its loss and its bound are for these reports.
        Raises `InputError` if the step is not at least 1, or no vertex is left.
        """
        stride = integer(step)
        if stride is None or stride < 1:
            raise InputError(
                f"{argument('step', step)} is not a whole number of at least 1.",
                f"use {argument('step', 2)} for every second vertex.",
            )
        positions = np.flatnonzero((self.vertices % stride == 0).all(axis=1))
        if not len(positions):
            raise InputError(f"no vertex is at a multiple of {stride} steps.", "use a smaller step.")
        return ChosenPlaces(self, positions)

    def outlines_latlon(self) -> Floats:
        """Return the outline of the points nearest to each vertex, counter-clockwise: (n, corners, 2), degrees."""
        angles = np.pi / 6 + np.arange(6) * np.pi / 3
        hexagon = np.column_stack([np.cos(angles), np.sin(angles)]) / math.sqrt(3)
        corners = HALVES if self.kind == "square" else hexagon
        outlines = self._centres()[:, None, :] + self.spacing_m * corners
        return readonly(self.projection.inverse(outlines.reshape(-1, 2)).reshape(*outlines.shape))

    def _rounding(self, places: Integers) -> Rounding:
        vertices, shares = weights_of(self.kind, places)
        return Rounding(self._table.of_vertices(vertices), shares)

    def _serves(self, places: Integers) -> NDArray[np.bool_]:
        """Return which places are served, array (n,): immediately where all nine vertices around are present."""
        if self.kind == "triangular":
            return self._rounding(places).inside
        inside = self._table.surrounds(nearest_vertices(places))
        rest = np.flatnonzero(~inside)
        inside[rest] = self._rounding(places[rest]).inside
        return inside

    @property
    def _served_by(self) -> str:
        return f"what the {len(self)} vertices serve"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SinglePoint:
    """Sampler of the vertex of one point, from the same words and with the same result as `Lattice.draw_secrets`.

    A position so close to a rounding border that other arithmetic could decide otherwise is left to arrays, and so
    are points that are not well inside. ``middles`` are vertices of a square lattice with all eight neighbours;
    points in ``part`` are not moved.
    """

    projection: Projection
    spacing_m: float
    origin: tuple[float, float]
    kind: Kind
    positions: Mapping[Vertex, int]
    middles: Collection[Vertex]
    part: ConvexPart | None

    def draw_secret(
        self, lat: float, lon: float, words: Callable[[int], NDArray[Any]], *, nearest: bool = False
    ) -> int | None:
        """Return the position of the vertex for a point; None, with no word used, for arrays to decide."""
        x, y = self.projection.forward_one(lat, lon)
        if nearest and (self.part is None or not self.part.contains(x, y)):
            return None
        place = self._snap(x, y)
        if place is None:
            return None
        return self._square(*place, words) if self.kind == "square" else self._triangular(*place, words)

    def _snap(self, x: float, y: float) -> Vertex | None:
        """Return a point in units of the spacing over 2**20; None where the rounding is not certain."""
        step = self.spacing_m
        a, b = lattice_steps(self.kind, (x - self.origin[0]) / step, (y - self.origin[1]) / step)
        a, b = a * _ONE, b * _ONE
        unsure = 2 * CLOSE_M / step * _ONE
        if not (abs(a % 1 - 0.5) > unsure and abs(b % 1 - 0.5) > unsure):
            return None
        return round(a), round(b)

    def _square(self, a: int, b: int, words: Callable[[int], NDArray[Any]]) -> int | None:
        near = (a + _HALF) >> SNAP_BITS, (b + _HALF) >> SNAP_BITS
        if near not in self.middles:
            return None
        first, second = words(2).tolist()
        vertex = (
            near[0] - 1 + _spline(a - (near[0] << SNAP_BITS), first),
            near[1] - 1 + _spline(b - (near[1] << SNAP_BITS), second),
        )
        return self.positions[vertex]

    def _triangular(self, a: int, b: int, words: Callable[[int], NDArray[Any]]) -> int | None:
        p, q = a >> SNAP_BITS, b >> SNAP_BITS
        s, t, side = a - (p << SNAP_BITS), b - (q << SNAP_BITS), 1
        if s + t > _ONE:
            p, q, s, t, side = p + 1, q + 1, _ONE - s, _ONE - t, -1
        corners = (p, q), (p + side, q), (p, q + side)
        if not all(corner in self.positions for corner in corners):
            return None
        uniform = int(words(1)[0]) >> (64 - SNAP_BITS)
        return self.positions[corners[1 if uniform < s else 2 if uniform < s + t else 0]]


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(f"the kind of lattice {kind!r} is unknown.", f"use {' or '.join(KINDS)}.")


def _spline(offset: int, word: int) -> int:
    """Return which of three neighbours along an axis a word chooses: 0, 1 or 2."""
    uniform = word >> (63 - 2 * SNAP_BITS)
    return (uniform >= (_HALF - offset) ** 2) + (uniform >= _WHOLE - (_HALF + offset) ** 2)


def places_from(description: Mapping[str, Any]) -> Places:
    """Return the places of a description by `Places.describe`; `InputError` if it is another, or damaged."""
    kind = description.get("kind")
    kinds: dict[Any, type[Grid | Hexagons | Lattice]] = {"grid": Grid, "hexagons": Hexagons, "lattice": Lattice}
    if str(kind) not in kinds:
        raise InputError(
            f"the kind {kind!r} does not describe places.",
            "it must be of the kind 'grid', 'hexagons' or 'lattice'.",
        )
    places = kinds[str(kind)].from_description(description)
    reference = places.describe()
    wrong = [key for key in {**description, **reference} if description.get(key) != reference.get(key)]
    if wrong:
        raise InputError(
            f"the description of places contradicts itself: its {wrong[0]} is {description.get(wrong[0])!r}, but "
            f"its cells have {reference.get(wrong[0])!r}.",
            "use a description as sfumato writes it.",
        )
    return places
