"""Figures of section V, Table III and Figure 1: how tight the statements are, and what a coupling moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.reports.theme import LIGHT, blank

from .couplings import LINE, MAP, MovedRow
from .theorems import STATEMENTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT: Final = 0.24  # inches for a statement
_MOST: Final = 3.0  # ratios above are drawn there
_ARROWS: Final = 0.002  # of the mass: less is not drawn


@dataclass(frozen=True, slots=True, repr=False)
class RatioRow(CompactRepr):
    """A number and its bound, of one instance of a statement."""

    key: str
    instances: str
    value: float
    bound: float


def tightness_figure(rows: Sequence[RatioRow]) -> Figure:
    """Return the ratio of each number to its bound, a line for each statement."""
    keys = [each.key for each in STATEMENTS if any(row.key == each.key for row in rows)]
    figure = blank(9.5, 1.4 + _HEIGHT * len(keys))
    ax = figure.subplots()
    for real, colour, marker, label in (
        (False, LIGHT.series[0], "o", "random instances"),
        (True, LIGHT.series[1], "D", "groups of people"),
    ):
        own = [row for row in rows if (row.instances != "random") is real]
        heights = [keys.index(row.key) + (0.22 if real else -0.12) for row in own]
        ratios = [min(row.value / row.bound, _MOST) for row in own]
        ax.plot(
            ratios,
            heights,
            marker,
            color=colour,
            markersize=3.2,
            alpha=0.45 if not real else 0.9,
            markeredgewidth=0,
            linestyle="none",
            label=label,
        )
    ax.axvline(1, color=LIGHT.ink, linewidth=1.1)
    ax.set(
        yticks=range(len(keys)),
        yticklabels=[_named(key) for key in keys],
        ylim=(len(keys) - 0.4, -0.6),
        xlim=(0, _MOST + 0.05),
        xlabel="number over its bound (right of the line: violated; 3 stands for 3 or more)",
    )
    ax.tick_params(axis="y", labelsize=8)
    ax.grid(alpha=0.3)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return figure


def _named(key: str) -> str:
    """Return the key of a statement as a line of the figure has it."""
    kind, _, what = key.partition(" ")
    places = {"divergence": "lifting", "mean": "W_1", "sum": "sum"}
    if kind not in places or key.startswith("sum and"):
        return key
    for long, short in ((" divergence of order", ""), (" divergence at epsilon 0.2", ""), (" divergence", "")):
        what = what.replace(long, short)
    return f"{places[kind]}, {what.removesuffix(' distance')}"


def coupling_figure(rows: Sequence[MovedRow]) -> Figure:
    """Return what optimal couplings of the first two groups move: on the line, and on the map."""
    own = [row for row in rows if row.groups == rows[0].groups]
    figure = blank(12.5, 4.6)
    axes = figure.subplots(1, 3, width_ratios=(1, 1, 1.05))
    line = [row for row in own if row.where == LINE and row.order == 1]
    _marginals(axes[0], line)
    _on_line(axes[1], line)
    _on_map(axes[2], [row for row in own if row.where == MAP and row.order == 1])
    figure.suptitle(own[0].groups, fontsize=10.5)
    return figure


def _marginals(ax: Axes, rows: Sequence[MovedRow]) -> None:
    places = sorted({row.x for row in rows} | {row.to_x for row in rows})
    names = rows[0].groups.rpartition(" (")[0].split(" and ")
    first, second = names if len(names) == 2 else ("first group", "second group")
    for index, (name, key) in enumerate(((first, "x"), (second, "to_x"))):
        masses = [sum(row.mass for row in rows if getattr(row, key) == place) for place in places]
        ax.step(places, masses, where="mid", color=LIGHT.series[index], linewidth=1.6, label=name)
    ax.set(xlabel="km from west to east", ylabel="share of the visits", title="two distributions")
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)


def _on_line(ax: Axes, rows: Sequence[MovedRow]) -> None:
    masses = np.array([row.mass for row in rows])
    ax.scatter(
        [row.x for row in rows], [row.to_x for row in rows], s=2 + 900 * masses, color=LIGHT.series[2], alpha=0.8
    )
    low, high = ax.get_xlim()
    ax.plot([low, high], [low, high], color=LIGHT.muted, linewidth=0.8, linestyle="--", label="not moved")
    ax.set(
        xlim=(low, high),
        ylim=(low, high),
        aspect="equal",
        xlabel="from (km)",
        ylabel="to (km)",
        title="coupling of least W_1 on the line",
    )
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="upper left")


def _on_map(ax: Axes, rows: Sequence[MovedRow]) -> None:
    moved = [row for row in rows if (row.x, row.y) != (row.to_x, row.to_y) and row.mass > _ARROWS]
    for row in moved:
        ax.annotate(
            "",
            (row.to_x, row.to_y),
            (row.x, row.y),
            arrowprops={
                "arrowstyle": "-|>",
                "color": LIGHT.series[0],
                "alpha": 0.75,
                "shrinkA": 0,
                "shrinkB": 0,
                "linewidth": 0.5 + 60 * row.mass,
                "mutation_scale": 7,
            },
        )
    kept = [row for row in rows if (row.x, row.y) == (row.to_x, row.to_y)]
    ax.scatter(
        [row.x for row in kept],
        [row.y for row in kept],
        s=[2 + 900 * row.mass for row in kept],
        color=LIGHT.series[1],
        alpha=0.8,
        linewidth=0,
        label="stays",
    )
    ends = np.array([[row.x, row.y] for row in rows] + [[row.to_x, row.to_y] for row in rows])
    (west, south), (east, north) = ends.min(axis=0), ends.max(axis=0)
    ax.set(
        xlim=(west - 0.5, east + 0.5),
        ylim=(south - 0.5, north + 0.5),
        aspect="equal",
        xlabel="km east",
        ylabel="km north",
        title="coupling of least W_1 on the map",
    )
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="upper left")
