"""Unary encodings: one noisy bit for every category."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AliasTables, Mechanism, MetricPrivacy, Recipe, Space, Words, hamming
from ..core.arrays import Floats
from ..core.recipe import Integers
from ..errors import InputError
from .family import FrequencyOracle, categorical, check_listable, reports_of
from .strict import lowered

Kind = Literal["symmetric", "optimised"]
_BIT: Final = Space((0, 1))


@dataclass(frozen=True, slots=True, repr=False)
class UnaryEncoding(FrequencyOracle):
    """Reports one bit per category: the own is 1 with probability p, every other with probability q.

    ``symmetric`` (basic RAPPOR, one time): p = e^(epsilon/2) / (e^(epsilon/2) + 1), q = 1 - p.
    ``optimised``: p = 1/2, q = 1 / (e^epsilon + 1), the least variance for rare categories.

    Two secrets change two bits, so the likelihood ratio is at most
    p (1 - q) / (q (1 - p)) = e^epsilon, and it is attained.

    Args:
        space: The k categories, at least 2.
        epsilon: A pure number.
        kind: ``"symmetric"`` or ``"optimised"``.

    Raises:
        InputError: If epsilon is not positive, there is one category only, or the kind is unknown.

    Source:
        Erlingsson, Pihur and Korolova, "RAPPOR", CCS 2014; Wang, Blocki, Li and Jha,
        USENIX Security 2017, section 4. Proof: docs/proofs/categories.md.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import UnaryEncoding
        >>> UnaryEncoding(sf.Space("abc"), 2.0, "optimised").support
        (0.5, 0.1192...)
    """

    name: ClassVar[str] = "unary encoding"
    space: Space
    kind: Kind
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str, kind: Kind) -> None:
        if kind not in get_args(Kind):
            raise InputError(f"kind={kind!r} is unknown.", "use 'symmetric' or 'optimised'.")
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "_epsilon", categorical(space, epsilon))

    @property
    def epsilon(self) -> float:
        """As given; every pair attains it."""
        return self._epsilon

    @property
    def support(self) -> tuple[float, float]:
        """(p, q), the probabilities of a 1."""
        return bit_probabilities(self.kind, self._epsilon)

    @property
    def hamming_loss(self) -> float:
        """Of the decoder that picks one of the supported categories, or any if there is none, evenly.

        1 - p (1 - (1 - q)^k) / (k q) - (1 - p) (1 - q)^(k-1) / k. No decoder does better.
        """
        k = len(self.space)
        p, q = self.support
        found = p * (-math.expm1(k * math.log1p(-q)) / q if q > 0 else k)  # q underflows for large epsilon
        return 1 - (found + (1 - p) * (1 - q) ** (k - 1)) / k

    def mechanism(self) -> Mechanism:
        """Return the mechanism on all 2^k sets of supported categories (frozensets of labels).

        Raises:
            InputError: If k is above about 16.
        """
        k = len(self.space)
        check_listable(k, 1 << k, f"the {self.kind} unary encoding")
        patterns = np.arange(1 << k)[:, None] >> np.arange(k) & 1
        labels = self.space.labels
        sets = Space([frozenset(labels[i] for i in np.flatnonzero(row)) for row in patterns])
        exponents = np.array([self._epsilon])
        found = lowered(lambda scale: _products(self._bit(scale), patterns.T), exponents, self.space, sets)
        return found.promising(MetricPrivacy(self._epsilon, hamming(self.space)))

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return how many reports have each category's bit set, of bits (reports, k)."""
        bits = reports_of(reports, (len(self.space),), 1, "one bit per category")
        return np.asarray(bits.sum(axis=0), dtype=np.int64)

    def recipe(self) -> Bits:
        """Return the mechanism of one bit, on which the product of both ratios is at most e^epsilon."""
        return Bits(len(self.space), lowered(self._bit, np.array([self._epsilon]), _BIT, _BIT, ratios=2))

    def _bit(self, scale: float) -> Floats:
        return _bit_matrix(self.kind, self._epsilon * scale)


def bit_probabilities(kind: Kind, epsilon: float) -> tuple[float, float]:
    """Return (p, q): how likely the bit of the own category, and that of any other, is 1."""
    bit = _bit_matrix(kind, epsilon)
    return float(bit[1, 1]), float(bit[0, 1])


def _bit_matrix(kind: Kind, epsilon: float) -> Floats:
    if kind == "symmetric":
        odds = math.exp(-epsilon / 2)
        return np.array([[1, odds], [odds, 1]]) / (1 + odds)
    odds = math.exp(-epsilon)
    return np.array([[1 / (1 + odds), odds / (1 + odds)], [0.5, 0.5]])


@dataclass(frozen=True, slots=True)
class Bits(Recipe):
    """Send each of ``count`` bits, of which the secret's own is 1, through one binary mechanism.

    Attributes:
        count: The number k of categories.
        bit: The mechanism of one bit, 2 x 2, in the order 0, 1.
    """

    rowwise: ClassVar[bool] = True
    count: int
    bit: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.bit.weights, self.bit.bits))

    @property
    def secrets(self) -> int:
        """The number of categories."""
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        """One bit per category."""
        return (self.count,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return k bits for each row, array (count, k)."""
        own = (rows[:, None] == np.arange(self.count)).astype(np.intp)
        return self._tables.draw(own.ravel(), words).reshape(own.shape).astype(np.int64)


def _products(bit: Floats, patterns: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Floats:
    other = bit[0][patterns]
    own = bit[1][patterns]
    rows = [np.vstack([other[:s], own[s : s + 1], other[s + 1 :]]).prod(axis=0) for s in range(len(patterns))]
    return np.array(rows)
