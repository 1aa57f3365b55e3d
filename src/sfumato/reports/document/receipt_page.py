"""The page of a release's receipt, to be signed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...releases import FileMark, Receipt
from ...rounding import amount_at_most
from ..sentences import bound_words, people_words, receipt_warnings, release_limits, released_words
from .page import Page, PageSection, PageTable

_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000)  # reports, ends of classes


def receipt_page(receipt: Receipt) -> Page:
    """Return the page of a receipt."""
    warned = receipt_warnings(receipt)
    sections = (
        PageSection("Rows", tables=(_rows(receipt),)),
        PageSection("People", people_words(receipt), tables=_spread(receipt)),
        PageSection(
            "Privacy",
            tuple(map(bound_words, receipt.bounds)) or ("No bound is proved.",),
            items=release_limits(receipt),
        ),
        PageSection("Columns", tables=(_columns(receipt),)),
        PageSection("Files", tables=(_files(receipt),)),
        *([PageSection("Notes", items=receipt.notes)] if receipt.notes else []),
    )
    return Page(
        "Receipt of a release", (*warned, released_words(receipt)), sections, signed=True, warning=bool(warned)
    )


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
