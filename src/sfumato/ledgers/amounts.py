"""Budget amounts as exact decimals."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from typing import Final

from ..core import units
from ..core.arguments import checked
from ..errors import InputError
from ..escaping import plain

# More digits than any sum of amounts within the bounds has; a sum that would need rounding is an error.
_EXACT: Final = Context(prec=120, traps=[Inexact, InvalidOperation, Overflow])
_CEILING: Final = Context(prec=17, rounding=ROUND_CEILING)
_PLACES: Final = 50  # decimals of an amount: all floats within the bounds have fewer
_SMALLEST: Final = 1e-30
_LARGEST: Final = 1e30
_LONGEST: Final = 200  # characters
ZERO: Final = Decimal(0)


def amount(value: float | str | Decimal, unit: str, what: str, *, at_most: bool = False) -> Decimal:
    """Return a positive number, or a text such as ``"0.1/km"``, as the decimal that it is written as.

    A float stands for the shortest decimal that it prints as: 0.1 is 1/10. A text in another unit than ``unit``
    (``"1/mi"`` in a ledger per km) is rounded at the fiftieth place: up for charges, down for limits
    (``at_most``). An amount outside 10**-30 to 10**30 is refused; ``what`` names it in the error message.
    """
    if isinstance(value, str) and len(value) > _LONGEST:
        raise InputError(f"{what} has {len(value):,} characters.", "write fewer digits.")
    if isinstance(value, Decimal):
        if value.is_finite() and _SMALLEST <= value <= _LARGEST:
            return _rounded(Fraction(value), at_most=at_most)
        value = float(value)
    try:
        size = units.parse(value, per=True, unit=unit, what=what)
    except OverflowError:  # an integer beyond all floats
        size = math.inf
    if not (math.isfinite(size) and size > 0):
        raise InputError(
            f"{what} must be a positive number, but {str(value)[:40]} was given.", "use a number above 0."
        )
    if not _SMALLEST <= size <= _LARGEST:
        raise InputError(f"{what} {value!r} cannot be counted.", "use one between 1e-30 and 1e30.")
    return _rounded(units.parse_exactly(value, per=True, unit=unit, what=what), at_most=at_most)


def above(value: float) -> Decimal:
    """Return a decimal of at most 17 digits that is not below a float."""
    return _CEILING.create_decimal(Decimal(value))


def _rounded(value: Fraction, *, at_most: bool) -> Decimal:
    scaled = value * 10**_PLACES
    return _EXACT.normalize(_EXACT.scaleb(Decimal(math.floor(scaled) if at_most else math.ceil(scaled)), -_PLACES))


def decimal(value: Fraction) -> Decimal:
    """Return a fraction as the decimal that it is, or raise a ValueError if that has more than fifty places."""
    rounded = _rounded(value, at_most=True)
    if Fraction(rounded) != value:
        raise ValueError(f"{str(value)[:40]} is not a decimal of at most {_PLACES} places")
    return rounded


def added(first: Decimal, second: Decimal) -> Decimal:
    """Return the exact sum of two amounts."""
    return _EXACT.add(first, second)


def times(each: Decimal, count: int) -> Decimal:
    """Return the exact sum of so many equal amounts."""
    return _EXACT.multiply(each, Decimal(count))


def less(first: Decimal, second: Decimal) -> Decimal:
    """Return the exact difference of two amounts."""
    return _EXACT.subtract(first, second)


def stored(value: Decimal) -> str:
    """Return the one text of an amount in the database: ``0.3``."""
    return format(_EXACT.normalize(value), "f")


def restored(text: str) -> Decimal:
    """Return the amount that `stored` wrote, or raise a ValueError."""
    try:
        value = _EXACT.create_decimal(text)
    except (InvalidOperation, Inexact) as error:
        raise ValueError(f"{text!r} is not an amount") from error
    if not value.is_finite() or value < 0 or stored(value) != text:
        raise ValueError(f"{text!r} is not an amount")
    return value


def shown(value: Decimal, unit: str) -> str:
    """Return an amount as text for people, with all its digits: ``0.3/km``."""
    return f"{stored(value)}{'/' + plain(unit) if unit else ''}"


@checked
def amount_text(value: Fraction, unit: str) -> str:
    """Return an exact amount, such as those of a `Balance`, as text for people: ``0.3/km``."""
    return shown(_EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)), unit)
