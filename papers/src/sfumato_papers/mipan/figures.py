"""Figures of the study from the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.core import Bracket
from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import RunTables
from ..results import distinct, where
from .claims import over_field
from .contest import CloudCell, ContestRow
from .games import CLASSIFIERS, GENERATORS, AlternationRow, PayoffRow, Swapping, SwappingRound
from .generators import (
    ANNEALED,
    LAPLACE,
    LEAST_INFORMATION,
    NETWORK,
    NO_NOISE,
    NOISE,
    OPTIMUM,
    TABLE,
    TEST,
    TRAIN,
    GridRow,
)
from .square import EXPERIMENT_1, EXPERIMENT_2, EXPERIMENTS, PEOPLE, CloudPoint, vertices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CAPTIONS: Final = {
    "payoffs": "Figure 1. What the classifier gains in each of the 16 cases of Example 1. With the probability "
    "of success, generator and classifier alternate between truth and swap without end. With the other "
    "two payoffs, swapping gains nothing.",
    "swapping": "Example 1, round by round. With cross entropy the two lines cross repeatedly, and a changes its "
    "meaning. With mutual information they meet.",
    "alternation": "Algorithm 1 on Example 1 against a trained classifier, from each start: how often the best "
    "guess is right after each round, with a new classifier in each round and with one trained further.",
    "clouds-1": "Experiment 1 (270 m): one report of each test record, in the colour of its person. Where "
    "colours overlap, a report does not reveal its person. Reports of one cell are spread over it.",
    "clouds-2": "Experiment 2 (173 m): the same. The limit allows partial hiding. The tables report cells near "
    "the corner, in the middle or between corners; the network stays, or goes to a blurred middle.",
    "grids": "Bayes errors by grid, with intervals of 95 % over seeds; the dotted line is a blind guess. On the "
    "coarsest grid even true places look hidden: compare on equal grids only.",
    "hits": "Bayes errors on the finest grid by the number of reports of each record. Counts from few "
    "reports are too low (left); the correction removes most of this bias (right).",
    "people": "The fewest users of a city at the smaller limit: the error of the best guess against mechanisms of "
    "the same loss, on training visits (filled) and held-out ones (hollow), with 95 % intervals over random "
    "splits. Dashed: proved upper bound for all tables of the cells on the training visits. people.csv has the "
    "other cases.",
    "people-clouds": "Where users are reported, at the smaller limit: the area of a dot is the share of a user's "
    "reports in a cell. Users are drawn next to each other within a cell.",
}

_BLUE, _ORANGE, _GREY = LIGHT.series[0], LIGHT.series[1], LIGHT.muted
_DRAWN: Final = (NO_NOISE, NOISE, TABLE, OPTIMUM)
_LARGEST: Final = 400.0  # of a dot
_REACH_M: Final = 420.0
_APART_M: Final = 20.0  # to each side, where many reports are one point
_COLOURS: Final = dict(zip(PEOPLE, LIGHT.series[:4], strict=True))
_BLIND: Final = 0.75
_LIMITS: Final = {each.name: each.max_loss_m for each in EXPERIMENTS}
_LOOKS: Final = {
    NO_NOISE: (LIGHT.muted, "x", ":"),
    LAPLACE: (LIGHT.series[1], "^", "--"),
    LEAST_INFORMATION: (LIGHT.series[3], "v", "-."),
    TABLE: (LIGHT.series[0], "o", "-"),
    ANNEALED: (LIGHT.series[4], "P", "-"),
    NETWORK: (LIGHT.series[2], "s", "-"),
    OPTIMUM: (LIGHT.ink, "D", ":"),
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files without ending."""
    games = [game for game in Swapping.of_rounds(tables.rows("swapping", SwappingRound)) if game.seed == 0]
    clouds, square = tables.rows("clouds", CloudPoint), tables.rows("square", GridRow)
    return {
        "payoffs": payoff_figure(tables.rows("payoffs", PayoffRow)),
        "swapping": swapping_figure(games),
        "alternation": alternation_figure(tables.rows("alternation", AlternationRow)),
        "clouds-1": cloud_figure(where(clouds, experiment=EXPERIMENT_1.name)),
        "clouds-2": cloud_figure(where(clouds, experiment=EXPERIMENT_2.name)),
        "grids": grid_figure(square),
        "hits": hits_figure(square),
        "people": people_figure(tables.rows("people", ContestRow)),
        "people-clouds": people_cloud_figure(tables.rows("people-clouds", CloudCell)),
    }


