"""Figures of the follow-ups from the tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import RunTables, interval
from ..results import distinct, where
from .aipo import AIPO, AIPO_WIDE, ANCHORS, BOUND, CERTIFIED, EM, LP, RELAXED, AnchorRow
from .drawing_board import (
    BOARD,
    CIRCLE,
    CITIES,
    COIN,
    EXPONENTIAL,
    EXPOST,
    GAUSSIAN,
    INTERIOR,
    LAPLACE,
    LEVELS_KM,
    PUBLISHED,
    PUBLISHED_COIN,
    PUBLISHED_PRIOR_BITS,
    SIMPLEX,
    TOWN,
    CityRow,
    Mean,
    Measure,
    TownRow,
    means,
    published_gains,
)
from .privic import BLAHUT, BUSIEST, ISOLATED, NOISE, PLACES, ROUNDS, CellNoiseRow, RoundRow
from .spanners import EXACT, REALISED, SPANNERS, SpannerRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CAPTIONS: Final = {
    SPANNERS: "Spanners. Left: proved loss above the least one, by the realised dilation. Right: "
    "rows of the program, for the smallest dilation (lines), the largest (dots) and all pairs (dashed).",
    BOARD: "How much less entropy than ExPost mechanisms have at equal loss, after the best remap, here and as "
    "published for San Francisco. ExPost's entropy is interpolated between its points.",
    "board-remap": "Share of the loss of noise that the remap removes, by the mean length of the noise. Dots: "
    "published for San Francisco.",
    TOWN: "Entropy against loss on 5 x 5 cells, of two optima of one program, ExPost and the coin.",
    ROUNDS: "PRIVIC: the earth mover's distance of each round's estimate from all check-ins, for the first slope, "
    "means over seeds with intervals of 95 %.",
    PLACES: "PRIVIC: the mean distance of reports from the visited cell with fewest visits near it (lines) and "
    "from the most visited cell (dashed), at equal tight epsilon.",
    ANCHORS: "AIPO: loss of the true point against epsilon. Dotted: mechanisms without a guarantee between "
    "points. Dashed: proved lower bound for all mechanisms with this epsilon.",
}
_LOOKS: Final[dict[str, dict[str, Any]]] = {
    EM: {"color": LIGHT.series[2], "marker": "s", "label": "exponential, 20 reports"},
    AIPO: {"color": LIGHT.series[1], "marker": "o", "label": "AIPO, 20 reports"},
    AIPO_WIDE: {"color": LIGHT.series[1], "marker": "o", "fillstyle": "none", "label": AIPO_WIDE},
    CERTIFIED: {"color": LIGHT.series[0], "marker": "^", "label": "certified noise"},
    BOUND: {"color": LIGHT.ink, "marker": "_", "linestyle": "--", "label": "no mechanism is below"},
    LP: {"color": LIGHT.muted, "marker": "x", "linestyle": ":", "label": "program on cells (no guarantee)"},
    RELAXED: {"color": LIGHT.muted, "marker": "D", "linestyle": ":", "label": "AIPO-R (no guarantee)"},
}
_STYLES: Final = {
    EXPOST: (LIGHT.ink, "*"),
    EXPONENTIAL: (LIGHT.series[2], "s"),
    LAPLACE: (LIGHT.series[0], "o"),
    GAUSSIAN: (LIGHT.series[7], "^"),
    CIRCLE: (LIGHT.series[3], "D"),
    COIN: (LIGHT.series[1], "x"),
}
_LEAST: Final = 0.5  # percent
_LABEL_LOSS: Final = 0.4  # loss at which curves have their names
_MARKERS = ("o", "^", "s", "D", "v", "P")


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return all figures, by the names of their files without ending."""
    averages, cities = means(tables.rows(BOARD, Measure)), tables.rows(CITIES, CityRow)
    return {
        SPANNERS: spanners_figure(tables.rows(SPANNERS, SpannerRow)),
        BOARD: board_figure(averages, cities),
        "board-remap": remap_figure(averages, cities),
        TOWN: town_figure(tables.rows(TOWN, TownRow)),
        ROUNDS: rounds_figure(tables.rows(ROUNDS, RoundRow)),
        PLACES: places_figure(tables.rows(PLACES, CellNoiseRow)),
        ANCHORS: anchors_figure(tables.rows(ANCHORS, AnchorRow)),
    }


def _panels(cities: Sequence[str], height: float, sharey: bool = True, **axes: Any) -> tuple[Figure, list[Any]]:
    """Return a figure with a panel for each city, which has a grid."""
    figure = blank(7.4, height)
    panels = list(figure.subplots(1, len(cities), sharey=sharey, squeeze=False)[0])
    for ax, city in zip(panels, cities, strict=True):
        ax.set(title=city, **axes)
        ax.grid(alpha=0.3)
    return figure, panels


