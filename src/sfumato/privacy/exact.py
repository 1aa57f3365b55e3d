"""Exact largest values over the pairs that rounding leaves open; None where that would take too long."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import ONE_WORD, Mechanism
from ..core.arrays import Floats, Positions
from ..intervals import Interval, lower_end, upper_end
from ..intervals import exact as interval
from ..rounding import float_above, float_below
from .rows import AnyMechanism, Mask, channel, pair_blocks, unequal_pair
from .search import Top

Pairs = Positions
"""Pairs (s, t) of positions of rows, array (k, 2)."""

_LEAST: Final = 2.0**-512  # smaller entries would need integers of over a thousand bits
_BLOCK: Final = 1 << 18  # entries of the pairs of a block: its arrays stay in the cache
_WORDS: Final = 1 << 33  # entries of pairs in words of 64 bits: half a minute
_OBJECTS: Final = 1 << 25  # entries of pairs in integers of Python: some seconds
_SURE: Final = 2.0**-48  # products of floats with a larger relative difference differ exactly
_DIGITS: Final = 53  # bits of integers that floats hold


class IntegerRows(NamedTuple):
    """Rows of a mechanism as integers, array (n, m); 2**bits is probability 1, and rows sum to about that."""

    array: NDArray[Any]
    bits: int

    @property
    def unit(self) -> int:
        """The integer for probability 1."""
        return 1 << self.bits

    def holds(self, pairs: int) -> bool:
        """Return whether the masses of this many pairs can be summed in about half a minute."""
        return pairs * int(self.array.shape[1]) <= (_WORDS if self.array.dtype == np.int64 else _OBJECTS)

    def blocks(self, pairs: Pairs) -> Iterator[tuple[Pairs, NDArray[Any], NDArray[Any]]]:
        """Return pairs, array (k, 2), with their rows, two arrays (k, m), block after block."""
        return pair_blocks(self.array, pairs, _BLOCK)


def integer_rows(mechanism: AnyMechanism) -> IntegerRows | None:
    """Return the rows as integers; None where an entry of an array is too small for that."""
    if isinstance(mechanism, Mechanism):
        return IntegerRows(mechanism.weights, mechanism.bits)
    matrix = channel(mechanism).matrix
    least = float(matrix[matrix > 0].min())
    if least < _LEAST:
        return None
    words = np.ldexp(matrix, ONE_WORD)
    if (words == np.floor(words)).all():
        return IntegerRows(words.astype(np.int64), ONE_WORD)
    bits = _DIGITS - int(np.frexp(least)[1])
    return IntegerRows(np.asarray(np.frompyfunc(int, 1, 1)(np.ldexp(matrix, bits))), bits)


def weighted_masses(rows: IntegerRows, pairs: Pairs, over: int, under: int) -> Iterator[tuple[Pairs, list[int]]]:
    """Yield pairs with their exact sums over o of max(0, over p - under q), block after block."""
    largest = max(over, under)
    for block, p, q in rows.blocks(pairs):
        x, y = p.astype(np.float64) * (over / largest), q.astype(np.float64) * (under / largest)
        gaps, near = x - y, _SURE * np.maximum(x, y)
        sure = gaps > near
        sums = (np.where(sure, row, 0).sum(axis=1).tolist() for row in (p, q))
        totals = [over * a - under * b for a, b in zip(*sums, strict=True)]
        at, where = np.nonzero((np.abs(gaps) <= near) & (near > 0))
        for k, a, b in zip(at.tolist(), p[at, where].tolist(), q[at, where].tolist(), strict=True):
            totals[k] += max(0, over * a - under * b)
        yield block, totals


def room(rows: IntegerRows, delta: float) -> Callable[[Positions], Floats]:
    """Return a function of rows s that gives delta minus the mass of reports that t never makes, for all t.

    It is negative exactly where the mass is above delta, zero exactly where it is delta, and otherwise correct to
    a relative 2**-48. Products of matrices in floats add up the masses, in parts so small that all sums are exact.
    """
    numerator, denominator = delta.as_integer_ratio()
    whole, rest = divmod(numerator << rows.bits, denominator)
    never = rows.array == 0
    columns = never.any(axis=0)
    size = _DIGITS - 1 - int(columns.sum()).bit_length()
    shifts = range(0, rows.bits + 2, size)
    zeros, digit_mask = never[:, columns].astype(np.float64).T, (1 << size) - 1

    def of(positions: Positions) -> Floats:
        entries = rows.array[positions][:, columns]
        carry: Floats = np.zeros((len(positions), len(rows.array)))
        total = np.full(carry.shape, rest / denominator)
        for shift in shifts:
            part = ((entries >> shift) & digit_mask).astype(np.float64)
            digit = float((whole >> shift) & digit_mask) - part @ zeros + carry
            carry = np.floor(np.ldexp(digit, -size))
            total += np.ldexp(digit - np.ldexp(carry, size), shift)
        total += np.ldexp(carry, shifts[-1] + size)
        return np.ldexp(np.where(carry < 0, np.minimum(total, -1.0), total), -rows.bits)

    return of


Row = list[int]
"""The probabilities of a row in a common unit."""

OfPair = Callable[[Row, Row, int], Fraction | None]
"""From two rows and the integer for probability 1 to a number; None where it is infinite."""

Pair = tuple[int, int] | None
"""Positions of two secrets; None where all secrets are alike."""

FEW: Final = 2**17
"""Entries of pairs that Python integers compare in about half a second."""


def largest_factor(mechanism: AnyMechanism, top: Top, mask: Mask, *, both: bool = False) -> Fraction | None:
    """Return the largest p(o|s) / p(o|s') of the pairs in a mask, at least 1; None also where it is infinite.

    With ``both`` it is the product of that of a pair and that of its other order.
    """
    rows, pairs = _in_question(mechanism, top, mask)
    if rows is None:
        return None
    best, whole = Fraction(1), rows_of(rows, pairs)
    for s, t in pairs.tolist():
        factor, other = _ratio(whole[s], whole[t]), _ratio(whole[t], whole[s]) if both else Fraction(1)
        if factor is None or other is None:
            return None
        best = max(best, factor * other)
    return best


def largest_mass(
    mechanism: AnyMechanism, top: Top, mask: Mask, *, alone: bool = False
) -> tuple[Fraction, Pair] | None:
    """Return the largest sum over o of max(0, p(o|s) - p(o|s')) of the pairs in a mask, and a pair with it.

    With ``alone`` only reports count that the other secret never makes.
    """
    if unequal_pair(mechanism, mask) is None:
        return Fraction(0), None
    rows = integer_rows(mechanism)
    pairs = np.argwhere(mask) if top.close is None else top.close
    if rows is None or not rows.holds(len(pairs)):
        return None
    best, attains = 0, None
    for block, p, q in rows.blocks(pairs):
        sums = (np.where(q == 0, p, 0) if alone else np.maximum(p - q, 0)).sum(axis=1)
        k = int(sums.argmax())
        if sums[k] > best:
            best, attains = int(sums[k]), (int(block[k, 0]), int(block[k, 1]))
    return Fraction(best, rows.unit), attains


def largest_rate(
    mechanism: AnyMechanism, top: Top, mask: Mask, distances: Callable[[Pairs, Pairs], Floats]
) -> tuple[float, float] | None:
    """Return close bounds of the largest ln(p(o|s) / p(o|s')) / d(s, s') of the pairs in a mask, at least 0."""
    rows, pairs = _in_question(mechanism, top, mask)
    if rows is None:
        return None
    factors: dict[float, Fraction] = {}
    whole = rows_of(rows, pairs)
    for (s, t), distance in zip(pairs.tolist(), distances(pairs[:, 0], pairs[:, 1]).tolist(), strict=True):
        ratio = _ratio(whole[s], whole[t])
        if ratio is None:
            return None
        factors[distance] = max(factors.get(distance, Fraction(1)), ratio)
    rates = [_rate(factor, distance) for distance, factor in factors.items() if factor > 1]
    return max([0.0, *map(lower_end, rates)]), max([0.0, *map(upper_end, rates)])


def least_factor(p: Row, q: Row, unit: int, delta: Fraction) -> Fraction | None:
    """Return the least t >= 1 with sum of max(0, p - t q) at most delta (Dinkelbach); None if none is."""
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

    None where a row has more than delta at reports that the other never makes.
    """
    most = delta.numerator * unit // delta.denominator
    alone = [(a, b) for a, b in zip(p, q, strict=True) if (a == 0) != (b == 0)]
    p_mass, q_mass = sum(a for a, _ in alone), sum(b for _, b in alone)
    if max(p_mass, q_mass) > most:
        return None
    # Different fractions of such integers differ by more than one unit of these keys.
    shift = 2 * max(*p, *q).bit_length() + 1
    both = (((max(a, b) << shift) // min(a, b), a, b) for a, b in zip(p, q, strict=True) if a and b)
    for _, a, b in sorted(both, reverse=True):
        p_mass, q_mass = p_mass + a, q_mass + b
        if max(p_mass, q_mass) > most:
            return Fraction(max(a, b), min(a, b))
    return Fraction(1)


def largest_of_pairs(
    mechanism: AnyMechanism, pairs: Pairs, of_pair: OfPair, distances: Floats | None = None
) -> tuple[float, float, Pair] | None:
    """Return bounds of the largest ln(t) / d of some pairs, and a pair that attains it (None if both are 0).

    The factor t is at least 1, and the distances d are positive and finite, by default 1.
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
    """Return the answer of `largest_of_pairs` for known rows: infinite if a factor is above 1 at distance 0."""
    largest: tuple[float, float, Pair] = 0.0, 0.0, None
    scales = np.ones(len(pairs)) if distances is None else distances
    for (s, t), distance in zip(pairs.tolist(), scales.tolist(), strict=True):
        factor = of_pair(rows[s], rows[t], unit)
        if factor is None or (factor > 1 and distance == 0):
            return math.inf, math.inf, (s, t)
        rate = _rate(factor, distance)
        if factor > 1 and upper_end(rate) > largest[1]:
            largest = max(largest[0], lower_end(rate)), upper_end(rate), (s, t)
    return largest


def round_down(least: Fraction, most: Fraction) -> tuple[float, float]:
    """Return the float just below the lesser of two fractions, and how far the larger one may be above it."""
    lower = float_below(least)
    return lower, float_above(most - Fraction(lower))


def _in_question(mechanism: AnyMechanism, top: Top, mask: Mask) -> tuple[IntegerRows | None, Pairs]:
    """Return the rows (None where too many) and the pairs that may have the largest value."""
    rows = integer_rows(mechanism)
    if unequal_pair(mechanism, mask) is None:
        return rows, np.empty((0, 2), dtype=np.intp)
    if rows is None or top.close is None or len(top.close) * rows.array.shape[1] > FEW:
        return None, np.empty((0, 2), dtype=np.intp)
    return rows, top.close


def _ratio(p: Row, q: Row) -> Fraction | None:
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
