"""Integer alias tables: one word in, one outcome out, every probability exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import readonly
from .recipe import Uints, Words
from .weights import ONE_WORD, Integers, as_words

_LOW_BITS = 62  # of 126: the first word gives the other 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AliasTables:
    """One alias table per secret, made of the mechanism's integers alone.

    The observables are padded with outcomes of weight zero to 2**k table columns of
    capacity 2**(bits - k). A draw takes ``bits`` random bits: the first k choose the
    column, the others are compared with the column's threshold and so choose between
    the column itself and its alias. As both numbers are powers of two there is neither
    rounding nor rejection: p(o|s) is weights[s, o] / 2**bits exactly.

    With 126 bits a first word settles all but a share below 2**(k - 64) of the draws,
    those whose bits equal the threshold's; a second word settles these.

    Attributes:
        bits: The bits of a draw, as in the mechanism.
        log_columns: k, at least 1.
        high: Thresholds, array (secrets, 2**k); with 126 bits, their upper 64 bits.
        low: With 126 bits, the lower 62 bits of the thresholds; otherwise None.
        alias: Positions, array (secrets, 2**k).

    Source:
        Walker, "An efficient method for generating discrete random variables with
        general distributions", 1977; Huebschle-Schneider and Sanders, "Parallel
        weighted random sampling", 2022 (the sweeping construction).
    """

    bits: int
    log_columns: int
    high: Uints
    low: Uints | None
    alias: NDArray[np.int32]

    @classmethod
    def of(cls, weights: Integers, bits: int) -> AliasTables:
        """Return the tables of a mechanism's weights, array (secrets, observables), whose rows sum to 2**bits."""
        k = max(1, (weights.shape[1] - 1).bit_length())
        thresholds, alias = _swept(weights, k, bits)
        if bits == ONE_WORD:
            high, low = thresholds.astype(np.uint64), None
        else:
            high, low = as_words(thresholds, _LOW_BITS)
            readonly(low)
        return cls(bits, k, readonly(high), low, readonly(alias))

    def draw(self, rows: NDArray[np.intp], words: Words) -> NDArray[np.intp]:
        """Return one observable's position for each row, array (count,).

        Args:
            rows: Positions of secrets, array (count,); not checked here.
            words: Where the randomness comes from.
        """
        k = self.log_columns
        spare = 2 if self.low is None else 0
        word = words.draw(rows.size)
        column = (word >> np.uint64(64 - k)).astype(np.intp)
        rest = (word >> np.uint64(spare)) & np.uint64((1 << (64 - spare - k)) - 1)
        cell = (rows << k) + column
        threshold = self.high.reshape(-1)[cell]
        own = rest < threshold
        if self.low is not None:
            tie = np.flatnonzero(rest == threshold)
            if tie.size:
                own[tie] = words.draw(tie.size) >> np.uint64(2) < self.low.reshape(-1)[cell[tie]]
        return np.where(own, column, self.alias.reshape(-1)[cell])

    def draw_one(self, row: int, words: Words) -> int:
        """Return one observable's position for one row: as `draw` does, from the same words, in less time."""
        k = self.log_columns
        spare = 2 if self.low is None else 0
        word = int(words.draw(1)[0])
        column, rest = word >> (64 - k), (word >> spare) & ((1 << (64 - spare - k)) - 1)
        threshold = self.high.item(row, column)
        own = rest < threshold
        if self.low is not None and rest == threshold:
            own = int(words.draw(1)[0]) >> 2 < self.low.item(row, column)
        return column if own else self.alias.item(row, column)


def _swept(weights: Integers, k: int, bits: int) -> tuple[Integers, NDArray[np.int32]]:
    """Return thresholds and aliases, arrays (secrets, 2**k).

    Each row is swept once: its columns within capacity in their order, and beside them
    the columns above capacity, whose excess fills the former. One step closes one
    column of every row.
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