def payoff_figure(rows: Sequence[PayoffRow]) -> Figure:
    """Return Figure 1: a table for each payoff, deeper where the classifier gains more."""
    figure = blank(11, 4.2)
    kinds = {
        "success": "probability of success",
        "information_bits": "mutual information (bits)",
        "vulnerability": "vulnerability",
    }
    by = {(row.generator, row.classifier): row for row in rows}
    for ax, (field, title) in zip(figure.subplots(1, 3, sharey=True), kinds.items(), strict=True):
        table = np.array([[getattr(by[g, c], field) for c in CLASSIFIERS] for g in GENERATORS])
        for (line, column), value in np.ndenumerate(table):
            cell = ([column - 0.48, column + 0.48], line - 0.47, line + 0.47)
            ax.fill_between(*cell, color=_BLUE, alpha=0.6 * value, linewidth=0)
            ax.text(column, line, f"{value:g}", ha="center", va="center", fontsize=10, color=LIGHT.ink)
        words = [name.replace(", ", ",\n") for name in CLASSIFIERS]
        ax.set_xticks(range(len(CLASSIFIERS)), words, fontsize=8, rotation=40, ha="right")
        ax.set_yticks(range(len(GENERATORS)), GENERATORS, fontsize=9)
        ax.set(xlim=(-0.5, 3.5), ylim=(3.5, -0.5))
        ax.set_title(title, fontsize=11)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    figure.supylabel("generator", fontsize=11)
    figure.supxlabel("classifier", fontsize=11)
    return figure


def swapping_figure(games: Sequence[Swapping]) -> Figure:
    """Return a panel for each target: where Alice and Bob are reported, round by round."""
    if not games:
        raise InputError("no game was given.", "pass those of play_swapping.")
    figure = blank(4.8 * len(games), 4.0)
    axes = figure.subplots(1, len(games), squeeze=False, sharey=True)
    for ax, game in zip(axes[0], games, strict=True):
        number, (alice, bob) = np.arange(1, len(game.accuracy) + 1), game.reports_a.T
        ax.plot(number, alice, color=_BLUE, marker="o", markersize=3, label="Alice reported at a")
        ax.plot(number, bob, color=_ORANGE, marker="s", markersize=3, label="Bob reported at a")
        ax.plot(number, game.accuracy, color=_GREY, linestyle="--", label="classifier right")
        ax.set_title(f"Trained with {game.target}: {game.swaps} swaps", fontsize=11)
        ax.set_xlabel("round")
        ax.set_ylim(-0.03, 1.03)
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("probability")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside lower center", ncols=3)
    return figure


def alternation_figure(rows: Sequence[AlternationRow]) -> Figure:
    """Return how often the best guess is right, round by round, from each start."""
    figure = blank(7, 4)
    ax: Any = figure.subplots()
    looks = {
        True: (_BLUE, "-", "new classifier in each round"),
        False: (_ORANGE, "--", "classifier goes on from the last round"),
    }
    for reset, (colour, line, label) in looks.items():
        for seed in distinct(rows, "seed"):
            mine = where(rows, seed=seed, reset=reset)
            ax.plot(
                [row.round for row in mine],
                [row.best_right for row in mine],
                color=colour,
                linestyle=line,
                linewidth=1.1,
                alpha=0.8,
                label=label if seed == rows[0].seed else None,
            )
    ax.axhline(0.5, color=_GREY, linewidth=0.8, linestyle=":", label="blind guess")
    ax.set(xlabel="round", ylabel="best guess right (probability)", ylim=(0.47, 1.0))
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)
    return figure


def people_figure(rows: Sequence[ContestRow]) -> Figure:
    """Return a panel for each source: fewest users, smaller loss, training (filled) and held-out visits."""
    sources = distinct(rows, "source")
    figure = blank(7.4, 3.4)
    axes = figure.subplots(1, len(sources), squeeze=False, sharex=True, sharey=True)[0]
    for ax, source in zip(axes, sources, strict=True):
        users = [row for row in where(rows, source=source) if row.hidden.endswith("users")]
        labels = min(row.labels for row in users)
        mine = where(users, labels=labels, max_loss_m=min(row.max_loss_m for row in users))
        _panel(ax, mine)
        ax.set_title(f"{source}: {mine[0].hidden}, {mine[0].max_loss_m:,.0f} m", fontsize=10)
    axes[0].set_xlim(0, 1.05)
    figure.supxlabel("error of the best guess", fontsize=10)
    return figure


