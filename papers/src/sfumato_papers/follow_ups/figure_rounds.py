"""Figures of PRIVIC: the estimate from round to round, and who gets how much noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import interval
from .rounds import BLAHUT, BUSIEST, ISOLATED, NOISE, CellNoiseRow, RoundRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rounds_figure(rows: Sequence[RoundRow]) -> Figure:
    """Return how far the estimate is from the truth after odd and after even rounds, with intervals over seeds.

    It has the first slope and number of steps of the rows.
    """
    cities = list(dict.fromkeys(row.city for row in rows))
    figure = blank(7.4, 3.2)
    panels = figure.subplots(1, len(cities), sharey=True, squeeze=False)[0]
    for ax, city in zip(panels, cities, strict=True):
        own = [row for row in rows if (row.city, row.slope, row.steps) == (city, rows[0].slope, rows[0].steps)]
        for turn, name, colour in ((1, "odd rounds", LIGHT.series[0]), (0, "even rounds", LIGHT.series[1])):
            numbers = sorted({row.number for row in own if row.number % 2 == turn})
            found = [interval([row.truth_km for row in own if row.number == number]) for number in numbers]
            ax.fill_between(
                numbers,
                [each.lower for each in found],
                [each.upper for each in found],
                color=colour,
                alpha=0.2,
                linewidth=0,
            )
            means = [each.value for each in found]
            ax.plot(numbers, means, "o-" if turn else "^-", color=colour, markersize=4, linewidth=1.2)
            if ax is panels[-1]:
                label_curve(ax, (numbers[-1], means[-1]), name, colour, (3, -13 if turn else 14), "right")
        ax.set(xlabel="round", title=city)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.3)
    panels[0].set(ylabel="distance of the estimate\nfrom the truth (km)", ylim=(0, None))
    return figure


def places_figure(rows: Sequence[CellNoiseRow]) -> Figure:
    """Return the mean distance of reports from an isolated and from the busiest cell, at equal tight epsilon."""
    cities = list(dict.fromkeys(row.city for row in rows))
    figure = blank(7.4, 3.6)
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
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8.5, loc="outside lower center", ncols=2, frameon=False)
    return figure
