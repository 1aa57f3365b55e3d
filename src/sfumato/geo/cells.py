"""Cells on the ground: grids on a local plane, and hexagons of Uber's H3 (extra ``hex``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Space
from ..core.arguments import check_arguments
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import assign
from ..core.units import length_m, show
from ..errors import InputError, MissingExtraError, argument, python, shell
from .places import MOST_CELLS, Cells, Length, Sizing, area_of, check_size, parsing_of
from .projection import Projection
from .region import Region
from .served_parts import HALVES, PROJECTED_M, Rectangles, Triangles
from .visits import Visits

_SLACK = 1e-7  # of a cell: rounding of the projection never moves a border visit outside
_ROUND = 1e-8  # of a cell: 8 km are 16 cells of 500 m, despite rounding
_AXIS_M = 6_350_000.0  # less than any radius of the ellipsoid
_BENT = 0.05  # of 1 / radius: the curvature of hexagons' sides due to the ellipsoid, and more
_MARGIN = 1e-7  # degrees, a centimetre: a region without extent is a polygon still


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Grid(Cells):
    """Equal cells in columns (west to east) and rows (south to north).

    Cells are numbered from the south-west, row by row, and labelled by column and row: ``c05r03`` is the sixth
    column of the fourth row. ``cell_m`` is width and height of a cell, and ``origin`` the south-west corner on the
    plane, both in metres; ``crs`` is the PROJ string of a `Projection`. Raises `InputError` if there are fewer
    than two cells or more than 10,000, a cell has no extent, or distances on the plane are more than 1 % off.

    Example:
        >>> import sfumato as sf
        >>> sf.Grid.covering("8 km x 6 km around 48.85,2.35", cell="500 m")
        Grid of 16 x 12 cells of 500 m x 500 m
    """

    columns: int = field(init=False)
    rows: int = field(init=False)
    cell_m: tuple[float, float] = field(init=False)
    origin: tuple[float, float] = field(init=False)

    def __init__(
        self, columns: int, rows: int, cell_m: tuple[float, float], origin: tuple[float, float], crs: str
    ) -> None:
        if columns < 1 or rows < 1 or not 2 <= columns * rows <= MOST_CELLS:
            raise InputError(
                f"a grid of {columns} x {rows} cells cannot be used.", f"it needs 2 to {MOST_CELLS:,} cells."
            )
        width, height = (float(side) for side in floats(cell_m, "the cell", shape=(2,)))
        if not (width > 0 and height > 0):
            raise InputError(f"a cell of {width:g} m x {height:g} m has no extent.", "use positive lengths.")
        west, south = (float(end) for end in floats(origin, "the origin", shape=(2,)))
        corners = [(west + c * width, south + r * height) for c in (0, columns) for r in (0, rows)]
        Projection.from_crs(crs).check_reach(np.array(corners))
        digits = max(2, len(str(max(columns, rows) - 1)))
        labels = [f"c{c:0{digits}}r{r:0{digits}}" for r in range(rows) for c in range(columns)]
        x = west + (np.arange(columns) + 0.5) * width
        y = south + (np.arange(rows) + 0.5) * height
        Space.__init__(self, labels, np.column_stack([np.tile(x, rows), np.repeat(y, columns)]), "m", crs)
        assign(self, columns=columns, rows=rows, cell_m=(width, height), origin=(west, south))

    @classmethod
    @check_arguments
    def covering(
        cls,
        places: Visits | Region | str,
        cell: Length | tuple[Length, Length] | None = None,
        *,
        shape: tuple[int, int] | None = None,
        region: Region | str | None = None,
    ) -> Grid:
        """Return a grid over visits or a region, by the size of its cells or by their number.

        With ``cell`` the grid has the cells needed, and equal margins on opposite sides; with ``shape`` it fits
        exactly. The plane is centred on the region. Raises `InputError` if neither or both of cell and shape are
        given, there would be only one cell or more than 10,000, or the region is too wide for a flat map.
        ``places`` are visits, a region, or a region as text. ``cell`` is the side of a cell, such as ``"500 m"``
        (a plain number is metres), or its width and height; ``shape`` is instead the number of columns and rows,
        such as (20, 15). ``region`` is what to cover, by default the region of the visits.
        """
        if (cell is None) == (shape is None):
            raise InputError(
                "a grid needs either the size of its cells or their number.",
                f"pass {argument('Grid.covering.cell', '500 m')}",
                f"pass {argument('Grid.covering.shape', (20, 15))}.",
            )
        area, visits = area_of(places, region)
        projection = Projection(*area.centre)
        if region is None and visits is not None:
            xy = projection.forward(visits.lat, visits.lon)
        else:
            xy = np.array([[-0.5, -0.5], [0.5, 0.5]]) * area.size_m
        corner, extent = xy.min(axis=0), np.ptp(xy, axis=0)
        if cell is not None:
            sides = _sides(cell)
            numbers = np.maximum(1, np.ceil(extent / sides - _ROUND))
        else:
            numbers = _numbers(shape)
            sides = extent / numbers
            if not (sides > 0).all():
                raise InputError(
                    f"the region {area} has no extent, so all visits fall into one cell, and a mechanism on one "
                    "cell has nothing to hide.",
                    f"choose a wider one with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
                )
        by = Sizing.SHAPE if cell is None else Sizing.CELL
        check_size(float(numbers.prod()), area, visits, by)
        origin = corner + (extent - numbers * sides) / 2
        columns, rows = numbers.astype(int).tolist()
        return cls(columns, rows, tuple(sides.tolist()), tuple(origin.tolist()), projection.crs)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Grid:
        """Return the grid of a description by `describe`."""
        with parsing_of("a grid", "columns, rows, cell_m, origin_m and crs"):
            width, height = description["cell_m"]
            west, south = description["origin_m"]
            columns, rows, crs = int(description["columns"]), int(description["rows"]), str(description["crs"])
        return cls(columns, rows, (width, height), (west, south), crs)

    def describe(self) -> dict[str, Any]:
        """Return a description of the grid as JSON values."""
        of_plane = {"cell_m": list(self.cell_m), "origin_m": list(self.origin), "crs": self.crs}
        return {"kind": "grid", "columns": self.columns, "rows": self.rows, **of_plane}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.columns, self.rows, self.cell_m, self.origin, self.crs)

    def __repr__(self) -> str:
        width, height = (show(side, "m") for side in self.cell_m)
        return f"Grid of {self.columns} x {self.rows} cells of {width} x {height}"

    def locate(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of the cell of each point, array (n,); -1 outside the grid.

        A point on a border belongs to the cell east or north of it; on the grid's own east or north border, to the
        last cell.
        """
        with np.errstate(over="ignore"):  # infinitely many cells away is outside
            xy = (self.projection.forward(lat, lon) - self.origin) / self.cell_m
        size = np.array([self.columns, self.rows])
        inside: NDArray[np.bool_] = np.all((xy >= -_SLACK) & (xy <= size + _SLACK), axis=1)
        column, row = np.clip(np.floor(np.where(inside[:, None], xy, 0.0)), 0, size - 1).astype(np.intp).T
        return np.where(inside, row * self.columns + column, -1)

    def outlines_latlon(self) -> Floats:
        """Return the corners of each cell, counter-clockwise from the south-west: (n, 4, 2), degrees."""
        # Each corner is projected once: neighbours share it to the last digit.
        (west, south), (width, height), across = self.origin, self.cell_m, self.columns + 1
        x, y = west + np.arange(across) * width, south + np.arange(self.rows + 1) * height
        corners = self.projection.inverse(np.column_stack([np.tile(x, self.rows + 1), np.repeat(y, across)]))
        first = (np.arange(self.rows)[:, None] * across + np.arange(self.columns)).ravel()
        return readonly(corners[first[:, None] + np.array([0, 1, across + 1, across])])

    def supports(self) -> tuple[Floats, float]:
        """Return the corners of each cell; see `Places.supports`."""
        beyond_m = 10 * _SLACK * max(self.cell_m) + PROJECTED_M
        return self._centres()[:, None] + np.array(self.cell_m) * HALVES, beyond_m

    def parts(self) -> tuple[Rectangles, float]:
        """Return the cells; see `Places.parts`."""
        low = np.full((len(self), 2), -0.5)
        sides = np.tile(self.cell_m, (len(self), 1))
        return Rectangles(np.arange(len(self))[:, None], self._centres(), sides, low, -low), self.supports()[1]


