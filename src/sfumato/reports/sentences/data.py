"""Sentences and rows on data: estimated shares, learned mechanisms, and receipts of releases."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from ...core import JointSpace, Space
from ...core.units import per_unit
from ...escaping import plain, shorten
from ...estimation import MOST_PLACES
from ...geo import Places
from ...proofs import relative_gap
from ...rounding import (
    about_percent,
    amount_at_least,
    amount_at_most,
    at_most,
    gap_at_most,
    percent,
    percent_at_least,
    percent_at_most,
    percent_of_confidence,
    plural,
)
from ...tables import text

if TYPE_CHECKING:
    from ...estimation import ConfidenceIntervals, Districts, Estimate, Identifiability
    from ...learning import Hiding
    from ...ledgers import LedgerBudgets
    from ...optimal import SensitiveDesign
    from ...releases import PersonBound, Receipt

_INTERVALS: Final = {"maximum likelihood": "profile", "least squares": "bootstrap", "matrix inversion": "normal"}
_MIDDLE: Final = "middle (latitude, longitude)"
MANY_PLACES: Final = f"Districts of more than {MOST_PLACES:,} places are not computed."
"""Why there are no districts."""
TRAINING_STOPPED: Final = "NOT FINISHED: the training was stopped."
"""Warning on a learned mechanism."""
_ROUNDED_GAP: Final = 1e-6  # a smaller one is written as this
_FEW_BITS: Final = 1e-6  # fewer are written as this


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


def share_rows(estimate: Estimate, order: Iterable[int]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
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
        for s in map(int, order)
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


def withheld_words(count: int, shares: int, of: str = "") -> str:
    """Return how many shares are withheld, of the values of a column or other named things."""
    suffix = f" of {shorten(plain(of))}" if of else ""
    return f"NOT SETTLED, and withheld: {count:,} of the {plural(shares, 'share')}{suffix}."


def unsettled_words(known: Identifiability, *, has_gaps: bool) -> tuple[str, ...]:
    """Return a warning about shares that do not follow from the reports, if there are such."""
    if known.complete:
        return ()
    count, total, nouns = len(known.unidentified_secrets), len(known.secrets), share_nouns(known.secrets)[1]
    subject = f"all {total:,} {nouns}" if count == total else f"{count:,} of the {total:,} {nouns}"
    return (
        f"NOT SETTLED: the reports alone do not in general settle the shares of {subject}, however many reports "
        "there are. Other shares may explain the reports as well. "
        + ("They are withheld here." if has_gaps else "Do not rely on single ones."),
    )


def survey_words(known: Identifiability) -> str:
    """Return, before a survey, what the reports of a design can settle."""
    return f"If you estimate shares: {str(known)[:1].lower()}{str(known)[1:]}"


def accuracy_words(people: int, half_width: float | None, least_reports: float | None) -> str:
    """Return the half-width of the widest 95 % interval of a share, None if the shares are not settled."""
    if half_width is None:
        return "The share of each value cannot be estimated from these reports, however many there are."
    many = plural(people, "person", "people")
    if people < (math.inf if least_reports is None else least_reports):
        least = (
            "no number of reports makes" if least_reports is None else f"{math.ceil(least_reports):,} reports make"
        )
        return f"{many} are too few: about {least} each share better than a guess."
    width = f"± {percent(half_width)} (95 % interval)"
    return f"With {many} like those in the data, each share is known to about {width}."


def expected_words(districts: Districts | None, reports: int) -> str:
    """Return the districts that so many reports are expected to settle."""
    subject = "not even those of districts" if districts is None else f"the shares of {districts!r}"
    return f"From {reports:,} reports of a population like this prior they settle {subject}."


def estimate_words(estimate: Estimate, gaps: Collection[int]) -> tuple[str, ...]:
    """Return the number of reports, the largest share, and how sure the shares are."""
    return (
        f"{plural(estimate.reports, 'private report')} were used to estimate how a population is spread over "
        f"{plural(len(estimate.space), *share_nouns(estimate.space))}. {_largest(estimate, gaps)}".rstrip(),
        "These shares are estimated from private reports. They are not counted, and nothing here is proved. "
        "A person who sent several reports counts several times.",
        *(_sureness(estimate) if len(gaps) < len(estimate.space) else ()),
    )


def _largest(estimate: Estimate, gaps: Collection[int]) -> str:
    if estimate.districts is not None:
        parts = estimate.districts
        d = int(np.argmax(parts.shares))
        return (
            f"The reports settle the shares of {parts!r}. The largest is {about_percent(float(parts.shares[d]))}, "
            f"of {parts.names[d]} around {_degrees(*parts.latlon[d])}; its interval is "
            f"{_interval(parts.intervals, d)}."
        )
    if gaps:
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


def spending_words(facts: LedgerBudgets) -> tuple[str, ...]:
    """Return the limits of a ledger's users, how many are near them, and how often they were reached."""
    near = sum(group.users for group in facts.classes[2:])
    requests = sum(day.refused for day in facts.days)
    return (
        f"{plural(facts.users, 'user')} with a limit of {' and '.join(facts.limits)} each.",
        f"{plural(near, 'user')} {'has' if near == 1 else 'have'} spent 90 % of a limit or more.",
        f"{plural(facts.exhausted, 'user')} could not be charged now for another report like the last one.",
        f"{plural(requests, 'request')} {'was' if requests == 1 else 'were'} refused on the days shown. Refused "
        "requests are counted, but the record of the ledger does not prove their number.",
    )


