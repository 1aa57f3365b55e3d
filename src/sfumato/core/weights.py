"""Recipes of draws, integer weights in one or two 64-bit words, and alias tables that draw with exactly these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, python, shell
from .arrays import Floats, any_array, is_frozen, readonly

ONE_WORD: Final = 62
TWO_WORDS: Final = 126
ROW_TOLERANCE: Final = 1e-9
_DIVIDED = "m = np.array(matrix, float); m /= m.sum(axis=1, keepdims=True)"
_ROUNDED = 0.01  # a row that is off by less was rounded, to single precision or a few decimals
FINE: Final = 2.0**-26  # at this probability 62 bits still round with a relative error below 2**-36
_LOW_BITS = 62  # of 126: the first word gives the other 64

Integers = NDArray[Any]
"""Positions, and weights: int64 for one word, Python integers (dtype object) for two."""
Uints = NDArray[np.uint64]


def check_stochastic(matrix: Floats) -> None:
    """Refuse a matrix with a row that is not a distribution (`InputError`, which names the row)."""
    if (matrix < 0).any():
        s, o = np.argwhere(matrix < 0)[0]
        raise InputError(
            f"the matrix is negative at secret {s}, observable {o}: {matrix[s, o]:g}.",
            "a probability is at least 0",
            python("sf.repair_to_private() repairs the answer of a solver."),
        )
    sums = matrix.sum(axis=1)
    wrong = np.abs(sums - 1.0) > ROW_TOLERANCE
    if wrong.any():
        s = int(np.argmax(np.abs(sums - 1.0)))
        is_transpose = (np.abs(matrix.sum(axis=0) - 1.0) <= ROW_TOLERANCE).all()
        rounded = (np.abs(sums - 1.0) <= _ROUNDED).all()
        rows = "1 row of the matrix does" if wrong.sum() == 1 else f"{int(wrong.sum()):,} rows of the matrix do"
        raise InputError(
            f"{rows} not sum to 1; row {s} sums to {sums[s]:.12g}.",
            "every row is a distribution over observables; nothing is renormalised silently.",
            python("pass matrix.T, whose rows are distributions.") if is_transpose else "",
            shell("save the transpose, whose rows are distributions.") if is_transpose else "",
            python(f"divide each row by its sum, in double precision: {_DIVIDED}.") if rounded else "",
            shell("divide each row by its sum, in double precision, and save that.") if rounded else "",
        )


def needed_bits(matrix: Floats) -> int:
    """Return 62, or 126 where 62 bits would round the smallest probability coarsely."""
    positive = matrix[matrix > 0]
    return ONE_WORD if positive.min() >= FINE else TWO_WORDS


def quantise(matrix: Floats, bits: int) -> Integers:
    """Return integers proportional to the rows, each row summing to exactly 2**bits.

    Entries are rounded down to multiples of 2**-bits, but a positive probability never to zero; the row's largest
    entry takes the difference. Equal rows give equal integers.
    """
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    scaled = np.ldexp(rows, bits)  # exact: a power of two
    weights: Integers = scaled.astype(np.int64) if bits == ONE_WORD else np.frompyfunc(int, 1, 1)(scaled)
    weights[(weights == 0) & (matrix > 0)] = 1
    rest = (1 << bits) - weights.sum(axis=1)
    weights[np.arange(len(weights)), np.argmax(rows, axis=1)] += rest
    return weights


def check_weights(weights: Integers, bits: int) -> Integers:
    """Return integer weights, a copy of those that are writable; `InputError` for anything else."""
    if bits not in (ONE_WORD, TWO_WORDS):
        raise InputError(f"weights of {bits} bits are unknown.", f"use {ONE_WORD} or {TWO_WORDS}.")
    array = any_array(weights, "weights=")
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"the weights have shape {array.shape}.", "pass an array of secrets x observables.")
    if bits == ONE_WORD and array.dtype == np.int64 and _sound(array):
        return array if is_frozen(array) else array.copy()
    # Python integers: a sum of int64 could wrap around to the right value.
    exact = array.astype(object)
    if array.dtype.kind not in "iuO" or not all(isinstance(entry, int) for entry in exact.flat):
        raise InputError("the weights are not all integers.", "pass integers; Mechanism(matrix) rounds for you.")
    if (exact < 0).any():
        s, o = np.argwhere(exact < 0)[0]
        raise InputError(f"the weight at secret {s}, observable {o} is negative.", "weights are at least 0.")
    sums = exact.sum(axis=1)
    wrong = sums != (1 << bits)
    if wrong.any():
        s = int(np.flatnonzero(wrong)[0])
        raise InputError(f"the weights of row {s} sum to {sums[s]}, not to 2**{bits}.", "the data are damaged.")
    return exact.astype(np.int64) if bits == ONE_WORD else exact


def _sound(weights: Integers) -> bool:
    """Return whether int64 weights are non-negative and rows sum to 2**62; halves of words are summed apart."""
    if int(weights.min()) < 0:
        return False
    low = (weights & 0xFFFFFFFF).sum(axis=1)
    high = np.right_shift(weights, 32).sum(axis=1)  # of fewer than 2**31 entries, so no sum wraps around
    return bool((high <= 1 << 30).all()) and bool(((high << 32) + low == 1 << ONE_WORD).all())


def as_matrix(weights: Integers, bits: int) -> Floats:
    """Return the probabilities of the weights, each rounded to the nearest float."""
    return np.asarray(np.ldexp(weights.astype(np.float64), -bits))


def as_words(integers: NDArray[Any], low_bits: int = 64) -> tuple[Uints, Uints]:
    """Return (high, low) with integers = high * 2**low_bits + low, for integers below 2**(64 + low_bits)."""
    return (integers >> low_bits).astype(np.uint64), (integers & ((1 << low_bits) - 1)).astype(np.uint64)


def from_words(high: Uints, low: Uints, low_bits: int = 64) -> NDArray[Any]:
    """Return the Python integers high * 2**low_bits + low (dtype object)."""
    return np.asarray((high.astype(object) << low_bits) + low.astype(object))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AliasTables:
    """One alias table per secret, made of the mechanism's integers alone.

    The observables are padded with outcomes of weight zero to 2**k table columns of capacity 2**(bits - k), k at
    least 1. Of a draw's ``bits`` random bits the first k choose the column; the others, compared with its
    threshold, choose between the column and its alias. Both numbers are powers of two, so p(o|s) is weights[s, o]
    / 2**bits exactly. With 126 bits a first word settles all but a share below 2**(k - 64) of the draws, those
    whose bits equal the upper 64 bits ``high`` of the threshold; a second word is compared with the lower 62,
    ``low``.

    Source:
        Walker, "An efficient method for generating discrete random variables with general distributions", 1977;
        Huebschle-Schneider and Sanders, "Parallel weighted random sampling", 2022 (the sweeping construction).
    """

    bits: int
    log_columns: int
    high: Uints
    low: Uints | None
    alias: NDArray[np.int32]

    @classmethod
    def of(cls, weights: Integers, bits: int) -> AliasTables:
        """Return the tables of weights, array (secrets, observables), whose rows sum to 2**bits."""
        k = max(1, (weights.shape[1] - 1).bit_length())
        thresholds, alias = _sweep_weights(weights, k, bits)
        if bits == ONE_WORD:
            high, low = thresholds.astype(np.uint64), None
        else:
            high, low = as_words(thresholds, _LOW_BITS)
            readonly(low)
        return cls(bits, k, readonly(high), low, readonly(alias))

    def draw(self, rows: NDArray[np.intp], words: Words) -> NDArray[np.intp]:
        """Return one observable's position for each of the secrets at ``rows`` (unchecked), array (count,)."""
        k = self.log_columns
        spare = 2 if self.low is None else 0
        word = words.draw(rows.size)
        column = (word >> np.uint64(64 - k)).astype(np.intp)
        rest = (word >> np.uint64(spare)) & np.uint64((1 << (64 - spare - k)) - 1)
        cell = (rows << k) + column
        threshold = self.high.reshape(-1)[cell]
        direct = rest < threshold
        if self.low is not None:
            tie = np.flatnonzero(rest == threshold)
            if tie.size:
                direct[tie] = words.draw(tie.size) >> np.uint64(2) < self.low.reshape(-1)[cell[tie]]
        return np.where(direct, column, self.alias.reshape(-1)[cell])

    def draw_one(self, row: int, words: Words) -> int:
        """Return one observable's position for one row, as `draw` does and from the same words, in less time."""
        k = self.log_columns
        spare = 2 if self.low is None else 0
        word = int(words.draw(1)[0])
        column, rest = word >> (64 - k), (word >> spare) & ((1 << (64 - spare - k)) - 1)
        threshold = self.high.item(row, column)
        direct = rest < threshold
        if self.low is not None and rest == threshold:
            direct = int(words.draw(1)[0]) >> 2 < self.low.item(row, column)
        return column if direct else self.alias.item(row, column)


