"""Experiments 1 and 2: no noise, planar Laplace noise and what was learned, on the paper's grids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..core import Mechanism, Space
from ..core.arrays import Floats, floats
from ..errors import InputError
from ..mechanisms import PlanarLaplace
from .finite import Draws
from .generator import repeated
from .grids import GridError, grid_error
from .pairs import Pairs, nearest
from .rounds import Ending, Report
from .square import AREA_M, CELLS_M, HITS, loss_of_cells, square_cells, square_data
from .table import LearnedTable, learn_table

_HIDDEN: Final = 1e-4  # above chance, where nothing more needs to be hidden


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on the square.

    Attributes:
        name: What it is called.
        bound_m: L, the bound on the expected distance, metres.
        epsilon_per_m: Of the planar Laplace noise beside it.
    """

    name: str
    bound_m: float
    epsilon_per_m: float


EXPERIMENT_1: Final = Experiment("Experiment 1", 270.0, math.log(2) / 100)
"""The bound allows to hide everything; the planar Laplace noise has a mean distance of 288.5 m."""

EXPERIMENT_2: Final = Experiment("Experiment 2", 173.0, math.log(2) / 60)
"""The bound allows to hide a part; the planar Laplace noise has a mean distance of 173.1 m."""


@dataclass(frozen=True, slots=True)
class NoNoise:
    """Every report is the place itself."""

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:  # noqa: ARG002 - nothing is random
        """Return the places."""
        return floats(places, "the places", shape=(None, None))


@dataclass(frozen=True, slots=True)
class LaplaceDraws:
    """Planar Laplace noise in floats, for studies.

    Attributes:
        noise: The noise.
    """

    noise: PlanarLaplace

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, 2)."""
        return self.noise.simulate(places, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True, eq=False)
class TableDraws:
    """A finite mechanism used on places: each takes the row of the nearest secret. For studies.

    Attributes:
        mechanism: A mechanism whose secrets and observables have coordinates.

    Raises:
        InputError: If they have none.
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        if self.mechanism.secrets.coordinates is None or self.mechanism.observables.coordinates is None:
            raise InputError("the mechanism's values have no coordinates.", "use one on cells.")

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return the coordinates of one report for each place, array (k, dimensions)."""
        rng = np.random.default_rng(seed)
        rows = nearest(floats(places, "the places", shape=(None, None)), self.mechanism.secrets)
        steps = np.cumsum(self.mechanism.matrix, axis=1)
        steps[:, -1] = np.inf
        reports = np.empty(len(rows), dtype=np.intp)
        shots = rng.random(len(rows))
        for row in np.unique(rows):
            here = rows == row
            reports[here] = np.searchsorted(steps[row], shots[here], side="right")
        coordinates: Any = self.mechanism.observables.coordinates
        drawn: Floats = coordinates[reports]
        return drawn


@dataclass(frozen=True, slots=True)
class Comparison:
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
        errors = ", ".join(f"{g.cell:g} m: {g.plug_in:.3f} ({g.corrected:.3f})" for g in self.grids)
        return f"{self.name}, {self.part}, {self.hits} hits, loss {self.loss:.1f} m; Bayes error {errors}"


def compare(
    generators: Mapping[str, Draws],
    parts: Mapping[str, Pairs],
    *,
    cells: Sequence[float] = CELLS_M,
    hits: Sequence[int] = HITS,
    area: float = AREA_M,
    seed: int | None = None,
) -> tuple[Comparison, ...]:
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
                rows.append(Comparison(name, part, many, float(each.mean()), error, grids))
    return tuple(rows)


def learn_square(
    experiment: Experiment,
    data: Pairs,
    *,
    cell_m: float = 50.0,
    margin: float = 0.005,
    seed: int | None = None,
    report: Report | None = None,
) -> LearnedTable:
    """Learn a table for an experiment: from the cells with records to cells around the square.

    The target is a smooth Bayes vulnerability. Mutual information, the paper's target, is
    another optimum: at 173 m the mechanism of least information has a Bayes error of only
    .54, where .63 is possible. Where not all can be hidden, it is learned twice: once on the
    records as they are, and then on resampled ones.

    Args:
        experiment: Which one.
        data: The records to learn from.
        cell_m: The side of a cell.
        margin: By which part of the bound to stay below it, so that it is met on other records.
        seed: For studies.
        report: Called with each round.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    cells = square_cells(cell_m)
    seen = np.unique(nearest(data.points, cells))
    centres: Any = cells.coordinates
    useful = Space([cells.labels[i] for i in seen], centres[seen], "m")
    joint, costs = data.joint(useful), loss_of_cells(data, useful, cells)

    def learn(records: int | None) -> LearnedTable:
        return learn_table(
            joint,
            useful,
            costs,
            experiment.bound_m,
            reports=cells,
            records=records,
            margin=margin,
            tolerance=_HIDDEN,
            seed=seed,
            report=report,
        )

    exact = learn(None)
    # Where something must be told, a matrix that balances these very records tells more of
    # others. Half their number, as in trials on fresh records, does better than the full one.
    return exact if exact.ending is Ending.HIDDEN else learn(max(1, len(data) // 2))


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What an experiment gave.

    Attributes:
        experiment: Which one.
        learned: The table that was learned.
        rows: No noise, planar Laplace noise and the learned mechanism, on training and test data.
    """

    experiment: Experiment
    learned: LearnedTable
    rows: tuple[Comparison, ...]

    def row(self, name: str, part: str, hits: int) -> Comparison:
        """Return one row.

        Raises:
            InputError: If there is none.
        """
        for row in self.rows:
            if (row.name, row.part, row.hits) == (name, part, hits):
                return row
        raise InputError(f"there is no row {name!r}, {part!r}, {hits} hits.", "see the rows.")


def run_experiment(
    experiment: Experiment,
    *,
    records: int = 600,
    cell_m: float = 50.0,
    hits: Sequence[int] = HITS,
    others: Mapping[str, Draws] | None = None,
    seed: int | None = None,
    report: Report | None = None,
) -> Outcome:
    """Run an experiment: make the data, learn, and measure on every grid.

    Args:
        experiment: `EXPERIMENT_1` or `EXPERIMENT_2`, or one of your own.
        records: Of each of the four people; four fifths train.
        cell_m: The side of a cell of the learned table.
        hits: How many reports of each record.
        others: More generators to compare with, such as a `LearnedGenerator`.
        seed: For studies.
        report: Called with each round of the training.

    Raises:
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section IV.
    """
    train, test = square_data(records, seed=seed)
    learned = learn_square(experiment, train, cell_m=cell_m, seed=seed, report=report)
    generators: dict[str, Draws] = {
        "no noise": NoNoise(),
        "planar Laplace": LaplaceDraws(PlanarLaplace(experiment.epsilon_per_m)),
        "learned": TableDraws(learned.mechanism),
        **(others or {}),
    }
    rows = compare(generators, {"train": train, "test": test}, hits=hits, seed=seed)
    return Outcome(experiment, learned, rows)
