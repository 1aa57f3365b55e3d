"""Figures of the thesis: posteriors that notions allow, and regions of test errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.reports.theme import LIGHT, blank

from .published import (
    ALLOWED,
    ANSWER,
    BAND_EPSILONS,
    PANELS,
    RARE_REPORTS,
    REGION_EPSILON,
    BandValue,
    CornerRow,
    PosteriorRow,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEAR: Final = 0.12


def published_figure(values: Sequence[BandValue]) -> Figure:
    """Return Figure 2.8: a panel for each notion, the band as lines and the published values as points."""
    figure = blank(9, 9.4)
    p = np.linspace(0, 1, 2001)
    for ax, panel in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, PANELS, strict=True):
        low, high = panel.band.lower(p), panel.band.upper(p)
        ax.fill_between(p, low, high, color=LIGHT.series[0], alpha=0.18, linewidth=0)
        ax.plot(p, high, color=LIGHT.series[0], linewidth=1.8, label="computed here")
        ax.plot(p, low, color=LIGHT.series[0], linewidth=1.8)
        ax.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1, label="nothing learned")
        published = zip(
            *((value.prior, value.published) for value in values if value.panel == panel.name), strict=True
        )
        look = {"color": LIGHT.series[1], "markersize": 5.5, "label": "published curves"}
        ax.plot(*published, "o", **look, clip_on=False, zorder=3)
        epsilon = "epsilon ln 3" + (f", delta {panel.band.delta:g}" if panel.band.delta else "")
        ax.set_title(f"{panel.name}\n{epsilon}", fontsize=10.5)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("probability of the fact before the report", fontsize=11)
    figure.supylabel("probability after the report", fontsize=11)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=10, frameon=False)
    return figure


def bands_figure(rows: Sequence[PosteriorRow]) -> Figure:
    """Return Figures 2.1 and 2.2 side by side, from the bands point by point."""
    figure = blank(10, 5.2)
    one, several = figure.subplots(1, 2, sharey=True)
    p, low, high = _band(rows, BAND_EPSILONS[0])
    one.fill_between(p, low, high, color=LIGHT.series[0], alpha=0.18, linewidth=0)
    for edge in (low, high):
        one.plot(p, edge, color=LIGHT.series[0], linewidth=1.8)
    middle = len(p) // 2
    for edge in (low, high):
        point = p[middle], edge[middle]
        one.plot(*point, "o", color=LIGHT.series[1])
        text = f"{100 * edge[middle]:.0f} %"
        one.annotate(text, point, xytext=(10, -4), textcoords="offset points", color=LIGHT.ink)
    one.set_title("epsilon ln 3: from 50 % to 25 ... 75 %", fontsize=10.5)
    for k, epsilon in enumerate(BAND_EPSILONS[1:]):
        p, low, high = _band(rows, epsilon)
        for edge in (low, high):
            several.plot(p, edge, color=LIGHT.series[0], linewidth=1.4, alpha=1 - 0.11 * k)
        at = middle if k < 3 else 20 // (k - 1)
        box = {"boxstyle": "square,pad=0.1", "facecolor": LIGHT.paper, "edgecolor": "none", "alpha": 0.8}
        look = {"textcoords": "offset points", "fontsize": 8.5, "color": LIGHT.ink, "bbox": box}
        several.annotate(f"{epsilon:g}", (p[at], high[at]), xytext=(3, 3), **look)
    several.set_title("epsilon 1 (inside) to 7 (outside)", fontsize=10.5)
    for ax in (one, several):
        ax.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="probability of the fact before the report")
        ax.grid(alpha=0.3)
    one.set_ylabel("probability after the report")
    return figure


def _band(rows: Sequence[PosteriorRow], epsilon: float) -> Floats:
    """Return the prior, the lower and the upper edge of a band, array (3, k)."""
    return np.array([(row.prior, row.lower, row.upper) for row in rows if row.epsilon == epsilon]).T


def regions_figure(rows: Sequence[CornerRow]) -> Figure:
    """Return the regions with these corners, and a corner of them enlarged."""
    figure = blank(10, 5.6)
    axes = figure.subplots(1, 2)
    total = 2 / (1 + math.exp(REGION_EPSILON))  # left to every test by epsilon-DP
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
