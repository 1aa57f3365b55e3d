"""Numbers in sentences that promise something: never rounded down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context

from .relation import Relation

_CEILING = Context(prec=4, rounding=ROUND_CEILING)


def at_most(value: float) -> str:
    """Return a number of at least 0 in four significant digits, rounded up."""
    text = f"{value:.4g}"
    return text if float(text) >= value else f"{float(_CEILING.create_decimal_from_float(value)):.4g}"


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
