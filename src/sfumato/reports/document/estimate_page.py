"""The page of an estimate: the shares of a population, how sure they are, and how they were made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from ...errors import MissingExtraError
from ...escaping import figure as outside
from ...escaping import shorten
from ...estimation import Estimate, Identifiability
from ...geo import Places
from ...rounding import plural
from .. import sentences as words
from ..facts import FileFacts
from ..maps import Outline
from ..picture import places_panel
from ..theme import LIGHT, as_svg, blank
from .figures import MAP_MOST, side_by_side
from .layout import file_section
from .page import Page, PageFigure, PageSection, PageTable

_LARGEST: Final = 15  # rows in sight
_MOST_ROWS: Final = 1_000  # rows of a page
_TINY: Final = 1e-4  # shares that need no row each
_METHOD_WORDS: Final = (
    "Each report was changed at random by the mechanism. The estimate undoes this for the population as a whole, "
    "not for single people."
)
_SPIKY: Final = (
    "Such an estimate puts the shares on fewer values than the truth does, where the mechanism blurs much. An "
    "estimate that is stopped early (the method early-stopped) is then usually nearer to the truth."
)
_NEGATIVE: Final = "The method can give shares below zero. No true share is: such a share is likely small."
_BARS: Final = 30  # values with a bar each
_LONGEST: Final = 24  # characters of a name


def estimate_page(
    estimate: Estimate,
    known: Identifiability,
    remarks: Sequence[str],
    *,
    margins: Mapping[str, Estimate],
    outline: Outline | None,
    file: FileFacts | None,
    reports: FileFacts | None,
) -> Page:
    """Return the page of an estimate; raise `InputError` if the outline lies elsewhere."""
    doubt = known.doubt_of(estimate)
    warned = [] if estimate.converged else ["NOT FINISHED: the estimate did not converge."]
    warned += [f"NOT ENOUGH REPORTS: {doubt}"] if doubt else []
    gaps = known.unsettled_shares(estimate)
    warned += words.unsettled_words(known, has_gaps=bool(gaps))
    of_columns = known.unsettled_margins(estimate)
    counts = {name: len(of_columns[name]) for name in margins if of_columns[name]}
    warned += [words.withheld_words(count, len(margins[name].space), name) for name, count in counts.items()]
    sections = [
        section
        for name, part in margins.items()
        for section in _shares(part, f"The shares of {shorten(name)}", gaps=of_columns[name])
    ]
    whole = f"The shares of {'all columns together' if margins else f'the {words.share_nouns(estimate.space)[1]}'}"
    if estimate.districts is not None:
        table = PageTable("The districts, the largest share first.", *words.district_rows(estimate.districts))
        title = f"The shares of {estimate.districts!r}"
        sections.append(PageSection(title, (str(estimate.districts),), tables=(table,)))
    sections += _shares(estimate, whole, outline, gaps)
    formal = (f"{estimate!r}.", str(known))
    # Weighted reports cannot be stopped early.
    plain = estimate.method == "maximum likelihood" and estimate.effective is None
    limits = (_METHOD_WORDS, *([_SPIKY] if plain and not known.complete else []), *remarks)
    sections.append(PageSection("What the reports can show", limits, formal=formal, fold="For statisticians"))
    if file is not None:
        mark = "" if reports is None else f"{reports.name}, {reports.bytes:,} bytes, SHA-256 {reports.sha256}"
        sections.append(file_section(file, [f"The reports: {mark}."] if mark else []))
    title = "Shares of a population, estimated from private reports"
    return Page(title, (*warned, *words.estimate_words(estimate, gaps)), tuple(sections), warning=bool(warned))


def _shares(
    estimate: Estimate, title: str, outline: Outline | None = None, gaps: Collection[int] = ()
) -> list[PageSection]:
    """Return the figures and a table of the largest shares that are not withheld; the others are folded."""
    noun, nouns = words.share_nouns(estimate.space)
    order = np.argsort(-estimate.probabilities, kind="stable")
    order = order[~np.isin(order, list(gaps))]
    if not len(order):
        return []
    sight = len(order) if len(order) <= _LARGEST + 5 else _LARGEST
    if estimate.intervals is None:  # a share next to nothing says all there is to say
        tiny = order[np.abs(estimate.probabilities[order]) < _TINY]
        order = order[~np.isin(order, tiny)]
    else:
        tiny = order[:0]
    head, folded, left_out = order[:sight], order[sight:_MOST_ROWS], len(order[_MOST_ROWS:])
    formal = []
    if len(tiny):
        names = ", ".join(words.share_label(estimate.space.labels[s]) for s in tiny[:_MOST_ROWS])
        more = f", and {len(tiny) - _MOST_ROWS:,} others" if len(tiny) > _MOST_ROWS else ""
        formal.append(f"Under 0.01 % each: {names}{more}.")
    if left_out:
        formal.append(f"{plural(left_out, noun, nouns)} with the smallest shares are left out.")
    below = (_NEGATIVE,) if (estimate.probabilities < 0).any() else ()
    remainder = len(estimate.space) - len(gaps) - len(head)
    caption = f"The {len(head)} largest shares." if remainder else f"The {nouns}, the largest share first."
    tables = (PageTable(caption, *words.share_rows(estimate, head)),)
    tail = (PageTable(f"The next {len(folded):,}.", *words.share_rows(estimate, folded)),) if len(folded) else ()
    fold = f"The other {remainder:,} {nouns}" if remainder > 1 else f"The other {noun}"
    figures = share_figures(estimate, outline, gaps)
    return [
        *([PageSection(title, figures=figures)] if figures else []),
        PageSection(f"{title}, in numbers", below, tables=tables, folded=tail, formal=tuple(formal), fold=fold),
    ]


def share_figures(
    estimate: Estimate, outline: Outline | None = None, gaps: Collection[int] = ()
) -> tuple[PageFigure, ...]:
    """Return two maps of an estimate, or bars if shares are withheld; none without matplotlib."""
    try:
        if isinstance(estimate.space, Places) and len(estimate.space) <= MAP_MOST and not gaps:
            return (_maps(estimate, estimate.space, outline),)
        return (_bars(estimate, gaps),)
    except MissingExtraError:
        return ()


def _maps(estimate: Estimate, space: Places, outline: Outline | None) -> PageFigure:
    shares = np.maximum(estimate.probabilities, 0.0)  # only inversion gives negative ones
    figures = [places_panel(space, shares, "Estimated shares", "share (%)", outline=outline)]
    titles, caption = ["Map of the estimated shares"], "The estimated share of each place."
    sure = estimate.intervals
    widths = None if sure is None else sure.upper - sure.lower
    if sure is not None and widths is not None and widths.max() > 0:
        label = f"width of the {words.confidence_words(sure)} (percentage points)"
        figures.append(places_panel(space, widths, "How unsure they are", label, outline=outline))
        titles.append("Map of the widths of the intervals")
        caption = "The estimated share of each place, and the width of its interval: the wider, the stronger."
    return side_by_side(figures, titles, caption)


def _bars(estimate: Estimate, gaps: Collection[int]) -> PageFigure:
    rows = np.setdiff1d(np.arange(len(estimate.space)), list(gaps))
    few = len(rows) <= _BARS
    order = rows if few else rows[np.argsort(-estimate.probabilities[rows], kind="stable")[:_BARS]]
    text = "The estimated share of each value" if few else f"The {_BARS} largest shares of {len(rows):,} values"
    sure = estimate.intervals
    lines = "" if sure is None else f" Each line is a {words.confidence_words(sure)}."
    caption = f"{text}.{lines}"
    figure = blank(3.9, 0.24 * len(order) + 1.1)
    ax = figure.subplots()
    shares, at = 100 * estimate.probabilities[order], range(len(order))
    ax.barh(at, shares, height=0.7, color=(LIGHT.series[0], 0.4), edgecolor=LIGHT.series[0], linewidth=0.7)
    least, most = float(shares.min()), float(shares.max())
    if sure is not None:
        lower, upper = 100 * sure.lower[order], 100 * sure.upper[order]
        ax.hlines(at, lower, upper, color=LIGHT.ink, linewidth=1.3)
        ax.plot([*lower, *upper], [*at, *at], "|", color=LIGHT.ink, markersize=7, markeredgewidth=1.3)
        least, most = min(least, float(lower.min())), max(most, float(upper.max()))
    ax.set_yticks(at, [outside(shorten(words.share_label(estimate.space.labels[s]), _LONGEST)) for s in order])
    ax.set_ylim(len(order) - 0.4, -0.6)  # the first on top
    ax.set_xlim(min(0.0, 1.05 * least), 1.05 * most)
    ax.set(xlabel="share (%)", ylabel=outside(estimate.space.unit or ""))
    ax.grid(axis="x", color=LIGHT.grid)
    svg = as_svg(figure, title="Bars of the estimated shares", description=caption)
    return PageFigure(f'<div style="max-width: 30rem">{svg}</div>', caption)
