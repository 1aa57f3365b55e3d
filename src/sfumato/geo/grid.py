"""Grid of equal rectangular cells on a local plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Space
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import assign
from ..core.units import length_m, show
from ..errors import InputError, argument
from .covering import MOST_CELLS, area_of, check_size
from .places import Cells
from .projection import Projection
from .region import Region
from .visits import Visits

Length = float | str

_SLACK = 1e-7  # of a cell: rounding of the projection never moves a border visit outside
_ROUND = 1e-8  # of a cell: 8 km are 16 cells of 500 m, despite rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grid(Cells):
    """Equal cells in columns (west to east) and rows (south to north).

    Cells are numbered from the south-west, row by row, and labelled by column and row:
    ``c05r03`` is the sixth column of the fourth row.

    Args:
        columns: How many columns.
        rows: How many rows.
        cell_m: Width and height of a cell, metres.
        origin: The south-west corner on the plane, metres.
        crs: The PROJ string of a `Projection`.

    Raises:
        InputError: If there are fewer than two cells or more than 10,000, a cell has no
            extent, or distances on the plane are more than 1 % off.

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
    @checked
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
        exactly. The plane is centred on the region.

        Args:
            places: What to cover: visits, a region, or a region as text.
            cell: The side of a cell, such as ``"500 m"`` (a plain number is metres), or its width and height.
            shape: The number of columns and rows, such as (20, 15), instead of ``cell``.
            region: The region to cover; by default that of the visits.

        Raises:
            InputError: If neither or both of cell and shape are given, there would be only
                one cell or more than 10,000, or the region is too wide for a flat map.
        """
        if (cell is None) == (shape is None):
            raise InputError(
                "a grid needs either the size of its cells or their number.",
                f"pass {argument('Grid.covering.cell', '500 m')}",
                f"pass {argument('Grid.covering.shape', (20, 15))}.",
            )
        area = area_of(places, region)
        projection = Projection(*area.centre)
        if region is None and isinstance(places, Visits):
            xy = projection.forward(places.lat, places.lon)
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
        check_size(
            float(numbers.prod()),
            area,
            places if isinstance(places, Visits) else None,
            "Grid.covering.shape" if cell is None else "Grid.covering.cell",
        )
        origin = corner + (extent - numbers * sides) / 2
        return cls(
            int(numbers[0]),
            int(numbers[1]),
            (float(sides[0]), float(sides[1])),
            (float(origin[0]), float(origin[1])),
            projection.crs,
        )

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Grid:
        """Return the grid of a description by `describe`."""
        try:
            width, height = description["cell_m"]
            west, south = description["origin_m"]
            columns, rows, crs = int(description["columns"]), int(description["rows"]), str(description["crs"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the description of a grid is incomplete or damaged ({error!r}).",
                "it needs columns, rows, cell_m, origin_m and crs, as Grid.describe() gives them.",
            ) from None
        return cls(columns, rows, (width, height), (west, south), crs)

    def describe(self) -> dict[str, Any]:
        """Return a description of the grid as JSON values."""
        return {
            "kind": "grid",
            "columns": self.columns,
            "rows": self.rows,
            "cell_m": list(self.cell_m),
            "origin_m": list(self.origin),
            "crs": self.crs,
        }

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


def _sides(cell: Length | tuple[Length, Length]) -> Floats:
    given = cell if isinstance(cell, tuple | list) else (cell, cell)
    sides = np.array([length_m(side, "the cell") for side in given])
    if sides.shape != (2,) or not (sides > 0).all():
        shown = " x ".join(dict.fromkeys(map(str, given)))
        raise InputError(f"a cell of {shown} has no extent.", "use a positive length or two, such as '500 m'.")
    return sides


def _numbers(shape: tuple[int, int] | None) -> Floats:
    numbers = floats(shape or (), "the shape", shape=(2,))
    if (numbers < 1).any() or (numbers % 1 > 0).any():
        raise InputError(
            f"the shape {shape} is not a number of columns and of rows.",
            "pass two integers above 0, such as (20, 15).",
        )
    return numbers
