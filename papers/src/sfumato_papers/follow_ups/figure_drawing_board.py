"""Figures of the drawing board: entropy against loss, here and as published, what the remap takes, and a town."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES: Final = {
    EXPOST: (LIGHT.ink, "*"),
    EXPONENTIAL: (LIGHT.series[2], "s"),
    LAPLACE: (LIGHT.series[0], "o"),
    GAUSSIAN: (LIGHT.series[7], "^"),
    CIRCLE: (LIGHT.series[3], "D"),
    COIN: (LIGHT.series[1], "x"),
}
_WIDE: Final = 3.7  # inches of a panel


def board_figure(found: Sequence[Mean], cities: Sequence[CityRow]) -> Figure:
    """Return entropy against loss, each as a part of what it is without a report, by city and as published.

    The published error without a report is the one that the coin's entropy implies.
    """
    count = len(cities) + 1
    down = -(-count // 2)
    figure = blank(9.2, 4.1 * down + 0.4)
    axes = figure.subplots(down, 2, sharey=True).ravel()
    for ax in axes[count:]:
        ax.set_visible(False)
    *here, published = axes[:count]
    for ax, city in zip(here, cities, strict=True):
        for name in _STYLES:
            own = [each for each in found if each.city == city.city and each.mechanism == name]
            points = [
                (each.loss_km.value / city.blind_km, each.entropy_bits.value / city.prior_bits) for each in own
            ]
            _points(ax, name, points)
        ax.set_title(f"{city.city}, {city.spots:,} spots")
    slope = float(np.mean([bits / lost for lost, bits in PUBLISHED_COIN]))
    blind = PUBLISHED_PRIOR_BITS / slope
    for name in _STYLES:
        values = PUBLISHED_COIN if name == COIN else PUBLISHED[name]
        _points(published, name, [(lost / blind, bits / PUBLISHED_PRIOR_BITS) for lost, bits in values])
    published.set_title("San Francisco, published")
    for ax in (*here, published):
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="loss / error without a report")
        ax.grid(alpha=0.3)
    figure.supylabel("conditional entropy / entropy of the prior", fontsize=10)
    handles, labels = here[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, loc="outside lower center", ncols=len(labels))
    return figure


def remap_figure(found: Sequence[Mean], cities: Sequence[CityRow]) -> Figure:
    """Return what the remap takes of the loss of noise in the plane, by city and as published."""
    figure = blank(_WIDE * len(cities) + 1, 4.8)
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
        ax.set(xscale="log", xlabel="mean length of the noise, 2 / epsilon (km)", title=city.city)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("part of the loss that the remap takes (%)")
    panels[0].legend(fontsize=8.5)
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


def _points(ax: Axes, name: str, points: Sequence[tuple[float, float]]) -> None:
    if points:
        colour, marker = _STYLES[name]
        ax.plot(
            *zip(*sorted(points), strict=True),
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.2,
            label=name,
        )
