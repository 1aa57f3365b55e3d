"""Recipes of frequency oracles: encodings, hashes and subsets, drawn without their matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism
from ..sampling import AliasTables, Integers, Recipe, Words
from ..sampling.coins import below

Number = TypeVar("Number", int, Integers)


@dataclass(frozen=True, slots=True)
class Bits(Recipe):
    """Send each of ``count`` bits, of which the secret's own is 1, through one binary mechanism.

    Attributes:
        count: The number k of categories.
        bit: The mechanism of one bit, 2 x 2, in the order 0, 1.
    """

    count: int
    bit: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.bit))

    @property
    def secrets(self) -> int:
        """K."""
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        """One bit per category."""
        return (self.count,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return k bits for each row, array (count, k)."""
        own = (rows[:, None] == np.arange(self.count)).astype(np.intp)
        return self._tables.draw(own.ravel(), words).reshape(own.shape).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Hashed(Recipe):
    """Draw a uniform seed (a, b), hash the secret, and draw from the bucket's row.

    Attributes:
        categories: The number k of categories.
        prime: p; a is uniform from 1 to p - 1, and b from 0 to p - 1.
        response: The mechanism on the buckets 0, 1, ..., g - 1.
    """

    categories: int
    prime: int
    response: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.response))

    def bucket(self, a: Number, b: Number, position: Number) -> Number:
        """Return ((a x + b) mod p) mod g, the bucket of the secret at position x; of integers or arrays."""
        return (a * position + b) % self.prime % self.response.shape[0]

    @property
    def secrets(self) -> int:
        """K."""
        return self.categories

    @property
    def shape(self) -> tuple[int, ...]:
        """a, b and the bucket."""
        return (3,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return (a, b, bucket) for each row, array (count, 3)."""
        a, b = 1 + below(self.prime - 1, len(rows), words), below(self.prime, len(rows), words)
        bucket = self._tables.draw(self.bucket(a, b, rows).astype(np.intp), words)
        return np.column_stack([a, b, bucket]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Subset(Recipe):
    """Draw a coin; then a uniform subset of the other categories fills the report.

    Attributes:
        count: The number k of categories.
        size: The size d of the subset that is reported.
        coin: A mechanism of one secret and the observables 0 (the own category is left
            out, and d others are drawn) and 1 (it is in, with d - 1 others).
    """

    count: int
    size: int
    coin: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.coin))

    @property
    def secrets(self) -> int:
        """K."""
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        """D positions, in rising order."""
        return (self.size,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Shuffle the other categories as far as needed (Fisher and Yates); add the own where the coin says."""
        n, k, d = len(rows), self.count, self.size
        others = np.tile(np.arange(k - 1), (n, 1))
        others += others >= rows[:, None]
        every = np.arange(n)
        for place in range(min(d, k - 1)):
            chosen = place + below(k - 1 - place, n, words)
            swapped = others[every, chosen]
            others[every, chosen] = others[:, place]
            others[:, place] = swapped
        sets = others[:, :d].copy()
        inside = self._tables.draw(np.zeros(n, dtype=np.intp), words) == 1
        sets[inside, d - 1] = rows[inside]
        return np.sort(sets, axis=1)
