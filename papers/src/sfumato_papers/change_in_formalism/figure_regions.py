"""Regions of test errors: possible for a channel, allowed by a guarantee, and bounded by the total error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.reports.theme import LIGHT, blank

from .regions import ALLOWED, ANSWER, RARE_REPORTS, CornerRow, least_total

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEAR = 0.12


def regions_figure(rows: Sequence[CornerRow]) -> Figure:
    """Return the regions, and a corner of them enlarged.

    Args:
        rows: Their corners.
    """
    figure = blank(10, 5.6)
    axes = figure.subplots(1, 2)
    total = least_total()
    looks = {
        ALLOWED: (LIGHT.series[4], 0.25),
        ANSWER: (LIGHT.series[0], 0.3),
        RARE_REPORTS: (LIGHT.series[1], 0.35),
    }
    for ax in axes:
        for name, (colour, alpha) in looks.items():
            a = [row.false_alarm for row in rows if row.region == name]
            b = [row.missed for row in rows if row.region == name]
            ax.fill(a, b, facecolor=colour, alpha=alpha, linewidth=0)
            ax.plot([*a, a[0]], [*b, b[0]], color=colour, linewidth=1.5, label=name)
        ax.plot([0, total], [total, 0], color=LIGHT.ink, linestyle=":", label="total error 2 / (1 + e)")
        ax.set_xlabel("probability of a false alarm")
        ax.set_aspect("equal")
        ax.grid(alpha=0.3)
    axes[0].set(xlim=(0, 1), ylim=(0, 1), ylabel="probability of a missed detection", title="all errors")
    axes[1].set(xlim=(0, _NEAR), ylim=(1 - _NEAR, 1), title="tests that rarely reject, enlarged")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=9.5, frameon=False)
    return figure