def _sides(cell: Length | tuple[Length, Length]) -> Floats:
    lengths = cell if isinstance(cell, tuple | list) else (cell, cell)
    sides = np.array([length_m(side, "the cell") for side in lengths])
    if sides.shape != (2,) or not (sides > 0).all():
        text = " x ".join(dict.fromkeys(map(str, lengths)))
        raise InputError(f"a cell of {text} has no extent.", "use a positive length or two, such as '500 m'.")
    return sides


def _numbers(shape: tuple[int, int] | None) -> Floats:
    numbers = floats(shape or (), "the shape", shape=(2,))
    if (numbers < 1).any() or (numbers % 1 > 0).any():
        raise InputError(
            f"the shape {shape} is not a number of columns and of rows.",
            python("pass two integers above 0, such as (20, 15)."),
            shell("write two integers above 0, such as 20x15."),
        )
    return numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Hexagons(Cells):
    """Hexagonal cells of one H3 resolution, labelled by their H3 index.

    ``cells`` are H3 indices, as text, all of one resolution. Raises `InputError` if there are fewer than two cells
    or more than 10,000, a text is not an H3 index, or distances on the plane are more than 1 % off. Raises
    `MissingExtraError` if h3 is not installed.

    Source:
        H3, https://h3geo.org.
    """

    resolution: int = field(init=False)

    def __init__(self, cells: Iterable[str], crs: str) -> None:
        h3 = _h3()
        indices = list(cells)
        if len(indices) > MOST_CELLS:
            raise InputError(f"{len(indices):,} hexagons cannot be used.", f"use at most {MOST_CELLS:,}.")
        wrong = [index for index in indices if not h3.is_valid_cell(str(index))]
        if wrong:
            raise InputError(f"{wrong[0]!r} is not an H3 cell.", "pass indices such as '881fb46625fffff'.")
        resolutions = {h3.get_resolution(index) for index in indices}
        if len(indices) < 2 or len(resolutions) > 1:
            raise InputError(
                f"{len(indices)} cells of {len(resolutions)} resolutions cannot be one space of hexagons.",
                "pass at least two cells, all of one resolution.",
            )
        centres = np.array([h3.cell_to_latlng(index) for index in indices])
        projection = Projection.from_crs(crs)
        xy = projection.forward(*centres.T)
        projection.check_reach(xy)
        Space.__init__(self, indices, xy, "m", crs)
        object.__setattr__(self, "resolution", resolutions.pop())

    @classmethod
    @check_arguments
    def covering(
        cls,
        places: Visits | Region | str,
        cell: float | str | None = None,
        *,
        resolution: int | None = None,
        region: Region | str | None = None,
    ) -> Hexagons:
        """Return all hexagons that touch a region, or the region of the visits.

        Raises `InputError` if neither or both of cell and resolution are given, there would be one cell or more
        than 10,000, or the region is too wide for a flat map. Raises `MissingExtraError` if h3 is not installed.
        ``places`` are visits, a region, or a region as text. ``cell`` is the width of a hexagon between opposite
        sides: the resolution with the nearest mean width, in proportion, is used. ``resolution`` is instead that
        of H3, 0 to 15. ``region`` is what to cover, by default the region of the visits.
        """
        h3 = _h3()
        if (cell is None) == (resolution is None):
            raise InputError(
                "hexagons need either their width or their resolution.",
                f"pass {argument('Hexagons.covering.cell', '500 m')}",
                f"pass {argument('resolution', 8)}.",
            )
        area, visits = area_of(places, region)
        if resolution is None:
            resolution = _nearest_resolution(h3, cell or 0)
        if resolution not in range(16):
            raise InputError(f"the H3 resolution {resolution} does not exist.", "use 0 (coarse) to 15 (fine).")
        by = Sizing.WIDTH if cell is not None else Sizing.RESOLUTION
        width, height = area.size_m
        fewest = width * height / h3.average_hexagon_area(resolution, unit="m^2") / 2
        check_size(max(fewest, 2), area, visits, by)  # before the cells are listed
        indices = _touching(h3, area, resolution)
        check_size(len(indices), area, visits, by)
        return cls(indices, Projection(*area.centre).crs)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Hexagons:
        """Return the hexagons of a description by `describe`."""
        with parsing_of("hexagons", "cells and crs"):
            cells, crs = list(description["cells"]), str(description["crs"])
        return cls(cells, crs)

    def describe(self) -> dict[str, Any]:
        """Return a description of the hexagons as JSON values."""
        return {"kind": "hexagons", "resolution": self.resolution, "cells": list(self.labels), "crs": self.crs}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.labels, self.crs)

    def __repr__(self) -> str:
        width = show(_mean_width_m(_h3(), self.resolution), "m")
        return f"Hexagons: {len(self)} cells of resolution {self.resolution}, about {width} wide"

    def locate(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of the hexagon of each point, array (n,); -1 outside all of them."""
        cell_of, resolution, positions = _h3().latlng_to_cell, self.resolution, self._positions
        north, east = np.asarray(lat, float), np.asarray(lon, float)
        known = (np.abs(north) <= 90) & np.isfinite(east)
        points = zip(np.where(known, north, 0.0).tolist(), np.where(known, east, 0.0).tolist(), strict=True)
        cells = np.array([positions.get(cell_of(y, x, resolution), -1) for y, x in points], dtype=np.intp)
        return np.where(known, cells, -1)

    def outlines_latlon(self) -> Floats:
        """Return hexagons' corners, counter-clockwise: (n, corners, 2), degrees; pentagons repeat their last."""
        rings = [_h3().cell_to_boundary(label) for label in self.labels]
        most = max(map(len, rings))
        return readonly(np.array([ring + ring[-1:] * (most - len(ring)) for ring in rings]))

    def supports(self) -> tuple[Floats, float]:
        """Return the corners of each hexagon, and how far sides are bent; see `Places.supports`.

        Source:
            docs/proofs/error-radius.md.
        """
        outlines = self.outlines_latlon()
        corners = self.projection.forward(*outlines.reshape(-1, 2).T).reshape(outlines.shape)
        longest = float(np.hypot(*(corners - np.roll(corners, 1, axis=1)).T).max())
        bend = _BENT + 2 * float(np.hypot(*corners.T).max()) / _AXIS_M
        return corners, bend * longest**2 / (8 * _AXIS_M) + PROJECTED_M

    def parts(self) -> tuple[Triangles, float]:
        """Return triangles that hexagons consist of; see `Places.parts`."""
        corners, beyond_m = self.supports()
        fans = [corners[:, [0, second, second + 1]] for second in range(1, corners.shape[1] - 1)]
        rows = np.tile(np.arange(len(self))[:, None], (len(fans), 1))
        return Triangles(rows, np.concatenate(fans), np.tile(np.eye(3), (len(rows), 1, 1))), beyond_m


def _h3() -> ModuleType:
    try:
        import h3
    except ImportError:
        raise MissingExtraError("a space of hexagons", "hex") from None
    module: ModuleType = h3
    return module


def _mean_width_m(h3: ModuleType, resolution: int) -> float:
    area: float = h3.average_hexagon_area(resolution, unit="m^2")
    return math.sqrt(2 * area / math.sqrt(3))


def _nearest_resolution(h3: ModuleType, cell: float | str) -> int:
    width = length_m(cell, "the cell")
    if not width > 0:
        raise InputError(f"a cell of {cell} has no extent.", "use a positive length, such as '500 m'.")
    return min(range(16), key=lambda resolution: abs(np.log(_mean_width_m(h3, resolution) / width)))


def _touching(h3: ModuleType, area: Region, resolution: int) -> list[str]:
    """List the hexagons that share a point with the region, in the order of their indices."""
    south, west, north, east = area.south - _MARGIN, area.west - _MARGIN, area.north + _MARGIN, area.east + _MARGIN
    corners = [(south, west), (south, east), (north, east), (north, west)]
    return sorted(h3.polygon_to_cells_experimental(h3.LatLngPoly(corners), resolution, "overlap"))
