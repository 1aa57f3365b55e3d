"""Learned mechanisms as a paper to reproduce: the parts of the study, and where each equation is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from sfumato.core.arrays import Floats
from sfumato.errors import MissingExtraError
from sfumato.learning import CrossEntropy, Draws, MutualInformation, Target
from sfumato.mechanisms import PlanarLaplace

from ..reproduction import Equation, Made, Paper, Setting, StudyPart
from ..results import columns_of
from .claims import claims
from .contest import MAX_LOSSES_M, CloudCell, Contest, Hidden, contest, hidden_in
from .figures import CAPTIONS, figures
from .games import alternate, payoffs, play_swapping, theorem_row
from .generators import (
    HITS,
    LAPLACE,
    NETWORK,
    NO_NOISE,
    OPTIMUM,
    SQUARE_GENERATORS,
    TABLE,
    TEST,
    TRAIN,
    LaplaceDraws,
    NoNoise,
    TableDraws,
    generator_errors,
)
from .square import EXPERIMENTS, CloudPoint, Experiment, square_data, square_generator

_ROOM: Final = "sfumato_papers.mipan"

_SHOWN: Final = 1  # the seed whose reports are drawn in figures
_PEOPLE_HITS: Final = (10, 100)  # reports of each visit of a user
_LEAST_SHARE: Final = 1e-3  # of a user's reports in a cell, to be drawn


@dataclass(frozen=True, slots=True)
class _Size:
    """The amounts of a run, by default of the full size."""

    seeds: int = 3  # draws of data, trainings and splits
    records: int = 600  # of each person of the square
    hits: tuple[int, ...] = HITS  # reports of each record of the square
    starts: int = 5  # of the games of Example 1
    generators: tuple[str, ...] = SQUARE_GENERATORS  # of Experiments 1 and 2
    network_rounds: int = 40
    users: tuple[int, ...] = (6, 20)  # how many of the most frequent visitors to hide
    size_m: tuple[float, float] = (6_000.0, 9_000.0)  # width and height of their region
    cell_m: float = 600.0
    max_losses_m: tuple[float, ...] = MAX_LOSSES_M
    table_rounds: int = 120  # most rounds of each training
    channels: int = 1_000  # random channels for each seed


_QUICK: Final = _Size(
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
    channels=100,
)


def parts_of(setting: Setting) -> list[StudyPart]:
    """Return the parts for a setting."""
    size = _QUICK if setting.quick else _Size()
    seeds = range(1, size.seeds + 1)
    hidden = [
        each
        for source, visits in setting.data.items()
        for each in hidden_in(source, visits, size.users, size.size_m, size.cell_m)
    ]
    hidden.sort(key=lambda each: len(each.data.space))
    parts = [StudyPart("payoffs", payoff_tables)]
    for target, seed in product((CrossEntropy(), MutualInformation()), range(size.starts)):
        parts.append(StudyPart(f"{target.name}, start {seed}", games, (target, seed)))
    parts += [StudyPart(f"algorithm 1, start {seed}", alternations, (seed,)) for seed in range(size.starts)]
    parts += [StudyPart(f"theorems, seed {seed}", theorems, (seed, size.channels)) for seed in seeds]
    for experiment, seed, name in product(EXPERIMENTS, seeds, size.generators):
        parts.append(StudyPart(f"{experiment.name}, {name}, seed {seed}", square, (name, experiment, seed, size)))
    for each, limit, seed in product(hidden, size.max_losses_m, seeds):
        name = f"{each.source}, {each.name}, {limit:g} m, seed {seed}"
        parts.append(StudyPart(name, people, (each, limit, seed, size)))
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


def square(name: str, experiment: Experiment, seed: int, size: _Size) -> Made:
    """Make a generator of Experiment 1 or 2, and measure it on every grid."""
    with one_thread():
        train, test = square_data(size.records, seed=seed)
        rounds = {"network_rounds": size.network_rounds, "information_rounds": 2 * size.table_rounds}
        draws, design = square_generator(name, experiment, train, **rounds, seed=seed)
        rows = generator_errors(
            {name: draws}, {TRAIN: train, TEST: test}, experiment=experiment.name, hits=size.hits, seed=seed
        )
        reports: Floats = draws.draw(test.points, seed=seed)
    shown = zip([test.space.labels[k] for k in test.classes], reports.tolist(), strict=True)
    return {
        "square": [columns_of(row) for row in rows],
        "square-designs": [] if design is None else [columns_of(design)],
        "clouds": [
            columns_of(CloudPoint(experiment.name, name, str(person), *report))
            for person, report in shown
            if seed == _SHOWN
        ],
    }


def people(hidden: Hidden, max_loss_m: float, seed: int, size: _Size) -> Made:
    """Let mechanisms hide users, or where people live; users also by drawn reports on the paper's grids."""
    with one_thread():
        case = (hidden.source, hidden.name, hidden.data, hidden.cells, max_loss_m)
        found = contest(*case, with_tupling=hidden.homes, rounds=size.table_rounds, seed=seed)
        made: dict[str, Any] = {"people": [columns_of(row) for row in found.rows]}
        first = not hidden.homes and len(hidden.data.space) <= min(size.users)
        if first and max_loss_m == min(size.max_losses_m):
            made["people-grids"] = _people_grids(hidden, found, max_loss_m, seed)
        if first and seed == _SHOWN:
            made["people-clouds"] = [
                columns_of(row) for name in found.mechanisms for row in _cloud(hidden, found, name, max_loss_m)
            ]
    return made


