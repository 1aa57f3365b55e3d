"""Shortfall of a mechanism against a trade-off function with finitely many vertices, in integers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Final

from ...core.arrays import Floats
from ..exact import Pair, Pairs, Row, integer_rows
from ..rows import AnyMechanism

_SHORT: Final = 2**45  # sums of such fractions of 1 are exact in doubles


def largest_shortfall(
    mechanism: AnyMechanism, pairs: Pairs, null: Floats, alternative: Floats
) -> tuple[Fraction, Pair] | None:
    """Return by how much tests between rows beat a trade-off function with finitely many vertices.

    Args:
        mechanism: A mechanism or array.
        pairs: The pairs of rows, array (k, 2).
        null: The masses of p of the pair that the function is of, by falling q/p, array (m,).
        alternative: The masses of q there.

    Returns:
        The largest f(a) - T(p, q)(a), at least 0, and a pair that attains it; None where the masses or a row do
        not sum to 1 without rounding, or it would take too long.
    """
    masses = [[Fraction(each) for each in row.tolist()] for row in (null, alternative)]
    short = all(each.denominator <= _SHORT for row in masses for each in row)
    if not short or any(sum(row) != 1 for row in masses):
        return None
    found = integer_rows(mechanism, pairs)
    if found is None:
        return None
    rows, unit = found
    alphas, powers = (list(accumulate(row)) for row in masses)
    best, attains = Fraction(0), None
    for s, t in pairs.tolist():
        if not sum(rows[s]) == sum(rows[t]) == unit:
            return None
        for alpha, power in _tests(rows[s], rows[t], unit):
            gap = power - _power(alphas, powers, alpha)
            if gap > best:
                best, attains = gap, (s, t)
    return best, attains


def _tests(p: Row, q: Row, unit: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield type I error and power of the likelihood-ratio tests of p against q, by rising error."""
    used = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    alpha = power = 0
    for a, b in sorted(used, key=lambda each: Fraction(each[0], sum(each))):
        alpha, power = alpha + a, power + b
        yield Fraction(alpha, unit), Fraction(power, unit)


def _power(alphas: list[Fraction], powers: list[Fraction], alpha: Fraction) -> Fraction:
    """Return the power of the best test at an error, by the vertices of a trade-off function."""
    k = bisect_right(alphas, alpha)
    if k == len(alphas):
        return Fraction(1)
    left = (alphas[k - 1], powers[k - 1]) if k else (Fraction(0), Fraction(0))
    return left[1] + (alpha - left[0]) / (alphas[k] - left[0]) * (powers[k] - left[1])
