"""Drawings of estimated shares: maps of places, and bars of other values, with what is known of their error."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtraError
from ...escaping import figure as outside
from ...estimation import Estimate
from ...geo import Places
from ...rounding import percent_of_confidence
from ..maps import Outline
from ..scene import clear_below, places_panel
from ..theme import LIGHT, as_svg, blank
from .figures import MAP_MOST, side_by_side
from .page import PageFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS: Final = 30  # values with a bar each
_LONGEST: Final = 24  # characters of a name


def share_figures(
    found: Estimate, outline: Outline | None = None, withheld: Collection[int] = ()
) -> tuple[PageFigure, ...]:
    """Return what an estimate looks like: two maps, or bars; none without matplotlib.

    Maps have no place for shares that are withheld, so these shares leave bars alone.

    Args:
        found: The estimate.
        outline: Land and water to draw maps on.
        withheld: The positions of shares that are not drawn.

    Raises:
        InputError: If the outline lies elsewhere.
    """
    try:
        if isinstance(found.space, Places) and len(found.space) <= MAP_MOST and not withheld:
            return (_maps(found, found.space, outline),)
        return (_bars(found, withheld),)
    except MissingExtraError:
        return ()


def _maps(found: Estimate, space: Places, outline: Outline | None) -> PageFigure:
    shares = np.maximum(found.probabilities, 0.0)  # only inversion gives negative ones
    figures = [places_panel(space, shares, "Estimated shares", "share (%)", outline=outline)]
    titles, caption = ["Map of the estimated shares"], "The estimated share of each place."
    sure = found.intervals
    widths = None if sure is None else sure.upper - sure.lower
    if sure is not None and widths is not None and widths.max() > 0:
        label = f"width of the {percent_of_confidence(sure.confidence)} interval (percentage points)"
        figures.append(places_panel(space, widths, "How unsure they are", label, outline=outline))
        titles.append("Map of the widths of the intervals")
        caption = (
            "The estimated share of each place; and how wide its interval is: the brighter, the less is known of "
            "the share."
        )
    clear = f" Places without colour have less than {100 * clear_below(len(space)):g} %."
    return side_by_side(figures, titles, caption + clear)


def _bars(found: Estimate, withheld: Collection[int]) -> PageFigure:
    shown = np.setdiff1d(np.arange(len(found.space)), list(withheld))
    few = len(shown) <= _BARS
    order = shown if few else shown[np.argsort(-found.probabilities[shown], kind="stable")[:_BARS]]
    drawn = _drawn(found, order)
    what = "The estimated share of each value" if few else f"The {_BARS} largest shares of {len(shown):,} values"
    sure = found.intervals
    lines = "" if sure is None else f" Lines are the {percent_of_confidence(sure.confidence)} intervals."
    caption = f"{what}.{lines}"
    svg = as_svg(drawn, title="Bars of the estimated shares", description=caption)
    return PageFigure(f'<div style="max-width: 30rem">{svg}</div>', caption)


def _drawn(found: Estimate, order: NDArray[np.intp]) -> Figure:
    figure = blank(3.9, 0.24 * len(order) + 1.1)
    ax = figure.subplots()
    shares, at = 100 * found.probabilities[order], range(len(order))
    ax.barh(at, shares, height=0.7, color=(LIGHT.series[0], 0.4), edgecolor=LIGHT.series[0], linewidth=0.7)
    least, most = float(shares.min()), float(shares.max())
    if found.intervals is not None:
        lower, upper = 100 * found.intervals.lower[order], 100 * found.intervals.upper[order]
        ax.hlines(at, lower, upper, color=LIGHT.ink, linewidth=1.3)
        ax.plot([*lower, *upper], [*at, *at], "|", color=LIGHT.ink, markersize=7, markeredgewidth=1.3)
        least, most = min(least, float(lower.min())), max(most, float(upper.max()))
    ax.set_yticks(at, [outside(_short(found.space.labels[s])) for s in order])
    ax.set_ylim(len(order) - 0.4, -0.6)  # the first on top
    ax.set_xlim(min(0.0, 1.05 * least), 1.05 * most)
    ax.set_xlabel("share (%)")
    ax.set_ylabel(outside(found.space.unit or ""))
    ax.grid(axis="x", color=LIGHT.grid)
    return figure


def _short(label: object) -> str:
    text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
