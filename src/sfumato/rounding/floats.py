"""Floats rounded to a known side, logarithms of fractions, and bounds on rounding errors.

IEEE 754 arithmetic is trusted. One operation has a relative error of at most `UNIT`; a product or quotient that
underflows is off by at most half of `SMALLEST`; a sum of k terms in any order is off by at most about k `UNIT`
times the sum of the absolute terms (Higham, Accuracy and Stability of Numerical Algorithms, chapter 4).

Bounds for the notions: the entries of a mechanism are integers over a power of two, read as floats,
so each is right to a relative 2**-53. Sums of non-negative numbers keep relative errors. exp, log and
similar functions are assumed right to four units in the last place (docs/proofs/rounding-of-notions.md).
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

Floats = NDArray[np.float64]

UNIT: Final = 2.0**-53
"""The largest relative error of one operation on doubles."""

SMALLEST: Final = 2.0**-1074
"""The smallest positive double: twice what one product loses at most where it underflows."""

_PRECISION: Final = 60  # digits: logarithms of fractions near 1 keep enough of them


def down(value: float) -> float:
    """Return the next smaller float."""
    return math.nextafter(value, -math.inf)


def up(value: float) -> float:
    """Return the next larger float."""
    return math.nextafter(value, math.inf)


def above(value: float, error: float) -> float:
    """Return a float at least the exact value of a result with an error; ``inf`` where that overflowed."""
    found = up(value + error)
    return found if found < math.inf else math.inf


def below(value: float, error: float) -> float:
    """Return a float at most the exact value of a result with an error; ``-inf`` where that overflowed."""
    found = value - error
    return down(found) if abs(found) < math.inf else -math.inf


def float_above(value: Fraction) -> float:
    """Return the least float that is at least the fraction."""
    nearest = _nearest(value)
    return nearest if nearest == math.inf or Fraction(nearest) >= value else up(nearest)


def float_below(value: Fraction) -> float:
    """Return the largest float that is at most the fraction."""
    return 0.0 - float_above(-value)


def _nearest(value: Fraction) -> float:
    """Return the nearest float; a number too large is ``inf``, or the least finite float."""
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

    The products are added in any order; ``magnitude`` is the computed sum of their absolute values.
    """
    return float(np.nextafter(2 * (terms + 8) * UNIT * magnitude, np.inf)) + underflow(terms)


def underflow(products: int, factor: float = 0.0) -> float:
    """Return a bound on the total loss of products by underflow.

    ``factor`` is the largest absolute value that such a product was multiplied with afterwards, and its error with
    it.
    """
    return products * (1 + factor) * SMALLEST


def power(values: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """Return powers (count at least 0) by repeated squaring: at most 2 log2(count) rounded products."""
    answer, square = np.ones_like(values), values
    while count:
        if count & 1:
            answer = answer * square
        count >>= 1
        if count:
            square = square * square
    return answer


class Logarithm(float):
    """The float just above the logarithm of a fraction of at least 1, with the exact fraction.

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
    nearest = context.ln(ratio)  # correctly rounded: the exact value lies between the neighbours
    above = rounding == ROUND_CEILING
    return Fraction(context.next_plus(nearest) if above else context.next_minus(nearest))


def quotient(value: Fraction, rounding: str, digits: int) -> Decimal:
    """Return a fraction as a decimal of this many digits, rounded to one side; exact where they are enough."""
    exact = Context(prec=max(digits, len(str(value.numerator)), len(str(value.denominator))))
    numerator, denominator = (exact.create_decimal(part) for part in (value.numerator, value.denominator))
    return Context(prec=digits, rounding=rounding).divide(numerator, denominator)


def log_error(value: float, terms: int = 1) -> float:
    """Return a bound on the error of the computed logarithm of a ratio of two sums.

    ``terms`` is the number of products in each sum; 1 for entries of the matrix.
    """
    return float(log_errors(np.asarray(value), terms))


def log_errors(values: Floats, terms: int = 1) -> Floats:
    """Return `log_error` of many logarithms, array of the same shape."""
    sizes = np.where(np.isinf(values), 0.0, np.abs(values))
    return np.where(np.isinf(values), 0.0, 2 * (terms + 4) * UNIT + sizes * (16 * UNIT))


def mass_error(value: float, terms: int, inner: int = 1) -> float:
    """Return a bound on the error of a computed excess of mass, sum of max(0, p - c q).

    ``terms`` differences were added, and each p and q adds up ``inner`` products; 1 for entries of the matrix.
    """
    return float(mass_errors(np.asarray(value), terms, inner))


def mass_errors(values: Floats, terms: int, inner: int = 1) -> Floats:
    """Return `mass_error` of many sums, array of the same shape."""
    return np.asarray((4 * (inner + 12) * (1 + values) + terms * values) * UNIT)


def inversion_error(terms: int, span: float) -> float:
    """Return a bound on the error of delta at an epsilon that was computed for it.

    ``terms`` is the number of observables; ``span`` is the largest logarithm of 1/p over the positive
    probabilities.
    """
    return 2 * mass_error(1.0, terms) + (12 * terms + 64 * (1 + span)) * UNIT


def divergence_errors(values: Floats, terms: int, span: float) -> Floats:
    """Return bounds on the errors of computed f-divergences and Renyi divergences, same shape.

    It holds for Kullback-Leibler in both orders, total variation, chi-square, Hellinger and Renyi divergences of
    every order, not for generators that users write. ``terms`` and ``span`` are as for `inversion_error`.
    """
    sizes = np.where(np.isinf(values), 0.0, values)
    errors = (128 * (1 + span) + 2 * terms) * UNIT * (1 + sizes)
    return np.where(np.isinf(values), 0.0, errors)
