"""The parts of the study, each a function that depends on its arguments alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.learning import CrossEntropy, Draws, MutualInformation, Target
from sfumato.mechanisms import PlanarLaplace

from ..reproduction import Made, Setting, StudyPart
from ..results import columns_of
from .alternation import alternate
from .contest import Contest, contest
from .crowd import Hidden, hidden_in
from .draws import LaplaceDraws, NoNoise, TableDraws
from .experiments import EXPERIMENT_1, EXPERIMENT_2, Experiment, square_generator
from .generators import generator_errors
from .guesses import theorem_row
from .square import HITS, square_data
from .swapping import payoffs, play_swapping
from .threads import one_thread
from .vocabulary import LAPLACE, NETWORK, NO_NOISE, OPTIMUM, SQUARE_GENERATORS, TABLE, TEST, TRAIN

EXPERIMENTS: Final = (EXPERIMENT_1, EXPERIMENT_2)
MAX_LOSSES_M: Final = (518.0, 1150.0)
"""The paper's limits for its Gowalla users."""

_SHOWN: Final = 1  # the seed whose reports are drawn in figures
_LEAST_SHARE: Final = 1e-3  # of a user's reports in a cell, to be drawn


@dataclass(frozen=True, slots=True, repr=False)
class MipanSize(CompactRepr):
    """The amounts of a run.

    Attributes:
        seeds: How many draws of data, trainings and splits.
        records: Of each person of the square.
        hits: Reports of each record of the square.
        starts: Of the games of Example 1.
        generators: Which ones measured in Experiments 1 and 2.
        network_rounds: Of the networks' training.
        users: How many of the most frequent visitors to hide.
        size_m: Width and height of the region where they are hidden.
        cell_m: The side of its cells.
        max_losses_m: The limits there.
        table_rounds: The most rounds of each training there.
        people_hits: Reports of each visit there.
        channels: Random channels for each seed.
    """

    seeds: int
    records: int
    hits: tuple[int, ...]
    starts: int
    generators: tuple[str, ...]
    network_rounds: int
    users: tuple[int, ...]
    size_m: tuple[float, float]
    cell_m: float
    max_losses_m: tuple[float, ...]
    table_rounds: int
    people_hits: tuple[int, ...]
    channels: int


FULL: Final = MipanSize(
    seeds=3,
    records=600,
    hits=HITS,
    starts=5,
    generators=SQUARE_GENERATORS,
    network_rounds=40,
    users=(6, 20),
    size_m=(6_000.0, 9_000.0),
    cell_m=600.0,
    max_losses_m=MAX_LOSSES_M,
    table_rounds=120,
    people_hits=(10, 100),
    channels=1_000,
)
QUICK: Final = MipanSize(
    seeds=2,
    records=100,
    hits=(10, 100),
    starts=2,
    generators=tuple(name for name in SQUARE_GENERATORS if name != NETWORK),
    network_rounds=0,
    users=(3,),
    size_m=(8_000.0, 6_000.0),
    cell_m=1_000.0,
    max_losses_m=(518.0, 1400.0),
    table_rounds=60,
    people_hits=(10, 100),
    channels=100,
)


@dataclass(frozen=True, slots=True, repr=False)
class CloudPoint(CompactRepr):
    """A report of one person of the square.

    Attributes:
        experiment: The experiment.
        generator: What made it.
        person: Whose it is.
        x_m: Metres east of the middle of the square.
        y_m: Metres north of it.
    """

    experiment: str
    generator: str
    person: str
    x_m: float
    y_m: float


@dataclass(frozen=True, slots=True, repr=False)
class CloudCell(CompactRepr):
    """The share of reports of one user of a city in a cell.

    Attributes:
        source: The name of the visits.
        max_loss_m: The limit.
        mechanism: What makes the reports.
        user: The user's number.
        x_m: The middle of the cell, metres east of the middle of the region.
        y_m: Metres north of it.
        share: The share of the user's reports that lie there.
    """

    source: str
    max_loss_m: float
    mechanism: str
    user: int
    x_m: float
    y_m: float
    share: float


def parts_of(setting: Setting) -> list[StudyPart]:
    """Return the parts for a setting."""
    size = QUICK if setting.quick else FULL
    seeds = range(1, size.seeds + 1)
    hidden = [
        each
        for source, visits in setting.data.items()
        for each in hidden_in(source, visits, size.users, size.size_m, size.cell_m)
    ]
    hidden.sort(key=lambda each: len(each.data.space))
    parts = [StudyPart("payoffs", payoff_tables)]
    parts += [
        StudyPart(f"{target.name}, start {seed}", games, (target, seed))
        for target in (CrossEntropy(), MutualInformation())
        for seed in range(size.starts)
    ]
    parts += [StudyPart(f"algorithm 1, start {seed}", alternations, (seed,)) for seed in range(size.starts)]
    parts += [StudyPart(f"theorems, seed {seed}", theorems, (seed, size.channels)) for seed in seeds]
    parts += [
        StudyPart(f"{experiment.name}, {name}, seed {seed}", square, (name, experiment, seed, size))
        for experiment in EXPERIMENTS
        for seed in seeds
        for name in size.generators
    ]
    parts += [
        StudyPart(f"{each.source}, {each.name}, {limit:g} m, seed {seed}", people, (each, limit, seed, size))
        for each in hidden
        for limit in size.max_losses_m
        for seed in seeds
    ]
    return parts


