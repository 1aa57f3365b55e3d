"""Fixed cells: every point of a cell is reported as its centre, or as a random point of the same cell."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.core import Mechanism, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Grid

from .channel import WildChannel
from .degrees import degree_m


@dataclass(frozen=True, slots=True, repr=False)
class FixedCells(CompactRepr, WildChannel):
    """Rectangles of one size that tile the plane.

    The report depends on the cell alone. Two points on the two sides of a border are distinguished with certainty,
    at any distance, so epsilon is infinite.

    Attributes:
        width_m: From west to east, metres.
        height_m: From south to north, metres.
        origin_m: A corner of cells, metres east and north.
        spread: Whether a report is a random point of the cell, drawn once and kept, instead of its centre.

    Raises:
        InputError: If a side is not positive.
    """

    width_m: float
    height_m: float
    origin_m: tuple[float, float] = (0.0, 0.0)
    spread: bool = False

    def __post_init__(self) -> None:
        if not (0 < self.width_m < math.inf and 0 < self.height_m < math.inf):
            raise InputError(
                f"cells of {self.width_m:g} m x {self.height_m:g} m have no extent.", "use positive lengths."
            )

    @classmethod
    def of_degrees(cls, step: float, lat: float, *, spread: bool = False) -> FixedCells:
        """Return the cells of a number of degrees in both directions, as they are around a latitude.

        Args:
            step: Degrees of latitude, and of longitude.
            lat: The latitude, degrees.
            spread: Whether a report is a random point of the cell.
        """
        east, north = degree_m(lat)
        return cls(step * east, step * north, spread=spread)

    @property
    def independent(self) -> bool:
        """No: the report is kept."""
        return False

    @property
    def finite_epsilon(self) -> float:
        """Infinite, at borders."""
        return math.inf

    @property
    def diagonal_m(self) -> float:
        """From corner to corner, metres."""
        return math.hypot(self.width_m, self.height_m)

    @property
    def mean_m(self) -> float:
        """The mean distance of two even points of a rectangle, or of one from its centre; both in closed form."""
        a, b, d = self.width_m, self.height_m, self.diagonal_m
        wide, tall = b**2 / a * math.log((a + d) / b), a**2 / b * math.log((b + d) / a)
        if not self.spread:
            return (d + wide / 2 + tall / 2) / 6
        return (a**3 / b**2 + b**3 / a**2 + d * (3 - (a / b) ** 2 - (b / a) ** 2) + 2.5 * (wide + tall)) / 15

    def centres(self, points_m: Floats) -> Floats:
        """Return the centres of the cells of points, array (..., 2), metres."""
        sides, origin = np.array([self.width_m, self.height_m]), np.array(self.origin_m)
        found: Floats = (np.floor((points_m - origin) / sides) + 0.5) * sides + origin
        return found

    def moved(self, origin_m: tuple[float, float]) -> FixedCells:
        """Return the same cells with their corners elsewhere."""
        return FixedCells(self.width_m, self.height_m, origin_m, self.spread)

    def _drawn(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        reports = self.centres(points_m)
        if self.spread:
            within = generator.uniform(-0.5, 0.5, reports.shape)
            reports = reports + within * (self.width_m, self.height_m)
        return np.repeat(reports[:, None, :], count, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return 0 in the cell of the reports, and minus infinity elsewhere; see `WildChannel`."""
        cells = np.unique(self.centres(reports_m), axis=0)
        same = (self.centres(candidates_m)[:, None, :] == cells[None, :, :]).all(axis=(1, 2))
        return np.where(same, 0.0, -np.inf)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the centre of the cell, the guess with the least error; see `WildChannel`."""
        return self.centres(reports_m[:, 0, :])

    def mechanism(self, places: Grid) -> Mechanism:
        """Return the exact mechanism from the small cells of a grid to these, which can be audited and saved.

        A small cell belongs to the cell that holds its centre. Where reports are random points of a cell, anyone
        can draw them from the cell's centre: the guarantee is the same.

        Args:
            places: The secrets; the plane's origin is that of their projection.

        Example:
            >>> import sfumato as sf
            >>> from sfumato_papers import wild
            >>> town = sf.Grid.covering("4 km x 4 km around 40,-30", cell="500 m")
            >>> wild.FixedCells(2000, 2000).mechanism(town)
            Mechanism of 64 secrets and 4 observables in 62-bit integers
        """
        own = self.centres(np.asarray(places.coordinates))
        reported, column = np.unique(own, axis=0, return_inverse=True)
        matrix = np.zeros((len(places), len(reported)))
        matrix[np.arange(len(places)), column.ravel()] = 1.0
        labels = [f"cell {number}" for number in range(len(reported))]
        return Mechanism(matrix, places, Space(labels, reported, places.unit, places.crs))
