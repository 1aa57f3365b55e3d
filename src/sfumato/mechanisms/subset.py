"""Subset selection: a random set of categories that more probably holds the own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AliasTables, Mechanism, MetricPrivacy, Recipe, Space, Words, hamming
from ..core.arrays import Floats
from ..core.recipe import Integers
from ..errors import InputError
from ..sampling.coins import below
from .family import FrequencyOracle, categorical, check_listable, reports_of
from .strict import lowered

_COIN = Space((0, 1))
_ONE = Space(("own",))


@dataclass(frozen=True, slots=True, repr=False)
class SubsetSelection(FrequencyOracle):
    """Reports a set of d categories; sets that hold the secret are e^epsilon times as likely as others.

    The own category is in it with probability p = d e^epsilon / (d e^epsilon + k - d);
    given that, the set is uniform. For d = 1 it is randomised response.

    Args:
        space: The k categories, at least 2.
        epsilon: A pure number.
        size: d, 1 to k - 1; by default the one of least variance for a rare category.

    Raises:
        InputError: If epsilon is not positive, there is one category only, or d is out of range.

    Source:
        Ye and Barg, "Optimal schemes for discrete distribution estimation under locally
        differential privacy", 2018; Wang et al., "Mutual information optimally local
        private discrete distribution estimation", 2016. Proof: docs/proofs/categories.md.
    """

    name: ClassVar[str] = "subset selection"
    space: Space
    size: int
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str, size: int | None = None) -> None:
        value, k = categorical(space, epsilon), len(space)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "_epsilon", value)
        if size is not None and not 1 <= size < k:
            raise InputError(f"subsets of {size} out of {k} categories were asked for.", f"use 1 to {k - 1}.")
        object.__setattr__(self, "size", _best_size(k, value) if size is None else size)

    @property
    def epsilon(self) -> float:
        """As given; every pair attains it."""
        return self._epsilon

    @property
    def support(self) -> tuple[float, float]:
        """p, and q = p (d - 1) / (k - 1) + (1 - p) d / (k - 1)."""
        return _support(len(self.space), self.size, self._epsilon)

    @property
    def hamming_loss(self) -> float:
        """Of the decoder that picks a member of the set evenly: 1 - p / d. No decoder does better."""
        return 1 - self.support[0] / self.size

    def mechanism(self) -> Mechanism:
        """Return the mechanism on all sets of d categories (frozensets of labels).

        Raises:
            InputError: If there are too many sets to list.
        """
        k, d = len(self.space), self.size
        check_listable(k, math.comb(k, d), "subset selection")
        sets = list(combinations(range(k), d))
        inside = np.zeros((k, len(sets)), dtype=bool)
        for column, members in enumerate(sets):
            inside[list(members), column] = True
        labels = self.space.labels
        reports = Space([frozenset(labels[i] for i in members) for members in sets])

        def build(scale: float) -> Floats:
            odds = math.exp(-self._epsilon * scale)
            rows: Floats = np.where(inside, 1.0, odds) / (math.comb(k - 1, d - 1) + math.comb(k - 1, d) * odds)
            return rows

        promised = MetricPrivacy(self._epsilon, hamming(self.space))
        return lowered(build, np.array([self._epsilon]), self.space, reports).promising(promised)

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return how many reports hold each category, of positions (reports, d)."""
        k = len(self.space)
        sets = reports_of(reports, (self.size,), k - 1, "positions of categories")
        return np.bincount(sets.ravel(), minlength=k).astype(np.int64)

    def recipe(self) -> Subset:
        """Return the coin for the own category; uniform subsets of the others do the rest."""
        k, d = len(self.space), self.size

        def coin(scale: float) -> Floats:
            left_out = (k - d) / d * math.exp(-self._epsilon * scale)
            return np.array([[left_out, 1.0]]) / (1 + left_out)

        return Subset(k, d, lowered(coin, np.array([self._epsilon]), _ONE, _COIN))


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
        object.__setattr__(self, "_tables", AliasTables.of(self.coin.weights, self.coin.bits))

    @property
    def secrets(self) -> int:
        """The number of categories."""
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        """As many positions as the subset has, in rising order."""
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


def _support(k: int, d: int, epsilon: float) -> tuple[float, float]:
    out = (k - d) * math.exp(-epsilon)
    p = d / (d + out)
    return p, (p * (d - 1) + out / (d + out) * d) / (k - 1)


def _best_size(k: int, epsilon: float) -> int:
    """Return the d of least q (1 - q) / (p - q)**2, near k / (e^epsilon + 1)."""
    near = int(k / (math.exp(min(epsilon, 700.0)) + 1))

    def variance(d: int) -> float:
        p, q = _support(k, d, epsilon)
        return q * (1 - q) / (p - q) ** 2

    return min(range(max(1, near - 1), min(k - 1, near + 2) + 1), key=variance)
