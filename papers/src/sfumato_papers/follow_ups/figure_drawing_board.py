"""Figures of the drawing board: entropy against loss, here and as published, what the remap takes, and a town."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from .claims_drawing_board import Mean
from .drawing_board import INTERIOR, SIMPLEX, CityRow, TownRow
from .published import (
    CIRCLE,
    COIN,
    EXPONENTIAL,
    EXPOST,
    GAUSSIAN,
    LAPLACE,
    LEVELS_KM,
    PUBLISHED,
    PUBLISHED_COIN,
    PUBLISHED_PRIOR_BITS,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES: Final = {
    EXPOST: (LIGHT.ink, "*"),
    EXPONENTIAL: (LIGHT.series[2], "s"),
    LAPLACE: (LIGHT.series[0], "o"),
    GAUSSIAN: (LIGHT.series[7], "^"),
    CIRCLE: (LIGHT.series[3], "D"),
    COIN: (LIGHT.series[1], "x"),
}
_LEAST: Final = 0.5  # percent
_NAMED: Final = 0.4  # loss at which curves have their names


def board_figure(found: Sequence[Mean], cities: Sequence[CityRow]) -> Figure:
    """Return how much less entropy than ExPost mechanisms have at equal loss, in the first city and as published.

    Both axes are relative to the values without a report. ExPost's entropy is interpolated between its points.
    The published error without a report is the one that the coin's entropy implies.
    """
    city, slope = cities[0], float(np.mean([bits / lost for lost, bits in PUBLISHED_COIN]))
    here = {
        name: [
            (each.loss_km.value / city.blind_km, each.entropy_bits.value / city.prior_bits)
            for each in found
            if (each.city, each.mechanism) == (city.city, name)
        ]
        for name in _STYLES
    }
    blind = PUBLISHED_PRIOR_BITS / slope
    published = {
        name: [(lost / blind, bits / PUBLISHED_PRIOR_BITS) for lost, bits in values]
        for name, values in {**PUBLISHED, COIN: PUBLISHED_COIN}.items()
    }
    figure = blank(7.4, 3.8)
    axes: Any = figure.subplots(1, 2, sharey=True)
    for ax, points, title in ((axes[0], here, city.city), (axes[1], published, "San Francisco, published")):
        best = np.array([(0, 0), *sorted(points[EXPOST]), (1, 1)]).T
        for name in (EXPONENTIAL, LAPLACE, CIRCLE, COIN):
            loss, entropy = np.array(sorted(points[name])).T
            below = 100 * (np.interp(loss, *best) - entropy)
            shown = below > _LEAST
            colour, marker = _STYLES[name]
            ax.plot(loss[shown], below[shown], color=colour, marker=marker, markersize=4, linewidth=1.2)
            middle = int(np.argmin(np.abs(loss - _NAMED)))
            label_curve(ax, (loss[middle], below[middle]), name, colour, (2, 8))
        ax.set(xlim=(0, 1), yscale="log", ylim=(_LEAST, 100), xlabel="loss / error without a report", title=title)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("entropy below ExPost's\n(% of the prior's entropy)")
    return figure


def remap_figure(found: Sequence[Mean], cities: Sequence[CityRow]) -> Figure:
    """Return what the remap takes of the loss of noise in the plane, by city and as published."""
    figure = blank(7.4, 3.6)
    panels = np.atleast_1d(figure.subplots(1, len(cities), sharey=True))
    for ax, city in zip(panels, cities, strict=True):
        for name in (LAPLACE, GAUSSIAN, CIRCLE):
            own = [each for each in found if each.city == city.city and each.mechanism == name]
            mine = sorted((each.level_km or 0.0, 100 * each.gain) for each in own)
            theirs = [
                100 * (1 - lost / level) for level, (lost, _) in zip(LEVELS_KM, PUBLISHED[name], strict=True)
            ]
            colour, marker = _STYLES[name]
            ax.plot(*zip(*mine, strict=True), color=colour, marker=marker, markersize=5, label=f"{name}, here")
            ax.plot(LEVELS_KM, theirs, color=colour, marker=marker, markersize=4, fillstyle="none", linestyle=":")
        ax.plot([], [], color=LIGHT.muted, linestyle=":", label="San Francisco, published")
        ax.set(xscale="log", title=city.city)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("loss that the remap removes (%)")
    figure.supxlabel("mean length of the noise, 2 / epsilon (km)", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8.5, loc="outside upper center", ncols=4, frameon=False)
    return figure


def town_figure(rows: Sequence[TownRow]) -> Figure:
    """Return entropy against loss on 5 x 5 cells, of optima of one program and others."""
    figure = blank(6.5, 4.6)
    ax = figure.subplots()
    for name, colour, marker in (
        (EXPOST, LIGHT.ink, "*"),
        (INTERIOR, LIGHT.series[0], "o"),
        (SIMPLEX, LIGHT.series[1], "^"),
        (COIN, LIGHT.series[2], "x"),
    ):
        points = sorted((row.loss, row.entropy_bits) for row in rows if row.mechanism == name)
        ax.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=5, linewidth=1.2, label=name)
    ax.set(xlabel="loss, and error of the best attacker (cells)", ylabel="conditional entropy (bits)")
    ax.set(xlim=(0, None), ylim=(0, None), title="5 x 5 cells, all equally likely")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)
    return figure