def payoff_tables() -> Made:
    """Compute Figure 1."""
    return {"payoffs": [columns_of(row) for row in payoffs().rows]}


def games(target: Target, seed: int) -> Made:
    """Play Example 1."""
    with one_thread():
        return {"swapping": [columns_of(row) for row in play_swapping(target, seed=seed).rounds]}


def alternations(seed: int) -> Made:
    """Run Algorithm 1 on Example 1, with and without new classifiers."""
    with one_thread():
        return {
            "alternation": [columns_of(row) for reset in (True, False) for row in alternate(seed, reset=reset)]
        }


def theorems(seed: int, channels: int) -> Made:
    """Check the propositions on random channels."""
    return {"theorems": [columns_of(theorem_row(seed, channels))]}


def square(name: str, experiment: Experiment, seed: int, size: MipanSize) -> Made:
    """Make a generator of Experiment 1 or 2, and measure it on every grid."""
    with one_thread():
        train, test = square_data(size.records, seed=seed)
        draws, design = square_generator(
            name,
            experiment,
            train,
            network_rounds=size.network_rounds,
            information_rounds=2 * size.table_rounds,
            seed=seed,
        )
        found = generator_errors({name: draws}, {TRAIN: train, TEST: test}, hits=size.hits, seed=seed)
        reports: Floats = draws.draw(test.points, seed=seed)
    shown = zip([test.space.labels[k] for k in test.classes], reports.tolist(), strict=True)
    return {
        "square": [columns_of(row) for each in found for row in each.rows(experiment.name, seed)],
        "square-designs": [] if design is None else [columns_of(design)],
        "clouds": [
            columns_of(CloudPoint(experiment.name, name, str(person), *report))
            for person, report in shown
            if seed == _SHOWN
        ],
    }


def people(hidden: Hidden, max_loss_m: float, seed: int, size: MipanSize) -> Made:
    """Let mechanisms hide users, or where people live; users also by drawn reports on the paper's grids."""
    with one_thread():
        found = contest(
            hidden.source,
            hidden.name,
            hidden.data,
            hidden.cells,
            max_loss_m,
            with_tupling=hidden.homes,
            rounds=size.table_rounds,
            seed=seed,
        )
        made: dict[str, Any] = {"people": [columns_of(row) for row in found.rows]}
        first = not hidden.homes and len(hidden.data.space) <= min(size.users)
        if first and max_loss_m == min(size.max_losses_m):
            made["people-grids"] = _people_grids(hidden, found, max_loss_m, seed, size)
        if first and seed == _SHOWN:
            made["people-clouds"] = [
                columns_of(row) for name in found.mechanisms for row in _cloud(hidden, found, name, max_loss_m)
            ]
    return made


def _people_grids(
    hidden: Hidden, found: Contest, max_loss_m: float, seed: int, size: MipanSize
) -> list[dict[str, object]]:
    generators: dict[str, Draws] = {
        NO_NOISE: NoNoise(),
        LAPLACE: LaplaceDraws(PlanarLaplace(2 / max_loss_m)),
        TABLE: TableDraws(found.mechanisms[TABLE]),
        OPTIMUM: TableDraws(found.mechanisms[OPTIMUM]),
    }
    visits = {TRAIN: found.learning, TEST: found.judging}
    rows = generator_errors(generators, visits, hits=size.people_hits, seed=seed)
    about = f"{hidden.source}, {hidden.name}, {max_loss_m:g} m"
    return [columns_of(row) for each in rows for row in each.rows(about, seed)]


def _middle(hidden: Hidden) -> Floats:
    centres = np.asarray(hidden.cells.coordinates)
    middle: Floats = (centres.min(axis=0) + centres.max(axis=0)) / 2
    return middle


def _cloud(hidden: Hidden, found: Contest, name: str, max_loss_m: float) -> list[CloudCell]:
    joint = found.learning.joint(hidden.cells)
    reports = joint @ found.mechanisms[name].matrix
    reports /= reports.sum(axis=1, keepdims=True)
    places = np.asarray(hidden.cells.coordinates) - _middle(hidden)
    return [
        CloudCell(
            hidden.source,
            max_loss_m,
            name,
            int(hidden.data.space.labels[user]),
            float(places[cell, 0]),
            float(places[cell, 1]),
            float(reports[user, cell]),
        )
        for user, cell in zip(*np.nonzero(reports > _LEAST_SHARE), strict=True)
    ]
