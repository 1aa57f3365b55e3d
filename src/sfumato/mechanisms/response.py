"""Randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Mechanism, MetricPrivacy, Space, hamming
from ..core.arguments import checked
from ..core.arrays import Floats
from .family import FrequencyOracle, categorical, check_listable, reports_of
from .strict import exponents_of, strictly_private


@checked
def randomised_response(space: Space, epsilon: float | str) -> Mechanism:
    """Return k-ary randomised response: the truth with odds exp(epsilon) to 1 against each other value.

    p(s|s) = exp(epsilon) / (exp(epsilon) + k - 1); the other k - 1 values share the rest
    evenly. It is epsilon-locally differentially private: metric privacy for `hamming`. No value is reported with
    a probability below 2**-71, so that beyond an epsilon of about 49 it hides more than that asks for.

    Args:
        space: The k secrets, which are also the observables.
        epsilon: A pure number.

    Raises:
        InputError: If epsilon is not positive.

    Source:
        Warner, "Randomized response", 1965; for k values: Kairouz, Oh and Viswanath,
        "Extremal mechanisms for local differential privacy", 2014.
    """
    guarantee = MetricPrivacy(epsilon, hamming(space))
    return strictly_private(_responses, exponents_of(space, guarantee), space).promising(guarantee)


def _responses(exponents: Floats) -> Floats:
    matrix = np.exp(-exponents)
    rows: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return rows


@dataclass(frozen=True, slots=True, repr=False)
class RandomisedResponse(FrequencyOracle):
    """k-ary randomised response as a family; see `randomised_response`.

    Args:
        space: The k categories, at least 2.
        epsilon: A pure number.

    Raises:
        InputError: If epsilon is not positive, or there is one category only.
    """

    name: ClassVar[str] = "randomised response"
    space: Space
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str) -> None:
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "_epsilon", categorical(space, epsilon))

    @property
    def epsilon(self) -> float:
        """As given; every pair attains it."""
        return self._epsilon

    @property
    def support(self) -> tuple[float, float]:
        """(p, q) with p = 1 / (1 + (k - 1) exp(-epsilon)) and q = p exp(-epsilon)."""
        p = 1 / (1 + (len(self.space) - 1) * math.exp(-self._epsilon))
        return p, p * math.exp(-self._epsilon)

    @property
    def hamming_loss(self) -> float:
        """(k - 1) / (exp(epsilon) + k - 1)."""
        return (len(self.space) - 1) * self.support[1]

    def mechanism(self) -> Mechanism:
        """Return `randomised_response` of the space."""
        check_listable(len(self.space), len(self.space), self.name)
        return randomised_response(self.space, self._epsilon)

    @property
    def stated_guarantees(self) -> tuple[MetricPrivacy, ...]:
        """The promises of the matrix."""
        return self.mechanism().guarantees

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return how many reports are each category, of positions (reports,)."""
        k = len(self.space)
        return np.bincount(reports_of(reports, (), k - 1, "positions of categories"), minlength=k).astype(np.int64)
