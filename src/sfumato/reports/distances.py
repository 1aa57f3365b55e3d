"""Epsilon against distance: how well a report tells pairs of secrets apart, near ones and far ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, Metric
from ..core.arrays import Floats
from ..errors import InputError
from ..escaping import figure as outside
from ..proofs import worst_ratios
from ..rounding import briefly_at_most
from .theme import LIGHT, MAP, colour_bar, one_panel, say_instead

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST = 1e-9  # how far the axis of ratios reaches at least
_DOTS = 600  # pairs that are a dot each; of more, squares are coloured by how many they hold
_DOT: Any = {"linestyle": "none", "marker": "o", "markersize": 5, "color": LIGHT.series[0], "alpha": 0.6}
_FAR = (1e-100, 1e100)  # distances between these are drawn


def epsilon_by_distance_figure(mechanism: Mechanism, metric: Metric) -> Figure:
    """Return a dot or a square for pairs: their distance, and by how much a report can tell them apart.

    Args:
        mechanism: A mechanism of n secrets.
        metric: The distance on them; the line of its least epsilon is drawn.

    Raises:
        InputError: If sizes do not fit, or no two secrets are at a finite positive distance.
        MissingExtraError: If matplotlib is not installed.
    """
    n = mechanism.shape[0]
    if len(metric) != n:
        raise InputError(
            f"the metric is on {len(metric)} values, but the mechanism has {n} secrets.", "use one on the secrets."
        )
    logs, shown = finite_pairs(mechanism, metric)
    if not shown.any():
        raise InputError(
            "no pair at a positive distance has a finite likelihood ratio.", "there is nothing to draw."
        )
    figure, ax = one_panel()
    from matplotlib.colors import PowerNorm

    d, values = metric.array[shown], np.maximum(logs[shown], 0.0)
    reach, top = float(d.max()), float(values.max())
    with np.errstate(over="ignore"):
        slope = float((values / d).max())
    unit = outside(metric.unit)
    per = f"/{unit}" if unit else ""
    ax.set_title("How well a report tells two secrets apart", fontsize=11)
    if not (_FAR[0] < reach < _FAR[1] and slope < _FAR[1]):
        say_instead(ax, "The distances are too small or too large for a figure.")
        return figure
    if top < _LEAST:
        say_instead(ax, "As far as a figure shows,\na report tells no two secrets apart.")
    if len(d) <= _DOTS:
        ax.plot(d, values, label="a pair of secrets", **_DOT)
    else:
        ends = [[0, reach], [0, max(1.02 * top, _LEAST)]]
        *_, drawn = ax.hist2d(d, values, bins=60, range=ends, cmap=MAP, cmin=1, norm=PowerNorm(0.5, vmin=0))
        colour_bar(drawn, ax, "ordered pairs of secrets", counts=True)
    ax.plot(
        [0, reach],
        [0, slope * reach],
        color=LIGHT.series[1],
        linestyle="--",
        label=f"epsilon {briefly_at_most(slope)}{per}",
    )
    ax.set_xlabel("distance" + (f" ({unit})" if unit else ""))
    ax.set_ylabel("largest ln of a likelihood ratio")
    hidden = int(np.isposinf(logs).sum())
    if hidden:
        ax.text(
            0.98,
            0.03,
            f"{hidden:,} pairs are infinite and not shown",
            transform=ax.transAxes,
            ha="right",
            va="bottom",
        )
    ax.set_ylim(0, 1.05 * max(top, _LEAST))
    ax.set_xlim(0, 1.03 * reach)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", fontsize=9, ncols=2)
    return figure


def finite_pairs(mechanism: Mechanism, metric: Metric) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the logarithms of ratios of pairs at a positive distance, NaN for others, and which are finite."""
    ratios, _ = worst_ratios(mechanism)
    apart = (metric.array > 0) & np.isfinite(metric.array) & ~np.eye(len(metric), dtype=bool)
    with np.errstate(divide="ignore"):
        logs = np.where(apart, np.log(ratios), np.nan)
    return logs, np.isfinite(logs)
