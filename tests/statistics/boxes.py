"""Black boxes to audit: honest ones, and the known-bad corpus."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

from sfumato.core import Mechanism
from sfumato.core.arrays import Floats


def rows_of(mechanism: Mechanism) -> Floats:
    """The matrix with rows that sum to one in doubles, as numpy's generators want."""
    rows: Floats = mechanism.matrix / mechanism.matrix.sum(axis=1, keepdims=True)
    return rows


def counts_of(rows: Floats, sizes: Any, rng: np.random.Generator) -> np.ndarray:
    """Counts of as many independent outputs of each row."""
    return np.array([rng.multinomial(n, p) for n, p in zip(np.broadcast_to(sizes, len(rows)), rows, strict=True)])


def channel(rows: Floats, rng: np.random.Generator) -> Callable[[int], int]:
    """A box that draws afresh from the row of its secret."""
    sums = np.cumsum(rows, axis=1)
    return lambda s: int(np.searchsorted(sums[s], rng.random() * sums[s, -1], side="right"))


def most_failures(repetitions: int, failure: float) -> int:
    """Return what a failure probability explains, but for one test run in a million."""
    return int(binom.ppf(1 - 1e-6, repetitions, failure))


def planar_laplace(epsilon: float, rng: np.random.Generator) -> Callable[[float], tuple[float, float]]:
    """The textbook planar Laplace mechanism in doubles, for secrets (x, 0)."""

    def box(x: float) -> tuple[float, float]:
        angle, radius = rng.uniform(0, 2 * math.pi), rng.gamma(2, 1 / epsilon)
        return x + radius * math.cos(angle), radius * math.sin(angle)

    return box


def unary(epsilon: float, rng: np.random.Generator) -> Callable[[int], tuple[int, ...]]:
    """One bit per value, each flipped with odds e^epsilon: 2 epsilon in truth."""
    flip = 1 / (1 + math.exp(epsilon))
    return lambda s: tuple(int((k == s) != (rng.random() < flip)) for k in range(3))
