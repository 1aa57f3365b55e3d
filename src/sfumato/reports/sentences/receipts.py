"""Sentences on the receipt of a release: its rows, its people, its bounds and its limits."""

from __future__ import annotations

from ...core.units import per_unit
from ...releases import PersonBound, Receipt
from ...rounding import amount_at_most, at_most, counted


def receipt_warnings(receipt: Receipt) -> tuple[str, ...]:
    """Return what a release does not guarantee, or does not know."""
    warnings = [] if receipt.bounds else ["NOTHING IS GUARANTEED: no bound on the privacy of a report is proved."]
    if any(bound.distances == "stated" for bound in receipt.bounds):
        warnings.append("NOT CONFIRMED: the bound is for distances that only the maker of the mechanism states.")
    if receipt.most is None:
        warnings.append("NOT COUNTED: the reports of one person cannot be counted, so no total is known.")
    return tuple(warnings)


def released_words(receipt: Receipt) -> str:
    """Return the numbers of reports and rows of a release, and when it finished."""
    released = f"{counted(receipt.rows_released, 'private report')} were released from "
    return f"{released}{counted(receipt.rows_read, 'row')} on {receipt.finished}."


def people_words(receipt: Receipt) -> tuple[str, ...]:
    """Return the number of people of a release, and the most reports of one of them."""
    if receipt.people is None:
        return ("No column names the users, so the reports of one person cannot be counted.",)
    about = "" if receipt.exact else "at most "
    sentences = [f"The source has rows of {counted(receipt.people, 'person', 'people')}."]
    if receipt.rows_without_person:
        sentences.append(f"{counted(receipt.rows_without_person, 'row')} cannot be assigned to a person.")
    else:
        sentences.append(f"The largest number of reports of one person is {about}{receipt.most or 0:,}.")
    if receipt.places_reported_once:
        places = counted(receipt.places_reported_once, "place")
        sentences.append(f"{places} of people were reported once, and the report was repeated.")
    return tuple(sentences)


def bound_words(bound: PersonBound) -> str:
    """Return a proved bound on one report, and its total for one person."""
    per = per_unit(bound.unit)
    pairs = f", {bound.pairs}" if bound.pairs else ""
    added = f", with {amount_at_most(bound.added_m, 'm')} added to every distance" if bound.added_m else ""
    total = "The total of one person is not known."
    if bound.one_person is not None:
        shown = f"{bound.measure} {at_most(bound.one_person, 6)}{per}"
        total = f"All reports of one person in this release: {shown} at most."
    return f"One report: {bound.measure} {at_most(bound.one_report, 6)}{per} at most{pairs}{added}. {total}"


def release_limits(receipt: Receipt) -> tuple[str, ...]:
    """Return the limits per person that a release was made with."""
    reports, epsilon = receipt.max_reports_per_person, receipt.max_epsilon_per_person
    limits = []
    if reports is not None:
        limits.append(f"The release was limited to {counted(reports, 'report')} of one person.")
    if epsilon is not None:
        limits.append(f"The release was limited to epsilon {epsilon} of one person.")
    if not limits:
        limits.append("No limit per person was set for this release.")
    if receipt.ledger:
        limits.append("A ledger was charged, which has limits of its own.")
    return tuple(limits)
