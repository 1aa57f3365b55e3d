"""The guarantee of a tupled mechanism, its proof by the accountant, and the published bound, corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...core import Mechanism
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...rounding import at_most, exactly, sum_above
from .mechanism import Tupling, check_delta, check_dummies, check_epsilon

if TYPE_CHECKING:
    from .accountant import Worst


@dataclass(frozen=True, slots=True)
class TuplePrivacy:
    """Every two secrets are (epsilon, delta)-indistinguishable from a tuple.

    P(tuple in R | s) <= exp(epsilon) P(tuple in R | s') + delta for all s, s' and sets R of tuples

    Epsilon is from 0 to 700, and delta from 0 to 1. Raises `InputError` if a parameter is out of range.

    Source:
        Kawamoto and Murakami, ESORICS 2019; docs/proofs/tupling.md.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_delta(self.delta)

    def __str__(self) -> str:
        numbers = f"epsilon {exactly(self.epsilon)} with delta {exactly(self.delta)}"
        return f"{numbers} between every two secrets, from a tuple"

    def prove(self, tupling: Tupling) -> TupleProof:
        """Return the proof or refutation of this guarantee for a mechanism, from its integers."""
        from .accountant import FamilyAccountant  # loads scipy

        if tupling.inner.shape[0] < 2:
            raise InputError("there is only one secret, so no pair to protect.", "use two secrets or more.")
        return TupleProof(self, FamilyAccountant.of_points(tupling).delta(self.epsilon))


@dataclass(frozen=True, slots=True, repr=False)
class TupleProof(CompactRepr):
    """The accountant's proof of a guarantee: bounds of the least delta at its epsilon, with the worst pair."""

    promise: TuplePrivacy
    worst: Worst

    @property
    def holds(self) -> bool:
        """Whether the guarantee is proved: the upper bound of delta is at most the guaranteed one."""
        return self.worst.bounds.upper <= self.promise.delta

    @property
    def sentence(self) -> str:
        """The proved statement as a sentence."""
        upper = at_most(self.worst.bounds.upper)
        if self.holds:
            return f"Proved: {self.promise} (the least delta is at most {upper})."
        if self.worst.bounds.lower > self.promise.delta:
            return f"False: {self.promise}. The least delta there is more than that, at most {upper}."
        return f"Not proved: {self.promise}. The least delta there is at most {upper}."


@dataclass(frozen=True, slots=True)
class PublishedBound:
    """(epsilon, delta)-distribution privacy by Hoeffding's inequality, with uniform dummies.

        epsilon = ln((k + (alpha + beta) m) / (k (1 - kappa) - alpha m))
        delta   = kappa + 2 (1 - kappa) exp(-2 alpha**2 / (k beta**2))

    k is the number of dummies, m that of observables, and alpha is between 0 and k (1 - kappa) / m. It holds for
    all distributions that make a report of probability above beta with probability at most kappa (`mass_above`),
    and for every inner mechanism. It is often vacuous where the exact values of `FamilyAccountant` are small, so
    use it for comparison only.

    The published theorem, which is quoted here from memory, has eta instead of kappa: the *share of the
    observables* whose probability is above beta, not the *probability of a report* there. In that form it is
    false: where the reports of two distributions are two different observables out of m > 2, beta may be
    arbitrarily near 0, eta is 1/m, and the theorem claims delta 1/m near epsilon 0; with one dummy it is 1 - 1/m.
    With eta = kappa = 0 both statements are the same. Raises `InputError` if a parameter is out of range.

    Example:
        >>> bound = PublishedBound(20, 4, 0.4, 1.5)
        >>> round(bound.epsilon, 3), round(bound.delta, 4)
        (0.679, 0.4901)

    Source:
        Kawamoto and Murakami, theorem on the distribution privacy of tupling, corrected. Proof:
        docs/proofs/tupling.md.
    """

    dummies: int
    observables: int
    beta: float
    alpha: float
    kappa: float = 0.0

    def __post_init__(self) -> None:
        _check(self.dummies, self.observables, self.beta, self.kappa)
        most = self.dummies * (1 - self.kappa) / self.observables
        if not 0 < self.alpha < most:
            raise InputError(f"alpha is {self.alpha}.", f"use a number between 0 and {most:g}.")

    @property
    def epsilon(self) -> float:
        """The bound's epsilon, rounded up."""
        k, m = self.dummies, self.observables
        left = k * (1 - self.kappa) - self.alpha * m
        value = math.log((k + (self.alpha + self.beta) * m) / left)
        # The difference may cancel: its rounding counts relative to what is left of it.
        return value + 2.0**-49 * (1 + value + k / left)

    @property
    def delta(self) -> float:
        """The bound's delta, at most 1, rounded up."""
        exponent = 2 * self.alpha**2 / (self.dummies * self.beta**2)
        tails = 2 * (1 - self.kappa) * math.exp(-exponent) * (1 + 2.0**-48 * (1 + exponent))
        return min(1.0, (self.kappa + tails) * (1 + 2.0**-50))


def mass_above(inner: Mechanism, distributions: ArrayLike, beta: float) -> float:
    """Return the largest probability, over a family, of a report whose probability is above beta; rounded up.

    It is the kappa of `PublishedBound`: max over lam of the sum of A#lam(y) over all y with A#lam(y) > beta, for
    distributions (r, secrets) and beta from 0 to 1. Raises `InputError` if a row is not a distribution of secrets,
    or beta is out of range.

    Example:
        >>> mass_above(Mechanism([[0.5, 0.25, 0.25]]), [[1.0]], 0.3)
        0.5...
    """
    if not 0 <= beta <= 1:
        raise InputError(f"beta is {beta}.", "use a probability.")
    images = np.atleast_2d(inner.lift(distributions))
    error = 4 * (inner.shape[0] + 8) * 2.0**-53  # of a lifted probability, relative
    high = np.where(images * (1 + error) > beta, images * (1 + error), 0.0)
    return min(1.0, max(sum_above(row) for row in high))


def published_for_delta(
    dummies: int, observables: int, beta: float, delta: float, kappa: float = 0.0
) -> PublishedBound | None:
    """Return the published bound of least epsilon for a delta between 0 and 1, or None if no alpha gives any.

    Epsilon rises and delta falls with alpha: the best alpha is the least one that gives delta. Raises `InputError`
    if a parameter is out of range.

    Example:
        >>> published_for_delta(1000, 400, 0.054, 1e-3) is None
        True
    """
    _check(dummies, observables, beta, kappa)
    if not 0 < delta < 1:
        raise InputError(f"delta is {delta}.", "use a probability between 0 and 1, such as 1e-3.")
    left = delta * (1 - 2.0**-48) - kappa
    if left <= 0:
        return None
    logarithm = max(0.0, math.log(2 * (1 - kappa) / left))
    alpha = max(beta * math.sqrt(dummies * logarithm / 2) * (1 + 2.0**-44), 2.0**-40 * beta)
    enough = alpha < dummies * (1 - kappa) / observables
    return PublishedBound(dummies, observables, beta, alpha, kappa) if enough else None


def published_for_epsilon(
    dummies: int, observables: int, beta: float, epsilon: float, kappa: float = 0.0
) -> PublishedBound | None:
    """Return the published bound of least delta for an epsilon up to 700, or None if no alpha gives any.

    Raises `InputError` if a parameter is out of range.

    Example:
        >>> bound = published_for_epsilon(20, 4, 0.4, 1.0)
        >>> round(bound.alpha, 3), round(bound.delta, 3)
        (2.203, 0.096)
    """
    _check(dummies, observables, beta, kappa)
    if not 0 < epsilon <= 700:
        raise InputError(f"epsilon is {epsilon}.", "use a positive number, at most 700.")
    k, m, growth = dummies, observables, math.exp(epsilon)
    gain = math.expm1(epsilon) - growth * kappa
    alpha = (k * gain - beta * m) / (m * (1 + growth)) - 2.0**-45 * k / m
    return PublishedBound(k, m, beta, alpha, kappa) if alpha > 0 else None


def _check(dummies: int, observables: int, beta: float, kappa: float) -> None:
    check_dummies(dummies)
    if dummies < 1:
        raise InputError("the published bound needs at least one dummy.", "use a number of dummies from 1.")
    if not 0 <= kappa < 1:
        raise InputError(f"kappa is {kappa}.", "it is a probability below 1: see mass_above.")
    if observables < 1 or not 0 < beta <= 1 + 1e-9 or beta < (1 - kappa) / observables * (1 - 1e-9):
        raise InputError(
            f"beta is {beta} on {observables} observables.",
            "beta is the largest probability of a report: at least (1 - kappa) / observables, at most 1.",
        )
