"""Drawings of a report: maps, and the design among others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ...errors import MissingExtraError
from ...escaping import figure as outside
from ...files import MechanismFile
from ...geo import Places, Visits
from ..maps import Outline
from ..noise import noise_panels
from ..picture import panels
from ..theme import LIGHT, as_svg, blank
from ..values import MOST_VALUES, values_panels
from .facts import ReportFacts
from .page import PageFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAP_MOST: Final = 2_000
"""The most cells that maps are drawn of: three maps of them take about a megabyte."""

_PANELS: Final = ("prior", "reports", "belief")


def map_figures(
    held: MechanismFile, outline: Outline | None = None, visits: Visits | None = None
) -> tuple[PageFigure, ...]:
    """Return maps, or bars of values: the prior, reports from one place, and an attacker's belief.

    Args:
        held: The file.
        outline: Land, water and names to draw on.
        visits: Where people were, whose names of places are shown.

    Raises:
        InputError: If the outline lies elsewhere.
    """
    try:
        maps = _maps(held, outline, visits)
        bars = _bars(held) if not maps else ()
    except MissingExtraError:
        return ()
    if bars:
        caption = (
            "How common each value is, by the prior; what is reported from one value; and what an attacker who "
            "knows "
            "the prior believes after one report. Filled bars hold 50 %, with the paler ones they hold 90 %."
        )
        return (side_by_side(bars, [f"Bars of the {name}" for name in _PANELS], caption),)
    if not maps:
        return ()
    noise = not held.has_matrix
    seen = " They show the noise as it is seen on the cells of the file's prior." if noise else ""
    caption = (
        "How likely each place is, by the prior; where you appear, if you are at the true place, which is marked; "
        "and what an attacker who knows the prior believes after one report. "
        f"Lines are around the fewest cells that hold 50 % and 90 %.{seen}"
    )
    return (side_by_side(maps, [f"Maps of the {name}" for name in _PANELS], caption),)


def side_by_side(figures: Sequence[Figure], titles: Sequence[str], caption: str) -> PageFigure:
    """Return figures side by side, one below the other where there is no room.

    Args:
        figures: The figures.
        titles: Their names, for those who do not see them.
        caption: What they show together.
    """
    drawn = (
        as_svg(figure, title=title, description=caption) for figure, title in zip(figures, titles, strict=True)
    )
    parts = "".join(f'<div style="flex: 1 1 16rem; max-width: 30rem; min-width: 0">{svg}</div>' for svg in drawn)
    return PageFigure(f'<div style="display: flex; flex-wrap: wrap; gap: .5rem">{parts}</div>', caption)


def frontier_figures(facts: ReportFacts) -> tuple[PageFigure, ...]:
    """Return the loss of designs against their epsilon, with this one marked; none where there are no others."""
    found = [each for each in facts.frontier if each.loss.upper is not None]
    if len(found) < 2:
        return ()
    try:
        figure = blank(4.8, 3.4)
    except MissingExtraError:
        return ()
    ax = figure.subplots()
    epsilons, losses = [each.epsilon.value for each in found], [each.loss.upper or 0.0 for each in found]
    ax.plot(epsilons, losses, color=LIGHT.series[0], linewidth=1, alpha=0.5)
    known = [each for each in found if each.loss.lower is not None]
    if known:
        at, least = [each.epsilon.value for each in known], [each.loss.lower or 0.0 for each in known]
        most = [each.loss.upper or 0.0 for each in known]
        ax.vlines(at, least, most, color=LIGHT.ink, linewidth=1.5)
        ax.plot(at, least, "_", color=LIGHT.ink, markersize=14, markeredgewidth=1.5, label="none goes below")
    others = [each for each in found if not each.this]
    points = [each.epsilon.value for each in others], [each.loss.upper or 0.0 for each in others]
    ax.plot(*points, "o", color=LIGHT.series[0], markersize=5, label="a design loses at most")
    for each in found:
        if each.this:
            place = [each.epsilon.value], [each.loss.upper or 0.0]
            ax.plot(*place, "D", color=LIGHT.series[1], markersize=8, label="this design loses at most")
    ax.legend(frameon=False, fontsize=9)
    rate, unit = found[0].epsilon.unit.replace("/", "per "), found[0].loss.unit
    ax.set_xlabel(outside(f"epsilon ({rate})" if rate else "epsilon"))
    mean = "loss for the worst" if found[0].objective == "worst-case" else "loss on average"
    ax.set_ylabel(outside(f"{mean} ({unit})" if unit else mean))
    ax.set_ylim(0, 1.15 * max(losses) or 1.0)
    ax.set_xlim(left=0)
    ax.grid(alpha=0.3)
    caption = "What privacy costs: to the left epsilon is smaller, and a report tells less."
    if known:
        caption += " The least loss of such designs lies on the upright line."
    svg = as_svg(figure, title="The design among others", description=caption)
    return (PageFigure(f'<div style="max-width: 34rem">{svg}</div>', caption),)


def _bars(held: MechanismFile) -> tuple[Figure, ...]:
    if not held.has_matrix or held.prior is None or isinstance(held.report_channel.secrets, Places):
        return ()
    if max(held.report_channel.shape) > MOST_VALUES:
        return ()
    return values_panels(held.report_channel, held.prior)


def _maps(held: MechanismFile, outline: Outline | None, visits: Visits | None) -> tuple[Figure, ...]:
    if not held.has_matrix:
        return () if held.prior is None else noise_panels(held, outline=outline, visits=visits)
    places = held.report_channel.secrets
    if not isinstance(places, Places) or held.prior is None or len(places) > MAP_MOST:
        return ()
    if held.report_channel.observables.coordinates is None:
        return ()
    ground = places.metric("euclidean", unit="km")
    return panels(held.report_channel, held.prior, ground, outline=outline, visits=visits)
