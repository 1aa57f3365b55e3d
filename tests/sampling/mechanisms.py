"""Mechanisms of many shapes, for the tests of drawing and of files."""

import numpy as np

from sfumato import Mechanism


def random_mechanism(seed: int, secrets: int, observables: int, *, tiny: bool = False) -> Mechanism:
    """A skewed random mechanism with zeros; ``tiny`` makes it need 126 bits."""
    rng = np.random.default_rng(seed)
    matrix = np.maximum(rng.gamma(0.3, size=(secrets, observables)), 1e-6)
    matrix *= rng.random(matrix.shape) < 0.7
    matrix[np.arange(secrets), rng.integers(observables, size=secrets)] += 1.0
    matrix /= matrix.sum(axis=1, keepdims=True)
    if tiny and observables > 1:
        row = int(rng.integers(secrets))
        matrix[row] = 1e-15
        matrix[row, rng.integers(observables)] = 1 - 1e-15 * (observables - 1)
    return Mechanism(matrix)


def geometric_mechanism(size: int, base: float) -> Mechanism:
    """Rows proportional to base**|s - o|."""
    matrix = base ** np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True))
