"""Comparisons of mechanisms for points: the options of ``sfumato compare`` for them, and their tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..errors import InputError
from .messages import option
from .places import amounts_of, max_loss_of

if TYPE_CHECKING:
    from ..comparison import PlaceComparison, PlaceRow
    from ..geo import Visits


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
        epsilon: One or several, as `amounts_of` reads them.
        max_loss: The loss of all, instead.
        region: What is served.
        spacing: Of lattices and cells.
        time_limit: Seconds for everything.
        bound_time: Seconds for each bound, at most.
    """
    from ..comparison import compare_places
    from ..core import CoordinatePrivacy
    from ..geo import Region
    from .screen import Screen

    area = None
    if region is not None:
        with option("--region"):
            area = Region.parse(region)
    rates = []
    if max_loss is None:
        with option("--epsilon"):
            rates = [
                CoordinatePrivacy(each, _UNIT).epsilon
                for each in amounts_of(epsilon, _UNIT, per=True, what="epsilon")
            ]
    limit = None if max_loss is None else max_loss_of(max_loss, "km")
    screen, began = Screen(stderr=True), time.monotonic()
    with screen.status("Comparing") as status:
        return compare_places(
            visits,
            epsilon=rates if limit is None else None,
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
    from ..comparison import ANY
    from ..rounding import about, amount_at_least, amount_at_most

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
    from ..comparison import ANY, NOT_REACHED, place_tables, place_words
    from .screen import Screen, print_table

    console = Screen()
    for table in place_tables(found, source):
        print_table(console, table.caption, table.headings, table.rows)
    for sentence in place_words(found):
        console.print(sentence)
    if found.timed_out:
        unproved = any(row.problem == NOT_REACHED and row.name == ANY for row in found.rows)
        console.print(f"--time-limit{' and --bound-time give' if unproved else ' gives'} more time.")
