"""Learned mechanisms as a paper to reproduce: the parts of the study, and where each equation is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Final

from threadpoolctl import threadpool_limits

from sfumato.errors import MissingExtraError
from sfumato.learning import CrossEntropy, MutualInformation, Target

from ..reproduction import Equation, Made, Paper, Setting, StudyPart
from ..results import columns_of
from .claims import claims
from .contest import MAX_LOSSES_M, Hidden, contest, hidden_in
from .figures import CAPTIONS, figures
from .games import alternate, payoffs, play_swapping, theorem_row
from .generators import HITS, NETWORK, SQUARE_GENERATORS, TEST, TRAIN, generator_errors
from .square import EXPERIMENTS, Experiment, square_data, square_generator


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
    return {"payoffs": [columns_of(row) for row in payoffs()]}


def games(target: Target, seed: int) -> Made:
    """Play Example 1."""
    with one_thread():
        return {"swapping": [columns_of(row) for row in play_swapping(target, seed=seed).rounds]}


def alternations(seed: int) -> Made:
    """Run Algorithm 1 on Example 1, with and without new classifiers."""
    with one_thread():
        rows = [row for reset in (True, False) for row in alternate(seed, reset=reset)]
    return {"alternation": [columns_of(row) for row in rows]}


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
    return {
        "square": [columns_of(row) for row in rows],
        "square-designs": [] if design is None else [columns_of(design)],
    }


def people(hidden: Hidden, max_loss_m: float, seed: int, size: _Size) -> Made:
    """Let mechanisms hide users, or where people live."""
    case = (hidden.source, hidden.name, hidden.data, hidden.cells, max_loss_m)
    with one_thread():
        rows = contest(*case, with_tupling=hidden.homes, rounds=size.table_rounds, seed=seed)
    return {"people": [columns_of(row) for row in rows]}


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


_EQUATIONS: Final = (
    ("(2) to (5)", "labels, places and reports together", "sf.learning.Pairs", ""),
    ("(6) to (8)", "expected loss within a limit", "sf.learning.hiding", "people"),
    ("(9) to (11)", "mutual information", "sf.leakage.joint_information_bits", "square-designs"),
    ("(12)", "the game of generator and classifier", "sf.learning.learn_generator", "square"),
    ("(13), Propositions 2 to 4", "convexity, bits and errors", "sfumato_papers.mipan.theorem_row", "theorems"),
    ("(14)", "least information of report and label", "sfumato_papers.mipan.least_information", "square-designs"),
    ("(15) to (17)", "loss of the generator, with softplus", "sf.learning.Softplus", ""),
    ("(18) to (22)", "accuracy, precision, recall, F1", "sfumato.attacks.learned.Confusion", ""),
    ("(23), (24)", "planar Laplace noise and its mean distance", "sfumato_papers.mipan.LaplaceDraws", "square"),
    ("(25) to (27)", "Bayes error on a grid, and its bias", "sf.learning.grid_error", "square"),
    ("(28) to (30)", "limit and noise of Experiment 1", "sfumato_papers.mipan.EXPERIMENT_1", "square"),
    ("Experiment 2", "its limit and noise", "sfumato_papers.mipan.EXPERIMENT_2", "square"),
    ("Santhi and Vardy", "error and entropy", "sfumato_papers.mipan.GuessedLabel", "theorems"),
    ("Figure 1", "payoffs of Example 1", "sfumato_papers.mipan.payoffs", "payoffs"),
    ("Example 1", "the game round by round", "sfumato_papers.mipan.play_swapping", "swapping"),
    ("Algorithm 1", "new classifiers, or one that goes on", "sfumato_papers.mipan.alternate", "alternation"),
    ("Experiments 1 and 2", "errors by grid and hits", "sfumato_papers.mipan.generator_errors", "square"),
    ("Gowalla", "users of a city hidden", "sfumato_papers.mipan.contest", "people"),
    ("Ours", "the certified optimum", "sf.optimal.least_vulnerability", "square-designs"),
    ("Ours", "a table annealed to the optimum", "sfumato_papers.mipan.learn_square", "square-designs"),
)

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
    equations=tuple(
        Equation(number, what, call, f"{table}.csv" if table else "") for number, what, call, table in _EQUATIONS
    ),
    minutes=15,
    extras=("learn",),
)
