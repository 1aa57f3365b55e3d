"""Numbers in text, rounded towards the weaker claim.

A decimal in a text denotes the double nearest to it, as in a program. So the number 0.1 is written "0.1", exactly,
and the text of a bound, read back, is never on the wrong side of it. A bound that differs from a short number by
rounding error alone is written in more digits, "3.0000000001" and not "3.001".
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

from .floats import Logarithm, quotient

_PLAIN: Final = range(-5, 9)  # powers of ten that are written out
_TIE: Final = Decimal("1e-9")  # relative: what is nearer to a short number may be that number
_DIGITS_OF_TIES: Final = 11
_PRECISION: Final = 40  # digits of exponentials before they are rounded
_SHARE_DIGITS: Final = 2
_CONFIDENCE_DIGITS: Final = 6
_MOST_CONFIDENCE: Final = Decimal("99.9999")
_NEARLY_ALL_DIGITS: Final = 4  # of a share above 99 %
_MILLIMETRE: Final = Decimal("0.001")
_METRES: Final = {"m": 0, "km": 3}  # as powers of ten


def about(value: float, digits: int = 4) -> str:
    """Write a number in at most this many significant digits, rounded to nearest."""
    return _directed(value, digits, ROUND_HALF_EVEN)


def exactly(value: float) -> str:
    """Return the shortest text that reads back as the same float."""
    return repr(float(value)).removesuffix(".0")


def at_most(value: float, digits: int = 4) -> str:
    """Write an upper bound in at most this many significant digits, never below it."""
    return _directed(value, digits, ROUND_CEILING)


def briefly_at_most(value: float, digits: int = 4) -> str:
    """Write an upper bound as `at_most`, but never in more digits, even if they differ by rounding error alone."""
    return at_most(value) if not math.isfinite(value) else _text(_rounded(_named(value), digits, ROUND_CEILING))


def at_least(value: float, digits: int = 4) -> str:
    """Write a lower bound in at most this many significant digits, never above it."""
    return _directed(value, digits, ROUND_FLOOR)


def at_most_against(value: float, limit: float) -> str:
    """Write an upper bound as `at_most`, or in all digits where fewer hide on which side of a limit it is."""
    shown = at_most(value)
    return shown if not math.isfinite(value) or (float(shown) <= limit) == (value <= limit) else exactly(value)


def at_least_against(value: float, limit: float) -> str:
    """Write a lower bound as `at_least`, or in all digits where fewer hide on which side of a limit it is."""
    shown = at_least(value)
    return shown if not math.isfinite(value) or (float(shown) > limit) == (value > limit) else exactly(value)


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
    shown = percent(share)
    return shown if shown.startswith("under") else f"about {shown}"


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
    value = _named(round(confidence, 15)).scaleb(2)
    return f"{_text(min(_rounded(value, _CONFIDENCE_DIGITS, ROUND_FLOOR), _MOST_CONFIDENCE))} %"


def gap_at_most(gap: float) -> str:
    """Write a relative gap as a percentage in two digits, never below it."""
    return f"{_text(_rounded(_named(gap).scaleb(2), 2, ROUND_CEILING))} %" if math.isfinite(gap) else "unknown"


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


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Write a number with its noun: ``1 visit``, ``4,237 visits``; ``nouns`` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def _amount(value: float, unit: str, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return _directed(value, digits, rounding)
    if unit not in _METRES:
        return f"{_directed(value, digits, rounding)} {unit}".strip()
    metres = _named(value).scaleb(_METRES[unit])
    if abs(metres) < _MILLIMETRE:
        whole = int((metres / _MILLIMETRE).to_integral_value(rounding))
        return f"{whole} mm" if whole else "0 m"
    if abs(_rounded(metres, digits, rounding)) < 1000:
        return f"{_text(_rounded(metres, digits, rounding))} m"
    return f"{_text(_rounded(metres.scaleb(-3), digits, rounding))} km"


def _percent(share: float, rounding: str) -> str:
    if not math.isfinite(share):
        return _directed(share, _SHARE_DIGITS, rounding)
    value = _named(share).scaleb(2)
    if rounding == ROUND_HALF_EVEN and 0 < value < Decimal("0.01"):
        return "under 0.01 %"
    return _share(value, rounding)


def _share(value: Decimal, rounding: str) -> str:
    """Write a percentage: in four digits above 99 %, where rounding to nearest never gives 100 %."""
    if not 99 < value < 100:
        return f"{_text(_rounded(value, _SHARE_DIGITS, rounding))} %"
    shown = _rounded(value, _NEARLY_ALL_DIGITS, rounding)
    if shown == 100 and rounding == ROUND_HALF_EVEN:
        shown = _rounded(value, _NEARLY_ALL_DIGITS, ROUND_FLOOR)
    return f"{_text(shown)} %"


def _directed(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return "unknown" if math.isnan(value) else _text(_close(_named(value), digits, rounding))


def _named(value: float) -> Decimal:
    """Return the shortest decimal that denotes the float."""
    return Decimal(repr(float(value)))


def _rounded(value: Decimal, digits: int, rounding: str) -> Decimal:
    if value.adjusted() in _PLAIN:
        digits = max(digits, value.adjusted() + 1)  # whole parts are written in full
    return Context(prec=digits, rounding=rounding).plus(value).normalize(Context(prec=_PRECISION))


def _close(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Return the value in this many digits, or in more where rounding error alone separates it from fewer."""
    found, nearest = _rounded(value, digits, rounding), _rounded(value, digits, ROUND_HALF_EVEN)
    if found != nearest and abs(value - nearest) <= _TIE * abs(value):
        return _rounded(value, max(digits, _DIGITS_OF_TIES), rounding)
    return found


def _text(value: Decimal) -> str:
    if value == 0:
        return "0"
    if value.adjusted() in _PLAIN:
        return f"{value:f}"
    mantissa = value.scaleb(-value.adjusted())
    return f"{mantissa:f}e{value.adjusted()}"
