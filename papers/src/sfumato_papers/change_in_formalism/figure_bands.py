"""Figures 2.1 and 2.2: the beliefs that differential privacy allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from .bands import BAND_EPSILONS, PosteriorRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def bands_figure(rows: Sequence[PosteriorRow]) -> Figure:
    """Return Figures 2.1 and 2.2 side by side.

    Args:
        rows: The bands, point by point.
    """
    figure = blank(10, 5.2)
    one, several = figure.subplots(1, 2, sharey=True)
    p, low, high = _band(rows, BAND_EPSILONS[0])
    one.fill_between(p, low, high, color=LIGHT.series[0], alpha=0.18, linewidth=0)
    for edge in (low, high):
        one.plot(p, edge, color=LIGHT.series[0], linewidth=1.8)
    middle = len(p) // 2
    for edge in (low, high):
        one.plot(p[middle], edge[middle], "o", color=LIGHT.series[1])
        one.annotate(
            f"{100 * edge[middle]:.0f} %",
            (p[middle], edge[middle]),
            xytext=(10, -4),
            textcoords="offset points",
            color=LIGHT.ink,
        )
    one.set_title("epsilon ln 3: from 50 % to 25 ... 75 %", fontsize=10.5)
    for k, epsilon in enumerate(BAND_EPSILONS[1:]):
        p, low, high = _band(rows, epsilon)
        for edge in (low, high):
            several.plot(p, edge, color=LIGHT.series[0], linewidth=1.4, alpha=1 - 0.11 * k)
        several.annotate(
            f"{epsilon:g}",
            (1 - p[middle], high[middle]) if k < 3 else (p[20 // (k - 1)], high[20 // (k - 1)]),
            xytext=(3, 3),
            textcoords="offset points",
            fontsize=8.5,
            color=LIGHT.ink,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": LIGHT.paper, "edgecolor": "none", "alpha": 0.8},
        )
    several.set_title("epsilon 1 (inside) to 7 (outside)", fontsize=10.5)
    for ax in (one, several):
        _finish(ax)
    one.set_ylabel("probability after the report")
    return figure


def _band(rows: Sequence[PosteriorRow], epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    own = [row for row in rows if row.epsilon == epsilon]
    return tuple(np.array([getattr(row, name) for row in own]) for name in ("prior", "lower", "upper"))  # type: ignore[return-value]


def _finish(ax: Axes) -> None:
    ax.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="probability of the fact before the report")
    ax.grid(alpha=0.3)