def _sweep_weights(weights: Integers, k: int, bits: int) -> tuple[Integers, NDArray[np.int32]]:
    """Return thresholds and aliases, arrays (secrets, 2**k).

    Each row is swept once: columns within capacity in their order, and in parallel those above, whose excess fills
    the former. One step closes one column of every row.
    """
    n, m = weights.shape
    size, capacity = 1 << k, 1 << (bits - k)
    thresholds = np.zeros((n, size), dtype=weights.dtype)
    thresholds[:, :m] = weights
    alias = np.tile(np.arange(size, dtype=np.int32), (n, 1))
    order = np.argsort(thresholds > capacity, axis=1, kind="stable")
    giver = np.count_nonzero(thresholds <= capacity, axis=1)  # place in `order` of the column that gives
    taker = np.zeros(n, dtype=np.intp)
    # Without a column above capacity all equal it, as they sum to size * capacity.
    rows = np.flatnonzero(giver < size)
    while rows.size:
        column = order[rows, giver[rows]]
        left = thresholds[rows, column]
        above = np.asarray(left > capacity, dtype=bool)

        r, c = rows[above], column[above]
        filled = order[r, taker[r]]
        alias[r, filled] = c
        thresholds[r, c] -= capacity - thresholds[r, filled]
        taker[r] += 1

        # A giver that fell to its capacity or below is itself filled by the next giver.
        # After the last giver all that is left equals the capacity.
        r, c, short = rows[~above], column[~above], capacity - left[~above]
        giver[r] += 1
        more = giver[r] < size
        r, c, short = r[more], c[more], short[more]
        following = order[r, giver[r]]
        alias[r, c] = following
        thresholds[r, following] -= short
        rows = rows[giver[rows] < size]
    return thresholds, alias


