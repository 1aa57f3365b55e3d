"""Amounts as people write them: two years, not two year."""

from __future__ import annotations

from typing import Final

from ....core.units import canonical
from ....escaping import plain
from ....rounding import amount, amount_at_least, amount_at_most, percent_at_least, percent_at_most
from ..quantity import Quantity

_WORDS: Final = ("day", "week", "month", "year")  # units that are words; the others are signs
ALL: Final = "100 %"
"""A limit of a share that limits nothing."""


def about_amount(value: float, unit: str) -> str:
    """Write a quantity, rounded to nearest."""
    return _several(amount(value, _unit(unit)))


def most_amount(value: float, unit: str, digits: int = 3) -> str:
    """Write an upper bound of a quantity, never below it."""
    return _several(amount_at_most(value, _unit(unit), digits))


def least_amount(value: float, unit: str, digits: int = 3) -> str:
    """Write a lower bound of a quantity, never above it."""
    return _several(amount_at_least(value, _unit(unit), digits))


def most_share(share: float) -> str:
    """Write an upper bound of a share in percent, never below it."""
    return percent_at_most(share)


def least_share(share: float) -> str:
    """Write a lower bound of a share in percent, never above it."""
    return percent_at_least(share)


def often(found: Quantity) -> str:
    """Write at most how often something happens: ``at most 12 % of the time``, or ``every time``."""
    if found.lower == 1:
        return "every time"
    limit = most_share(found.value if found.upper is None else found.upper)
    return "perhaps every time (no useful limit is proved)" if limit == ALL else f"at most {limit} of the time"


def _unit(unit: str) -> str:
    return canonical(plain(unit))


def _several(text: str) -> str:
    number, _, unit = text.rpartition(" ")
    return f"{text}s" if unit in _WORDS and number != "1" else text
