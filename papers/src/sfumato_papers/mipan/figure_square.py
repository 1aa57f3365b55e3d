"""Figures of Experiments 1 and 2: clouds of reports, and Bayes errors by grid and by hits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from .experiments import EXPERIMENT_1, EXPERIMENT_2
from .generators import GridRow
from .looks import bars, look
from .parts import CloudPoint
from .square import PEOPLE, vertices
from .summary import of, over_field, values
from .vocabulary import TEST, TRAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REACH_M: Final = 420.0
_APART_M: Final = 20.0  # to each side, where many reports are one point
_COLOURS: Final = dict(
    zip(PEOPLE, (LIGHT.series[0], LIGHT.series[1], LIGHT.series[2], LIGHT.series[3]), strict=True)
)
_BLIND: Final = 0.75
_LIMITS: Final = {each.name: each.max_loss_m for each in (EXPERIMENT_1, EXPERIMENT_2)}


def cloud_figure(points: Sequence[CloudPoint]) -> Figure:
    """Return a panel for each generator: one report of each test record, in the colour of the person.

    Args:
        points: Reports of one experiment.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    names = values(points, "generator")
    columns = math.ceil(len(names) / 2)
    figure = blank(10 / 3 * columns, 7.2)
    axes = figure.subplots(2, columns, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    rng = np.random.default_rng(0)  # only for the look: marks apart within cells, and nobody above the others
    for ax, name in zip(axes.flat, names, strict=False):
        mine = of(points, generator=name)
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
    """Return the Bayes error by grid: a panel for each experiment and part of the data, with the most hits.

    Args:
        rows: Rows of Experiments 1 and 2.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    many = max(row.hits for row in rows)
    cells = sorted(values(rows, "cell_m"), reverse=True)
    figure = blank(10, 7)
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for line, experiment in zip(axes, values(rows, "experiment"), strict=True):
        for ax, part in zip(line, (TRAIN, TEST), strict=True):
            for k, name in enumerate(values(rows, "generator")):
                mine = of(rows, experiment=experiment, part=part, generator=name, hits=many)
                found = [over_field(of(mine, cell_m=cell), "error") for cell in cells]
                places = [place + 0.06 * (k - 2.5) for place in range(len(cells))]
                ax.errorbar(places, [each.value for each in found], yerr=bars(found), **look(name))
            _finish(ax, f"{experiment}, at most {_LIMITS[experiment]:g} m, {part}")
            ax.set_xticks(range(len(cells)), [f"{cell:g}" for cell in cells])
    figure.supxlabel("side of a cell of the grid (m)", fontsize=11)
    figure.supylabel(f"Bayes error, counted from {many} reports of each record", fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside upper center", ncols=4)
    return figure


def hits_figure(rows: Sequence[GridRow]) -> Figure:
    """Return the Bayes error on the finest grid by reports of each record: counted, and corrected for the bias.

    Args:
        rows: Rows of Experiments 1 and 2.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    fine = min(row.cell_m for row in rows)
    hits = sorted(values(rows, "hits"))
    figure = blank(10, 7)
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for line, experiment in zip(axes, values(rows, "experiment"), strict=True):
        for ax, (field, title) in zip(line, (("error", "counted"), ("error_corrected", "corrected")), strict=True):
            for k, name in enumerate(values(rows, "generator")[1:]):
                mine = of(rows, experiment=experiment, part=TEST, generator=name, cell_m=fine)
                found = [over_field(of(mine, hits=many), field) for many in hits]
                places = [place + 0.05 * (k - 2) for place in range(len(hits))]
                ax.errorbar(places, [each.value for each in found], yerr=bars(found), **look(name))
            _finish(ax, f"{experiment}, {title}")
            ax.set_xticks(range(len(hits)), [f"{many}" for many in hits])
    axes[0, 0].set_ylim(0.15, 0.8)
    figure.supxlabel("reports of each record", fontsize=11)
    figure.supylabel(f"Bayes error on test records, cells of {fine:g} m", fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside upper center", ncols=3)
    return figure


def _finish(ax: Any, title: str) -> None:
    ax.axhline(_BLIND, color=LIGHT.muted, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_title(title, fontsize=11)
    ax.set_ylim(-0.03, 0.8)
    ax.grid(alpha=0.3)
