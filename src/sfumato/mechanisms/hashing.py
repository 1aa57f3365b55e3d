"""Local hashing: randomised response on the bucket of a random hash."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AliasTables, Integers, Mechanism, Recipe, Space, Words
from ..core.arrays import Floats
from ..core.immutable import assign
from ..errors import InputError
from ..sampling.coins import draw_below
from .family import check_listable
from .frequency_oracles import FrequencyOracle, categorical, randomised_response, reports_of

Number = TypeVar("Number", int, Integers)

_MOST_CATEGORIES = 1 << 31  # a x + b then fits a signed 64-bit word
_MOST_COUNTED = 1 << 12
_BLOCK = 1 << 22  # pairs of a report and a category at a time


@dataclass(frozen=True, slots=True, repr=False)
class LocalHashing(FrequencyOracle):
    """Reports a random hash function and a randomised response to the secret's bucket.

    The secret at position x has the bucket ((a x + b) mod p) mod g, for a uniform seed 1 <= a < p, 0 <= b < p, and
    the least prime p that is at least k and g. The bucket then passes through randomised response on the g
    buckets.

    The seed is independent of the secret, and some seeds separate any two secrets, so epsilon is exact for every
    g. Any two secrets collide with the same probability, slightly below 1/g (`collision`). The estimate is
    unbiased for exactly this p; the literature assumes 1/g. There are k >= 2 categories, and epsilon is a pure
    number; g is at least 2, by default the integer nearest to e^epsilon + 1, but at most k. Raises `InputError` if
    epsilon is not positive, there is one category only, or g is below 2.

    Source:
        Wang, Blocki, Li and Jha, USENIX Security 2017, section 4.4 (optimal local hashing); Carter and Wegman,
        "Universal classes of hash functions", 1979. Proof: docs/proofs/categories.md.
    """

    name: ClassVar[str] = "local hashing"
    space: Space
    buckets: int
    prime: int
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str, buckets: int | None = None) -> None:
        value, k = categorical(space, epsilon), len(space)
        if k > _MOST_CATEGORIES:
            raise InputError(f"there are {k:,} categories.", f"use at most {_MOST_CATEGORIES:,}.")
        if buckets is None:
            buckets = max(2, k if value > math.log(k) else min(k, round(math.exp(value)) + 1))
        if not 2 <= buckets <= _MOST_CATEGORIES:
            most = f"{_MOST_CATEGORIES:,}"
            raise InputError(f"{buckets} buckets were given.", f"use 2 to {most}; e^epsilon + 1 is best.")
        least = max(k, buckets)
        primes = (n for n in range(least, 2 * least + 2) if all(n % d for d in range(2, math.isqrt(n) + 1)))
        assign(self, space=space, buckets=buckets, prime=next(primes), _epsilon=value)

    @property
    def collision(self) -> Fraction:
        """The exact probability that two given categories share a bucket.

        (a, b) -> (a x + b, a y + b) mod p is a bijection onto distinct residues: the share that agrees mod g.
        """
        p, g = self.prime, self.buckets
        low, larger = divmod(p, g)
        return Fraction(larger * (low + 1) * low + (g - larger) * low * (low - 1), p * (p - 1))

    @property
    def support(self) -> tuple[float, float]:
        """(p, q) with q = c p + (1 - c) p exp(-epsilon) for the collision probability c."""
        same, other = self._response
        c = float(self.collision)
        return same, c * same + (1 - c) * other

    @property
    def hamming_loss(self) -> float:
        """The loss of the decoder that picks a category in the reported bucket, or any if it is empty.

        1 - (N p + (g - N) p exp(-epsilon)) / k, where N is the mean number of buckets that hold a category; no
        decoder does better. Raises `InputError` if buckets may be empty and there are more than about four
        thousand categories.
        """
        same, other = self._response
        full = self.buckets - float(self._empty())
        return 1 - (full * same + (self.buckets - full) * other) / len(self.space)

    def mechanism(self) -> Mechanism:
        """Return the mechanism on all reports (a, b, bucket); `InputError` if there are too many to list."""
        k, p, g = len(self.space), self.prime, self.buckets
        check_listable(k, p * (p - 1) * g, "local hashing")
        a, b = (grid.ravel() for grid in np.meshgrid(np.arange(1, p), np.arange(p), indexing="ij"))
        hashed = (a * np.arange(k)[:, None] + b) % p % g
        reports = Space([(i, j, z) for i, j in zip(a.tolist(), b.tolist(), strict=True) for z in range(g)])

        def build(scale: float) -> Floats:
            odds = math.exp(-self._epsilon * scale)
            weights = np.where(hashed[:, :, None] == np.arange(g), 1.0, odds)
            return np.asarray(weights.reshape(k, -1) / ((1 + (g - 1) * odds) * len(a)))

        return self._matrix(build, reports)

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the number of reports with each category in their bucket, from (a, b, bucket) (reports, 3)."""
        k, g = len(self.space), self.buckets
        triples = reports_of(reports, (3,), self.prime - 1, "triples (a, b, bucket) of a hash")
        if int(triples[:, 2].max()) >= g:
            raise InputError(f"a report names bucket {int(triples[:, 2].max())} of {g}.", f"use 0 to {g - 1}.")
        counts = np.zeros(k, dtype=np.int64)
        width = max(1, _BLOCK // k)
        for start in range(0, len(triples), width):
            a, b, bucket = triples[start : start + width].T[:, :, None]
            counts += ((a * np.arange(k) + b) % self.prime % g == bucket).sum(axis=0)
        return counts

    def recipe(self) -> Hashing:
        """Return the recipe: a uniform seed, then randomised response on the buckets."""
        check_listable(self.buckets, self.buckets, "the response to the buckets")
        return Hashing(len(self.space), self.prime, randomised_response(Space(range(self.buckets)), self._epsilon))

    @property
    def _response(self) -> tuple[float, float]:
        same = 1 / (1 + (self.buckets - 1) * math.exp(-self._epsilon))
        return same, same * math.exp(-self._epsilon)

    def _empty(self) -> Fraction:
        """Return the mean number of buckets without a category, by the gaps of their residues divided by a."""
        k, p, g = len(self.space), self.prime, self.buckets
        if p - k < p // g:
            return Fraction(0)
        if p > _MOST_COUNTED:
            raise InputError(
                f"with {k:,} categories and {g:,} buckets, some may be empty, and counting them takes too long.",
                "use fewer buckets: then none is ever empty.",
            )
        factors = np.arange(1, p)[:, None]
        fits = 0
        for bucket in range(g):
            places = np.sort(np.arange(bucket, p, g) * factors % p, axis=1)
            gaps = np.diff(places, axis=1, append=places[:, :1] + p)
            fits += int(np.maximum(gaps - k, 0).sum())
        return Fraction(fits, p * (p - 1))


@dataclass(frozen=True, slots=True)
class Hashing(Recipe):
    """Draw a uniform seed (a, b), hash the secret, and draw from the bucket's row of ``response``."""

    categories: int
    prime: int
    response: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.response.weights, self.response.bits))

    def bucket(self, a: Number, b: Number, position: Number) -> Number:
        """Return ((a x + b) mod p) mod g, the bucket of the secret at position x, for integers or arrays."""
        return (a * position + b) % self.prime % self.response.shape[0]

    @property
    def secrets(self) -> int:
        """The number of categories."""
        return self.categories

    @property
    def shape(self) -> tuple[int, ...]:
        """a, b and the bucket."""
        return (3,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return (a, b, bucket) for each row, array (count, 3)."""
        a, b = 1 + draw_below(self.prime - 1, len(rows), words), draw_below(self.prime, len(rows), words)
        bucket = self._tables.draw(self.bucket(a, b, rows).astype(np.intp), words)
        return np.column_stack([a, b, bucket]).astype(np.int64)
