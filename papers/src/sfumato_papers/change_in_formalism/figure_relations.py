"""Relations at a glance: how much of what each allows was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sfumato.reports.theme import LIGHT, blank

from .relation import KnownRow, RelationRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAILED: Final = 1.12
_ROW: Final = 0.205  # inches


def relations_figure(rows: Sequence[RelationRow], known: Sequence[KnownRow]) -> Figure:
    """Return a line for each relation: shares of what it allows, and a cross where it fails.

    Args:
        rows: What was found on random channels, by seed.
        known: What was found on known ones.
    """
    figure = blank(9.5, 1.3 + _ROW * len(known))
    ax = figure.subplots()
    for y, each in enumerate(known):
        own = [row for row in rows if row.relation == each.relation]
        if each.violated or any(row.violations for row in own):
            ax.plot(_FAILED, y, "x", color=LIGHT.series[1], markersize=7, markeredgewidth=2)
            continue
        ax.plot(
            [row.mean_share for row in own],
            [y] * len(own),
            "|",
            color=LIGHT.series[0],
            markersize=9,
            markeredgewidth=1.4,
        )
        share = each.found / each.allowed if each.allowed else math.nan
        ax.plot(share, y, "o", markerfacecolor="none", color=LIGHT.ink, markersize=6.5)
    names = [each.relation for each in known]
    ax.set_yticks(range(len(names)), names, fontsize=8.5)
    ax.set(ylim=(len(names) - 0.4, -0.6), xlim=(-0.02, 1.18), xlabel="value found / largest value allowed")
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1, _FAILED], ["0", "0.25", "0.5", "0.75", "1", "fails"])
    ax.axvline(1, color=LIGHT.muted, linestyle=":", linewidth=1)
    ax.grid(axis="y", alpha=0.35)
    marks = [
        ax.plot([], [], "|", color=LIGHT.series[0], markersize=9, markeredgewidth=1.4)[0],
        ax.plot([], [], "o", markerfacecolor="none", color=LIGHT.ink, markersize=6.5)[0],
        ax.plot([], [], "x", color=LIGHT.series[1], markersize=7, markeredgewidth=2)[0],
    ]
    figure.legend(
        marks,
        ["random channels, mean of each seed", "known channel", "fails"],
        loc="outside upper center",
        ncols=3,
        fontsize=9.5,
        frameon=False,
    )
    return figure
