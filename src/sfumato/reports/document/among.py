"""A design among designs with other epsilons, from the table of a sweep."""

from __future__ import annotations

import math
import os
from typing import Final

from ...errors import DataError
from ...rounding import down, up
from ...tables import read_columns
from .facts import CostFacts, FrontierFacts, PromiseFacts
from .quantity import Known, Quantity

_ROWS: Final = 500  # of a sweep


def frontier_from(
    path: str | os.PathLike[str], promises: tuple[PromiseFacts, ...], cost: CostFacts
) -> tuple[FrontierFacts, ...]:
    """Return the designs of a sweep, and this one among them.

    Args:
        path: The table that ``sfumato sweep`` wrote.
        promises: What is proved of this design.
        cost: What it costs.

    Raises:
        DataError: If the file is not such a table, or states what no design has.
    """
    this = _in_km(_this(promises, cost))
    table = read_columns(path, ("epsilon", "loss")).slice(0, _ROWS)
    unit = "" if this is None else this.loss.unit
    rate = "" if this is None else this.epsilon.unit
    found = [] if this is None else [this]
    for epsilon, loss in zip(table["epsilon"].to_pylist(), table["loss"].to_pylist(), strict=True):
        at, lost = _number(epsilon), _number(loss)
        if at is not None and lost is not None:
            if at <= 0 or lost < 0:
                raise DataError(
                    f"{os.fspath(path)!r} states a loss of {lost:g} with epsilon {at:g}, which no design has.",
                    "give the table (.csv) that sfumato sweep wrote.",
                )
            asked, reached = Quantity.exact(at, rate, Known.STATED), Quantity.exact(lost, unit, Known.STATED)
            found.append(FrontierFacts(asked, reached, False, ""))
    if len(found) < 2:
        raise DataError(
            f"{os.fspath(path)!r} holds no designs: its columns epsilon and loss have no numbers.",
            "give the table (.csv) that sfumato sweep wrote.",
        )
    return tuple(sorted(found, key=lambda each: each.epsilon.value))


def _in_km(found: FrontierFacts | None) -> FrontierFacts | None:
    """Return a design with lengths in kilometres, as sweeps have them."""
    if found is None or found.loss.unit != "m":
        return found
    low, high = found.loss.lower, found.loss.upper
    loss = Quantity(
        None if low is None else down(low / 1000),
        found.loss.value / 1000,
        None if high is None else up(high / 1000),
        "km",
        found.loss.known,
    )
    return FrontierFacts(found.epsilon, loss, found.this, "")


def _number(cell: object) -> float | None:
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _this(promises: tuple[PromiseFacts, ...], cost: CostFacts) -> FrontierFacts | None:
    epsilon = next((each for each in promises if each.kind in ("points", "cells", "values") and each.holds), None)
    if epsilon is None or cost.expected is None:
        return None
    return FrontierFacts(epsilon.proved, cost.expected, True, "")
