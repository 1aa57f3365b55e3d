"""Budgets as exact decimals, so that ten times 0.1 is 1."""

from __future__ import annotations

import math
from fractions import Fraction

from ...core import units
from ...errors import InputError


def amount(given: float | str, unit: str, what: str) -> Fraction:
    """Return an epsilon as the decimal that it is written as.

    A float stands for the shortest decimal that it prints as: 0.1 is 1/10, not the binary
    fraction next to it. Sums of amounts are exact.

    Args:
        given: A positive number, or text such as ``"0.1/km"``.
        unit: The unit of the metric; empty for a pure number.
        what: What it is, for the error message.

    Raises:
        InputError: If it is not positive.
        UnitError: If the unit does not fit.
    """
    value = units.parse(given, per=True, unit=unit, what=what)
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{what} must be a positive number, but {given!r} was given.", "use a number above 0.")
    return Fraction(repr(value))


def written(value: Fraction, unit: str) -> str:
    """Return an amount as text for people: ``0.3/km``."""
    return f"{float(value):.12g}{'/' + unit if unit else ''}"
