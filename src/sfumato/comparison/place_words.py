"""Comparisons of mechanisms for places in words: tables, and what their numbers mean."""

from __future__ import annotations

import math

from ..reports.document import PageTable
from ..rounding import (
    about,
    amount,
    amount_at_least,
    amount_at_most,
    at_least,
    at_most,
    counted,
    exactly,
    percent_at_most,
)
from .place_contestants import CELLS
from .place_rows import ANY, PlaceComparison, PlaceRow
from .shared_time import NOT_REACHED


def place_tables(found: PlaceComparison, source: str) -> tuple[PageTable, ...]:
    """Return a table for each epsilon, or one for a loss.

    Args:
        found: The comparison.
        source: The visits in words.
    """
    bounded = found.equal == "epsilon"
    headings = (
        "mechanism",
        f"epsilon/{found.unit} (any two points)",
        "loss",
        *(["above the bound"] if bounded else []),
        "attacker's error",
        "times likelier, a metre apart",
    )
    tables = []
    for value in found.values:
        rows = [
            row
            for row in found.rows
            if row.problem in ("", NOT_REACHED) and row.name != ANY and (not bounded or row.epsilon == value)
        ]
        common = (
            f"epsilon {at_most(value, 5)}/{found.unit}"
            if bounded
            else f"equal loss of the true point, {amount_at_most(value, found.unit)}"
        )
        cells = tuple(_cells(found, row, bounded=bounded) for row in rows)
        tables.append(PageTable(f"Mechanisms for points at {common} ({source})", headings, cells))
    return tuple(tables)


def place_words(found: PlaceComparison) -> tuple[str, ...]:
    """Return what the numbers of a comparison are, what is proved of all mechanisms, and what is missing."""
    said = []
    for bound in found.bounds:
        said.append(f"Proved: {bound.sentence[0].lower()}{bound.sentence[1:]}")
        if found.equal == "loss":
            said.append(
                f"So a loss of {amount_at_most(found.values[0], found.unit)} needs an epsilon above "
                f"{exactly(bound.epsilon)}/{found.unit}, whatever the mechanism is."
            )
    drawn = "" if found.visits == found.given else f", drawn at random from {found.given:,}"
    said.append(
        "Losses and errors are distances from the true point, on average over the same "
        f"{counted(found.visits, 'visit')}{drawn}. A loss is at most, an attacker's error at least what is shown. "
        f"Without a report the attacker errs by about {amount(found.blind_error.value, found.unit)}."
    )
    said += [*_slacks(found), *_on_cells(found)]
    for row in found.rows:
        if row.stopped:
            said.append(f"{row.name} at epsilon {about(row.epsilon, 5)}/{found.unit} was {row.stopped}.")
        elif row.problem == NOT_REACHED and row.name == ANY:
            said.append(f"The bound of any mechanism was {NOT_REACHED}.")
        elif row.problem and row.problem != NOT_REACHED:  # those not reached are in the table
            end = "" if row.problem.endswith(".") else "."
            said.append(f"{row.name} is skipped: {row.problem}{end}")
    return tuple(said)


def _slacks(found: PlaceComparison) -> list[str]:
    """Say by how much farther apart two points may seem than they are."""
    slacks = {
        who: max((row.slack_m for row in found.rows if not row.problem and row.name.startswith(name)), default=0.0)
        for name, who in (("planar", "planar Laplace"), ("program", "programs"))
    }
    parts = [f"{amount_at_most(slack, 'm')} for {who}" for who, slack in slacks.items() if slack]
    if not parts:
        return []
    return [
        "Positions are snapped before anything is drawn, so that two points may seem farther apart than they "
        f"are: by at most {' and '.join(parts)}. Promises and the last column count this slack in."
    ]


def _on_cells(found: PlaceComparison) -> list[str]:
    """Say what cells promise."""
    said = []
    for row in found.rows:
        if row.name != CELLS or row.problem or row.metre_factor is None or math.isfinite(row.epsilon_upper):
            continue
        factor = row.metre_factor.lower
        times = "infinitely" if math.isinf(factor) else f"{at_least(factor, 3)} times"
        said.append(
            f"Cells made for epsilon {at_most(row.epsilon, 5)}/{found.unit} keep it between their middles. "
            f"Between any two points they keep none: at the worst border a report is {times} likelier from one "
            "of two points a metre apart than from the other."
        )
    return said


def _cells(found: PlaceComparison, row: PlaceRow, *, bounded: bool) -> tuple[str, ...]:

    if row.problem:
        return f"{row.name} ({row.problem})", *["-"] * (5 if bounded else 4)
    above = found.excess(row)
    error, factor = row.attacker_error, row.metre_factor
    return (
        row.name,
        at_most(row.epsilon_upper, 5) if math.isfinite(row.epsilon_upper) else "none",
        amount_at_most(row.loss.upper, found.unit),
        *([percent_at_most(above) if math.isfinite(above) else "-"] if bounded else []),
        "-" if error is None else amount_at_least(error.lower, found.unit),
        "-" if factor is None or math.isinf(factor.upper) else at_most(factor.upper, 4),
    )
