"""Floats rounded to a known side, and logarithms of fractions.

IEEE 754 arithmetic is trusted: one operation errs by at most `UNIT` relatively, a product or
quotient too small for that by at most half of `SMALLEST`, and a sum of k terms in any order by
at most about k `UNIT` times the sum of the absolute terms (Higham, Accuracy and Stability of
Numerical Algorithms, chapter 4).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

UNIT: Final = 2.0**-53
"""The largest relative error of one operation on doubles."""

SMALLEST: Final = 2.0**-1074
"""The smallest positive double: twice what one product loses at most where it underflows."""

_PRECISION: Final = 60  # digits: logarithms of fractions near 1 keep enough of them


def down(value: float) -> float:
    """Return the float just below."""
    return math.nextafter(value, -math.inf)


def up(value: float) -> float:
    """Return the float just above."""
    return math.nextafter(value, math.inf)


def above(value: float, error: float) -> float:
    """Return a float that is at least what was computed with an error; ``inf`` where that overflowed."""
    found = up(value + error)
    return found if found < math.inf else math.inf


def below(value: float, error: float) -> float:
    """Return a float that is at most what was computed with an error; ``-inf`` where that overflowed."""
    found = value - error
    return down(found) if abs(found) < math.inf else -math.inf


def float_above(value: Fraction) -> float:
    """Return the least float that is at least the fraction, so that an epsilon is never understated."""
    nearest = _nearest(value)
    return nearest if nearest == math.inf or Fraction(nearest) >= value else up(nearest)


def float_below(value: Fraction) -> float:
    """Return the largest float that is at most the fraction."""
    return 0.0 - float_above(-value)


def _nearest(value: Fraction) -> float:
    """Return the nearest float; what is too large is given as ``inf``, or the least finite float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max


def sum_above(terms: Sequence[float]) -> float:
    """Return the least float that is at least the exact sum of the terms; ``inf`` where it overflows or one is."""
    try:
        nearest = math.fsum(terms)
    except OverflowError:
        return math.inf
    if not math.isfinite(nearest):
        return nearest
    return nearest if math.fsum((*terms, -nearest)) <= 0 else up(nearest)


def sum_error(terms: int, magnitude: float) -> float:
    """Return a bound on the error of a sum of products of two factors, or of more that do not underflow.

    Args:
        terms: How many products of a few factors were added, in any order.
        magnitude: The computed sum of their absolute values.
    """
    return float(np.nextafter(2 * (terms + 8) * UNIT * magnitude, np.inf)) + underflow(terms)


def underflow(products: int, factor: float = 0.0) -> float:
    """Return the most that products lose together where they are too small for a float.

    Args:
        products: How many products there are.
        factor: The largest absolute value that such a product was multiplied with afterwards:
            what was lost is multiplied too.
    """
    return products * (1 + factor) * SMALLEST


def power(values: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """Return powers by repeated squaring: at most 2 log2(count) products, each rounded once.

    Args:
        values: Array of any shape.
        count: At least 0.
    """
    answer, square = np.ones_like(values), values
    while count:
        if count & 1:
            answer = answer * square
        count >>= 1
        if count:
            square = square * square
    return answer


class Logarithm(float):
    """The float just above the logarithm of a fraction, which is kept: e to it is known exactly.

    Args:
        factor: The fraction, at least 1.

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