def _with_legend(figure: Figure, panel: Axes, side: str, columns: int) -> Figure:
    """Return a figure with the legend of a panel outside of it."""
    legend: dict[str, Any] = {"fontsize": 8.5, "loc": f"outside {side} center", "ncols": columns, "frameon": False}
    figure.legend(*panel.get_legend_handles_labels(), **legend)
    return figure


def _plot(ax: Axes, points: Iterable[tuple[float, float]], **look: Any) -> None:
    """Draw points from left to right."""
    ax.plot(*zip(*sorted(points), strict=True), **look)


def anchors_figure(rows: Sequence[AnchorRow]) -> Figure:
    """Return the loss of each mechanism against epsilon, in each city; means over draws of the reports."""
    cities, most = distinct(rows, "city"), max(row.epsilon for row in rows)
    figure, panels = _panels(cities, 4.2, xlabel="epsilon (per km)", xlim=(0, 1.1 * most))
    for ax, city in zip(panels, cities, strict=True):
        for name, look in _LOOKS.items():
            draws = where(rows, city=city, mechanism=name)
            epsilons = sorted(distinct(draws, "epsilon"))
            losses = [interval([row.loss for row in where(draws, epsilon=epsilon)]).value for epsilon in epsilons]
            if draws:
                ax.plot(epsilons, losses, markersize=5, linewidth=1.3, **look)
    panels[0].set(ylim=(0, None), ylabel="mean distance from the true point (km)")
    return _with_legend(figure, panels[0], "lower", 3)


def board_figure(averages: Sequence[Mean], cities: Sequence[CityRow]) -> Figure:
    """Return how much less entropy than ExPost mechanisms have at equal loss, in the first city and published.

    Both axes are relative to the values without a report; the published error is the one of the coin's entropy.
    """
    city, slope = cities[0], float(np.mean([bits / loss for loss, bits in PUBLISHED_COIN]))
    here = {
        name: [
            (mean.loss_km.value / city.blind_km, mean.entropy_bits.value / city.prior_bits)
            for mean in where(averages, city=city.city, mechanism=name)
        ]
        for name in _STYLES
    }
    blind = PUBLISHED_PRIOR_BITS / slope
    published = {
        name: [(loss / blind, bits / PUBLISHED_PRIOR_BITS) for loss, bits in values]
        for name, values in {**PUBLISHED, COIN: PUBLISHED_COIN}.items()
    }
    figure = blank(7.4, 3.8)
    axes: Any = figure.subplots(1, 2, sharey=True)
    for ax, points, title in ((axes[0], here, city.city), (axes[1], published, "San Francisco, published")):
        best = np.array([(0, 0), *sorted(points[EXPOST]), (1, 1)]).T
        for name in (EXPONENTIAL, LAPLACE, CIRCLE, COIN):
            loss, entropy = np.array(sorted(points[name])).T
            below = 100 * (np.interp(loss, *best) - entropy)
            mask = below > _LEAST
            colour, marker = _STYLES[name]
            ax.plot(loss[mask], below[mask], color=colour, marker=marker, markersize=4, linewidth=1.2)
            middle = int(np.argmin(np.abs(loss - _LABEL_LOSS)))
            label_curve(ax, (loss[middle], below[middle]), name, colour, (2, 8))
        ax.set(xlim=(0, 1), yscale="log", ylim=(_LEAST, 100), xlabel="loss / error without a report", title=title)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("entropy below ExPost's\n(% of the prior's entropy)")
    return figure


def remap_figure(averages: Sequence[Mean], cities: Sequence[CityRow]) -> Figure:
    """Return what the remap takes of the loss of noise in the plane, by city and as published."""
    figure, panels = _panels([city.city for city in cities], 3.6, xscale="log")
    for ax, city in zip(panels, cities, strict=True):
        for name in (LAPLACE, GAUSSIAN, CIRCLE):
            rows = where(averages, city=city.city, mechanism=name)
            here = [(row.level_km or 0.0, 100 * row.gain) for row in rows]
            published = [100 * gain for gain in published_gains(name)]
            colour, marker = _STYLES[name]
            _plot(ax, here, color=colour, marker=marker, markersize=5, label=f"{name}, here")
            hollow: dict[str, Any] = {"markersize": 4, "fillstyle": "none", "linestyle": ":"}
            ax.plot(LEVELS_KM, published, color=colour, marker=marker, **hollow)
        ax.plot([], [], color=LIGHT.muted, linestyle=":", label="San Francisco, published")
        ax.xaxis.set_major_formatter("{x:g}")
    panels[0].set(ylim=(0, None), ylabel="loss that the remap removes (%)")
    figure.supxlabel("mean length of the noise, 2 / epsilon (km)", fontsize=10)
    return _with_legend(figure, panels[0], "upper", 4)


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
        points = [(row.loss, row.entropy_bits) for row in where(rows, mechanism=name)]
        _plot(ax, points, color=colour, marker=marker, markersize=5, linewidth=1.2, label=name)
    ax.set(xlabel="loss, and error of the best attacker (cells)", ylabel="conditional entropy (bits)")
    ax.set(xlim=(0, None), ylim=(0, None), title="5 x 5 cells, all equally likely")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)
    return figure


