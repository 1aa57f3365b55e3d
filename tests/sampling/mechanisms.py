"""Mechanisms of many shapes, and fixed seeds, for the tests of drawing and of files."""

import itertools

import numpy as np
import pytest

from sfumato import Mechanism
from sfumato.sampling import SeededWords, SystemWords


def fix_seeds(monkeypatch: pytest.MonkeyPatch, seed: int = 1) -> None:
    """Give seeds to what takes none, such as a release or an audit, so that no result depends on chance."""
    words, seeds, generator = SeededWords(seed), itertools.count(seed), np.random.default_rng
    monkeypatch.setattr(SystemWords, "draw", lambda _, count: words.draw(count))
    monkeypatch.setattr(
        np.random, "default_rng", lambda given=None: generator(next(seeds) if given is None else given)
    )


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
