"""Exponentials rounded to a known side: numpy's are not trusted in proofs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb, ctx

from ..core.arrays import Floats
from ..rounding import down, up

_PRECISION = 160  # bits of the interval arithmetic


def exp_below(epsilon: float, distances: Floats) -> Floats:
    """Return floats at most exp(epsilon * d), for every distance d (exact products)."""
    return _for_distinct(distances, lambda d: _side(epsilon, d, upper=False))


def exp_above(exponents: Floats) -> Floats:
    """Return floats at least exp(e), for every exponent e."""
    return _for_distinct(exponents, lambda e: _side(1.0, e, upper=True))


def exp_below_exact(epsilon: float, distance: float) -> tuple[int, int]:
    """Return integers (p, k) with p / 2**k at most exp(epsilon * distance), and close to it."""
    with ctx.workprec(_PRECISION):
        mantissa, exponent = (arb(epsilon) * arb(distance)).exp().lower().man_exp()
    p, e = int(mantissa), int(exponent)
    return (p << e, 0) if e >= 0 else (p, -e)


def _side(epsilon: float, distance: float, *, upper: bool) -> float:
    if math.isinf(distance) or epsilon * distance > 700:
        return math.inf if upper or math.isinf(distance) else 1e300
    with ctx.workprec(_PRECISION):
        value = (arb(epsilon) * arb(distance)).exp()
        # float() of an arb rounds its midpoint to nearest: one step outwards covers it.
        return up(float(value.upper())) if upper else down(float(value.lower()))


def _for_distinct(values: Floats, function: Callable[[float], float]) -> Floats:
    distinct, where = np.unique(values, return_inverse=True)
    table = np.array([function(float(value)) for value in distinct])
    result: Floats = table[where].reshape(values.shape)
    return result
