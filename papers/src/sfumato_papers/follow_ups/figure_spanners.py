"""Figures of the spanners: their cost, their rows, and the times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.reports.theme import LIGHT, blank

from .spanners import EXACT, REALISED, STRUCTURED, SpannerRow, SpannerTime

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = ("o", "^", "s", "D", "v", "P")


def spanners_figure(rows: Sequence[SpannerRow]) -> Figure:
    """Return what spanners cost by their dilation, and how many rows they need by the number of places."""
    figure = blank(7.6, 4.4)
    cost, count = figure.subplots(1, 2)
    found = [row for row in rows if row.kind == REALISED]
    grounds = list(dict.fromkeys(row.ground for row in found))
    for k, ground in enumerate(grounds):
        own = [row for row in found if row.ground == ground]
        most = max(row.places for row in own)
        look = {"color": LIGHT.series[k], "marker": _MARKERS[k], "markersize": 5}
        points = sorted({(row.dilation, 100 * (row.loss / row.least - 1)) for row in own if row.places == most})
        cost.plot(*zip(*points, strict=True), label=f"{ground}, {most} places", **look)
        tight = min(row.dilation_asked for row in own)
        for asked, line in ((tight, "-"), (max(row.dilation_asked for row in own), ":")):
            lines = sorted((row.places, row.rows) for row in own if row.dilation_asked == asked)
            count.plot(*zip(*lines, strict=True), label=f"{ground}, dilation {asked:g}", linestyle=line, **look)
    sizes = sorted({row.places for row in rows if row.kind == EXACT})
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


def times_figure(rows: Sequence[SpannerTime]) -> Figure:
    """Return how long programs took by the number of places, on the ground where all methods were timed.

    Colours and marks show what is left out, line styles the method.
    """
    figure = blank(7.5, 4.8)
    ax = figure.subplots()
    ground = next((row.ground for row in rows if row.method != STRUCTURED), rows[0].ground)
    here = [row for row in rows if row.ground == ground]
    every = list(dict.fromkeys(row.dilation_asked for row in here))
    for method, asked in dict.fromkeys((row.method, row.dilation_asked) for row in here):
        k = every.index(asked)
        points = sorted(
            (row.places, row.seconds) for row in here if (row.method, row.dilation_asked) == (method, asked)
        )
        name = f"{method}, {'all pairs' if asked is None else f'dilation {asked:g}'}"
        ax.plot(
            *zip(*points, strict=True),
            color=LIGHT.series[k % len(LIGHT.series)],
            marker=_MARKERS[k % len(_MARKERS)],
            markersize=5,
            linestyle="-" if method == STRUCTURED else "--",
            label=name,
        )
    ax.set(xlabel="places", ylabel="seconds", yscale="log", title=f"Time of one program ({ground})")
    ax.set_xticks(sorted({row.places for row in here}))
    ax.minorticks_off()
    ax.yaxis.set_major_formatter("{x:g}")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, handlelength=3)
    return figure