def _people_grids(hidden: Hidden, found: Contest, max_loss_m: float, seed: int) -> list[dict[str, object]]:
    generators: dict[str, Draws] = {
        NO_NOISE: NoNoise(),
        LAPLACE: LaplaceDraws(PlanarLaplace(2 / max_loss_m)),
        TABLE: TableDraws(found.mechanisms[TABLE]),
        OPTIMUM: TableDraws(found.mechanisms[OPTIMUM]),
    }
    visits = {TRAIN: found.learning, TEST: found.judging}
    about = f"{hidden.source}, {hidden.name}, {max_loss_m:g} m"
    rows = generator_errors(generators, visits, experiment=about, hits=_PEOPLE_HITS, seed=seed)
    return [columns_of(row) for row in rows]


def _cloud(hidden: Hidden, found: Contest, name: str, max_loss_m: float) -> list[CloudCell]:
    joint = found.learning.joint(hidden.cells)
    reports = joint @ found.mechanisms[name].matrix
    reports /= reports.sum(axis=1, keepdims=True)
    centres = np.asarray(hidden.cells.coordinates)
    places = centres - (centres.min(axis=0) + centres.max(axis=0)) / 2
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


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch and BLAS to one thread, and restore their numbers of threads."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("the study of learned mechanisms", "learn") from None
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(usual)


PAPER: Final = Paper(
    name="mipan",
    title="Learned mechanisms (MI-PAN) compared with the optimum",
    source='M. Romanelli, C. Palamidessi and K. Chatzikokolakis, "Optimal Obfuscation Mechanisms via Machine '
    'Learning", CSF 2020, sections II to IV',
    version="Quoted from the abstract of arXiv 1904.01059: sentences that it has under this title and under the "
    'first one, "Generating Optimal Privacy-Protection Mechanisms via Machine Learning". Sections, equations, '
    "figures and numbers are known from summaries.",
    about=(
        "A generator reports places with noise, within a limit of the mean distance, and a classifier guesses who "
        "reports. The Bayes error is the probability that the best guess is wrong; more is better. A learned "
        "mechanism has no guaranteed likelihood ratio: its errors are measured.",
        "Experiments 1 and 2 have four people around a square of 300 m, with data made here. The learned network "
        "reports any place of the plane. It has two heads (the paper's has one), because a single one cannot "
        "split its reports, and is trained in the full size only. The tables report cells of 50 m: the learned "
        "table, made to protect other records too; the annealed table, trained with rising order towards the "
        "optimum for its own records; least information (the paper's target); and the certified optimum, the only "
        "one that is proved optimal, for its training records.",
        "Errors on grids are counted from drawn reports, as in equation 27. These are too low on fine grids with "
        "few reports, so there is a corrected estimate too. Means are over seeds of data, training and "
        "draws, with Student's 95 % intervals.",
        "Users of a city are those with most visits in a region that holds the most visits. They are numbered "
        "by frequency, and are not the users of the paper. Mechanisms are built on equal cells "
        "from a random 80 % of the visits; errors there and on the rest are exact sums over cells. "
        "Check-ins of one user are not independent, so held-out months could be harder.",
    ),
    parts=parts_of,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=(
        Equation("(2) to (5)", "labels, places and reports together", "sf.learning.Pairs"),
        Equation("(6) to (8)", "expected loss within a limit", "sf.learning.hiding", "people.csv"),
        Equation("(9) to (11)", "mutual information", "sf.leakage.joint_information_bits", "square-designs.csv"),
        Equation("(12)", "the game of generator and classifier", "sf.learning.learn_generator", "square.csv"),
        Equation(
            "(13), Propositions 2 to 4", "convexity, bits and errors", f"{_ROOM}.theorem_row", "theorems.csv"
        ),
        Equation(
            "(14)", "least information of report and label", f"{_ROOM}.least_information", "square-designs.csv"
        ),
        Equation("(15) to (17)", "loss of the generator, with softplus", "sf.learning.Softplus"),
        Equation("(18) to (22)", "accuracy, precision, recall, F1", "sfumato.attacks.learned.Confusion"),
        Equation(
            "(23), (24)", "planar Laplace noise and its mean distance", f"{_ROOM}.LaplaceDraws", "square.csv"
        ),
        Equation("(25) to (27)", "Bayes error on a grid, and its bias", "sf.learning.grid_error", "square.csv"),
        Equation("(28) to (30)", "limit and noise of Experiment 1", f"{_ROOM}.EXPERIMENT_1", "square.csv"),
        Equation("Experiment 2", "its limit and noise", f"{_ROOM}.EXPERIMENT_2", "square.csv"),
        Equation("Santhi and Vardy", "error and entropy", f"{_ROOM}.GuessedLabel", "theorems.csv"),
        Equation("Figure 1", "payoffs of Example 1", f"{_ROOM}.payoffs", "payoffs.csv"),
        Equation("Example 1", "the game round by round", f"{_ROOM}.play_swapping", "swapping.csv"),
        Equation("Algorithm 1", "new classifiers, or one that goes on", f"{_ROOM}.alternate", "alternation.csv"),
        Equation("Experiments 1 and 2", "clouds of reports", f"{_ROOM}.square_generator", "clouds.csv"),
        Equation("Experiments 1 and 2", "errors by grid and hits", f"{_ROOM}.generator_errors", "square.csv"),
        Equation("Gowalla", "reports of users of a city", f"{_ROOM}.contest", "people-clouds.csv"),
        Equation("Gowalla", "users of a city hidden", f"{_ROOM}.contest", "people.csv"),
        Equation("Gowalla", "errors by grid and hits", f"{_ROOM}.generator_errors", "people-grids.csv"),
        Equation("Ours", "the certified optimum", "sf.optimal.least_vulnerability", "square-designs.csv"),
        Equation("Ours", "a table annealed to the optimum", f"{_ROOM}.learn_square", "square-designs.csv"),
    ),
    minutes=15,
    extras=("learn",),
)
