"""Rows as arrays of integers, and masses of many pairs of rows added up without rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism
from ..core.arrays import Floats
from ..core.weights import ONE_WORD
from .rows import AnyMechanism, channel

Pairs = NDArray[np.intp]

Positions = NDArray[np.intp]

_LEAST: Final = 2.0**-512  # smaller entries of an array would make integers of a thousand bits
_BLOCK: Final = 1 << 18  # entries of the pairs of a block: its arrays stay in the cache
_WORDS: Final = 1 << 33  # entries of pairs in words of 64 bits: half a minute
_OBJECTS: Final = 1 << 25  # entries of pairs in integers of Python: some seconds
_SURE: Final = 2.0**-48  # products of floats that differ by more, relatively, differ in truth
_DIGITS: Final = 53  # bits of integers that floats hold


class IntegerRows(NamedTuple):
    """Rows of a mechanism in a common unit.

    Attributes:
        array: Integers of 64 bits, or of Python (dtype object), array (n, m).
        bits: 2**bits stands for probability 1; the rows of an array may sum to a little more or less.
    """

    array: NDArray[Any]
    bits: int

    @property
    def unit(self) -> int:
        """The integer that stands for probability 1."""
        return 1 << self.bits

    def holds(self, pairs: int) -> bool:
        """Return whether the masses of so many pairs can be added up in about half a minute."""
        return pairs * int(self.array.shape[1]) <= (_WORDS if self.array.dtype == np.int64 else _OBJECTS)

    def blocks(self, pairs: Pairs) -> Iterator[tuple[Pairs, NDArray[Any], NDArray[Any]]]:
        """Yield pairs, array (k, 2), with their rows, two arrays (k, m), block after block."""
        size = max(1, _BLOCK // self.array.shape[1])
        for start in range(0, len(pairs), size):
            block = pairs[start : start + size]
            yield block, self.array[block[:, 0]], self.array[block[:, 1]]


def integer_rows(mechanism: AnyMechanism) -> IntegerRows | None:
    """Return the rows as integers; None where an entry of an array is so small that they would be huge."""
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


def masses(rows: IntegerRows, pairs: Pairs, *, alone: bool = False) -> Iterator[tuple[Pairs, NDArray[Any]]]:
    """Yield pairs with their sums over o of max(0, p - q), exact, block after block.

    Args:
        rows: The rows.
        pairs: The pairs (s, t), array (k, 2).
        alone: Whether only reports count that t never makes.
    """
    for block, p, q in rows.blocks(pairs):
        yield block, (np.where(q == 0, p, 0) if alone else np.maximum(p - q, 0)).sum(axis=1)


def weighted_masses(rows: IntegerRows, pairs: Pairs, over: int, under: int) -> Iterator[tuple[Pairs, list[int]]]:
    """Yield pairs with their sums over o of max(0, over p - under q), exact, block after block.

    Where floats leave the sign of a difference open, integers decide it.

    Args:
        rows: The rows.
        pairs: The pairs (s, t), array (k, 2).
        over: Above 0.
        under: At least 0.
    """
    largest = max(over, under)
    for block, p, q in rows.blocks(pairs):
        x, y = p.astype(np.float64) * (over / largest), q.astype(np.float64) * (under / largest)
        gaps, near = x - y, _SURE * np.maximum(x, y)
        sure = gaps > near
        sums = (np.where(sure, row, 0).sum(axis=1).tolist() for row in (p, q))
        found = [over * a - under * b for a, b in zip(*sums, strict=True)]
        at, where = np.nonzero((np.abs(gaps) <= near) & (near > 0))
        for k, a, b in zip(at.tolist(), p[at, where].tolist(), q[at, where].tolist(), strict=True):
            found[k] += max(0, over * a - under * b)
        yield block, found


def room(rows: IntegerRows, delta: float) -> Callable[[Positions], Floats]:
    """Return what tells how much of delta is left by the reports that t never makes, for rows s and all t.

    The masses are added up by products of matrices in floats, in parts that floats hold: all sums are exact.

    Args:
        rows: The rows.
        delta: From 0 to 1.

    Returns:
        From positions s, array (b,), to an array (b, n): negative exactly where the mass is above delta, zero
        exactly where it is delta; else right to a relative 2**-48.
    """
    numerator, denominator = delta.as_integer_ratio()
    whole, rest = divmod(numerator << rows.bits, denominator)
    never = rows.array == 0
    some = never.any(axis=0)
    size = _DIGITS - 1 - int(some.sum()).bit_length()
    shifts = range(0, rows.bits + 2, size)
    others, digit_mask = never[:, some].astype(np.float64).T, (1 << size) - 1

    def of(positions: Positions) -> Floats:
        own = rows.array[positions][:, some]
        carry: Floats = np.zeros((len(positions), len(rows.array)))
        found = np.full(carry.shape, rest / denominator)
        for shift in shifts:
            part = ((own >> shift) & digit_mask).astype(np.float64)
            digit = float((whole >> shift) & digit_mask) - part @ others + carry
            carry = np.floor(np.ldexp(digit, -size))
            found += np.ldexp(digit - np.ldexp(carry, size), shift)
        found += np.ldexp(carry, shifts[-1] + size)
        return np.ldexp(np.where(carry < 0, np.minimum(found, -1.0), found), -rows.bits)

    return of
