"""Means over seeds with their intervals, as figures, claims and pages have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from sfumato.core import Bracket
from sfumato.rounding import about

from ..reproduction import Judgement, PaperClaim, interval

_Row = TypeVar("_Row")
_FAVOURABLE: Final = (
    "We compare the privacy-utility tradeoff of our method with that of the planar Laplace mechanism used in "
    "geo-indistinguishability, showing favorable results."
)


def over_runs(rows: Iterable[_Row], value: Callable[[_Row], float]) -> Bracket:
    """Return the mean of an error over runs, and Student's interval of 95 % for it within 0 and 1.

    Args:
        rows: The rows of one quantity, one for each run.
        value: The error.
    """
    found = interval([value(row) for row in rows])
    low, high = max(0.0, found.lower), min(1.0, found.upper)
    return Bracket(min(low, found.value), found.value, max(high, found.value))


def over_field(rows: Iterable[Any], name: str) -> Bracket:
    """Return the mean of a field over runs, as `over_runs` does."""
    return over_runs(rows, lambda row: float(getattr(row, name)))


def of(rows: Sequence[_Row], **wanted: object) -> list[_Row]:
    """Return the rows whose fields have given values.

    Args:
        rows: Rows of a table.
        **wanted: Values by the names of fields.
    """
    return [row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())]


def values(rows: Iterable[Any], name: str) -> list[Any]:
    """Return the different values of a field, in the order in which they occur."""
    return list(dict.fromkeys(getattr(row, name) for row in rows))


def said(found: Bracket) -> str:
    """Return a mean in three digits, with its interval where there is one."""
    if not math.isfinite(found.lower) or (found.lower == 0.0 and found.upper == 1.0):
        return about(found.value, 3)
    if about(found.lower, 3) == about(found.upper, 3):
        return about(found.value, 3)
    return f"{about(found.value, 3)} ({about(found.lower, 3)} to {about(found.upper, 3)})"


def span(shares: Sequence[float]) -> str:
    """Return the least and the largest of shares, in percent."""
    ends = [f"{100 * end:.1f}" for end in (min(shares), max(shares))]
    return f"{' to '.join(dict.fromkeys(ends))} %"


def favourable(where: str, says: str, holds: bool, evidence: str) -> PaperClaim:
    """Return the abstract's comparison with planar Laplace noise, which other data and networks cannot refute.

    Args:
        where: Its place in the paper.
        says: The claim.
        holds: Whether the run confirms it.
        evidence: The numbers.
    """
    verdict = Judgement.CONFIRMED if holds else Judgement.UNCONFIRMED
    return PaperClaim(where, says, _FAVOURABLE, False, verdict, evidence)
