"""Logarithms of fractions, rounded to a known side, that remember the fraction."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final, Self

from .floats import float_above, float_below

_PRECISION: Final = 60  # digits: logarithms of fractions near 1 keep enough of them


class Logarithm(float):
    """The float just above the logarithm of a fraction, which is kept: e to it is known exactly.

    Args:
        factor: The fraction, at least 1.

    Attributes:
        factor: The fraction.

    Example:
        >>> Logarithm(Fraction(3)), Logarithm(Fraction(3)).factor
        (1.0986122886681098, Fraction(3, 1))
    """

    __slots__ = ("factor",)

    factor: Fraction

    def __new__(cls, factor: Fraction) -> Self:
        """Return the float, rounded up."""
        found = super().__new__(cls, float_above(_logarithm(factor, ROUND_CEILING)))
        found.factor = factor
        return found

    def __reduce__(self) -> tuple[type[Logarithm], tuple[Fraction]]:
        return type(self), (self.factor,)


def log_below(factor: Fraction) -> float:
    """Return the float just below the logarithm of a fraction of at least 1; 0 for 1."""
    return float_below(_logarithm(factor, ROUND_FLOOR))


def _logarithm(factor: Fraction, rounding: str) -> Fraction:
    """Return the logarithm, rounded in its last digits to one side."""
    if factor == 1:
        return Fraction(0)
    ratio = quotient(factor, rounding, _PRECISION)
    context = Context(prec=_PRECISION)
    nearest = context.ln(ratio)  # correctly rounded: the truth lies between the neighbours
    above = rounding == ROUND_CEILING
    return Fraction(context.next_plus(nearest) if above else context.next_minus(nearest))


def quotient(value: Fraction, rounding: str, digits: int) -> Decimal:
    """Return a fraction as a decimal of so many digits, rounded to one side; exact where they are enough."""
    exact = Context(prec=max(digits, len(str(value.numerator)), len(str(value.denominator))))
    numerator, denominator = (exact.create_decimal(part) for part in (value.numerator, value.denominator))
    return Context(prec=digits, rounding=rounding).divide(numerator, denominator)
