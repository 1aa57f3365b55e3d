"""Experiments 1 and 2: no noise, planar Laplace noise, what was learned, and the certified optimum, on grids."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...core import Space
from ...core.frozen import Short
from ...errors import InputError
from ...learn import (
    BayesVulnerability,
    Draws,
    Ending,
    LearnedTable,
    Pairs,
    TrainingRound,
    learn_generator,
    learn_table,
    nearest,
)
from ...mechanisms import PlanarLaplace
from ...optimal import least_vulnerability
from .draws import LaplaceDraws, NoNoise, TableDraws
from .generators import GeneratorErrors, generator_errors
from .square import HITS, loss_of_cells, square_cells, square_data

NETWORK: Final = "learned network"
OPTIMUM: Final = "certified optimum"
GAP: Final = 1e-4
"""Of certified optima, relative."""

_CELL_M: Final = 50.0
_HIDDEN: Final = 1e-4  # above chance, where nothing more needs to be hidden


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on the square.

    Attributes:
        name: What it is called.
        max_loss_m: L, the largest expected distance allowed, metres.
        epsilon_per_m: Of the planar Laplace noise beside it.
    """

    name: str
    max_loss_m: float
    epsilon_per_m: float


EXPERIMENT_1: Final = Experiment("Experiment 1", 270.0, math.log(2) / 100)
"""The limit allows hiding everything; the planar Laplace noise has a mean distance of 288.5 m."""

EXPERIMENT_2: Final = Experiment("Experiment 2", 173.0, math.log(2) / 60)
"""The limit allows hiding a part; the planar Laplace noise has a mean distance of 173.1 m."""

# Where everything can be hidden, networks that aim lower gather reports; what is left is spent at the end.
_NETWORK_MARGIN: Final = {EXPERIMENT_1: 0.2, EXPERIMENT_2: 0.005}
_NETWORK_FAILURE: Final = 0.25  # of the limit of the loss: 0.05 would leave 1.6 % of it unused


def learn_square(
    experiment: Experiment,
    data: Pairs,
    *,
    cell_m: float = 50.0,
    margin: float = 0.005,
    seed: int | None = None,
    progress: Callable[[TrainingRound], None] | None = None,
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
        margin: By which part of the limit to stay below it, so that it is met on other records.
        seed: For studies.
        progress: Called with each round.

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
            experiment.max_loss_m,
            reports=cells,
            records=records,
            margin=margin,
            tolerance=_HIDDEN,
            seed=seed,
            progress=progress,
        )

    exact = learn(None)
    # Where not all can be hidden, a matrix fitted to exactly these records reveals more of
    # others. Half their number, as in trials on fresh records, does better than the full one.
    return exact if exact.ending is Ending.HIDDEN else learn(max(1, len(data) // 2))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExperimentResult(Short):
    """An experiment's learned table, and the errors of all generators.

    Attributes:
        experiment: Which one.
        learned: The table that was learned.
        rows: No noise, planar Laplace noise and the learned mechanism, on training and test data.
    """

    experiment: Experiment
    learned: LearnedTable
    rows: tuple[GeneratorErrors, ...]

    def row(self, name: str, part: str, hits: int) -> GeneratorErrors:
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
    progress: Callable[[TrainingRound], None] | None = None,
) -> ExperimentResult:
    """Run an experiment: make the data, learn, and measure on every grid.

    Args:
        experiment: `EXPERIMENT_1` or `EXPERIMENT_2`, or one of your own.
        records: Of each of the four people; four fifths train.
        cell_m: The side of a cell of the learned table.
        hits: How many reports of each record.
        others: More generators to compare with, such as a `LearnedGenerator`.
        seed: For studies.
        progress: Called with each round of the training.

    Raises:
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section IV.
    """
    train, test = square_data(records, seed=seed)
    learned = learn_square(experiment, train, cell_m=cell_m, seed=seed, progress=progress)
    generators: dict[str, Draws] = {
        "no noise": NoNoise(),
        "planar Laplace": LaplaceDraws(PlanarLaplace(experiment.epsilon_per_m)),
        "learned": TableDraws(learned.mechanism),
        **(others or {}),
    }
    rows = generator_errors(generators, {"train": train, "test": test}, hits=hits, seed=seed)
    return ExperimentResult(experiment, learned, rows)


def with_optimum_and_network(
    experiment: Experiment, *, hits: Sequence[int] = HITS, records: int = 600, rounds: int = 300, seed: int = 1
) -> ExperimentResult:
    """Run an experiment with the certified optimum and a learned network beside the usual generators.

    Args:
        experiment: `EXPERIMENT_1` or `EXPERIMENT_2`.
        hits: How many reports of each record.
        records: Of each of the four people.
        rounds: Of the network's training.
        seed: For studies.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    data, _ = square_data(records, seed=seed)
    cells = square_cells(_CELL_M)
    seen = np.flatnonzero(data.joint(cells).any(axis=0))
    centres: Any = cells.coordinates
    useful = Space([cells.labels[i] for i in seen], centres[seen], "m")
    costs = loss_of_cells(data, useful, cells)
    best = least_vulnerability(
        data.joint(useful), useful, costs, experiment.max_loss_m, observables=cells, gap=GAP
    )
    network = learn_generator(
        data,
        experiment.max_loss_m,
        target=BayesVulnerability(),
        rounds=rounds,
        judging=0.4,
        margin=_NETWORK_MARGIN[experiment],
        tolerance=None,
        patience=rounds,
        failure=_NETWORK_FAILURE,
        seed=seed,
        device="cpu",
    )
    others: dict[str, Draws] = {OPTIMUM: TableDraws(best.mechanism), NETWORK: network}
    return run_experiment(experiment, records=records, hits=hits, others=others, seed=seed)
