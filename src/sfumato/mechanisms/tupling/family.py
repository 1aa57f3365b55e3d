"""Accountants of families of distributions: the privacy of a tuple for the worst pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket, Prior
from ...core.arrays import Floats, any_array, floats, readonly
from ...core.immutable import CompactRepr, assign
from ...errors import InputError
from ...rounding import UNIT
from .accountant import PairAccountant
from .mechanism import Tupling, check_delta, check_epsilon

Pairs = NDArray[np.intp]


@dataclass(frozen=True, slots=True, repr=False)
class Worst(CompactRepr):
    """Proved bounds of the largest value over all pairs, and the pair whose upper bound is largest."""

    bounds: Bracket
    pair: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FamilyAccountant:
    """The privacy of a tupling mechanism over ordered pairs of distributions.

    Pairs that a cheap bound excludes from being the worst one are skipped. The cheap bound of delta is (sqrt(V /
    (k+1) + c**2) + c) / 2 with c = 1 - e**epsilon and V the variance of g(y) = (p(y) - e**epsilon q(y)) / nu(y)
    under nu. Raises `InputError` if a row is not a distribution of secrets, or a pair is not valid.

    Args:
        tupling: The mechanism.
        distributions: The family, array (r, secrets), r at least 2.
        pairs: Ordered pairs of positions in the family, array (count, 2); all by default.

    Attributes:
        lifted: The distributions of the true report, array (r, observables).

    Example:
        >>> from sfumato.core import Mechanism
        >>> inner = Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
        >>> tupled = Tupling(inner, 20, [0.25] * 4)
        >>> round(FamilyAccountant(tupled, [[1, 0], [0, 1]]).epsilon(1e-3).bounds.upper, 4)
        0.4431

    Source:
        Distribution privacy: Kawamoto and Murakami, definition 11. Proofs: docs/proofs/tupling.md.
    """

    tupling: Tupling
    lifted: Floats
    pairs: Pairs

    def __init__(self, tupling: Tupling, distributions: ArrayLike, pairs: ArrayLike | None = None) -> None:
        family = floats(distributions, "the family", shape=(None, tupling.inner.shape[0]))
        self._set(tupling, tupling.inner.lift(family), pairs)

    @classmethod
    def of_points(cls, tupling: Tupling, pairs: ArrayLike | None = None) -> Self:
        """Return the accountant for secrets that are known exactly (point privacy), by default for all pairs."""
        accountant = object.__new__(cls)
        accountant._set(tupling, tupling.inner.matrix, pairs)
        return accountant

    def _set(self, tupling: Tupling, lifted: Floats, pairs: ArrayLike | None) -> None:
        r = len(lifted)
        if pairs is None:
            first, second = np.nonzero(~np.eye(r, dtype=bool))
            given: Pairs = np.column_stack([first, second])
        else:
            array = any_array(pairs, "pairs=")
            fits = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
            if not fits or (array.size and (int(array.min()) < 0 or int(array.max()) >= r)):
                raise InputError(
                    f"the pairs are not an array (count, 2) of positions from 0 to {r - 1}.",
                    "pass pairs such as [(0, 1), (1, 0)], in both orders.",
                )
            given = array.astype(np.intp)
        if len(given) == 0:
            raise InputError("there is no pair to compare.", "pass at least two distributions.")
        assign(self, tupling=tupling, lifted=lifted, pairs=readonly(given))

    def __repr__(self) -> str:
        return f"FamilyAccountant of {len(self.pairs):,} pairs for a {self.tupling!r}"

    @property
    def pure_epsilon(self) -> float:
        """The least epsilon at delta 0, for every number of dummies, rounded up; ``inf`` without bound."""
        return max(self._accountant(first, second).pure_epsilon for first, second in self.pairs.tolist())

    def with_dummies(self, dummies: int, distribution: Prior | None = None) -> FamilyAccountant:
        """Return the accountant of the same pairs for other dummies, by default with the same distribution.

        Raises `InputError` as for `Tupling`.
        """
        accountant = object.__new__(FamilyAccountant)
        nu = self.tupling.distribution if distribution is None else distribution
        tupling = Tupling(self.tupling.inner, dummies, nu)
        accountant._set(tupling, self.lifted, self.pairs)
        return accountant

    def delta(self, epsilon: float, tolerance: float = 1e-4) -> Worst:
        """Return bounds of the least delta that is enough for all pairs; see `PairAccountant.delta`."""
        return self._worst(
            epsilon,
            lambda pair: pair.delta(epsilon, tolerance),
            lambda pair, known: not pair.exceeds(epsilon, known),
        )

    def exceeds(self, epsilon: float, delta: float) -> bool:
        """Return whether some pair's delta(epsilon) cannot be proved to be at most a given delta.

        Raises `InputError` if epsilon is not from 0 to 700, or delta not from 0 to 1.
        """
        check_epsilon(epsilon)
        check_delta(delta)
        bounds = self.cheap_delta(epsilon)
        return any(
            self._accountant(*self.pairs[i]).exceeds(epsilon, delta)
            for i in np.argsort(-bounds, kind="stable")
            if bounds[i] > delta
        )

    def epsilon(self, delta: float, tolerance: float = 1e-6) -> Worst:
        """Return bounds of the least epsilon that is enough for all pairs; see `PairAccountant.epsilon`."""
        check_delta(delta)
        return self._worst(
            0.0,
            lambda pair: pair.epsilon(delta, tolerance),
            lambda pair, known: not pair.exceeds(min(known, 700.0), delta),
            enough=delta,
        )

    def _worst(
        self,
        at: float,
        measure: Callable[[PairAccountant], Bracket],
        harmless: Callable[[PairAccountant, float], bool],
        enough: float | None = None,
    ) -> Worst:
        """Return the largest measure, leaving out pairs that are proved not to be the worst."""
        cheap = self.cheap_delta(at)
        lower, upper, worst = 0.0, 0.0, tuple(self.pairs[int(np.argmax(cheap))].tolist())
        for i in np.argsort(-cheap, kind="stable"):
            if cheap[i] <= (lower if enough is None else enough):
                break
            pair = self._accountant(*self.pairs[i])
            # Compared with the upper bound, pairs that mirror the worst one are soon decided.
            if upper > 0 and harmless(pair, upper):
                continue
            bounds = measure(pair)
            lower = max(lower, bounds.lower)
            if bounds.upper > upper:
                upper, worst = bounds.upper, tuple(self.pairs[i].tolist())
        return Worst(Bracket.between(lower, upper), (int(worst[0]), int(worst[1])))

    def cheap_delta(self, epsilon: float) -> Floats:
        """Return cheap upper bounds of delta(epsilon >= 0), one per pair, array (count,)."""
        nu = self.tupling.distribution
        seen = nu > 0
        scaled = self.lifted[:, seen] / np.sqrt(nu[seen])
        gram = scaled @ scaled.T
        first, second = self.pairs.T
        growth = math.exp(min(epsilon, 300.0))
        squares = gram[first, first] - 2 * growth * gram[first, second] + growth**2 * gram[second, second]
        error = 16 * (len(nu) + 16) * UNIT * (gram[first, first] + growth**2 * gram[second, second])
        sums = self.lifted.sum(axis=1)
        centre = sums[first] - growth * sums[second]
        variance = np.maximum(squares + error - centre**2 * (1 - 1e-12), 0.0)
        # sqrt(a + c^2) + c without cancellation, for c of at most 0.
        spread = variance / self.tupling.queries
        root = np.sqrt(spread + centre**2)
        bounds: Floats = np.minimum(1.0, spread / np.maximum(root - centre, 1e-300) / 2 * (1 + 1e-9))
        return bounds + 2 * self._accountant(*self.pairs[0]).slack

    def _accountant(self, first: int, second: int) -> PairAccountant:
        tupling = self.tupling
        return PairAccountant(
            self.lifted[first],
            self.lifted[second],
            tupling.distribution,
            tupling.dummies,
            rounding=(tupling.inner.shape[0] + 4) * UNIT,
        )
