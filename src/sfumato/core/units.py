"""Quantities with units: ``"500 m"``, ``"0.6/km"``; unknown units such as ``"hops"`` convert to themselves."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ..errors import InputError, UnitError, argument, python
from ..escaping import plain
from ..rounding import amount

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_DIMENSIONS: Final = (
    ("length", {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "ft": 0.3048, "yd": 0.9144}),
    ("length", {"mi": 1609.344, "nmi": 1852.0}),
    ("time", {"s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0, "week": 604800.0}),
    ("calendar", {"month": 1.0, "year": 12.0}),
)
_TABLE: Final = {unit: (kind, size) for kind, sizes in _DIMENSIONS for unit, size in sizes.items()}
_NAMES: Final = {
    "m": "metre metres meter meters",
    "km": "kilometre kilometres kilometer kilometers",
    "mi": "mile miles",
    "ft": "foot feet",
    "s": "sec second seconds",
    "min": "minute minutes",
    "h": "hour hours",
    "day": "days",
    "week": "weeks",
    "month": "months",
    "year": "years",
}
_ALIASES: Final = {name: unit for unit, names in _NAMES.items() for name in names.split()}

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY: Final = rf"^\s*({_NUMBER})\s*(/|per\s)?\s*([A-Za-z]*)\s*$"


def canonical(unit: str) -> str:
    """Return the short name of a unit: ``"metres"`` becomes ``"m"``."""
    name = plain(unit).strip()
    return _ALIASES.get(name.lower(), name)


def factor(source: str, target: str) -> float:
    """Return how many ``target`` one ``source`` is; `UnitError` if they measure different things."""
    a, b = canonical(source), canonical(target)
    if a == b:
        return 1.0
    if a in _TABLE and b in _TABLE and _TABLE[a][0] == _TABLE[b][0]:
        return _TABLE[a][1] / _TABLE[b][1]
    raise UnitError(f"the unit {source or 'none'!r} does not fit {target or 'none'!r}.", f"use {_fitting(b)}.")


def parse(text: str | float, *, per: bool = False, unit: str, subject: str) -> float:
    """Read a quantity and return its value in ``unit`` (or per ``unit``).

    A text names its unit, as in ``"800 m"``, or with ``per`` in ``"0.6/km"`` and ``"0.6 per km"``; a Python number
    is in ``unit`` already. Anything but a finite quantity of a fitting unit is a `UnitError`.
    """
    amount = "500" if unit == "m" else "0.6"
    example = f"0.6/{unit}" if per and unit else f"{amount} {unit}" if unit else "0.6"
    if not isinstance(text, str):
        try:
            number, value, rate, source = "", float(text), per, ""
        except (TypeError, ValueError):
            raise UnitError(f"{subject} {text!r} is not a number.", f"write it as {example!r}.") from None
    else:
        match = re.match(_QUANTITY, text)
        if match is None:
            raise UnitError(f"{subject} {text!r} is not a number with a unit.", f"write it as {example!r}.")
        number, rate, source = match[1], match[2] is not None, match[3]
        value = float(number)
    if not math.isfinite(value):
        raise UnitError(f"{subject} must be a finite number, but {text!r} was given.", f"write it as {example!r}.")
    if source and rate != per:
        kind = "an amount per unit" if per else "an amount, not a rate"
        raise UnitError(f"{subject} must be {kind}, but {text!r} was given.", f"write it as {example!r}.")
    if not source:
        if rate and isinstance(text, str) and not per:
            raise UnitError(f"{subject} {text!r} ends in '/' without a unit.", f"write it as {example!r}.")
        if unit and isinstance(text, str):
            complete = _with_unit(text, unit, per=per) if value > 0 else repr(example)  # the rest is rarely wanted
            raise UnitError(f"{subject} {text!r} has no unit.", f"write {complete}.")
        return value
    try:
        scale = factor(source, unit)
    except UnitError as error:
        if not unit:  # of what has no unit
            raise UnitError(
                f"{subject} {text!r}: {error.problem}",
                f"write it as {value:g}",
                python(f"give the array the unit: sf.Metric(array, {source!r})."),
            ) from None
        hint = f", or in {_fitting(unit)}"
        raise UnitError(f"{subject} {text!r}: {error.problem}", f"write it as {example!r}{hint}.") from None
    converted = value / scale if per else value * scale
    if value and converted and math.isfinite(converted) and scale != 1:
        converted = float(_convert(number, source, unit, per=per))  # the decimal of the text, rounded once
    if not math.isfinite(converted):
        raise UnitError(f"{subject} {text!r} is too large for a number in {unit}.", f"write it as {example!r}.")
    return converted


def parse_exactly(text: str | float, *, per: bool = False, unit: str, subject: str) -> Fraction:
    """Read a quantity as `parse` does, but exactly: a float is the decimal that it prints as, 0 if too small."""
    value = parse(text, per=per, unit=unit, subject=subject)
    match = re.match(_QUANTITY, text) if isinstance(text, str) else None
    if match is None or not value:
        return Fraction(repr(value))
    return _convert(match[1], match[3], unit, per=per)


def _convert(number: str, source: str, target: str, *, per: bool) -> Fraction:
    """Return a decimal number in ``source`` as one in ``target``, exactly."""
    source, target = canonical(source), canonical(target)
    scale = Fraction(1)
    if source and source != target:
        scale = Fraction(repr(_TABLE[source][1])) / Fraction(repr(_TABLE[target][1]))
    return Fraction(number) / scale if per else Fraction(number) * scale


def time_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name; that of the device is refused, because it depends on where the device is."""
    from zoneinfo import ZoneInfo

    try:
        if name.lower() != "localtime":
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a name, or a folder
        pass
    raise InputError(
        f"{argument('zone', name)} is no time zone.",
        "use a name such as Europe/Paris, or UTC",
        python("where the system has no time zones, install tzdata."),
    )


def is_length(unit: str) -> bool:
    """Return whether a unit is one of length."""
    return _TABLE.get(canonical(unit), ("", 0.0))[0] == "length"


def per_unit(unit: str) -> str:
    """Write the unit of a rate: ``/km``, or nothing for a pure number."""
    return f"/{canonical(unit)}" if unit else ""


def length_m(text: str | float, subject: str) -> float:
    """Read a length and return it in metres; a Python number is in metres."""
    return parse(text, unit="m", subject=subject)


def show(value: float, unit: str) -> str:
    """Write a quantity for people: three significant digits, metres below one kilometre."""
    return amount(value, canonical(unit))


def _with_unit(text: str, unit: str, *, per: bool) -> str:
    """Return how to complete a number without a unit: ``'500 m' or '500 km'``, ``'0.6/km'``."""
    known = ("m", "km") if _TABLE.get(unit, ("", 0.0))[0] == "length" and not per else (unit,)
    number = text.strip().rstrip("/")
    return " or ".join(repr(f"{number}/{name}" if per else f"{number} {name}") for name in known)


def _fitting(unit: str) -> str:
    name = canonical(unit)
    if name not in _TABLE:
        return f"the unit {unit!r}" if unit else "a number without a unit"
    dimension = _TABLE[name][0]
    return " or ".join(key for key, entry in _TABLE.items() if entry[0] == dimension)
