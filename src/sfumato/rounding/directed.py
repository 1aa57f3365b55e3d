"""Directed rounding: of numbers in text towards the weaker claim, and of floats, with bounds on their errors.

A decimal in a text denotes the double nearest to it, as in a program. So the number 0.1 is written "0.1", exactly,
and the text of a bound, read back, is never on the wrong side of it. A bound that differs from a short number by
rounding error alone is written in more digits, "3.0000000001" and not "3.001".

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
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

_PLAIN: Final = range(-5, 9)  # powers of ten that are written out
_TIE: Final = Decimal("1e-9")  # relative: what is nearer to a short number may be that number
_DIGITS_OF_TIES: Final = 11
_PRECISION: Final = 40  # digits of exponentials before they are rounded
_SHARE_DIGITS: Final = 2
_LEAST_SHARE: Final = Decimal("0.0001")  # of estimates: smaller ones are "under 0.01 %"
_CONFIDENCE_DIGITS: Final = 6
_MOST_CONFIDENCE: Final = Decimal("99.9999")
_NEARLY_ALL_DIGITS: Final = 4  # of a share above 99 %
_MILLIMETRE: Final = Decimal("0.001")
_METRES: Final = {"m": 0, "km": 3}  # as powers of ten
_LOG_PRECISION: Final = 60  # digits: logarithms of fractions near 1 keep enough of them
Floats = NDArray[np.float64]

UNIT: Final = 2.0**-53
"""The largest relative error of one operation on doubles."""

SMALLEST: Final = 2.0**-1074
"""The smallest positive double: twice what one product loses at most where it underflows."""


def about(value: float, digits: int = 4) -> str:
    """Write a number in at most this many significant digits, rounded to nearest."""
    return _format_float(value, digits, ROUND_HALF_EVEN)


def exactly(value: float) -> str:
    """Return the shortest text that reads back as the same float."""
    return repr(float(value)).removesuffix(".0")


def at_most(value: float, digits: int = 4) -> str:
    """Write an upper bound in at most this many significant digits, never below it."""
    return _format_float(value, digits, ROUND_CEILING)


def briefly_at_most(value: float, digits: int = 4) -> str:
    """Write an upper bound as `at_most`, but never in more digits, even if they differ by rounding error alone."""
    return at_most(value) if not math.isfinite(value) else _text(_round(_decimal(value), digits, ROUND_CEILING))


def at_least(value: float, digits: int = 4) -> str:
    """Write a lower bound in at most this many significant digits, never above it."""
    return _format_float(value, digits, ROUND_FLOOR)


def at_most_against(value: float, limit: float) -> str:
    """Write an upper bound as `at_most`, or in all digits where fewer hide on which side of a limit it is."""
    bound = at_most(value)
    return bound if not math.isfinite(value) or (float(bound) <= limit) == (value <= limit) else exactly(value)


def at_least_against(value: float, limit: float) -> str:
    """Write a lower bound as `at_least`, or in all digits where fewer hide on which side of a limit it is."""
    bound = at_least(value)
    return bound if not math.isfinite(value) or (float(bound) > limit) == (value > limit) else exactly(value)


def factor_at_most(epsilon: float, digits: int = 4) -> str:
    """Write e**epsilon, never below it; as a power of e where epsilon is 20 or more.

    The exponential of a `Logarithm` is its exact fraction.
    """
    if epsilon == 0:
        return "1"
    if epsilon >= 20:
        return "infinite" if math.isinf(epsilon) else f"e^{at_most(epsilon, digits)}"
    if isinstance(epsilon, Logarithm):
        return _text(_close(quotient(epsilon.factor, ROUND_CEILING, _PRECISION), digits, ROUND_CEILING))
    context = Context(prec=_PRECISION)
    value = context.next_plus(context.exp(Decimal(epsilon)))  # exp is correctly rounded
    return _text(_close(value, digits, ROUND_CEILING))


def even_belief_at_most(epsilon: float) -> str:
    """Write an upper bound on the belief in one of two equally likely secrets after a report.

    It is 1 / (1 + exp(-epsilon)), where epsilon bounds the logarithm of any report's likelihood ratio.

    Example:
        >>> even_belief_at_most(2.0)
        '89 %'
    """
    if not epsilon < 50:
        return "100 %"
    context = Context(prec=_PRECISION)
    least = context.next_minus(context.exp(Decimal(-epsilon)))
    share = context.next_plus(context.divide(Decimal(1), context.next_minus(context.add(Decimal(1), least))))
    return _share(min(share, Decimal(1)).scaleb(2), ROUND_CEILING)


def percent(share: float) -> str:
    """Write a share as a percentage, rounded to nearest: ``12 %``, ``0.4 %``, ``99.97 %``, ``under 0.01 %``.

    Shares have two digits everywhere, and four above 99 %, so that near certainty is not written as certainty.
    """
    return _percent(share, ROUND_HALF_EVEN)


def about_percent(share: float) -> str:
    """Write an estimate of a share as a percentage: ``about 12 %``, ``under 0.01 %``."""
    is_small = math.isfinite(share) and 0 < _decimal(share) < _LEAST_SHARE
    return percent(share) if is_small else f"about {percent(share)}"


def percent_at_most(share: float) -> str:
    """Write an upper bound on a share as a percentage, never below it; see `percent`."""
    return _percent(share, ROUND_CEILING)


def percent_at_least(share: float) -> str:
    """Write a lower bound on a share as a percentage, never above it; see `percent`."""
    return _percent(share, ROUND_FLOOR)


def percent_of_confidence(confidence: float) -> str:
    """Write the confidence of intervals as a percentage in at most six digits: ``95 %``, ``97.5 %``.

    Up to the rounding of doubles it is never above the confidence, and never 100 %.
    """
    value = _decimal(round(confidence, 15)).scaleb(2)
    return f"{_text(min(_round(value, _CONFIDENCE_DIGITS, ROUND_FLOOR), _MOST_CONFIDENCE))} %"


def gap_at_most(gap: float) -> str:
    """Write a relative gap as a percentage in two digits, never below it."""
    return f"{_text(_round(_decimal(gap).scaleb(2), 2, ROUND_CEILING))} %" if math.isfinite(gap) else "unknown"


def amount(value: float, unit: str, digits: int = 3) -> str:
    """Write a quantity, rounded to nearest; lengths in metres below 1 km, in whole millimetres below 1 mm.

    The unit is a short name, empty for a pure number; at most ``digits`` significant digits are written.
    """
    return _amount(value, unit, digits, ROUND_HALF_EVEN)


def amount_at_most(value: float, unit: str, digits: int = 3) -> str:
    """Write an upper bound on a quantity, never below it; see `amount`."""
    return _amount(value, unit, digits, ROUND_CEILING)


def amount_at_least(value: float, unit: str, digits: int = 3) -> str:
    """Write a lower bound on a quantity, never above it; see `amount`."""
    return _amount(value, unit, digits, ROUND_FLOOR)


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Write a number with its noun: ``1 visit``, ``4,237 visits``; ``nouns`` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def _amount(value: float, unit: str, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return _format_float(value, digits, rounding)
    if unit not in _METRES:
        return f"{_format_float(value, digits, rounding)} {unit}".strip()
    metres = _decimal(value).scaleb(_METRES[unit])
    if abs(metres) < _MILLIMETRE:
        whole = int((metres / _MILLIMETRE).to_integral_value(rounding))
        return f"{whole} mm" if whole else "0 m"
    if abs(_round(metres, digits, rounding)) < 1000:
        return f"{_text(_round(metres, digits, rounding))} m"
    return f"{_text(_round(metres.scaleb(-3), digits, rounding))} km"


def _percent(share: float, rounding: str) -> str:
    if not math.isfinite(share):
        return _format_float(share, _SHARE_DIGITS, rounding)
    value = _decimal(share).scaleb(2)
    if rounding == ROUND_HALF_EVEN and 0 < value < _LEAST_SHARE.scaleb(2):
        return "under 0.01 %"
    return _share(value, rounding)


def _share(value: Decimal, rounding: str) -> str:
    """Write a percentage: in four digits above 99 %, where rounding to nearest never gives 100 %."""
    if not 99 < value < 100:
        return f"{_text(_round(value, _SHARE_DIGITS, rounding))} %"
    percentage = _round(value, _NEARLY_ALL_DIGITS, rounding)
    if percentage == 100 and rounding == ROUND_HALF_EVEN:
        percentage = _round(value, _NEARLY_ALL_DIGITS, ROUND_FLOOR)
    return f"{_text(percentage)} %"


def _format_float(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return "unknown" if math.isnan(value) else _text(_close(_decimal(value), digits, rounding))


def _decimal(value: float) -> Decimal:
    """Return the shortest decimal that denotes the float."""
    return Decimal(repr(float(value)))


def _round(value: Decimal, digits: int, rounding: str) -> Decimal:
    if value.adjusted() in _PLAIN:
        digits = max(digits, value.adjusted() + 1)  # whole parts are written in full
    return Context(prec=digits, rounding=rounding).plus(value).normalize(Context(prec=_PRECISION))


def _close(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Return the value in this many digits, or in more where rounding error alone separates it from fewer."""
    decimal, nearest = _round(value, digits, rounding), _round(value, digits, ROUND_HALF_EVEN)
    if decimal != nearest and abs(value - nearest) <= _TIE * abs(value):
        return _round(value, max(digits, _DIGITS_OF_TIES), rounding)
    return decimal


