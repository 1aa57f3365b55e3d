"""The published bound of the tupling mechanism, for display beside the exact values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError
from .mechanism import check_dummies


@dataclass(frozen=True, slots=True)
class PublishedBound:
    """(epsilon, delta)-distribution privacy by Hoeffding's inequality, with uniform dummies.

    epsilon = ln((k + (alpha + beta) m) / (k - alpha m)),  delta = 2 exp(-2 alpha**2 / (k beta**2))

    It holds for all distributions whose reports have probabilities of at most beta, whatever the inner
    mechanism. It is often vacuous where the exact values of `FamilyAccountant` are small:
    show it, but do not plan with it. The published theorem has a term eta for probabilities
    above beta; its proof needs k eta in places, and so eta is 0 here.

    Attributes:
        dummies: k.
        observables: m.
        beta: The largest probability of a report, over all distributions of the family.
        alpha: Between 0 and k / m.

    Raises:
        InputError: If a parameter is out of range.

    Example:
        >>> bound = PublishedBound(20, 4, 0.4, 1.5)
        >>> round(bound.epsilon, 3), round(bound.delta, 4)
        (0.679, 0.4901)

    Source:
        Kawamoto and Murakami, theorem on the distribution privacy of tupling, with eta = 0.
        Proof: docs/proofs/tupling.md.
    """

    dummies: int
    observables: int
    beta: float
    alpha: float

    def __post_init__(self) -> None:
        _check(self.dummies, self.observables, self.beta)
        if not 0 < self.alpha < self.dummies / self.observables:
            raise InputError(
                f"alpha is {self.alpha}.", f"use a number between 0 and {self.dummies / self.observables:g}."
            )

    @property
    def epsilon(self) -> float:
        """The bound's epsilon, rounded up."""
        k, m = self.dummies, self.observables
        value = math.log((k + (self.alpha + self.beta) * m) / (k - self.alpha * m))
        # k - alpha m may cancel: its rounding counts relative to what is left of it.
        return value + 2.0**-50 * (1 + value + k / (k - self.alpha * m))

    @property
    def delta(self) -> float:
        """The bound's delta, at most 1, rounded up."""
        exponent = 2 * self.alpha**2 / (self.dummies * self.beta**2)
        return min(1.0, 2 * math.exp(-exponent) * (1 + 2.0**-48 * (1 + exponent)))


def published_for_delta(dummies: int, observables: int, beta: float, delta: float) -> PublishedBound | None:
    """Return the published bound of least epsilon for a delta, or None if no alpha gives any.

    Epsilon rises and delta falls with alpha: the best alpha is the least one that gives delta.

    Args:
        dummies: k, at least 1.
        observables: m.
        beta: The largest probability of a report.
        delta: Above 0, below 1.

    Raises:
        InputError: If a parameter is out of range.

    Example:
        >>> published_for_delta(1000, 400, 0.054, 1e-3) is None
        True
    """
    _check(dummies, observables, beta)
    if not 0 < delta < 1:
        raise InputError(f"delta is {delta}.", "use a probability between 0 and 1, such as 1e-3.")
    alpha = beta * math.sqrt(dummies * math.log(2 / delta) / 2) * (1 + 2.0**-46)
    return PublishedBound(dummies, observables, beta, alpha) if alpha < dummies / observables else None


def published_for_epsilon(dummies: int, observables: int, beta: float, epsilon: float) -> PublishedBound | None:
    """Return the published bound of least delta for an epsilon, or None if no alpha gives that epsilon.

    Args:
        dummies: k, at least 1.
        observables: m.
        beta: The largest probability of a report.
        epsilon: Above 0, at most 700.

    Raises:
        InputError: If a parameter is out of range.

    Example:
        >>> bound = published_for_epsilon(20, 4, 0.4, 1.0)
        >>> round(bound.alpha, 3), round(bound.delta, 3)
        (2.203, 0.096)
    """
    _check(dummies, observables, beta)
    if not 0 < epsilon <= 700:
        raise InputError(f"epsilon is {epsilon}.", "use a positive number, at most 700.")
    k, m = dummies, observables
    alpha = (k * math.expm1(epsilon) - beta * m) / (m * (1 + math.exp(epsilon))) - 2.0**-46 * k / m
    return PublishedBound(k, m, beta, alpha) if alpha > 0 else None


def _check(dummies: int, observables: int, beta: float) -> None:
    check_dummies(dummies)
    if dummies < 1:
        raise InputError("the published bound needs at least one dummy.", "use a number of dummies from 1.")
    if observables < 1 or not 1 / observables * (1 - 1e-9) <= beta <= 1 + 1e-9:
        raise InputError(
            f"beta is {beta} on {observables} observables.",
            "beta is the largest probability of a report: at least 1 / observables, at most 1.",
        )
