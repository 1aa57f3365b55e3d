"""Comparisons of mechanisms for points: the options of ``sfumato compare`` for them, and their tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import InputError
from .messages import option
from .places import max_loss_of

if TYPE_CHECKING:
    from ..geo import Visits
    from ..studies import PlaceComparison, PlaceRow


def refuse_of_cells(given: Mapping[str, object]) -> None:
    """Refuse options that mean something for cells only.

    Args:
        given: Their values by their names; None where they were not given.

    Raises:
        InputError: If one of them was given.
    """
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"{name} {value} is for cells, but points are compared.", "add --cells 12x9, or leave it out."
            )


def compared(
    visits: Visits,
    epsilon: str,
    max_loss: str | None,
    region: str | None,
    spacing: str | None,
    time_limit: float,
    bound_time: float,
) -> PlaceComparison:
    """Return the comparison that the options ask for; a line shows how far it is.

    Args:
        visits: The visits.
        epsilon: One or several, separated by commas.
        max_loss: The loss of all, instead.
        region: What is served.
        spacing: Of lattices and cells.
        time_limit: Seconds for each program.
        bound_time: Seconds for each bound.
    """
    from ..core import CoordinatePrivacy
    from ..geo import Region
    from ..studies import compare_places
    from .screen import Screen

    area = None
    if region is not None:
        with option("--region"):
            area = Region.parse(region)
    several = [each.strip() for each in epsilon.split(",") if each.strip()]
    if max_loss is None:
        with option("--epsilon"):
            if not several:
                raise InputError(f"{epsilon!r} holds no epsilon.", "write '1/km', or several: '0.5/km, 1/km'.")
            for each in several:
                CoordinatePrivacy(each)
    limit = None if max_loss is None else max_loss_of(max_loss, "km")
    with Screen(stderr=True).status("Comparing") as status:
        return compare_places(
            visits,
            epsilon=several if limit is None else None,
            max_loss=limit,
            region=area,
            spacing=spacing,
            time_limit=time_limit,
            bound_time=bound_time,
            progress=lambda name: status.update(f"Comparing: {name}"),
        )


def print_comparison(found: PlaceComparison, source: str) -> None:
    """Print a table for each epsilon, or one for a loss, and what they mean."""
    from ..rounding import amount, amount_at_most, at_most, counted
    from ..studies import ANY
    from .screen import Screen, print_table

    console = Screen()
    headings = (
        "mechanism",
        f"epsilon/{found.unit} (any two points)",
        "loss",
        "above the bound",
        "attacker's error",
        "likelier, a metre apart",
    )
    for value in found.values:
        rows = [
            row
            for row in found.rows
            if not row.problem and row.name != ANY and (found.equal == "loss" or row.epsilon == value)
        ]
        common = (
            f"equal loss of the true point, {amount_at_most(value, found.unit)}"
            if found.equal == "loss"
            else f"epsilon {at_most(value, 5)}/{found.unit}"
        )
        table = [_cells(found, row) for row in rows]
        print_table(console, f"Mechanisms for points at {common} ({source})", headings, table)
    for bound in found.bounds:
        console.print(f"Proved: {bound.sentence[0].lower()}{bound.sentence[1:]}")
    drawn = "" if found.visits == found.given else f", drawn at random from {found.given:,}"
    console.print(
        "Losses and errors are distances from the true point, on average over the same "
        f"{counted(found.visits, 'visit')}{drawn}. "
        f"Without a report the attacker errs by about {amount(found.blind_error.value, found.unit)}."
    )
    console.print(_on_cells(found))
    for row in found.rows:
        if row.problem:
            console.print(f"{row.name} is skipped: {row.problem}")


def _on_cells(found: PlaceComparison) -> str:
    """Say what cells promise."""
    from ..rounding import at_least, at_most
    from ..studies import CELLS

    rows = [row for row in found.rows if row.name == CELLS and not row.problem and row.metre_factor is not None]
    if not rows:
        return ""
    worst = max(rows, key=lambda row: row.metre_factor.lower if row.metre_factor else 0.0)
    factor = worst.metre_factor.lower if worst.metre_factor else math.nan
    times = "infinitely" if math.isinf(factor) else f"{at_least(factor, 3)} times"
    return (
        f"Cells promise epsilon {at_most(worst.epsilon, 5)}/{found.unit} between their middles, and nothing "
        f"between any two points: across a border a report is {times} likelier "
        "from one of two points a metre apart than from the other."
    )


def _cells(found: PlaceComparison, row: PlaceRow) -> tuple[str, ...]:
    from ..rounding import amount_at_least, amount_at_most, at_most, percent_at_most

    above = found.excess(row)
    error, factor = row.attacker_error, row.metre_factor
    return (
        row.name,
        at_most(row.epsilon_upper, 5) if math.isfinite(row.epsilon_upper) else "none",
        amount_at_most(row.loss.upper, found.unit),
        percent_at_most(above) if math.isfinite(above) else "-",
        "-" if error is None else amount_at_least(error.lower, found.unit),
        "-" if factor is None or math.isinf(factor.upper) else at_most(factor.upper, 4),
    )