def _text(value: Decimal) -> str:
    if value == 0:
        return "0"
    if value.adjusted() in _PLAIN:
        return f"{value:f}"
    mantissa = value.scaleb(-value.adjusted())
    return f"{mantissa:f}e{value.adjusted()}"


def down(value: float) -> float:
    """Return the next smaller float."""
    return math.nextafter(value, -math.inf)


def up(value: float) -> float:
    """Return the next larger float."""
    return math.nextafter(value, math.inf)


def upper_end(value: float, error: float) -> float:
    """Return a float at least the exact value of a result with an error; ``inf`` where that overflowed."""
    upper = up(value + error)
    return upper if upper < math.inf else math.inf


def lower_end(value: float, error: float) -> float:
    """Return a float at most the exact value of a result with an error; ``-inf`` where that overflowed."""
    difference = value - error
    return down(difference) if abs(difference) < math.inf else -math.inf


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
        logarithm = super().__new__(cls, float_above(_logarithm(factor, ROUND_CEILING)))
        logarithm.factor = factor
        return logarithm

    def __reduce__(self) -> tuple[type[Logarithm], tuple[Fraction]]:
        return type(self), (self.factor,)


def log_below(factor: Fraction) -> float:
    """Return the float just below the logarithm of a fraction of at least 1; 0 for 1."""
    return float_below(_logarithm(factor, ROUND_FLOOR))


def _logarithm(factor: Fraction, rounding: str) -> Fraction:
    """Return the logarithm, rounded in its last digits to one side."""
    if factor == 1:
        return Fraction(0)
    ratio = quotient(factor, rounding, _LOG_PRECISION)
    context = Context(prec=_LOG_PRECISION)
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
