"""Exact values: the largest of many is found again in integers, over the pairs that rounding leaves open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..intervals import Interval, above, below
from ..intervals import exact as interval
from ..rounding import float_above, float_below
from .integers import IntegerRows, Pairs, integer_rows, masses
from .rows import AnyMechanism, Mask, unequal
from .search import Top

Row = list[int]
"""The probabilities of a row in a common unit."""

OfPair = Callable[[Row, Row, int], Fraction | None]
"""From two rows, and what stands for probability 1 in them, to a number; None where it is infinite."""

Pair = tuple[int, int] | None
"""Positions of two secrets; None where all are alike."""

FEW: Final = 2**17
"""Entries of pairs that are compared one after the other, as integers of Python, in about half a second."""


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
    if unequal(mechanism, mask) is None:
        return Fraction(0), None
    rows = integer_rows(mechanism)
    pairs = np.argwhere(mask) if top.close is None else top.close
    if rows is None or not rows.holds(len(pairs)):
        return None
    best, attains = 0, None
    for block, found in masses(rows, pairs, alone=alone):
        k = int(found.argmax())
        if found[k] > best:
            best, attains = int(found[k]), (int(block[k, 0]), int(block[k, 1]))
    return Fraction(best, rows.unit), attains


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
    rows, pairs = _in_question(mechanism, top, mask)
    if rows is None:
        return None
    factors: dict[float, Fraction] = {}
    whole = rows_of(rows, pairs)
    for (s, t), distance in zip(pairs.tolist(), distances(pairs[:, 0], pairs[:, 1]).tolist(), strict=True):
        ratio = _ratio(whole[s], whole[t], rows.unit)
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

    It is the largest (p[R] - delta) / q[R] of all sets R. For a t below it, the set where p > t q gives a larger t
    (Dinkelbach's method).

    Args:
        p: A row.
        q: Another.
        unit: What stands for probability 1.
        delta: At least 0.

    Returns:
        The fraction; None where p has more than delta at reports that q never makes.
    """
    scale = delta.denominator
    left = delta.numerator * unit - scale * sum(a for a, b in zip(p, q, strict=True) if not b)
    if left < 0:
        return None
    top, under = 1, 1
    both = [(a, b) for a, b in zip(p, q, strict=True) if b]
    while True:
        both = [(a, b) for a, b in both if a * under > top * b]
        gain, mass = scale * sum(a for a, _ in both) - left, scale * sum(b for _, b in both)
        if gain * under <= top * mass:
            return Fraction(top, under)
        top, under = gain, mass


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
    most = delta.numerator * unit // delta.denominator
    alone = [(a, b) for a, b in zip(p, q, strict=True) if (a == 0) != (b == 0)]
    one, other = sum(a for a, _ in alone), sum(b for _, b in alone)
    if max(one, other) > most:
        return None
    # Different fractions of such integers differ by more than one unit of these keys.
    shift = 2 * max(*p, *q).bit_length() + 1
    both = (((max(a, b) << shift) // min(a, b), a, b) for a, b in zip(p, q, strict=True) if a and b)
    for _, a, b in sorted(both, reverse=True):
        one, other = one + a, other + b
        if max(one, other) > most:
            return Fraction(max(a, b), min(a, b))
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
    rows = integer_rows(mechanism)
    if rows is None or len(pairs) * rows.array.shape[1] > FEW:
        return None
    return largest_of_rows(rows_of(rows, pairs), rows.unit, pairs, of_pair, distances)


def rows_of(rows: IntegerRows, pairs: Pairs) -> dict[int, Row]:
    """Return the rows of some pairs, by their positions."""
    return {s: rows.array[s].tolist() for s in np.unique(pairs).tolist()}


def largest_of_rows(
    rows: Mapping[int, Row], unit: int, pairs: Pairs, of_pair: OfPair, distances: Floats | None = None
) -> tuple[float, float, Pair]:
    """Return what `largest_of_pairs` does, of rows that are known; ``unit`` stands for probability 1.

    At a distance of 0 only a factor of 1 is allowed: with a larger one both bounds are infinite.
    """
    found: tuple[float, float, Pair] = 0.0, 0.0, None
    scales = np.ones(len(pairs)) if distances is None else distances
    for (s, t), distance in zip(pairs.tolist(), scales.tolist(), strict=True):
        factor = of_pair(rows[s], rows[t], unit)
        if factor is None or (factor > 1 and distance == 0):
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
    rows, pairs = _in_question(mechanism, top, mask)
    if rows is None:
        return None
    best, whole = least, rows_of(rows, pairs)
    for s, t in pairs.tolist():
        found = of_pair(whole[s], whole[t], rows.unit)
        if found is None:
            return None
        best = max(best, found)
    return best


def _in_question(mechanism: AnyMechanism, top: Top, mask: Mask) -> tuple[IntegerRows | None, Pairs]:
    """Return the rows, None where they are too many, and the pairs that may have the largest value."""
    rows = integer_rows(mechanism)
    if unequal(mechanism, mask) is None:
        return rows, np.empty((0, 2), dtype=np.intp)
    if rows is None or top.close is None or len(top.close) * rows.array.shape[1] > FEW:
        return None, np.empty((0, 2), dtype=np.intp)
    return rows, top.close


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
