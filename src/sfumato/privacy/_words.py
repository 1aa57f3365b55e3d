"""Numbers in sentences that promise something: never rounded down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from .relation import Relation


def at_most(value: float, digits: int = 4) -> str:
    """Return a number of at least 0 in so many significant digits, rounded up."""
    return (
        _directed(value, digits, ROUND_CEILING) if float(f"{value:.{digits}g}") < value else f"{value:.{digits}g}"
    )


def at_least(value: float, digits: int = 4) -> str:
    """Return a number of at least 0 in so many significant digits, rounded down."""
    return _directed(value, digits, ROUND_FLOOR) if float(f"{value:.{digits}g}") > value else f"{value:.{digits}g}"


def _directed(value: float, digits: int, rounding: str) -> str:
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal_from_float(value)):.{digits}g}"


def factor(epsilon: float) -> str:
    """Return e**epsilon in words, rounded up."""
    if epsilon == 0:
        return "1"
    if epsilon >= 20:
        return f"e^{at_most(epsilon)}"
    return at_most(math.nextafter(math.exp(epsilon) * (1 + 2.0**-50), math.inf))


def related(relation: Relation | None) -> str:
    """Return what the pairs of a relation are called."""
    return "any two secrets" if relation is None else relation.name