def _degrees(lat: float, lon: float) -> str:
    """Return latitude and longitude to about a metre, in the form that map programs read."""
    return f"{lat:.5f}, {lon:.5f}"


def hiding_rows(results: Iterable[tuple[str, Hiding]]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings, and a row for each named result of an attack on the hidden value."""
    rows = (
        (
            name,
            percent_at_most(hiding.hit_rate),
            at_most(max(hiding.information_bits, _FEW_BITS), 3),
            amount_at_most(hiding.loss, "m"),
        )
        for name, hiding in results
    )
    return ("", "finds the value", "information (bits)", "off from the true point"), tuple(rows)


def examples_words(learning: int, judging: int, values: int) -> str:
    """Return the numbers of visits that train and judge a mechanism, and of the values that it hides."""
    return f"{plural(learning, 'visit')} to learn from, {judging:,} to judge; hiding {values} values."


def learned_words(judged: Hiding, blind_error: float) -> str:
    """Return the attacker's success and the loss on held-out visits."""
    return (
        "A mechanism was learned whose reports of places are to hide another value. On held-out visits, the best "
        f"attacker finds the value at most {percent_at_most(judged.hit_rate)} of the time after one report "
        f"({about_percent(1 - blind_error)} without a report). Reports are at most "
        f"{amount_at_most(judged.loss, 'm')} from the true point on average."
    )


def certified_words(optimum: SensitiveDesign, blind_error: float) -> tuple[str, str]:
    """Return the attacker's success without a report on the training visits, and what is proved on them."""
    reports = "reports the centres of these cells"
    if optimum.free_reports:
        reports = "is for these cells, with reports anywhere on the plane,"
    claim = (
        f"no mechanism of this loss that {reports} hides more than the optimum by "
        f"{gap_at_most(max(relative_gap(optimum.value, optimum.lower_bound), _ROUNDED_GAP))} of its value."
    )
    if optimum.information_bits <= _FEW_BITS:
        bits = at_most(_FEW_BITS)
        claim = f"a report of the certified optimum reveals at most {bits} bits of the value, next to nothing."
    without = f"Without a report the best attacker finds the value {about_percent(1 - blind_error)} of the time."
    return without, f"Proved: on the training visits, {claim}"


def offer_words(optimum: Hiding, learned: Hiding, *, is_hit: bool) -> str:
    """Return that the certified optimum hides more on held-out visits: rates of a hit or bits, and the losses."""
    if is_hit:
        low, high = (percent_at_most(hiding.hit_rate) for hiding in (optimum, learned))
        outcome = f"the best attacker finds the value at most {low} of the time, instead of {high}"
    else:
        low, high = (at_most(max(hiding.information_bits, _FEW_BITS), 3) for hiding in (optimum, learned))
        outcome = f"a report reveals at most {low} bits, instead of {high}"
    far, near = (amount_at_most(hiding.loss, "m") for hiding in (optimum, learned))
    return (
        f"The certified optimum hides more than the learned mechanism. On held-out visits {outcome}. "
        f"Its reports are off by at most {far} on average, instead of {near}."
    )


def excess_words(loss_m: float, max_loss_m: float) -> str:
    """Return that the average loss of a learned mechanism exceeds its limit."""
    return (
        "NOT within the limit: the average loss of the learned mechanism is at least "
        f"{amount_at_least(loss_m, 'm')}, but at most {amount_at_most(max_loss_m, 'm')} was allowed."
    )


def receipt_warnings(receipt: Receipt) -> tuple[str, ...]:
    """Return what a release does not guarantee, or does not know."""
    warnings = [] if receipt.bounds else ["NOTHING IS GUARANTEED: no bound on the privacy of a report is proved."]
    if any(bound.distances == "stated" for bound in receipt.bounds):
        warnings.append("NOT CONFIRMED: the bound is for distances that only the maker of the mechanism states.")
    if receipt.max_reports is None:
        warnings.append("NOT COUNTED: the reports of one person cannot be counted, so no total is known.")
    return tuple(warnings)


def released_words(receipt: Receipt) -> str:
    """Return the numbers of reports and rows of a release, and when it finished."""
    released = f"{plural(receipt.rows_released, 'private report')} were released from "
    return f"{released}{plural(receipt.rows_read, 'row')} on {receipt.finished}."


def people_words(receipt: Receipt) -> tuple[str, ...]:
    """Return the number of people of a release, and the most reports of one of them."""
    if receipt.people is None:
        return ("No column names the users, so the reports of one person cannot be counted.",)
    about = "" if receipt.exact else "at most "
    sentences = [f"The source has rows of {plural(receipt.people, 'person', 'people')}."]
    if receipt.rows_without_person:
        sentences.append(f"{plural(receipt.rows_without_person, 'row')} cannot be assigned to a person.")
    else:
        sentences.append(f"The largest number of reports of one person is {about}{receipt.max_reports or 0:,}.")
    if receipt.places_reported_once:
        places = plural(receipt.places_reported_once, "place")
        sentences.append(f"{places} of people were reported once, and the report was repeated.")
    return tuple(sentences)


def bound_words(bound: PersonBound) -> str:
    """Return a proved bound on one report, and its total for one person."""
    per = per_unit(bound.unit)
    pairs = f", {bound.pairs}" if bound.pairs else ""
    slack = f", with {amount_at_most(bound.added_m, 'm')} added to every distance" if bound.added_m else ""
    total = "The total of one person is not known."
    if bound.one_person is not None:
        limit = f"{bound.measure} {at_most(bound.one_person, 6)}{per}"
        total = f"All reports of one person in this release: {limit} at most."
    return f"One report: {bound.measure} {at_most(bound.one_report, 6)}{per} at most{pairs}{slack}. {total}"


def release_limits(receipt: Receipt) -> tuple[str, ...]:
    """Return the limits per person that a release was made with."""
    reports, epsilon = receipt.max_reports_per_person, receipt.max_epsilon_per_person
    limits = []
    if reports is not None:
        limits.append(f"The release was limited to {plural(reports, 'report')} of one person.")
    if epsilon is not None:
        limits.append(f"The release was limited to epsilon {epsilon} of one person.")
    if not limits:
        limits.append("No limit per person was set for this release.")
    if receipt.ledger:
        limits.append("A ledger was charged, which has limits of its own.")
    return tuple(limits)
