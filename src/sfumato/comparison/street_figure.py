"""Figure of two people beside a border: one report along a walk across it, and the ratios of all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..report.theme import LIGHT, blank
from ..rounding import about, at_most
from .street import Street, Walk

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELLS, _POINTS, _GREY = LIGHT.series[1], LIGHT.series[0], LIGHT.muted
_LEAST: Final = 1e-12  # likelihoods below are left out of the ratios


def street_figure(found: Street) -> Figure:
    """Return two panels: how likely a report is along the walk, and every report's ratio between the two people.

    Args:
        found: The street.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(9.6, 4.2)
    walk, ratios = figure.subplots(1, 2, width_ratios=[3, 2])
    _walk(walk, found)
    _ratios(ratios, found)
    return figure


def _walk(ax: Axes, found: Street) -> None:
    half = found.apart_m / 2
    allowed = found.epsilon * np.abs(found.metres - half) / 1000
    ax.fill_between(
        found.metres,
        np.exp(-allowed),
        np.exp(allowed),
        color=_GREY,
        alpha=0.18,
        linewidth=0,
        label="what the promise allows",
    )
    for each, colour, label in ((found.cells, _CELLS, "cells"), (found.points, _POINTS, "points")):
        relative = each.likelihoods[:, each.report] / each.pair[1, each.report]
        ax.plot(found.metres, relative, color=colour, linewidth=2, label=label)
    ax.axvspan(-half, half, color=_GREY, alpha=0.5, linewidth=0)
    ax.annotate(
        f"border, and two people\n{found.apart_m:g} m apart",
        (half, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(6, 0),
        textcoords="offset points",
        va="top",
        fontsize=8.5,
        color=_GREY,
    )
    ax.set_yscale("log")
    ticks = [0.5, 0.7, 1, 1.4, 2, 2.8]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylim(0.45, 1.15 * max(2.0, found.cells.factor.value))
    ax.set_xlim(found.metres[0], found.metres[-1])
    ax.set_xlabel("where somebody stands, across the border (m)")
    ax.set_ylabel("times as likely as from the person on the right")
    ax.set_title("One report, step by step across a border", fontsize=10, loc="left")
    ax.legend(fontsize=9, loc="lower left", frameon=False)
    ax.grid(alpha=0.25)


def _ratios(ax: Axes, found: Street) -> None:
    top = 1.0
    for row, (each, colour, label) in enumerate(
        ((found.cells, _CELLS, "cells"), (found.points, _POINTS, "points"))
    ):
        factors = _factors(each)
        top = max(top, float(factors.max()), 1 / float(factors.min()))
        spread = np.linspace(-0.22, 0.22, len(factors))
        ax.plot(factors, row + spread, linestyle="none", marker="o", markersize=4, color=colour, alpha=0.55)
        ax.annotate(
            f"{label}: up to {about(each.factor.value, 5)} times",
            (1.0, row - 0.32),
            ha="center",
            va="bottom",
            fontsize=9,
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
    allowed = float(np.exp(found.epsilon * found.apart_m / 1000))
    ax.axvline(1.0, color=_GREY, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    wide = 1.15 * top
    ticks = [tick for tick in (1 / 4, 1 / 3, 1 / 2, 1 / 1.5, 1, 1.5, 2, 3, 4) if 1 / wide < tick < wide]
    ax.set_xticks(ticks, [f"{tick:.3g}" if tick >= 1 else f"1/{1 / tick:.3g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(1 / wide, wide)
    ax.set_ylim(1.5, -0.55)
    ax.set_yticks([])
    ax.set_xlabel("likelier from the one than from the other (times)")
    ax.set_title(f"All reports; the promise allows {at_most(allowed, 5)}", fontsize=10, loc="left")


def _factors(walk: Walk) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    one, other = walk.pair
    seen = (one > _LEAST) & (other > _LEAST)
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = one[seen] / other[seen]
    return found
