"""The result of a permutation test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError
from .binomial import check_failure


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A test whose level is exact, whatever the distribution: its p-value is (1 + #) / (1 + N).

    Attributes:
        hypothesis: What is tested, in words; it is never proved, only rejected.
        statistic: The statistic of the samples as they are.
        p_value: The share of orders, these samples' own included, whose statistic is as large.
        permutations: How many random orders were compared.
        level: The probability of rejecting a true hypothesis.
    """

    hypothesis: str
    statistic: float
    p_value: float
    permutations: int
    level: float

    @property
    def rejected(self) -> bool:
        """Whether the samples contradict the hypothesis at the stated level."""
        return self.p_value <= self.level

    def __str__(self) -> str:
        """The result in words."""
        verdict = "is rejected" if self.rejected else "is not rejected (which does not prove it)"
        return f"That {self.hypothesis} {verdict}: p = {self.p_value:.4g}, level {self.level:g}."


def p_value(own: float, permuted: Floats) -> float:
    """Return the exact p-value of one statistic among those of random orders; ties count against it."""
    as_large = int(np.count_nonzero(permuted >= own - 1e-12 * abs(own)))
    return (1 + as_large) / (1 + len(permuted))


def check_permutations(permutations: int, level: float) -> None:
    """Refuse a number of permutations that can never reject at the level."""
    check_failure(level)
    if permutations < 1 or 1 / (1 + permutations) > level:
        raise InputError(
            f"{permutations} permutations can never reject at level {level}.",
            f"use at least {int(np.ceil(1 / level)) - 1} of them.",
        )
