"""Experiments 1 and 2: no noise, planar Laplace noise, what was learned, and the certified optimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sfumato.core import Mechanism, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.learning import (
    BayesVulnerability,
    Draws,
    Ending,
    LearnedTable,
    MutualInformation,
    Pairs,
    TrainingRound,
    hiding,
    learn_generator,
    learn_table,
    nearest,
)
from sfumato.mechanisms import PlanarLaplace
from sfumato.optimal import least_vulnerability

from .draws import LaplaceDraws, NoNoise, TableDraws
from .guesses import GuessedLabel
from .square import loss_of_cells, square_cells
from .vocabulary import ANNEALED, LAPLACE, LEAST_INFORMATION, NETWORK, NO_NOISE, OPTIMUM, TABLE

GAP: Final = 1e-4
"""Of certified optima, relative."""

_CELL_M: Final = 50.0
_HIDDEN: Final = 1e-4  # above chance, where nothing more needs to be hidden
_ORDERS: Final = (8.0, 40.0, 200.0)  # of the smooth target: the larger, the nearer to the Bayes vulnerability
_FLOOR: Final = 1e-9  # of probabilities that training starts from


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on the square.

    Attributes:
        name: What it is called.
        max_loss_m: L, the largest expected distance allowed, metres.
        epsilon_per_m: Epsilon of the planar Laplace noise for comparison.
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
    anneal: bool = False,
    seed: int | None = None,
    progress: Callable[[TrainingRound], None] | None = None,
) -> LearnedTable:
    """Learn a table for an experiment: from the cells with records to cells around the square.

    The target is a smooth Bayes vulnerability. Mutual information, the paper's target, is
    another optimum: at 173 m the mechanism of least information has a Bayes error of only
    .54, where .63 is possible. Where not all can be hidden, it is learned twice: once on the
    records as they are, and then on resampled ones, or on the same with targets of rising order.

    Args:
        experiment: Which one.
        data: The records to learn from.
        cell_m: The side of a cell.
        margin: By which part of the limit to stay below it, so that it is met on other records.
        anneal: Whether to come as near as possible to the optimum for exactly these records, with a target of
            rising order and the whole limit, instead of hiding more of other records.
        seed: For studies.
        progress: Called with each round.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    useful, cells = _cells(data, cell_m)
    joint, costs = data.joint(useful), loss_of_cells(data, useful, cells)

    def learn(records: int | None, order: float = _ORDERS[0], start: Floats | None = None) -> LearnedTable:
        return learn_table(
            joint,
            useful,
            costs,
            experiment.max_loss_m,
            reports=cells,
            target=BayesVulnerability(order),
            start=start,
            records=records,
            margin=0.0 if anneal else margin,
            tolerance=_HIDDEN,
            seed=seed,
            progress=progress,
        )

    exact = learn(None)
    if exact.ending is Ending.HIDDEN:
        return exact
    if anneal:
        tables = [exact]
        for order in _ORDERS[1:]:
            start = np.maximum(tables[-1].mechanism.matrix, _FLOOR)
            tables.append(learn(None, order, start / start.sum(axis=1, keepdims=True)))
        return max(tables, key=lambda table: table.bayes_error)
    # Where not all can be hidden, a matrix fitted to exactly these records reveals more of
    # others. Half their number, as in trials on fresh records, does better than the full one.
    return learn(max(1, len(data) // 2))


def _cells(data: Pairs, cell_m: float) -> tuple[Space, Space]:
    """Return the cells that have records, and all that can be reported."""
    cells = square_cells(cell_m)
    seen = np.unique(nearest(data.points, cells))
    centres: Any = cells.coordinates
    return Space([cells.labels[i] for i in seen], centres[seen], "m"), cells


@dataclass(frozen=True, slots=True, repr=False)
class SquareDesign(CompactRepr):
    """A matrix on cells of the square, measured exactly on its training records.

    Attributes:
        experiment: The experiment.
        generator: Its name.
        seed: Of the data and the training.
        loss_m: The expected distance from the records to their reports.
        error: Of the best guess of the person from a report.
        largest_error: A proved upper bound for matrices on these cells within the limit; only for the optimum.
        information_bits: The mutual information of person and report.
        guess_information_bits: That of person and best guess.
        unknown_bits: The entropy of the person, given the best guess.
        guess_error: The error, given the best guess only.
    """

    experiment: str
    generator: str
    seed: int
    loss_m: float
    error: float
    largest_error: float | None
    information_bits: float
    guess_information_bits: float
    unknown_bits: float
    guess_error: float


def square_generator(
    name: str,
    experiment: Experiment,
    data: Pairs,
    *,
    network_rounds: int = 40,
    information_rounds: int = 240,
    seed: int = 1,
) -> tuple[Draws, SquareDesign | None]:
    """Make a generator for an experiment, and measure it exactly where it is a matrix.

    Args:
        name: One of `SQUARE_GENERATORS`.
        experiment: `EXPERIMENT_1` or `EXPERIMENT_2`.
        data: The records to make it from.
        network_rounds: Of a network's training.
        information_rounds: The most rounds for the least information.
        seed: For studies.

    Raises:
        InputError: If there is no such generator.
        MissingExtraError: If torch is not installed.
    """
    if name == NO_NOISE:
        return NoNoise(), None
    if name == LAPLACE:
        return LaplaceDraws(PlanarLaplace(experiment.epsilon_per_m)), None
    if name == NETWORK:
        return _network(experiment, data, network_rounds, seed), None
    largest = None
    if name in (TABLE, ANNEALED):
        mechanism = learn_square(experiment, data, anneal=name == ANNEALED, seed=seed).mechanism
    elif name == LEAST_INFORMATION:
        mechanism = least_information(experiment, data, rounds=information_rounds).mechanism
    elif name == OPTIMUM:
        useful, cells = _cells(data, _CELL_M)
        best = least_vulnerability(
            data.joint(useful),
            useful,
            loss_of_cells(data, useful, cells),
            experiment.max_loss_m,
            observables=cells,
            gap=GAP,
        )
        mechanism, largest = best.mechanism, 1 - best.lower_bound
    else:
        raise InputError(f"there is no generator {name!r}.", "see SQUARE_GENERATORS.")
    return TableDraws(mechanism), _design(name, experiment, data, mechanism, largest, seed)


def least_information(experiment: Experiment, data: Pairs, *, rounds: int = 240) -> LearnedTable:
    """Learn the table that leaves the least mutual information of person and report: the paper's target.

    The target is convex, and the attacker knows the matrix at every step (equation 14).

    Args:
        experiment: Its limit counts.
        data: The records to learn from.
        rounds: The most rounds.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    useful, cells = _cells(data, _CELL_M)
    return learn_table(
        data.joint(useful),
        useful,
        loss_of_cells(data, useful, cells),
        experiment.max_loss_m,
        reports=cells,
        target=MutualInformation(),
        rounds=rounds,
        patience=rounds,
    )


def _network(experiment: Experiment, data: Pairs, rounds: int, seed: int) -> Draws:
    return learn_generator(
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


def _design(
    name: str, experiment: Experiment, data: Pairs, mechanism: Mechanism, largest: float | None, seed: int
) -> SquareDesign:
    useful: Space = mechanism.secrets
    joint: Floats = data.joint(useful)
    found = hiding(mechanism, joint, loss_of_cells(data, useful, mechanism.observables))
    guess = GuessedLabel.of(joint @ mechanism.matrix)
    return SquareDesign(
        experiment.name,
        name,
        seed,
        found.loss,
        found.error,
        largest,
        found.information_bits,
        guess.information_bits,
        guess.unknown_bits,
        guess.error,
    )
