"""Exact values: the largest of many is found again in integers, over the pairs that rounding leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism
from ..core.arrays import Floats
from ..intervals import Interval, above, below
from ..intervals import exact as interval
from ..rounding import float_above, float_below
from .rows import AnyMechanism, Mask, channel, unequal
from .search import Top

Pairs = NDArray[np.intp]

Row = list[int]
"""The probabilities of a row in a common unit."""

OfPair = Callable[[Row, Row, int], Fraction | None]
"""From two rows, and what stands for probability 1 in them, to a number; None where it is infinite."""

Pair = tuple[int, int] | None
"""Positions of two secrets; None where all are alike."""

_MOST: Final = 2**17  # entries that are read again: some hundredths of a second
_LEAST: Final = 2.0**-512  # smaller entries of an array would make integers of a thousand bits


def largest_factor(mechanism: AnyMechanism, top: Top, mask: Mask) -> Fraction | None:
    """Return the largest ratio p(o|s) / p(o|s') of the pairs in a mask, at least 1.

    Args:
        mechanism: A mechanism or array.
        top: The largest logarithm of these ratios, as a search found it.
        mask: Ordered pairs, array (n, n).

    Returns:
        The fraction; None where it is infinite, or would take too long to find.
    """
    return _largest(mechanism, top, mask, _ratio, Fraction(1))


def largest_range(mechanism: AnyMechanism, top: Top, mask: Mask) -> Fraction | None:
    """Return the largest product of the `largest_factor` of a pair and that of its other order, at least 1."""

    def both(p: Row, q: Row, unit: int) -> Fraction | None:
        one, other = _ratio(p, q, unit), _ratio(q, p, unit)
        return None if one is None or other is None else one * other

    return _largest(mechanism, top, mask, both, Fraction(1))


def largest_mass(
    mechanism: AnyMechanism, top: Top, mask: Mask, *, alone: bool = False
) -> tuple[Fraction, Pair] | None:
    """Return the largest excess of mass, sum over o of max(0, p(o|s) - p(o|s')), of the pairs in a mask.

    Args:
        mechanism: A mechanism or array.
        top: The largest of these masses, as a search found it.
        mask: Ordered pairs, array (n, n).
        alone: Whether only reports count that the other secret never makes.

    Returns:
        The fraction and a pair that attains it; None where it would take too long to find.
    """

    def mass(p: Row, q: Row, unit: int) -> Fraction:
        return Fraction(sum(a - b for a, b in zip(p, q, strict=True) if a > b and not (alone and b)), unit)

    return _attained(mechanism, top, mask, mass, Fraction(0))


def largest_rate(
    mechanism: AnyMechanism, top: Top, mask: Mask, distances: Callable[[Pairs, Pairs], Floats]
) -> tuple[float, float] | None:
    """Return bounds of the largest ln(p(o|s) / p(o|s')) / d(s, s') of the pairs in a mask, at least 0.

    Args:
        mechanism: A mechanism or array.
        top: The largest of these rates, as a search found it.
        mask: Ordered pairs, array (n, n).
        distances: From listed pairs (s, s') to their distances, positive and finite on the mask.

    Returns:
        A lower and an upper bound, one or two floats apart; None where that would take too long.
    """
    pairs = _in_question(mechanism, top, mask)
    if pairs is None:
        return None
    factors: dict[float, Fraction] = {}
    rows, unit = _rows(mechanism, pairs)
    for (s, t), distance in zip(pairs.tolist(), distances(pairs[:, 0], pairs[:, 1]).tolist(), strict=True):
        ratio = _ratio(rows[s], rows[t], unit)
        if ratio is None:
            return None
        factors[distance] = max(factors.get(distance, Fraction(1)), ratio)
    lower = upper = 0.0
    for distance, factor in factors.items():
        if factor > 1:
            lower = max(lower, below(_rate(factor, distance)))
            upper = max(upper, above(_rate(factor, distance)))
    return lower, upper


def least_factor(p: Row, q: Row, unit: int, delta: Fraction) -> Fraction | None:
    """Return the least t of at least 1 with sum over o of max(0, p(o) - t q(o)) at most delta.

    The sum is piecewise linear in t and bends at the ratios p/q: from the largest down, the first piece that
    reaches delta is solved.

    Args:
        p: A row.
        q: Another.
        unit: What stands for probability 1.
        delta: At least 0.

    Returns:
        The fraction; None where p has more than delta at reports that q never makes.
    """
    left = delta * unit - sum(a for a, b in zip(p, q, strict=True) if not b)
    if left < 0:
        return None
    mass = under = 0
    for ratio, a, b in sorted(
        ((Fraction(a, b), a, b) for a, b in zip(p, q, strict=True) if a > b > 0), reverse=True
    ):
        if mass - ratio * under > left:
            break
        mass, under = mass + a, under + b
    return max(Fraction(1), (mass - left) / under) if under else Fraction(1)


def least_step(p: Row, q: Row, unit: int, delta: Fraction) -> Fraction | None:
    """Return the least t >= 1 such that the reports with max(p/q, q/p) > t have at most delta in each row.

    Args:
        p: A row.
        q: Another.
        unit: What stands for probability 1.
        delta: At least 0.

    Returns:
        The fraction; None where a row has more than delta at reports that the other never makes.
    """
    most = delta * unit
    alone = [(a, b) for a, b in zip(p, q, strict=True) if (a == 0) != (b == 0)]
    one, other = sum(a for a, _ in alone), sum(b for _, b in alone)
    if max(one, other) > most:
        return None
    both = ((Fraction(max(a, b), min(a, b)), a, b) for a, b in zip(p, q, strict=True) if a and b)
    for ratio, a, b in sorted(both, reverse=True):
        one, other = one + a, other + b
        if max(one, other) > most:
            return ratio
    return Fraction(1)


def largest_of_pairs(
    mechanism: AnyMechanism, pairs: Pairs, of_pair: OfPair, distances: Floats | None = None
) -> tuple[float, float, Pair] | None:
    """Return bounds of the largest ln(t) / d of some pairs, with a pair that attains it.

    Args:
        mechanism: A mechanism or array.
        pairs: The pairs, array (k, 2).
        of_pair: From two rows and their unit to t, at least 1; None if it is infinite.
        distances: The d of the pairs, positive and finite, array (k,); 1 by default.

    Returns:
        A lower bound, an upper bound and the pair, None where both bounds are 0; None if it would take too long.
    """
    found = integer_rows(mechanism, pairs)
    return None if found is None else largest_of_rows(*found, pairs, of_pair, distances)


def integer_rows(mechanism: AnyMechanism, pairs: Pairs) -> tuple[dict[int, Row], int] | None:
    """Return the rows of some pairs as integers, and the integer that stands for probability 1.

    Args:
        mechanism: A mechanism or array.
        pairs: The pairs, array (k, 2).

    Returns:
        The rows by their positions; None if to compare them would take too long.
    """
    matrix = channel(mechanism).matrix
    if len(pairs) * matrix.shape[1] > _MOST or float(matrix[matrix > 0].min()) < _LEAST:
        return None
    return _rows(mechanism, pairs)


def largest_of_rows(
    rows: Mapping[int, Row], unit: int, pairs: Pairs, of_pair: OfPair, distances: Floats | None = None
) -> tuple[float, float, Pair]:
    """Return what `largest_of_pairs` does, of rows that are known; ``unit`` stands for probability 1."""
    found: tuple[float, float, Pair] = 0.0, 0.0, None
    scales = np.ones(len(pairs)) if distances is None else distances
    for (s, t), distance in zip(pairs.tolist(), scales.tolist(), strict=True):
        factor = of_pair(rows[s], rows[t], unit)
        if factor is None:
            return math.inf, math.inf, (s, t)
        rate = _rate(factor, distance)
        if factor > 1 and above(rate) > found[1]:
            found = max(found[0], below(rate)), above(rate), (s, t)
    return found


def rounded(value: Fraction) -> tuple[float, float]:
    """Return the float just below a fraction and how far it may be off: 0 where it is the fraction."""
    found = float_below(value)
    return found, float_above(value - Fraction(found))


def _largest(
    mechanism: AnyMechanism,
    top: Top,
    mask: Mask,
    of_pair: Callable[[Row, Row, int], Fraction | None],
    least: Fraction,
) -> Fraction | None:
    found = _attained(mechanism, top, mask, of_pair, least)
    return None if found is None else found[0]


def _attained(
    mechanism: AnyMechanism,
    top: Top,
    mask: Mask,
    of_pair: Callable[[Row, Row, int], Fraction | None],
    least: Fraction,
) -> tuple[Fraction, Pair] | None:
    """Return the largest value and the first pair that attains it: of near ties the floats may name another."""
    pairs = _in_question(mechanism, top, mask)
    if pairs is None:
        return None
    best, attains = least, None
    rows, unit = _rows(mechanism, pairs)
    for s, t in pairs.tolist():
        found = of_pair(rows[s], rows[t], unit)
        if found is None:
            return None
        if found > best:
            best, attains = found, (s, t)
    return best, attains


def _in_question(mechanism: AnyMechanism, top: Top, mask: Mask) -> Pairs | None:
    """Return the pairs that may have the largest value, array (k, 2); None where they are too many."""
    if unequal(mechanism, mask) is None:
        return np.empty((0, 2), dtype=np.intp)
    matrix = channel(mechanism).matrix
    if top.close is None or float(matrix[matrix > 0].min()) < _LEAST:
        return None
    return top.close if len(top.close) * matrix.shape[1] <= _MOST else None


def _rows(mechanism: AnyMechanism, pairs: Pairs) -> tuple[dict[int, Row], int]:
    """Return the rows of some pairs as integers, and the integer that stands for probability 1."""
    chosen = np.unique(pairs).tolist()
    if isinstance(mechanism, Mechanism):
        return {s: mechanism.weights[s].tolist() for s in chosen}, 1 << mechanism.bits
    matrix = channel(mechanism).matrix
    ratios = {s: [entry.as_integer_ratio() for entry in matrix[s].tolist()] for s in chosen}
    unit = max((under for row in ratios.values() for _, under in row), default=1)  # powers of two
    return {s: [top * (unit // under) for top, under in row] for s, row in ratios.items()}, unit


def _ratio(p: Row, q: Row, _unit: int) -> Fraction | None:
    """Return the largest ratio of two rows, None if it is infinite."""
    top, under = 0, 1
    for a, b in zip(p, q, strict=True):
        if a * under > top * b:
            if b == 0:
                return None
            top, under = a, b
    return Fraction(top, under)


def _rate(factor: Fraction, distance: float) -> Callable[[], Interval]:
    return lambda: (interval(factor.numerator) / interval(factor.denominator)).log() / interval(distance)
