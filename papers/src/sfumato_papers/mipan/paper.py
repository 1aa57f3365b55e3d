"""Learned mechanisms as a paper to reproduce: the parts of the study, and where each equation is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from threadpoolctl import threadpool_limits

from sfumato.errors import InputError, MissingExtraError
from sfumato.learning import CrossEntropy, MutualInformation
from sfumato.reports.theme import LIGHT, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

from ..curve_labels import label_curve
from ..reproduction import Paper, RunTables, Setting, StudyPart, Tables, equations
from ..results import distinct, where
from .claims import claims, over_field
from .contest import ContestRow, contest, hidden_labels
from .games import GuessTheoremRow, SwappingRound, alternate, games_of, payoffs, play_swapping, swaps, theorem_row
from .square import (
    EXPERIMENTS,
    HITS,
    NETWORK,
    SQUARE_GENERATORS,
    TEST,
    TRAIN,
    Experiment,
    generator_errors,
    square_data,
    square_generator,
)

_BLUE, _ORANGE, _GREY = LIGHT.series[0], LIGHT.series[1], LIGHT.muted


def _parts(setting: Setting) -> list[StudyPart]:
    size = setting.size
    seeds, starts = range(1, size(3, 4)), range(size(2, 5))
    table_rounds = size(60, 120)  # most rounds of each training
    limits = size((518.0, 1400.0), (518.0, 1150.0))  # in full size those of the paper for its Gowalla users
    # The number of the most frequent visitors to hide, width and height of their region in metres, and its cells.
    users, size_m, cell_m = size(((3,), (8_000.0, 6_000.0), 1_000.0), ((6, 20), (6_000.0, 9_000.0), 600.0))
    labels = [
        label
        for source, visits in setting.data.items()
        for label in hidden_labels(source, visits, users, size_m, cell_m)
    ]
    parts = [_part("payoffs", "payoffs", payoffs)]
    for target, start in product((CrossEntropy(), MutualInformation()), starts):
        parts.append(_part(f"{target.name}, start {start}", "swapping", play_swapping, target, seed=start))
    for start, reset in product(starts, (True, False)):
        name = f"algorithm 1, start {start}, {'new classifiers' if reset else 'one classifier'}"
        parts.append(_part(name, "alternation", alternate, start, reset=reset))
    parts += [_part(f"theorems, seed {seed}", "theorems", _theorems, seed, size(100, 1000)) for seed in seeds]
    names = [name for name in SQUARE_GENERATORS if name != NETWORK or not setting.quick]
    sizes = size(100, 600), size((10, 100), HITS), 2 * table_rounds
    for experiment, seed, name in product(EXPERIMENTS, seeds, names):
        arguments = (name, experiment, seed, *sizes)
        parts.append(StudyPart(f"{experiment.name}, {name}, seed {seed}", _square, arguments))
    for label, limit, seed in product(sorted(labels, key=lambda label: len(label.data.space)), limits, seeds):
        name = f"{label.source}, {label.name}, {limit:g} m, seed {seed}"
        parts.append(_part(name, "people", contest, label, limit, rounds=table_rounds, seed=seed))
    return parts


def _part(
    name: str, table: str, rows: Callable[..., Sequence[Any]], *arguments: Any, **settings: Any
) -> StudyPart:
    return StudyPart(name, _rows, (table, partial(rows, *arguments, **settings)))


def _rows(table: str, rows: Callable[[], Sequence[Any]]) -> Tables:
    with one_thread():
        return {table: rows()}


def _theorems(seed: int, channels: int) -> Sequence[GuessTheoremRow]:
    return [theorem_row(seed, channels)]


def _square(
    name: str, experiment: Experiment, seed: int, records: int, hits: Sequence[int], information_rounds: int
) -> Tables:
    """Make a generator of Experiment 1 or 2, and measure it on every grid."""
    with one_thread():
        train, test = square_data(records, seed=seed)
        draws, design = square_generator(name, experiment, train, information_rounds=information_rounds, seed=seed)
        parts = {TRAIN: train, TEST: test}
        rows = generator_errors({name: draws}, parts, experiment=experiment.name, hits=hits, seed=seed)
    return {"square": rows, "square-designs": [] if design is None else [design]}


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


def _figures(tables: RunTables) -> Mapping[str, Figure]:
    return {
        "swapping": swapping_figure(tables.rows("swapping", SwappingRound)),
        "people": people_figure(tables.rows("people", ContestRow)),
    }


def swapping_figure(rounds: Sequence[SwappingRound]) -> Figure:
    """Return a panel for each target: where Alice and Bob are reported from the usual start, round by round."""
    games = games_of(where(rounds, seed=0))
    if not games:
        raise InputError("no game was given.", "pass those of play_swapping.")
    figure = blank(4.8 * len(games), 4.0)
    axes = figure.subplots(1, len(games), squeeze=False, sharey=True)
    for ax, game in zip(axes[0], games, strict=True):
        for field, label, look in (
            ("alice_at_a", "Alice reported at a", {"color": _BLUE, "marker": "o", "markersize": 3}),
            ("bob_at_a", "Bob reported at a", {"color": _ORANGE, "marker": "s", "markersize": 3}),
            ("accuracy", "classifier right", {"color": _GREY, "linestyle": "--"}),
        ):
            ax.plot(range(1, len(game) + 1), [getattr(row, field) for row in game], label=label, **look)
        ax.set_title(f"Trained with {game[0].target}: {swaps(game)} swaps", fontsize=11)
        ax.set(xlabel="round", ylim=(-0.03, 1.03))
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("probability")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside lower center", ncols=3)
    return figure


def people_figure(rows: Sequence[ContestRow]) -> Figure:
    """Return a panel for each source: fewest users, smaller loss, training (filled) and held-out visits."""
    sources = distinct(rows, "source")
    figure = blank(7.4, 3.4)
    axes = figure.subplots(1, len(sources), squeeze=False, sharex=True, sharey=True)[0]
    for ax, source in zip(axes, sources, strict=True):
        users = [row for row in where(rows, source=source) if row.of_users]
        labels = min(row.labels for row in users)
        fewest = where(users, labels=labels, max_loss_m=min(row.max_loss_m for row in users))
        _panel(ax, fewest)
        ax.set_title(f"{source}: {fewest[0].hidden}, {fewest[0].max_loss_m:,.0f} m", fontsize=10)
    axes[0].set_xlim(0, 1.05)
    figure.supxlabel("error of the best guess", fontsize=10)
    return figure


def _panel(ax: Axes, rows: Sequence[ContestRow]) -> None:
    largest, blind = (over_field(rows, field).value for field in ("largest_error", "blind_error"))
    ax.axvline(largest, color=_ORANGE, linestyle="--", linewidth=1.2)
    label_curve(ax, (largest, 0.5), "proved largest", _ORANGE, (-5, 0), "right")
    ax.axvline(blind, color=_GREY, linestyle=":", linewidth=1.2)
    label_curve(ax, (blind, 1), "without\na report", _GREY)
    names = distinct(rows, "mechanism")
    for field, name, fill, shift in (
        ("error", "training", _BLUE, -0.14),
        ("held_out_error", "held out", LIGHT.paper, 0.14),
    ):
        errors = [over_field(where(rows, mechanism=mechanism), field) for mechanism in names]
        values, places = [error.value for error in errors], [place + shift for place in range(len(names))]
        bars = [[error.value - error.lower for error in errors], [error.upper - error.value for error in errors]]
        look: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "color": _BLUE}
        ax.errorbar(values, places, xerr=bars, markerfacecolor=fill, capsize=2, elinewidth=1, **look)
        label_curve(ax, (errors[0].upper, shift), name, _BLUE, (5, -20 * shift))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)


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
    parts=_parts,
    claims=claims,
    figures=_figures,
    captions={
        "swapping": "Example 1, round by round. With cross entropy the two lines cross repeatedly, and a changes "
        "its meaning. With mutual information they meet.",
        "people": "The fewest users of a city at the smaller limit: the error of the best guess against "
        "mechanisms of the same loss, on training visits (filled) and held-out ones (hollow), with 95 % intervals "
        "over random splits. Dashed: proved upper bound for all tables of the cells on the training visits. "
        "people.csv has the other cases.",
    },
    equations=equations(
        ("(2) to (5)", "labels, places and reports together", "sf.learning.Pairs"),
        ("(6) to (8)", "expected loss within a limit", "sf.learning.hiding", "people"),
        ("(9) to (11)", "mutual information", "sf.leakage.joint_information_bits", "square-designs"),
        ("(12)", "the game of generator and classifier", "sf.learning.learn_generator", "square"),
        ("(13), Propositions 2 to 4", "convexity and errors", "sfumato_papers.mipan.theorem_row", "theorems"),
        ("(14)", "least information on the label", "sfumato_papers.mipan.least_information", "square-designs"),
        ("(15) to (17)", "loss of the generator, with softplus", "sf.learning.Softplus"),
        ("(18) to (22)", "accuracy, precision, recall, F1", "sfumato.attacks.classifiers.Confusion"),
        ("(23), (24)", "planar Laplace noise, its mean distance", "sfumato_papers.mipan.LaplaceDraws", "square"),
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
    ),
    minutes=15,
    extras=("learn",),
)