def _panel(ax: Axes, rows: Sequence[ContestRow]) -> None:
    largest, blind = (over_field(rows, field).value for field in ("largest_error", "blind_error"))
    ax.axvline(largest, color=LIGHT.series[1], linestyle="--", linewidth=1.2)
    label_curve(ax, (largest, 0.5), "proved largest", LIGHT.series[1], (-5, 0), "right")
    ax.axvline(blind, color=LIGHT.muted, linestyle=":", linewidth=1.2)
    label_curve(ax, (blind, 1), "without\na report", LIGHT.muted)
    names = distinct(rows, "mechanism")
    for field, name, fill, shift in (
        ("error", "training", LIGHT.series[0], -0.14),
        ("held_out_error", "held out", LIGHT.paper, 0.14),
    ):
        errors = [over_field(where(rows, mechanism=each), field) for each in names]
        style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "color": LIGHT.series[0]}
        ax.errorbar(
            [each.value for each in errors],
            [place + shift for place in range(len(names))],
            xerr=_bars(errors),
            markerfacecolor=fill,
            capsize=2,
            elinewidth=1,
            **style,
        )
        label_curve(ax, (errors[0].upper, shift), name, LIGHT.series[0], (5, -20 * shift))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)


def people_cloud_figure(cells: Sequence[CloudCell]) -> Figure:
    """Return a map for each source and mechanism at the smaller loss: the larger a dot, the more reports."""
    loss = min(row.max_loss_m for row in cells)
    sources = distinct(cells, "source")
    wide, high = (max(abs(getattr(row, name)) for row in cells) / 1000 + 0.6 for name in ("x_m", "y_m"))
    figure = blank(10.5, 0.9 + len(sources) * (2.3 * high / wide + 0.35))
    axes = figure.subplots(len(sources), len(_DRAWN), squeeze=False, sharex=True, sharey=True)
    for (line, source), (column, name) in product(enumerate(sources), enumerate(_DRAWN)):
        ax = axes[line, column]
        mine = where(cells, source=source, mechanism=name, max_loss_m=loss)
        step = min(np.diff(sorted({row.x_m for row in where(cells, source=source)}))) / 1000
        users = sorted(distinct(where(cells, source=source), "user"))
        for k, user in enumerate(users):
            own = where(mine, user=user)
            turn = 2 * np.pi * k / len(users)
            ax.scatter(
                [row.x_m / 1000 + 0.22 * step * np.cos(turn) for row in own],
                [row.y_m / 1000 + 0.22 * step * np.sin(turn) for row in own],
                s=[_LARGEST * row.share + 1 for row in own],
                color=LIGHT.series[k % 8],
                alpha=0.75,
                linewidth=0,
                label=f"user {user}",
            )
        ax.set_title(f"{source}, {name}" if len(sources) > 1 else name, fontsize=9)
        ax.set(xlim=(-wide, wide), ylim=(-high, high), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("km east of the middle", fontsize=11)
    figure.supylabel("km north of the middle", fontsize=11)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, fontsize=9, loc="outside upper center", ncols=len(labels))
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([30.0])
    return figure


