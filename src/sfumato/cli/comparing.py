"""Comparisons of mechanisms for points: the options of ``sfumato compare`` for them, and their tables."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..errors import InputError
from .messages import option
from .places import max_loss_of

if TYPE_CHECKING:
    from ..geo import Visits
    from ..studies import PlaceComparison, PlaceRow


_UNIT: Final = "km"


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
    """Return the comparison that the options ask for; a line on the error stream says what each mechanism loses.

    Args:
        visits: The visits.
        epsilon: One or several, separated by commas.
        max_loss: The loss of all, instead.
        region: What is served.
        spacing: Of lattices and cells.
        time_limit: Seconds for everything.
        bound_time: Seconds for each bound, at most.
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
    screen, began = Screen(stderr=True), time.monotonic()
    with screen.status("Comparing") as status:
        return compare_places(
            visits,
            epsilon=several if limit is None else None,
            max_loss=limit,
            region=area,
            spacing=spacing,
            time_limit=time_limit,
            bound_time=bound_time,
            progress=lambda name: status.update(f"Comparing: {name}"),
            found=lambda row: screen.print(f"{time.monotonic() - began:.0f} s: {_news(row)}", soft_wrap=True),
        )


def _news(row: PlaceRow) -> str:
    """Return a line about a row that is there."""
    from ..rounding import about, amount_at_least, amount_at_most
    from ..studies import ANY

    if row.problem:
        return f"{row.name}: {row.problem}"
    lost = (
        f"at least {amount_at_least(row.loss.lower, _UNIT)}"
        if row.name == ANY
        else f"at most {amount_at_most(row.loss.upper, _UNIT)}"
    )
    return f"{row.name} at epsilon {about(row.epsilon, 5)}/{_UNIT} loses {lost}"


def print_comparison(found: PlaceComparison, source: str) -> None:
    """Print a table for each epsilon, or one for a loss, and what they mean."""
    from ..rounding import amount_at_most, at_most
    from ..studies import ANY, NOT_REACHED
    from .screen import Screen, print_table

    console = Screen()
    bounded = found.equal == "epsilon"
    headings = (
        "mechanism",
        f"epsilon/{found.unit} (any two points)",
        "loss",
        *(["above the bound"] if bounded else []),
        "attacker's error",
        "times likelier, a metre apart",
    )
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
        table = [_cells(found, row, bounded=bounded) for row in rows]
        print_table(console, f"Mechanisms for points at {common} ({source})", headings, table)
    for sentence in _meaning(found):
        console.print(sentence)


def _meaning(found: PlaceComparison) -> list[str]:
    """Return what the numbers of a comparison are, what is proved of all mechanisms, and what is missing."""
    from ..rounding import about, amount, amount_at_most, counted, exactly
    from ..studies import ANY, NOT_REACHED

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
    if not found.complete:
        unproved = any(row.problem == NOT_REACHED and row.name == ANY for row in found.rows)
        said.append(f"--time-limit{' and --bound-time give' if unproved else ' gives'} more time.")
    return said


def _slacks(found: PlaceComparison) -> list[str]:
    """Say by how much farther apart two points may seem than they are."""
    from ..rounding import amount_at_most

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
    from ..rounding import at_least, at_most
    from ..studies import CELLS

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
    from ..rounding import amount_at_least, amount_at_most, at_most, percent_at_most

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