class Words(Protocol):
    """A source of independent, uniform 64-bit words."""

    def draw(self, count: int) -> Uints:
        """Return the next ``count`` words."""


class Recipe(ABC):
    """The exact way in which a report is drawn: integers, uniform choices and rational coins, no float."""

    __slots__ = ()

    rowwise: ClassVar[bool] = False
    """Whether rows draw the same words together as each alone (but for ties): see `KeyedWords`."""

    @property
    @abstractmethod
    def secrets(self) -> int | None:
        """Number of secrets, at positions 0, 1, ...; None where the secret is any integer."""

    @property
    def row(self) -> Recipe | None:
        """The `Row` that draws the true report, where reports are positions of its mechanism's observables."""
        return None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one report; () where it is a single number."""
        return ()

    @abstractmethod
    def draw(self, rows: Integers, words: Words) -> Integers:
        """Return one independent report for each secret, array (count, ...) of reports of shape `shape`.

        ``rows`` has positions of secrets, or the integers themselves, array (count,); it is not checked here.
        """


class PointRecipe(ABC):
    """The exact way in which a report is drawn for a point on the ground."""

    __slots__ = ()

    @abstractmethod
    def blur_points(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Floats:
        """Return a report for each point in degrees: latitudes and longitudes, array (n, 2).

        ``nearest`` moves points outside the region served to its nearest point, else they are an `InputError`.
        """

    @abstractmethod
    def blur_point(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return a report for one point: latitude and longitude; see `blur_points`."""
