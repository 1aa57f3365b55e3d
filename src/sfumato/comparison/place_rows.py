"""Mechanisms for places side by side: what each promises two people anywhere, and what it costs the true point."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from typing import Final

from ..core import Bracket
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..optimal import CoordinateBound
from ..tables import write_rows
from .shared_time import NOT_REACHED

ANY: Final = "any mechanism"
"""The row of the bound."""

Cell = str | float | None


@dataclass(frozen=True, slots=True, repr=False)
class PlaceRow(CompactRepr):
    """One mechanism for places, and what it achieves for the true points.

    Attributes:
        name: The mechanism; ``any mechanism`` is the bound.
        epsilon: Per unit of length: what it was made for. Of cells it is between their middles.
        epsilon_upper: Per unit of length: proved of any two points; ``inf`` for cells.
        slack_m: By how much farther apart than they are two points may seem to it, in metres.
        loss: The mean distance from the true point to the report.
        attacker_error: The mean distance from the true point to the best guess, which may be anywhere; None for
            the bound, and where the attack was not reached in the time.
        metre_factor: How many times likelier a report is from one of two points a metre apart than from the
            other, at most; measured at the worst border for cells, None for the bound.
        detail: How it was made.
        problem: Why there is no such mechanism; the numbers are then infinite, and empty in a saved table.
        stopped: Why a program is not the best on its lattice or cells, and how far from it; "" where it is.
    """

    name: str
    epsilon: float
    epsilon_upper: float
    slack_m: float
    loss: Bracket
    attacker_error: Bracket | None
    metre_factor: Bracket | None
    detail: str
    problem: str = ""
    stopped: str = ""

    @classmethod
    def missing(cls, name: str, epsilon: float, problem: str) -> PlaceRow:
        """Return the row of a mechanism that could not be made."""
        nothing = Bracket.exact(math.inf)
        return cls(name, epsilon, math.inf, math.inf, nothing, nothing, nothing, "", problem)

    def cells(self) -> dict[str, Cell]:
        """Return the columns of a table, each bracket as three; without a mechanism there are no numbers."""
        found: dict[str, Cell] = {}
        for field in fields(PlaceRow):
            value = getattr(self, field.name)
            if self.problem and field.name in ("epsilon_upper", "slack_m"):
                value = None
            if field.type == "Bracket" or field.type == "Bracket | None":
                ends = (
                    (None, None, None)
                    if value is None or self.problem
                    else (value.lower, value.value, value.upper)
                )
                found |= dict(zip((f"{field.name}_lower", field.name, f"{field.name}_upper"), ends, strict=True))
            else:
                found[field.name] = value
        return found


@dataclass(frozen=True, slots=True, repr=False)
class PlaceComparison(CompactRepr):
    """Several mechanisms for places, on the same visits.

    Attributes:
        rows: One for each mechanism and epsilon; those that do not exist say why.
        equal: ``epsilon`` or ``loss``: what the mechanisms have in common.
        values: Its values; several of epsilon, or one loss.
        unit: The unit of losses and errors; epsilon counts per it.
        visits: How many visits all were made for and measured on.
        given: How many visits they were drawn from.
        blind_error: The error of an attacker who sees no report.
        bounds: Lower bounds for every mechanism with such a promise, one for each epsilon; on the same visits.
    """

    rows: tuple[PlaceRow, ...]
    equal: str
    values: tuple[float, ...]
    unit: str
    visits: int
    given: int
    blind_error: Bracket
    bounds: tuple[CoordinateBound, ...]

    def row(self, name: str, epsilon: float | None = None) -> PlaceRow:
        """Return the row of a mechanism.

        Args:
            name: The mechanism.
            epsilon: Where it was made for several, which.

        Raises:
            InputError: If it is not in the comparison.
        """
        for row in self.rows:
            if row.name == name and epsilon in (None, row.epsilon):
                return row
        names = dict.fromkeys(row.name for row in self.rows)
        raise InputError(f"{name!r} is not in the comparison.", f"there are {', '.join(names)}.")

    def excess(self, row: PlaceRow) -> float:
        """Return by what share, at most, a mechanism's loss exceeds the least possible with its promise.

        Returns:
            0.06 for a loss of at most 1.06 times the least; ``inf`` where nothing is known, as for cells, which
            keep no such promise.

        Raises:
            InputError: If the loss is less than any mechanism with the promise can have.
        """
        bound = next((each for each in self.bounds if each.epsilon == row.epsilon), None)
        if row.name == ANY:
            return 0.0
        if bound is None or not math.isfinite(row.epsilon_upper):
            return math.inf
        if row.slack_m and row.loss.upper < bound.lower:
            return 0.0  # with a slack less is promised than the bound is for
        return bound.excess(row.loss.upper)

    @property
    def complete(self) -> bool:
        """Whether every mechanism was made, in the time."""
        return not any(row.stopped or row.problem for row in self.rows)

    @property
    def timed_out(self) -> bool:
        """Whether there was not time for all."""
        return any(row.stopped or row.problem == NOT_REACHED for row in self.rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all.

        Raises:
            FileError: If the file cannot be written.
        """
        table = [row.cells() for row in self.rows]
        write_rows(list(table[0]), (row.values() for row in table), path)
