"""Experiments 1 and 2: four people around a square, and the generators that hide who reports."""

from __future__ import annotations

import math
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
    hiding,
    learn_generator,
    learn_table,
    nearest,
)
from sfumato.mechanisms import PlanarLaplace
from sfumato.optimal import least_vulnerability

from .games import GuessedLabel
from .generators import (
    ANNEALED,
    LAPLACE,
    LEAST_INFORMATION,
    NETWORK,
    NO_NOISE,
    OPTIMUM,
    TABLE,
    LaplaceDraws,
    NoNoise,
    TableDraws,
)

PEOPLE: Final = ("south-west", "south-east", "north-east", "north-west")
GAP: Final = 1e-4
"""Relative gap of certified optima."""

_SIDE_M: Final = 300.0
_RADIUS_M: Final = 45.8
_TRAINING: Final = 0.8  # of the records
_CELL_M: Final = 50.0
_REACH_M: Final = 200.0  # of the cells, in each direction
_MARGIN: Final = 0.005  # of the limit: the part to stay below it, so that it is met on other records
_HIDDEN: Final = 1e-4  # above chance, where nothing more needs to be hidden
_ORDERS: Final = (8.0, 40.0, 200.0)  # of the smooth target: the larger, the nearer to the Bayes vulnerability
_FLOOR: Final = 1e-9  # of probabilities that training starts from
_NETWORK_FAILURE: Final = 0.25  # of the limit of the loss: 0.05 would leave 1.6 % of it unused


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on the square."""

    name: str
    max_loss_m: float  # largest expected distance allowed
    epsilon_per_m: float  # of the planar Laplace noise for comparison


EXPERIMENT_1: Final = Experiment("Experiment 1", 270.0, math.log(2) / 100)
"""The limit allows hiding everything; the planar Laplace noise has a mean distance of 288.5 m."""

EXPERIMENT_2: Final = Experiment("Experiment 2", 173.0, math.log(2) / 60)
"""The limit allows hiding a part; the planar Laplace noise has a mean distance of 173.1 m."""

EXPERIMENTS: Final = (EXPERIMENT_1, EXPERIMENT_2)

# Where everything can be hidden, networks that aim lower gather reports; what is left is spent at the end.
_NETWORK_MARGIN: Final = {EXPERIMENT_1: 0.2, EXPERIMENT_2: 0.005}


@dataclass(frozen=True, slots=True, repr=False)
class SquareDesign(CompactRepr):
    """A matrix on cells of the square, measured exactly on its training records."""

    experiment: str
    generator: str
    seed: int  # of the data and the training
    loss_m: float  # expected distance from the records to their reports
    error: float  # of the best guess of the person from a report
    largest_error: float | None  # proved bound for all matrices within the limit; only for the optimum
    information_bits: float  # mutual information of person and report
    guess_information_bits: float  # mutual information of person and best guess
    unknown_bits: float  # entropy of the person, given the best guess
    guess_error: float  # error, given the best guess only


def vertices() -> Floats:
    """Return the corners of the square around the origin, array (4, 2), metres."""
    half = _SIDE_M / 2
    return np.array([[-half, -half], [half, -half], [half, half], [-half, half]])


def square_data(
    records: int = 600, *, radius_m: float = _RADIUS_M, seed: int | None = None
) -> tuple[Pairs, Pairs]:
    """Return records of four people, each uniform in a disc around a corner, for training and for testing."""
    training = round(_TRAINING * records)
    if not 1 <= training < records or not (math.isfinite(radius_m) and radius_m >= 0):
        raise InputError(
            f"{records} records in discs of {radius_m} m cannot be split.",
            "use some hundreds of records and a radius of at least 0.",
        )
    rng = np.random.default_rng(seed)
    radius = radius_m * np.sqrt(rng.random((4, records)))
    angle = 2 * math.pi * rng.random((4, records))
    points = vertices()[:, None] + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    space = Space(PEOPLE)
    one, two = (
        Pairs(np.repeat(PEOPLE, part.shape[1]).tolist(), part.reshape(-1, 2), "m", space)
        for part in (points[:, :training], points[:, training:])
    )
    return one, two


def square_cells(cell_m: float) -> Space:
    """Return cells of a grid around the square, one of them centred on its centre."""
    if not (cell_m > 0 and math.isfinite(_REACH_M / cell_m)):
        raise InputError(f"cells of {cell_m} m are not possible.", "use a positive length.")
    steps = range(-math.ceil(_REACH_M / cell_m), math.ceil(_REACH_M / cell_m) + 1)
    labels = [(column, row) for row in steps for column in steps]
    return Space(labels, np.array(labels) * cell_m, "m")


def _cells(data: Pairs) -> tuple[Space, Space, Floats]:
    """Return the cells that have records, all that can be reported, and the mean loss, array (useful, reports)."""
    cells = square_cells(_CELL_M)
    seen = np.unique(nearest(data.points, cells))
    centres: Any = cells.coordinates
    return Space([cells.labels[i] for i in seen], centres[seen], "m"), cells, data.loss(cells).array[seen]


def learn_square(
    experiment: Experiment, data: Pairs, *, anneal: bool = False, seed: int | None = None
) -> LearnedTable:
    """Learn a table from the cells with records to cells around the square, with a smooth Bayes vulnerability.

    With ``anneal`` the target has rising order and the whole limit is used, to come near the optimum of exactly
    these records; without it, other records are protected too.
    """
    useful, cells, costs = _cells(data)
    joint = data.joint(useful)

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
            margin=0.0 if anneal else _MARGIN,
            tolerance=_HIDDEN,
            seed=seed,
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


def least_information(experiment: Experiment, data: Pairs, *, rounds: int = 240) -> LearnedTable:
    """Learn the table of least mutual information of person and report: the target of the paper (equation 14)."""
    useful, cells, costs = _cells(data)
    return learn_table(
        data.joint(useful),
        useful,
        costs,
        experiment.max_loss_m,
        reports=cells,
        target=MutualInformation(),
        rounds=rounds,
        patience=rounds,
    )


def square_generator(
    name: str,
    experiment: Experiment,
    data: Pairs,
    *,
    network_rounds: int = 40,
    information_rounds: int = 240,
    seed: int = 1,
) -> tuple[Draws, SquareDesign | None]:
    """Make a generator for an experiment, and measure it exactly where it is a matrix."""
    if name == NO_NOISE:
        return NoNoise(), None
    if name == LAPLACE:
        return LaplaceDraws(PlanarLaplace(experiment.epsilon_per_m)), None
    if name == NETWORK:
        network = learn_generator(
            data,
            experiment.max_loss_m,
            target=BayesVulnerability(),
            rounds=network_rounds,
            judging=0.4,
            margin=_NETWORK_MARGIN[experiment],
            tolerance=None,
            patience=network_rounds,
            failure=_NETWORK_FAILURE,
            seed=seed,
            device="cpu",
        )
        return network, None
    largest = None
    if name in (TABLE, ANNEALED):
        mechanism = learn_square(experiment, data, anneal=name == ANNEALED, seed=seed).mechanism
    elif name == LEAST_INFORMATION:
        mechanism = least_information(experiment, data, rounds=information_rounds).mechanism
    elif name == OPTIMUM:
        useful, cells, costs = _cells(data)
        best = least_vulnerability(
            data.joint(useful), useful, costs, experiment.max_loss_m, observables=cells, gap=GAP
        )
        mechanism, largest = best.mechanism, 1 - best.lower_bound
    else:
        raise InputError(f"there is no generator {name!r}.", "see SQUARE_GENERATORS.")
    return TableDraws(mechanism), _design(name, experiment, data, mechanism, largest, seed)


def _design(
    name: str, experiment: Experiment, data: Pairs, mechanism: Mechanism, largest: float | None, seed: int
) -> SquareDesign:
    useful, _, costs = _cells(data)
    joint = data.joint(useful)
    measures, guess = hiding(mechanism, joint, costs), GuessedLabel.of(joint @ mechanism.matrix)
    return SquareDesign(
        experiment.name,
        name,
        seed,
        measures.loss,
        measures.error,
        largest,
        measures.information_bits,
        guess.information_bits,
        guess.unknown_bits,
        guess.error,
    )
