"""Small mechanisms and populations to estimate, with a secret that nobody has and an unused observable."""

import numpy as np

from sfumato import Mechanism
from sfumato.estimation import Reports

from ..catalogue import randomised_response, unused


def channel(seed: int, secrets: int = 4, observables: int = 5) -> Mechanism:
    """A random mechanism whose last observable no secret produces."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(observables, 0.7), size=secrets)
    return Mechanism(unused(matrix))


def response(size: int = 4, epsilon: float = 1.2) -> Mechanism:
    """Randomised response with an unused observable."""
    return Mechanism(unused(randomised_response(size, epsilon)))


def population(size: int) -> np.ndarray:
    """A skewed distribution that gives the first secret no mass."""
    weights = np.arange(float(size))
    return np.asarray(weights / weights.sum())


def collected(mechanism: Mechanism, total: int, seed: int, truth: np.ndarray | None = None) -> Reports:
    """Simulated reports of a population."""
    p = population(mechanism.shape[0]) if truth is None else truth
    received = p @ mechanism.matrix
    counts = np.random.default_rng(seed).multinomial(total, received / received.sum())
    return Reports(mechanism, counts)
