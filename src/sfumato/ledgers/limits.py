"""Limits of a budget: how much a user may spend in a day, in a week and in all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np

from ..core import units
from ..errors import InputError, python
from .amounts import amount, restored, shown, stored

DAY: Final = "day"
WEEK: Final = "week"
EVER: Final = "ever"
WINDOWS: Final = (DAY, WEEK, EVER)
_DAY_S: Final = 86_400
_TIMES: Final = ("s", "min", "h", DAY, WEEK, "month", "year")
_MONDAY: Final = 3  # the first of January 1970 was a Thursday
_LIMIT: Final = re.compile(r"^\s*(.*?)\s*(?:(?:per|a|each)\s+(day|week)|ever)?\s*$", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"^\s*[-+.\deE]+\s*(?:(?:/|per\s)\s*([A-Za-z]+))?\s*(.*?)\s*$", re.DOTALL)
_RENEWED: Final = re.compile(
    r"(?:/|per\b|a\b|an\b|each\b|every\b|daily\b|weekly\b|monthly\b|yearly\b)", re.IGNORECASE
)
_NO_UNITS: Final = ("fortnight", "weekend", "quarter", "decade", "night")
_UNIT: Final = re.compile(r"(?:/|per\s)\s*([A-Za-z]+)\s*$")


def days_since(time_s: int) -> int:
    """Return the number of the day of a time, in UTC."""
    return time_s // _DAY_S


def weeks_since(time_s: int) -> int:
    """Return the number of the week of a time; weeks begin on Mondays, in UTC."""
    return (days_since(time_s) + _MONDAY) // 7


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of what one user may spend.

    Attributes:
        amount: How much.
        window: In which time: ``day``, ``week`` or ``ever``.
    """

    amount: Decimal
    window: str

    def shown(self, unit: str) -> str:
        """Return the limit as text: ``5/km per day``."""
        return shown(self.amount, unit) + ("" if self.window == EVER else f" per {self.window}")


def read_limits(given: float | str | Iterable[float | str], unit: str | None) -> tuple[tuple[Limit, ...], str]:
    """Return limits that are written as ``5/km per day``, and their unit.

    Args:
        given: One limit, or several of different windows; without a window it is one for ever.
        unit: Their unit; None takes that of the text.

    Raises:
        InputError: If there is none, or two are for one window.
        UnitError: If a unit does not fit.
    """
    single = (str, bytes, bytearray, memoryview)
    texts: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, single) else [given]
    for text in texts:
        if not isinstance(text, str | float | int | Decimal | np.number):
            raise InputError(
                f"a limit is of type {type(text).__name__}, but a text or a number is needed.",
                "write it as '5/km per day'.",
            )
    parts = [_split(text) for text in texts]
    for text, _ in parts:
        _check_time(text)
    if unit is None:
        named = [found[1] for text, _ in parts if isinstance(text, str) and (found := _UNIT.search(text))]
        unit = named[0] if named else ""
        if units.canonical(unit.lower()) in _TIMES:
            raise InputError(
                f"the limit {texts[0]!r} is for each {unit} of a distance in time.",
                "for a limit that is renewed, write '5 per day', or '5/km per week'",
                python(f"pass unit={unit!r} if it is meant."),
            )
    unit = units.canonical(unit)
    limits = [Limit(amount(text, unit, "the limit", at_most=True), window) for text, window in parts]
    windows = [limit.window for limit in limits]
    if not limits or len(set(windows)) < len(windows):
        raise InputError(
            "no limit is given." if not limits else "two limits are for the same time.",
            "give one limit for ever, one per day or one per week, or several of these.",
        )
    return tuple(sorted(limits, key=lambda limit: WINDOWS.index(limit.window))), unit


def _split(given: float | str) -> tuple[float | str, str]:
    if not isinstance(given, str):
        return given, EVER
    found = _LIMIT.match(given)
    return (found[1], (found[2] or EVER).lower()) if found else (given, EVER)


def _check_time(text: float | str) -> None:
    """Refuse a limit, without its window, that names another time: ``20/km per fortnight``.

    Raises:
        InputError: If it does.
    """
    found = _AMOUNT.match(text) if isinstance(text, str) else None
    if found is None:
        return
    named, rest = (found[1] or "").lower(), found[2]
    if _RENEWED.match(rest) or named.removesuffix("s") in _NO_UNITS:
        raise InputError(
            f"the limit {text!r} is for a time that is not counted: days and weeks are, and ever.",
            "write '20/km per day' or '20/km per week', and without a time ('20/km') for a limit for ever.",
        )


def stored_limits(limits: tuple[Limit, ...]) -> str:
    """Return the text of limits in the database."""
    return json.dumps({limit.window: stored(limit.amount) for limit in limits})


def restored_limits(text: str) -> tuple[Limit, ...]:
    """Return the limits that `stored_limits` wrote.

    Raises:
        ValueError: If it is another text.
    """
    content = json.loads(text)
    if not isinstance(content, dict) or not content or not set(content) <= set(WINDOWS):
        raise ValueError(f"{text!r} are not limits")
    limits = tuple(Limit(restored(str(value)), window) for window, value in content.items())
    if stored_limits(limits) != text:
        raise ValueError(f"{text!r} are limits that were written otherwise")
    return limits