def cloud_figure(points: Sequence[CloudPoint]) -> Figure:
    """Return a panel for each generator: one report of each test record, in the colour of the person."""
    names = distinct(points, "generator")
    columns = math.ceil(len(names) / 2)
    figure = blank(10 / 3 * columns, 7.2)
    axes = figure.subplots(2, columns, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    rng = np.random.default_rng(0)  # only for the look: marks apart within cells, and nobody above the others
    for ax, name in zip(axes.flat, names, strict=False):
        mine = where(points, generator=name)
        outside = sum(max(abs(point.x_m), abs(point.y_m)) > _REACH_M for point in mine)
        cells = len({(point.x_m, point.y_m) for point in mine}) < len(mine) / 2
        places = np.array([(point.x_m, point.y_m) for point in mine])
        places += rng.uniform(-_APART_M, _APART_M, places.shape) * cells
        mixed = rng.permutation(len(mine))
        colours = [_COLOURS[mine[k].person] for k in mixed]
        ax.scatter(*places[mixed].T, s=7, c=colours, alpha=0.65, linewidth=0)
        ax.plot(*vertices().T, linestyle="none", marker="+", color=LIGHT.ink, markersize=9, label="vertex")
        note = f" ({outside} farther out)" if outside else ""
        ax.set_title(f"{name}{note}", fontsize=11)
        ax.set(xlim=(-_REACH_M, _REACH_M), ylim=(-_REACH_M, _REACH_M), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("metres east of the middle", fontsize=11)
    figure.supylabel("metres north of the middle", fontsize=11)
    for person in PEOPLE:
        axes[0, 0].plot([], [], color=_COLOURS[person], linestyle="none", marker=".", label=person)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, loc="outside upper center", ncols=5)
    return figure


def grid_figure(rows: Sequence[GridRow]) -> Figure:
    """Return the Bayes error by grid: a panel for each experiment and part of the data, with the most hits."""
    many = max(row.hits for row in rows)
    figure, axes = _error_panels(
        where(rows, hits=many),
        distinct(rows, "generator"),
        {part: ("error", {"part": part}) for part in (TRAIN, TEST)},
        ("cell_m", sorted(distinct(rows, "cell_m"), reverse=True)),
        (0.06, 2.5),
    )
    for ax, (experiment, part) in zip(
        axes.flat, product(distinct(rows, "experiment"), (TRAIN, TEST)), strict=True
    ):
        ax.set_title(f"{experiment}, at most {_LIMITS[experiment]:g} m, {part}", fontsize=11)
    figure.supxlabel("side of a cell of the grid (m)", fontsize=11)
    figure.supylabel(f"Bayes error, counted from {many} reports of each record", fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside upper center", ncols=4)
    return figure


def hits_figure(rows: Sequence[GridRow]) -> Figure:
    """Return the Bayes error on the finest grid by reports of each record: counted, and corrected for the bias."""
    fine = min(row.cell_m for row in rows)
    figure, axes = _error_panels(
        where(rows, part=TEST, cell_m=fine),
        distinct(rows, "generator")[1:],
        {"counted": ("error", {}), "corrected": ("error_corrected", {})},
        ("hits", sorted(distinct(rows, "hits"))),
        (0.05, 2),
    )
    axes[0, 0].set_ylim(0.15, 0.8)
    figure.supxlabel("reports of each record", fontsize=11)
    figure.supylabel(f"Bayes error on test records, cells of {fine:g} m", fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside upper center", ncols=3)
    return figure


def _error_panels(
    rows: Sequence[GridRow],
    names: Sequence[str],
    columns: Mapping[str, tuple[str, dict[str, str]]],
    ticks: tuple[str, Sequence[float]],
    shift: tuple[float, float],
) -> tuple[Figure, Any]:
    """Return panels of a line for each experiment: the errors of generators against the values of a field.

    A column has the field of the error, and the fields that its rows have. Marks are a step apart.
    """
    figure = blank(10, 7)
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    (field, marks), (step, middle) = ticks, shift
    for line, experiment in zip(axes, distinct(rows, "experiment"), strict=True):
        for ax, (title, (error, fields)) in zip(line, columns.items(), strict=True):
            for k, name in enumerate(names):
                runs = where(rows, experiment=experiment, generator=name, **fields)
                errors = [over_field(where(runs, **{field: mark}), error) for mark in marks]
                places = [place + step * (k - middle) for place in range(len(marks))]
                colour, marker, dashes = _LOOKS[name]
                ax.errorbar(
                    places,
                    [each.value for each in errors],
                    yerr=_bars(errors),
                    color=colour,
                    marker=marker,
                    linestyle=dashes,
                    label=name,
                    markersize=4.5,
                    linewidth=1.2,
                    capsize=2.5,
                )
            ax.axhline(_BLIND, color=LIGHT.muted, linewidth=0.8, linestyle=":", zorder=0)
            ax.set_title(f"{experiment}, {title}", fontsize=11)
            ax.set_ylim(-0.03, 0.8)
            ax.grid(alpha=0.3)
            ax.set_xticks(range(len(marks)), [f"{mark:g}" for mark in marks])
    return figure, axes


def _bars(errors: Sequence[Bracket]) -> list[list[float]]:
    """Return how far intervals reach below and above their values, as error bars."""
    return [[each.value - each.lower for each in errors], [each.upper - each.value for each in errors]]
