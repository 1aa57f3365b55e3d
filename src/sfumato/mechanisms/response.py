"""Randomised response."""

from __future__ import annotations

import numpy as np

from ..core import Mechanism, MetricPrivacy, Space, hamming
from ..core.arrays import Floats
from ._strict import exponents_of, strictly_private


def randomised_response(space: Space, epsilon: float | str) -> Mechanism:
    """Return k-ary randomised response: the truth with odds exp(epsilon) to 1 against each other value.

    p(s|s) = exp(epsilon) / (exp(epsilon) + k - 1); the other k - 1 values share the rest
    evenly. It is epsilon-locally differentially private: metric privacy for `hamming`.

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
    return strictly_private(_responses, exponents_of(space, guarantee), space)


def _responses(exponents: Floats) -> Floats:
    matrix = np.exp(-exponents)
    rows: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return rows
