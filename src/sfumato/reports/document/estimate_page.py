"""The page of an estimate: the shares of a population, how sure they are, and how they were made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...core import JointSpace
from ...errors import MissingExtraError
from ...escaping import figure as outside
from ...escaping import shorten
from ...estimation import ConfidenceIntervals, Districts, Estimate, Identifiability
from ...geo import Places
from ...rounding import (
    about_percent,
    at_most,
    counted,
    percent,
    percent_at_least,
    percent_at_most,
    percent_of_confidence,
)
from ..facts import FileFacts
from ..maps import Outline
from ..picture import clear_below, places_panel
from ..theme import LIGHT, as_svg, blank
from .figures import MAP_MOST, side_by_side
from .layout import file_section
from .page import Page, PageFigure, PageSection, PageTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LARGEST: Final = 15  # rows in sight
_MOST: Final = 1_000  # rows of a page
_TINY: Final = 1e-4  # shares that need no row each
_NONE: Final[Mapping[str, Estimate]] = MappingProxyType({})
_MADE: Final = (
    "Each report was changed at random by the mechanism. The estimate undoes this for the population as a whole, "
    "not for single people."
)
_SPIKY: Final = (
    "Such an estimate puts the shares on fewer values than the truth does, where the mechanism blurs much. An "
    "estimate that is stopped early (the method early-stopped) is then usually nearer to the truth."
)
_NEGATIVE: Final = "The method can give shares below zero. No true share is: such a share is likely small."
_INTERVALS: Final = {"maximum likelihood": "profile", "least squares": "bootstrap", "matrix inversion": "normal"}
_BARS: Final = 30  # values with a bar each
_LONGEST: Final = 24  # characters of a name


def estimate_page(
    estimate: Estimate,
    known: Identifiability,
    remarks: Sequence[str] = (),
    *,
    margins: Mapping[str, Estimate] = _NONE,
    outline: Outline | None = None,
    file: FileFacts | None = None,
    reports: FileFacts | None = None,
) -> Page:
    """Return the page of an estimate; raise `InputError` if the outline lies elsewhere."""
    noun, nouns = _nouns(estimate)
    doubt = known.doubt_of(estimate)
    warned = [] if estimate.converged else ["NOT FINISHED: the estimate did not converge."]
    warned += [f"NOT ENOUGH REPORTS: {doubt}"] if doubt else []
    withheld = known.unsettled(estimate)
    warned += _unsettled(known, nouns, withheld=bool(withheld))
    of_columns = known.unsettled_margins(estimate)
    warned += [
        f"NOT SETTLED, and withheld: {len(of_columns[name]):,} of the {counted(len(part.space), 'share')} of "
        f"{shorten(name)}."
        for name, part in margins.items()
        if of_columns[name]
    ]
    lead = (
        f"{counted(estimate.reports, 'private report')} were used to estimate how a population is spread over "
        f"{counted(len(estimate.space), noun, nouns)}. {_largest(estimate, noun, withheld)}".rstrip(),
        "These shares are estimated from private reports. They are not counted, and nothing here is proved. "
        "A person who sent several reports counts several times.",
        *(_sureness(estimate) if len(withheld) < len(estimate.space) else ()),
    )
    sections = [
        each
        for name, part in margins.items()
        for each in _shares(part, f"The shares of {shorten(name)}", withheld=of_columns[name])
    ]
    whole = "The shares of all columns together" if margins else f"The shares of the {nouns}"
    sections += [] if estimate.districts is None else [_district_section(estimate.districts)]
    sections += _shares(estimate, whole, outline, withheld)
    formal = (f"{estimate!r}.", str(known))
    # Weighted reports cannot be stopped early.
    plain = estimate.method == "maximum likelihood" and estimate.effective is None
    limits = (_MADE, *([_SPIKY] if plain and not known.complete else []), *remarks)
    sections.append(PageSection("What the reports can show", limits, formal=formal, fold="For statisticians"))
    if file is not None:
        named = [] if reports is None else [f"{reports.name}, {reports.bytes:,} bytes, SHA-256 {reports.sha256}"]
        sections.append(file_section(file, [f"The reports: {each}." for each in named]))
    title = "Shares of a population, estimated from private reports"
    return Page(title, (*warned, *lead), tuple(sections), warning=bool(warned))


def _district_section(districts: Districts) -> PageSection:
    """Return the shares of districts with their intervals, the largest first."""
    order = sorted(range(len(districts)), key=lambda d: -districts.shares[d])
    headings = (
        "district",
        "estimated share",
        f"{percent_of_confidence(districts.intervals.confidence)} interval",
        "middle (latitude, longitude)",
        "places",
    )
    rows = tuple(
        (
            districts.names[d],
            percent(float(districts.shares[d])),
            _span(districts.intervals, d),
            _degrees(*districts.latlon[d]),
            f"{districts.sizes[d]:,}",
        )
        for d in order
    )
    table = PageTable("The districts, the largest share first.", headings, rows)
    return PageSection(f"The shares of {districts!r}", (str(districts),), tables=(table,))


def _unsettled(known: Identifiability, nouns: str, *, withheld: bool) -> list[str]:
    """Return a warning about shares that do not follow from the reports, if there are such."""
    if known.complete:
        return []
    hidden, total = len(known.unidentified), len(known.secrets)
    which = f"all {total:,} {nouns}" if hidden == total else f"{hidden:,} of the {total:,} {nouns}"
    return [
        f"NOT SETTLED: the reports alone do not in general settle the shares of {which}, however many reports "
        "there are. Other shares may explain the reports as well. "
        + ("They are withheld here." if withheld else "Do not rely on single ones.")
    ]


def _nouns(estimate: Estimate) -> tuple[str, str]:
    if isinstance(estimate.space, Places):
        return "place", "places"
    return ("combination", "combinations") if isinstance(estimate.space, JointSpace) else ("value", "values")


def _largest(estimate: Estimate, noun: str, withheld: Collection[int]) -> str:
    if estimate.districts is not None:
        parts = estimate.districts
        d = int(np.argmax(parts.shares))
        return (
            f"The reports settle the shares of {parts!r}. The largest is {about_percent(float(parts.shares[d]))}, "
            f"of {parts.names[d]} around {_degrees(*parts.latlon[d])}; its interval is "
            f"{_span(parts.intervals, d)}."
        )
    if withheld:
        return ""
    s = int(np.argmax(estimate.probabilities))
    where = f" ({_degrees(*estimate.space.latlon[s])})" if isinstance(estimate.space, Places) else ""
    share, sure = float(estimate.probabilities[s]), estimate.intervals
    label = shorten(_text(estimate.space.labels[s]))
    said = f"The largest share is {about_percent(share)}, of the {noun} {label}{where}"
    return (
        f"{said}."
        if sure is None
        else f"{said}; its {percent_of_confidence(sure.confidence)} interval is {_span(sure, s)}."
    )


def _sureness(estimate: Estimate) -> tuple[str, ...]:
    sure = estimate.intervals
    if sure is None:
        weighted = estimate.effective is not None and estimate.method != "matrix inversion"
        kind = None if weighted else _INTERVALS.get(estimate.method)
        ask = f" To learn it, estimate again with {kind} intervals." if kind else ""
        return (f"No intervals were asked for, so this page does not say how far off the shares are.{ask}",)
    widths = 100 * (sure.upper - sure.lower)
    said = (
        f"How sure: half of the intervals are at most {at_most(float(np.median(widths)), 2)} percentage points "
        f"wide, the widest is {at_most(float(widths.max()), 2)}. Each is made to hold its own share with a "
        f"probability of {percent_of_confidence(sure.confidence)}, if each report is of another person; they do "
        "not hold all together."
    )
    return (said if sure.exact else f"{said} That probability is approximate.",)


def _shares(
    estimate: Estimate, title: str, outline: Outline | None = None, withheld: Collection[int] = ()
) -> list[PageSection]:
    """Return the figures and a table of the largest shares that are not withheld; the others are folded."""
    noun, nouns = _nouns(estimate)
    order = np.argsort(-estimate.probabilities, kind="stable")
    order = order[~np.isin(order, list(withheld))]
    if not len(order):
        return []
    sight = len(order) if len(order) <= _LARGEST + 5 else _LARGEST
    if estimate.intervals is None:  # a share next to nothing says all there is to say
        tiny = order[np.abs(estimate.probabilities[order]) < _TINY]
        order = order[~np.isin(order, tiny)]
    else:
        tiny = order[:0]
    seen, folded, left_out = order[:sight], order[sight:_MOST], len(order[_MOST:])
    formal = []
    if len(tiny):
        names = ", ".join(shorten(_text(estimate.space.labels[s])) for s in tiny[:_MOST])
        more = f", and {len(tiny) - _MOST:,} others" if len(tiny) > _MOST else ""
        formal.append(f"Under 0.01 % each: {names}{more}.")
    if left_out:
        formal.append(f"{counted(left_out, noun, nouns)} with the smallest shares are left out.")
    below = (_NEGATIVE,) if (estimate.probabilities < 0).any() else ()
    hidden = len(estimate.space) - len(withheld) - len(seen)
    caption = f"The {len(seen)} largest shares." if hidden else f"The {nouns}, the largest share first."
    tables = (_table(estimate, seen, noun, caption),)
    others = (_table(estimate, folded, noun, f"The next {len(folded):,}."),) if len(folded) else ()
    fold = f"The other {hidden:,} {nouns}" if hidden > 1 else f"The other {noun}"
    drawn = share_figures(estimate, outline, withheld)
    return [
        *([PageSection(title, figures=drawn)] if drawn else []),
        PageSection(f"{title}, in numbers", below, tables=tables, folded=others, formal=tuple(formal), fold=fold),
    ]


def _table(estimate: Estimate, chosen: Sequence[int] | np.ndarray, noun: str, caption: str) -> PageTable:
    space, sure = estimate.space, estimate.intervals
    headings = [noun, "estimated share"]
    if sure is not None:
        headings.append(f"{percent_of_confidence(sure.confidence)} interval")
    if isinstance(space, Places):
        headings.append("middle (latitude, longitude)")
    rows = []
    for s in map(int, chosen):
        cells = [shorten(_text(space.labels[s])), percent(float(estimate.probabilities[s]))]
        if sure is not None:
            cells.append(_span(sure, s))
        if isinstance(space, Places):
            cells.append(_degrees(*space.latlon[s]))
        rows.append(tuple(cells))
    return PageTable(caption, tuple(headings), tuple(rows))


def _span(sure: ConfidenceIntervals, s: int) -> str:
    return f"{percent_at_least(float(sure.lower[s]))} to {percent_at_most(float(sure.upper[s]))}"


def _degrees(lat: float, lon: float) -> str:
    """Return latitude and longitude to about a metre, in the form that map programs read."""
    return f"{lat:.5f}, {lon:.5f}"


def _text(label: object) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def share_figures(
    estimate: Estimate, outline: Outline | None = None, withheld: Collection[int] = ()
) -> tuple[PageFigure, ...]:
    """Return two maps of an estimate, or bars if shares are withheld; none without matplotlib."""
    try:
        if isinstance(estimate.space, Places) and len(estimate.space) <= MAP_MOST and not withheld:
            return (_maps(estimate, estimate.space, outline),)
        return (_bars(estimate, withheld),)
    except MissingExtraError:
        return ()


def _maps(estimate: Estimate, space: Places, outline: Outline | None) -> PageFigure:
    shares = np.maximum(estimate.probabilities, 0.0)  # only inversion gives negative ones
    figures = [places_panel(space, shares, "Estimated shares", "share (%)", outline=outline)]
    titles, caption = ["Map of the estimated shares"], "The estimated share of each place."
    sure = estimate.intervals
    widths = None if sure is None else sure.upper - sure.lower
    if sure is not None and widths is not None and widths.max() > 0:
        label = f"width of the {percent_of_confidence(sure.confidence)} interval (percentage points)"
        figures.append(places_panel(space, widths, "How unsure they are", label, outline=outline))
        titles.append("Map of the widths of the intervals")
        caption = "The estimated share of each place, and the width of its interval. Brighter is less certain."
    clear = f" Places without colour have less than {100 * clear_below(len(space)):g} %."
    return side_by_side(figures, titles, caption + clear)


def _bars(estimate: Estimate, withheld: Collection[int]) -> PageFigure:
    shown = np.setdiff1d(np.arange(len(estimate.space)), list(withheld))
    few = len(shown) <= _BARS
    order = shown if few else shown[np.argsort(-estimate.probabilities[shown], kind="stable")[:_BARS]]
    what = "The estimated share of each value" if few else f"The {_BARS} largest shares of {len(shown):,} values"
    sure = estimate.intervals
    lines = "" if sure is None else f" Lines are the {percent_of_confidence(sure.confidence)} intervals."
    caption = f"{what}.{lines}"
    svg = as_svg(_drawn(estimate, order), title="Bars of the estimated shares", description=caption)
    return PageFigure(f'<div style="max-width: 30rem">{svg}</div>', caption)


def _drawn(estimate: Estimate, order: NDArray[np.intp]) -> Figure:
    figure = blank(3.9, 0.24 * len(order) + 1.1)
    ax = figure.subplots()
    shares, at = 100 * estimate.probabilities[order], range(len(order))
    ax.barh(at, shares, height=0.7, color=(LIGHT.series[0], 0.4), edgecolor=LIGHT.series[0], linewidth=0.7)
    least, most = float(shares.min()), float(shares.max())
    if estimate.intervals is not None:
        lower, upper = 100 * estimate.intervals.lower[order], 100 * estimate.intervals.upper[order]
        ax.hlines(at, lower, upper, color=LIGHT.ink, linewidth=1.3)
        ax.plot([*lower, *upper], [*at, *at], "|", color=LIGHT.ink, markersize=7, markeredgewidth=1.3)
        least, most = min(least, float(lower.min())), max(most, float(upper.max()))
    ax.set_yticks(at, [outside(shorten(_text(estimate.space.labels[s]), _LONGEST)) for s in order])
    ax.set_ylim(len(order) - 0.4, -0.6)  # the first on top
    ax.set_xlim(min(0.0, 1.05 * least), 1.05 * most)
    ax.set_xlabel("share (%)")
    ax.set_ylabel(outside(estimate.space.unit or ""))
    ax.grid(axis="x", color=LIGHT.grid)
    return figure