def rounds_figure(rows: Sequence[RoundRow]) -> Figure:
    """Return how far the estimate is from the truth after odd and after even rounds, with intervals over seeds."""
    cities = distinct(rows, "city")
    figure, panels = _panels(cities, 3.2, xlabel="round")
    for ax, city in zip(panels, cities, strict=True):
        rounds = where(rows, city=city, slope=rows[0].slope, steps=rows[0].steps)
        for turn, name, colour in ((1, "odd rounds", LIGHT.series[0]), (0, "even rounds", LIGHT.series[1])):
            numbers = sorted({row.number for row in rounds if row.number % 2 == turn})
            brackets = [interval([row.truth_km for row in where(rounds, number=number)]) for number in numbers]
            low, means, high = zip(*((mean.lower, mean.value, mean.upper) for mean in brackets), strict=True)
            ax.fill_between(numbers, low, high, color=colour, alpha=0.2, linewidth=0)
            ax.plot(numbers, means, "o-" if turn else "^-", color=colour, markersize=4, linewidth=1.2)
            if ax is panels[-1]:
                label_curve(ax, (numbers[-1], means[-1]), name, colour, (3, -13 if turn else 14), "right")
        ax.xaxis.get_major_locator().set_params(integer=True)
    panels[0].set(ylabel="distance of the estimate\nfrom the truth (km)", ylim=(0, None))
    return figure


def places_figure(rows: Sequence[CellNoiseRow]) -> Figure:
    """Return the mean distance of reports from an isolated and from the busiest cell, at equal tight epsilon."""
    cities, most = distinct(rows, "city"), max(row.slope for row in rows)
    figure, panels = _panels(cities, 3.6, sharey=False, xlabel="slope b (per cell)", xlim=(0, 1.1 * most))
    for ax, city in zip(panels, cities, strict=True):
        for place, line, fill in ((ISOLATED, "-", "full"), (BUSIEST, "--", "none")):
            for k, name in enumerate((BLAHUT, NOISE)):
                points = [(row.slope, row.distance) for row in where(rows, city=city, place=place, mechanism=name)]
                look = {"color": LIGHT.series[k], "marker": "o^"[k], "linestyle": line, "fillstyle": fill}
                _plot(ax, points, label=f"{name}, {place} cell", markersize=5, **look)
        ax.set_ylim(bottom=0)
    panels[0].set_ylabel("mean distance of the report (cells)")
    return _with_legend(figure, panels[0], "lower", 2)


def spanners_figure(rows: Sequence[SpannerRow]) -> Figure:
    """Return what spanners cost by their dilation, and how many rows they need by the number of places."""
    figure = blank(7.6, 4.4)
    cost, count = figure.subplots(1, 2)
    designs = where(rows, kind=REALISED)
    for k, ground in enumerate(distinct(designs, "ground")):
        group = where(designs, ground=ground)
        most = max(row.places for row in group)
        look = {"color": LIGHT.series[k], "marker": _MARKERS[k], "markersize": 5}
        points = {(row.dilation, 100 * (row.loss / row.least - 1)) for row in where(group, places=most)}
        _plot(cost, points, label=f"{ground}, {most} places", **look)
        for pick, line in ((min, "-"), (max, ":")):
            dilation = pick(row.dilation_asked for row in group)
            lines = [(row.places, row.rows) for row in where(group, dilation_asked=dilation)]
            _plot(count, lines, label=f"{ground}, dilation {dilation:g}", linestyle=line, **look)
    sizes = sorted(distinct(where(rows, kind=EXACT), "places"))
    every = [n * n * (n - 1) for n in sizes]
    count.plot(sizes, every, color=LIGHT.ink, linewidth=1.2, linestyle="--", label="all pairs")
    cost.set(xlabel="realised dilation", ylabel="loss above the least one (%)", title="What spanners cost")
    cost.set_ylim(bottom=0)
    count.set(
        xscale="log",
        yscale="log",
        xlabel="places",
        ylabel="rows of metric privacy",
        title="What the program holds",
        xticks=[n for k, n in enumerate(sizes) if k == 0 or n > 1.1 * sizes[k - 1]],
    )
    count.minorticks_off()
    count.set_ylim(top=20 * max(every))  # room for the legend
    count.xaxis.set_major_formatter("{x:g}")
    for ax in (cost, count):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return figure
