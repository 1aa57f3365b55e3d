"""Sentences and rows on estimated shares of a population: their sizes, their intervals, and what is withheld."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Final

import numpy as np

from ...core import JointSpace, Space
from ...escaping import plain, shorten
from ...estimation import MOST_PLACES, ConfidenceIntervals, Districts, Estimate, Identifiability
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
from ...tables import text

_INTERVALS: Final = {"maximum likelihood": "profile", "least squares": "bootstrap", "matrix inversion": "normal"}
_MIDDLE: Final = "middle (latitude, longitude)"
MANY_PLACES: Final = f"Districts of more than {MOST_PLACES:,} places are not computed."
"""Why there are no districts."""


def share_nouns(space: Space) -> tuple[str, str]:
    """Return the noun for what a share is of, and its plural."""
    if isinstance(space, Places):
        return "place", "places"
    return ("combination", "combinations") if isinstance(space, JointSpace) else ("value", "values")


def share_label(label: Hashable) -> str:
    """Return the label of a share as a short text."""
    return shorten(", ".join(map(text, label)) if isinstance(label, tuple) else text(label))


def confidence_words(sure: ConfidenceIntervals) -> str:
    """Return the name of intervals, ``95 % interval``."""
    return f"{percent_of_confidence(sure.confidence)} interval"


def share_rows(estimate: Estimate, chosen: Iterable[int]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings and a row for each chosen share; places have their middles."""
    space, sure = estimate.space, estimate.intervals
    of_places = isinstance(space, Places)
    middles = space.latlon if isinstance(space, Places) else ()
    rows = (
        (
            share_label(space.labels[s]),
            percent(float(estimate.probabilities[s])),
            *(() if sure is None else (_interval(sure, s),)),
            *((_degrees(*middles[s]),) if of_places else ()),
        )
        for s in map(int, chosen)
    )
    kinds = (*(() if sure is None else (confidence_words(sure),)), *((_MIDDLE,) if of_places else ()))
    return (share_nouns(space)[0], "estimated share", *kinds), tuple(rows)


def district_rows(districts: Districts) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings and a row for each district, the largest share first."""
    sure = districts.intervals
    rows = (
        (
            districts.names[d],
            percent(float(districts.shares[d])),
            _interval(sure, d),
            _degrees(*districts.latlon[d]),
            f"{districts.sizes[d]:,}",
        )
        for d in sorted(range(len(districts)), key=lambda d: -districts.shares[d])
    )
    return ("district", "estimated share", confidence_words(sure), _MIDDLE, "places"), tuple(rows)


def settled_words(districts: Districts) -> str:
    """Return the districts whose shares the reports settle."""
    return f"SETTLED: the shares of {districts!r}."


def withheld_words(withheld: int, shares: int, of: str = "") -> str:
    """Return how many shares are withheld, of the values of a column or other named things."""
    what = f" of {shorten(plain(of))}" if of else ""
    return f"NOT SETTLED, and withheld: {withheld:,} of the {counted(shares, 'share')}{what}."


def unsettled_words(known: Identifiability, *, withheld: bool) -> tuple[str, ...]:
    """Return a warning about shares that do not follow from the reports, if there are such."""
    if known.complete:
        return ()
    hidden, total, nouns = len(known.unidentified), len(known.secrets), share_nouns(known.secrets)[1]
    which = f"all {total:,} {nouns}" if hidden == total else f"{hidden:,} of the {total:,} {nouns}"
    return (
        f"NOT SETTLED: the reports alone do not in general settle the shares of {which}, however many reports "
        "there are. Other shares may explain the reports as well. "
        + ("They are withheld here." if withheld else "Do not rely on single ones."),
    )


def survey_words(known: Identifiability) -> str:
    """Return, before a survey, what the reports of a design can settle."""
    return f"If you estimate shares: {str(known)[:1].lower()}{str(known)[1:]}"


def expected_words(districts: Districts | None, reports: int) -> str:
    """Return the districts that so many reports are expected to settle."""
    what = "not even those of districts" if districts is None else f"the shares of {districts!r}"
    return f"From {reports:,} reports of a population like this prior they settle {what}."


def estimate_words(estimate: Estimate, withheld: Collection[int]) -> tuple[str, ...]:
    """Return the number of reports, the largest share, and how sure the shares are."""
    return (
        f"{counted(estimate.reports, 'private report')} were used to estimate how a population is spread over "
        f"{counted(len(estimate.space), *share_nouns(estimate.space))}. {_largest(estimate, withheld)}".rstrip(),
        "These shares are estimated from private reports. They are not counted, and nothing here is proved. "
        "A person who sent several reports counts several times.",
        *(_sureness(estimate) if len(withheld) < len(estimate.space) else ()),
    )


def _largest(estimate: Estimate, withheld: Collection[int]) -> str:
    if estimate.districts is not None:
        parts = estimate.districts
        d = int(np.argmax(parts.shares))
        return (
            f"The reports settle the shares of {parts!r}. The largest is {about_percent(float(parts.shares[d]))}, "
            f"of {parts.names[d]} around {_degrees(*parts.latlon[d])}; its interval is "
            f"{_interval(parts.intervals, d)}."
        )
    if withheld:
        return ""
    space, sure, s = estimate.space, estimate.intervals, int(np.argmax(estimate.probabilities))
    where = f" ({_degrees(*space.latlon[s])})" if isinstance(space, Places) else ""
    known = "" if sure is None else f"; its {confidence_words(sure)} is {_interval(sure, s)}"
    label = f"{share_nouns(space)[0]} {share_label(space.labels[s])}{where}"
    return f"The largest share is {about_percent(float(estimate.probabilities[s]))}, of the {label}{known}."


def _sureness(estimate: Estimate) -> tuple[str, ...]:
    sure = estimate.intervals
    if sure is None:
        weighted = estimate.effective is not None and estimate.method != "matrix inversion"
        kind = None if weighted else _INTERVALS.get(estimate.method)
        ask = f" To learn it, estimate again with {kind} intervals." if kind else ""
        return (f"No intervals were asked for, so this page does not say how far off the shares are.{ask}",)
    widths = 100 * (sure.upper - sure.lower)
    return (
        f"How sure: half of the intervals are at most {at_most(float(np.median(widths)), 2)} percentage points "
        f"wide, the widest is {at_most(float(widths.max()), 2)}. Each is made to hold its own share with a "
        f"probability of {percent_of_confidence(sure.confidence)}, if each report is of another person; they do "
        f"not hold all together.{'' if sure.exact else ' That probability is approximate.'}",
    )


def _interval(sure: ConfidenceIntervals, s: int) -> str:
    return f"{percent_at_least(float(sure.lower[s]))} to {percent_at_most(float(sure.upper[s]))}"


def _degrees(lat: float, lon: float) -> str:
    """Return latitude and longitude to about a metre, in the form that map programs read."""
    return f"{lat:.5f}, {lon:.5f}"
