"""Bayes errors that generators of reports leave on grids, for several parts of the data and numbers of reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.learning import Draws, GridError, Pairs, grid_error, repeated

from .square import AREA_M, CELLS_M, HITS


@dataclass(frozen=True, slots=True, repr=False)
class GridRow(CompactRepr):
    """The Bayes error that a generator leaves on one grid.

    Attributes:
        experiment: The experiment, or the people and the limit.
        generator: What makes the reports.
        seed: Of data, training and draws.
        part: ``train`` or ``test``.
        hits: How many reports of each record.
        cell_m: The side of a cell.
        error: The plug-in estimate, equation 27: on average too low on fine grids with few hits.
        error_corrected: The same, less an estimate of its bias.
        loss_m: The mean distance of report and place.
        loss_standard_error_m: Its standard error, the records being the independent draws.
    """

    experiment: str
    generator: str
    seed: int
    part: str
    hits: int
    cell_m: float
    error: float
    error_corrected: float
    loss_m: float
    loss_standard_error_m: float


@dataclass(frozen=True, slots=True, repr=False)
class GeneratorErrors(CompactRepr):
    """One generator on one part of the data.

    Attributes:
        name: Of the generator.
        part: ``train`` or ``test``.
        hits: How many reports of each record.
        loss: The mean distance of report and place.
        loss_error: Its standard error, the records being the independent draws.
        grids: The Bayes error on each grid, coarse to fine.
    """

    name: str
    part: str
    hits: int
    loss: float
    loss_error: float
    grids: tuple[GridError, ...]

    def __str__(self) -> str:
        """One line of the table."""
        errors = ", ".join(f"{g.cell:g} m: {g.plug_in:.3f} ({g.error.value:.3f})" for g in self.grids)
        return f"{self.name}, {self.part}, {self.hits} hits, loss {self.loss:.1f} m; Bayes error {errors}"

    def rows(self, experiment: str, seed: int) -> list[GridRow]:
        """Return a row for each grid.

        Args:
            experiment: The name of the experiment.
            seed: Of the data and draws.
        """
        return [
            GridRow(
                experiment,
                self.name,
                seed,
                self.part,
                self.hits,
                grid.cell,
                grid.plug_in,
                grid.error.value,
                self.loss,
                self.loss_error,
            )
            for grid in self.grids
        ]


def generator_errors(
    generators: Mapping[str, Draws],
    parts: Mapping[str, Pairs],
    *,
    cells: Sequence[float] = CELLS_M,
    hits: Sequence[int] = HITS,
    area: float = AREA_M,
    seed: int | None = None,
) -> tuple[GeneratorErrors, ...]:
    """Measure generators on the same data and grids; see `grid_error` for what biases the numbers.

    Args:
        generators: What draws reports, by name.
        parts: The data, by name.
        cells: The sides of the grids' cells.
        hits: How many reports of each record, for each table.
        area: The side of the area that the grids divide, centred on the origin: with an even
            number of cells the origin is a corner of cells.
        seed: For studies: makes the draws the same each time.
    """
    rows = []
    for name, generator in generators.items():
        for part, data in parts.items():
            for many in hits:
                again = repeated(data, many)
                drawn = generator.draw(again.points, seed=seed)
                reports = again.reported(drawn)
                each = np.linalg.norm(drawn - again.points, axis=1).reshape(many, len(data)).mean(axis=0)
                grids = tuple(
                    grid_error(reports, cell, even=round(area / cell) % 2 == 0, seed=seed) for cell in cells
                )
                error = float(each.std(ddof=1)) / math.sqrt(len(data)) if len(data) > 1 else math.inf
                rows.append(GeneratorErrors(name, part, many, float(each.mean()), error, grids))
    return tuple(rows)
