"""Small mechanisms in exact numbers: the promises that they keep, found by going through everything."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

_EXACTLY = Context(prec=80, Emax=10**9, Emin=-(10**9))
_SLACK = Fraction(1, 10**60)  # of the exponential, which has eighty digits


def keeps_metric_privacy(weights: list[list[int]], distances: list[list[float]], epsilon: float) -> bool:
    """Return whether w(s, o) <= exp(epsilon d(s, t)) w(t, o) for all s, t and o."""
    for s, mine in enumerate(weights):
        for t, other in enumerate(weights):
            distance = distances[s][t]
            if s == t or math.isinf(distance):
                continue
            factor = _exponential(Fraction(epsilon) * Fraction(distance))
            if factor is not None and any(a > factor * b for a, b in zip(mine, other, strict=True)):
                return False
            if factor is None and any(a and not b for a, b in zip(mine, other, strict=True)):
                return False
    return True


def least_error(weights: list[list[int]], shares: list[float], distances: list[list[float]]) -> float:
    """Return the expected error of the best guess after each report."""
    total = Fraction(0)
    for o in range(len(weights[0])):
        joint = [Fraction(share) * row[o] for share, row in zip(shares, weights, strict=True)]
        total += min(
            sum((p * Fraction(d) for p, d in zip(joint, guess, strict=True)), Fraction(0)) for guess in distances
        )
    return float(total / sum(weights[0]))


def most_loss(weights: list[list[int]], shares: list[float], losses: list[list[float]]) -> float:
    """Return the expected loss."""
    total = sum(
        (
            Fraction(share) * w * Fraction(x)
            for share, row, costs in zip(shares, weights, losses, strict=True)
            for w, x in zip(row, costs, strict=True)
        ),
        Fraction(0),
    )
    return float(total / sum(weights[0]))


def weighted_sum(weights: list[list[int]], coefficients: list[list[float]]) -> Fraction:
    """Return the sum over secrets and observables of a coefficient times the probability."""
    pairs = (pair for row, each in zip(weights, coefficients, strict=True) for pair in zip(row, each, strict=True))
    return sum((w * Fraction(a) for w, a in pairs), Fraction(0)) / sum(weights[0])


def _exponential(exponent: Fraction) -> Fraction | None:
    """Return exp(x), a little too large; None where no integer of a mechanism reaches it."""
    if exponent > 200:  # weights are below 2**127
        return None
    value = _EXACTLY.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(_EXACTLY.exp(value)) * (1 + _SLACK)
