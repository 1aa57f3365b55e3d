"""Interval arithmetic: formulas and exponentials with a proved side (FLINT, loaded at the first use)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from .core.arrays import Floats
from .rounding import down, up

_PRECISION: Final = 240  # bits: differences of nearly equal tails keep enough of them
_EXPONENTIAL_BITS: Final = 160
_PRECISIONS: Final = (64, 128, 256, 512, 1024, 4096, 16384)

Interval = Any
"""An interval of FLINT (``arb``), which carries no types."""


def exact(value: float) -> Interval:
    """Return the interval that holds one float or integer and nothing else."""
    from flint import arb

    return arb(value)


def rational_interval(value: Fraction) -> Interval:
    """Return an interval around a fraction, as narrow as the precision of the formula that it is part of."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def negative(formula: Callable[[], Interval]) -> bool:
    """Return whether a formula over intervals is below 0, decided with as many bits as that takes.

    Args:
        formula: It must not be exactly 0; were it, the answer would be no.
    """
    from flint import ctx

    for bits in _PRECISIONS:
        with ctx.workprec(bits):
            value = formula()
            if value < 0 or value > 0:
                return bool(value < 0)
    return False


def upper_end(formula: Callable[[], Interval]) -> float:
    """Return a float at least as large as a formula over intervals; ``inf`` where none is proved."""
    from flint import arb, ctx

    with ctx.workprec(_PRECISION):
        value = formula().upper()
        nearest = float(value)
        if math.isnan(nearest):
            return math.inf
        return nearest if arb(nearest) >= value else math.nextafter(nearest, math.inf)


def lower_end(formula: Callable[[], Interval]) -> float:
    """Return a float at most as large as a formula over intervals; ``-inf`` where none is proved."""
    return -upper_end(lambda: -formula())


def least_float(guess: float, holds: Callable[[Interval], object]) -> float:
    """Return a float close above a guess at which a condition that grows is proved.

    Args:
        guess: Where floating point believes that the condition begins to hold.
        holds: The condition, true only where interval arithmetic proves it.

    Returns:
        The float, or ``inf`` if the condition is not proved within one part in a million.
    """
    from flint import arb, ctx

    with ctx.workprec(_PRECISION):
        step = 2.0**-52
        value = guess
        while step < 1e-6:
            if holds(arb(value)):
                return value
            value = guess + step * max(abs(guess), 2.0**-100)
            step *= 2
    return math.inf


def normal(x: Interval) -> Interval:
    """Return the standard normal distribution function."""
    from flint import arb

    return (-x / arb(2).sqrt()).erfc() / 2


def exp_below(epsilon: float, distances: Floats) -> Floats:
    """Return floats at most exp(epsilon * d), for every distance d (exact products)."""
    return _for_distinct(distances, lambda d: _side(epsilon, d, upper=False))


def exp_above(exponents: Floats) -> Floats:
    """Return floats at least exp(e), for every exponent e."""
    return _for_distinct(exponents, lambda e: _side(1.0, e, upper=True))


def exp_below_exact(epsilon: float, distance: float) -> tuple[int, int]:
    """Return integers (p, k) with p / 2**k at most exp(epsilon * distance), and close to it."""
    from flint import arb, ctx

    with ctx.workprec(_EXPONENTIAL_BITS):
        mantissa, exponent = (arb(epsilon) * arb(distance)).exp().lower().man_exp()
    p, e = int(mantissa), int(exponent)
    return (p << e, 0) if e >= 0 else (p, -e)


def _side(epsilon: float, distance: float, *, upper: bool) -> float:
    from flint import arb, ctx

    if math.isinf(distance) or epsilon * distance > 700:
        return math.inf if upper or math.isinf(distance) else 1e300
    with ctx.workprec(_EXPONENTIAL_BITS):
        value = (arb(epsilon) * arb(distance)).exp()
        # float() of an arb rounds its midpoint to nearest: one step outwards covers it.
        return up(float(value.upper())) if upper else down(float(value.lower()))


def _for_distinct(values: Floats, function: Callable[[float], float]) -> Floats:
    distinct, where = np.unique(values, return_inverse=True)
    table = np.array([function(float(value)) for value in distinct])
    result: Floats = table[where].reshape(values.shape)
    return result
