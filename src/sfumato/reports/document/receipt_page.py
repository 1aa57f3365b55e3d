"""The page of a release's receipt, to be signed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...releases import FileMark, PersonBound, Receipt
from ...rounding import amount_at_most, at_most, counted
from .page import Page, PageSection, PageTable

_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000)  # reports, ends of classes


def receipt_page(receipt: Receipt) -> Page:
    """Return the page of a receipt."""
    stated = any(bound.distances == "stated" for bound in receipt.bounds)
    warned = [] if receipt.bounds else ["NOTHING IS GUARANTEED: no bound on the privacy of a report is proved."]
    if stated:
        warned += ["NOT CONFIRMED: the bound is for distances that only the maker of the mechanism states."]
    if receipt.most is None:
        warned += ["NOT COUNTED: the reports of one person cannot be counted, so no total is known."]
    released = f"{counted(receipt.rows_released, 'private report')} were released from "
    lead = (f"{released}{counted(receipt.rows_read, 'row')} on {receipt.finished}.",)
    sections = (
        PageSection("Rows", tables=(_rows(receipt),)),
        PageSection("People", _people(receipt), tables=_spread(receipt)),
        PageSection(
            "Privacy", tuple(map(_bound, receipt.bounds)) or ("No bound is proved.",), items=_limits(receipt)
        ),
        PageSection("Columns", tables=(_columns(receipt),)),
        PageSection("Files", tables=(_files(receipt),)),
        *([PageSection("Notes", items=receipt.notes)] if receipt.notes else []),
    )
    return Page("Receipt of a release", (*warned, *lead), sections, signed=True, warning=bool(warned))


def _rows(receipt: Receipt) -> PageTable:
    far = f", by {amount_at_most(receipt.moved_at_most_m, 'm')} at most" if receipt.moved_at_most_m else ""
    rows = (
        ("Read", f"{receipt.rows_read:,}"),
        ("Released", f"{receipt.rows_released:,}"),
        ("Dropped", f"{receipt.rows_dropped:,}"),
        ("Of these without a position", f"{receipt.rows_without_position:,}"),
        ("Moved into the region first", f"{receipt.rows_moved:,}{far}"),
        ("Drawn before an interruption", f"{receipt.rows_resumed:,}"),
        ("Earlier releases of the source to this folder", f"{receipt.earlier_releases:,}"),
    )
    return PageTable("Rows of the source and of the released table.", (), rows)


def _people(receipt: Receipt) -> tuple[str, ...]:
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


def _spread(receipt: Receipt) -> tuple[PageTable, ...]:
    """Return the number of people by their number of reports, in classes."""
    if not receipt.reports_per_person:
        return ()
    ends = [*_STEPS, max(reports for reports, _ in receipt.reports_per_person) + 1]
    rows, start = [], 1
    for end in ends:
        people = sum(number for reports, number in receipt.reports_per_person if start <= reports <= end)
        if people:
            rows.append((f"{end:,}" if start == end else f"{start:,} to {end:,}", f"{people:,}"))
        start = max(start, end + 1)
    return (PageTable("Reports of one person.", ("reports", "people"), tuple(rows)),)


def _bound(bound: PersonBound) -> str:
    per = f"/{bound.unit}" if bound.unit else ""
    pairs = f", {bound.pairs}" if bound.pairs else ""
    added = f", with {amount_at_most(bound.added_m, 'm')} added to every distance" if bound.added_m else ""
    total = "The total of one person is not known."
    if bound.one_person is not None:
        shown = f"{bound.measure} {at_most(bound.one_person, 6)}{per}"
        total = f"All reports of one person in this release: {shown} at most."
    return f"One report: {bound.measure} {at_most(bound.one_report, 6)}{per} at most{pairs}{added}. {total}"


def _limits(receipt: Receipt) -> tuple[str, ...]:
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


def _columns(receipt: Receipt) -> PageTable:
    rows = (
        ("In the released table", _listed(receipt.columns)),
        ("Carried over unchanged, not covered by the bounds", _listed(receipt.columns_carried_over)),
        ("Left out", _listed(receipt.columns_left_out)),
    )
    return PageTable("Columns of the source and of the released table.", (), rows)


def _files(receipt: Receipt) -> PageTable:
    files: list[tuple[str, FileMark | None]] = [("Source", receipt.source), ("Released table", receipt.target)]
    files += [("Mechanism file", each) for each in receipt.mechanism_files]
    rows = []
    for title, mark in files:
        if mark is None:
            rows.append((title, "a table in memory"))
        else:
            many = "" if mark.files == 1 else f"{mark.files:,} files, "
            rows.append((title, f"{mark.name}: {many}{mark.bytes:,} bytes, SHA-256 {mark.sha256}"))
    rows += [("Mark of the mechanism", each) for each in receipt.mechanisms[:20]]
    rows.append(("Version", f"sfumato {receipt.version}"))
    return PageTable(
        "Fingerprints. A small source can be guessed from its fingerprint: do not publish it.", (), tuple(rows)
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
