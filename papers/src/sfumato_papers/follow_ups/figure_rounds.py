"""Figures of PRIVIC: the estimate from round to round, and who gets how much noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import interval
from .rounds import BLAHUT, BUSIEST, CONVERGED, ISOLATED, NOISE, CellNoiseRow, RoundRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE = 3.7  # inches of a panel


def rounds_figure(rows: Sequence[RoundRow]) -> Figure:
    """Return how far the estimate is from the truth after each round, with intervals over seeds."""
    cities = list(dict.fromkeys(row.city for row in rows))
    figure = blank(_WIDE * len(cities) + 1, 4.6)
    panels = np.atleast_1d(figure.subplots(1, len(cities)))
    kinds = list(dict.fromkeys((row.slope, row.steps) for row in rows))
    for ax, city in zip(panels, cities, strict=True):
        for k, (slope, steps) in enumerate(kinds):
            own = [row for row in rows if (row.city, row.slope, row.steps) == (city, slope, steps)]
            numbers = sorted({row.number for row in own})
            found = [interval([row.truth_km for row in own if row.number == number]) for number in numbers]
            ends = [[each.value - each.lower for each in found], [each.upper - each.value for each in found]]
            ax.errorbar(
                [number + 0.15 * (k - (len(kinds) - 1) / 2) for number in numbers],
                [each.value for each in found],
                ends,
                color=LIGHT.series[k],
                marker="o^sD"[k % 4],
                markersize=4.5,
                linewidth=1,
                capsize=2,
                label=f"b {slope:g}, {steps if steps == CONVERGED else f'{steps} steps'}",
            )
        ax.set(xlabel="round (the first: Laplace noise)", title=city, ylim=(0, None))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.3)
    panels[0].set_ylabel("distance of the estimate from the truth (km)")
    panels[0].legend(fontsize=8.5)
    return figure


def places_figure(rows: Sequence[CellNoiseRow]) -> Figure:
    """Return the mean distance of reports from an isolated and from the busiest cell, at equal tight epsilon."""
    cities = list(dict.fromkeys(row.city for row in rows))
    figure = blank(_WIDE * len(cities) + 1, 4.6)
    panels = np.atleast_1d(figure.subplots(1, len(cities)))
    for ax, city in zip(panels, cities, strict=True):
        for place, line in ((ISOLATED, "-"), (BUSIEST, "--")):
            for k, name in enumerate((BLAHUT, NOISE)):
                own = sorted(
                    (row.slope, row.distance)
                    for row in rows
                    if (row.city, row.place, row.mechanism) == (city, place, name)
                )
                look = {"color": LIGHT.series[k], "marker": "o^"[k], "markersize": 5, "linestyle": line}
                look["fillstyle"] = "full" if place == ISOLATED else "none"
                ax.plot(*zip(*own, strict=True), label=f"{name}, {place} cell", **look)
        most = max(row.slope for row in rows)
        ax.set(xlabel="slope b (per cell)", title=city, xlim=(0, 1.1 * most), ylim=(0, None))
        ax.grid(alpha=0.3)
    panels[0].set_ylabel("mean distance of the report (cells)")
    panels[-1].legend(fontsize=8.5)
    return figure
