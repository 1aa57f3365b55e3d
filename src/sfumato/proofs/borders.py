"""The border of two cells: how far a report tells two points a step apart on its two sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Bracket, Mechanism
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.units import length_m
from ..errors import InputError
from ..geo import Grid
from ..rounding import UNIT

_ROUNDINGS = 8 * UNIT  # of integers to floats, and of their quotient


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Border:
    """Two points on the two sides of a border that a report tells apart most.

    Attributes:
        factor: How many times likelier the report is from the first point than from the second; infinite where it
            is impossible from the second.
        points: Latitude and longitude of both, array (2, 2), degrees.
        apart_m: Their distance in metres.
        cells: The positions of their cells.
        observable: The position of the report.
    """

    factor: Bracket
    points: Floats
    apart_m: float
    cells: tuple[int, int]
    observable: int

    def __repr__(self) -> str:
        return f"Border of cells {self.cells}: points {self.apart_m:g} m apart, told apart by {self.factor}"


@checked
def worst_border(mechanism: Mechanism, apart: float | str = "1 m") -> Border:
    """Return the two points on the two sides of a border between cells that a report tells apart most.

    Anyone in a cell is taken to be at its middle, so what is promised for the middles says nothing about
    two points a step apart on the two sides of a border. Cells with a side or a corner in common are looked at.

    Args:
        mechanism: A mechanism on the cells of a `Grid`.
        apart: The distance of the points across the border, below the sides of a cell.

    Raises:
        InputError: If the secrets are not the cells of a grid, or the distance is not below the sides of a cell.
    """
    grid = mechanism.secrets
    if not isinstance(grid, Grid):
        raise InputError(f"borders are those of the cells of a grid, but the secrets are {grid!r}.", "use a Grid.")
    step = length_m(apart, "the distance of the points")
    if not 0 < step < min(grid.cell_m):
        raise InputError(
            f"points {step:g} m apart across a border do not fit cells of {min(grid.cell_m):g} m.",
            "use a length above 0 and below the side of a cell, such as '1 m'.",
        )
    weights = mechanism.weights.astype(np.float64).reshape(grid.rows, grid.columns, -1)
    best, where, first = -1.0, (0, 0, 0, 0, 0), 0
    for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        low, high = max(0, -right), grid.columns - max(0, right)
        here = weights[: grid.rows - up, low:high]
        there = weights[up:, low + right : high + right]
        for one, other, swapped in ((here, there, 0), (there, here, 1)):
            if not one.size:
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                factors = one / other
            factors[np.isnan(factors)] = 0.0
            found = np.unravel_index(int(np.argmax(factors)), factors.shape)
            if factors[found] > best:
                best = float(factors[found])
                where = (int(found[0]), int(found[1]) + low, up, right, int(found[2]))
                first = swapped
    row, column, up, right, observable = where
    cells = (row * grid.columns + column, (row + up) * grid.columns + column + right)
    direction = np.array([right, up]) / np.hypot(right, up)
    corner = np.array(grid.origin) + np.array(grid.cell_m) * (
        (column + (1 + right) / 2 if right else column + 0.5),
        (row + 1 if up else row + 0.5),
    )
    plane = np.stack([corner - step / 2 * direction, corner + step / 2 * direction])
    points = grid.projection.inverse(plane)
    order = [1, 0] if first else [0, 1]
    exact = best == 1.0 and bool((mechanism.weights == mechanism.weights[0]).all())
    factor = Bracket.exact(best) if exact else Bracket(best * (1 - _ROUNDINGS), best, best * (1 + _ROUNDINGS))
    return Border(factor, readonly(points[order]), step, (cells[order[0]], cells[order[1]]), observable)
