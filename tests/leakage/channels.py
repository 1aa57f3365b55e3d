"""Small mechanisms for tests of leakage and attacks, with zeros everywhere by default."""

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior, Space
from sfumato.core.arrays import Floats


def sparse_case() -> tuple[Mechanism, Prior]:
    """A mechanism with an observable that no secret produces, one that only an impossible secret
    produces, and a prior with that secret at zero."""
    mechanism = Mechanism(
        [
            [0.5, 0.5, 0.0, 0.0, 0.0],
            [0.25, 0.5, 0.25, 0.0, 0.0],
            [0.0, 0.125, 0.875, 0.0, 0.0],
            [0.0, 0.0, 0.5, 0.5, 0.0],
        ],
        Space("abcd"),
        Space(range(5)),
    )
    return mechanism, Prior(mechanism.secrets, [0.5, 0.25, 0.25, 0.0])


@st.composite
def cases(draw, largest=5):
    """A random mechanism and a random prior; entries of both are often zero."""
    n, m = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    row = st.lists(st.integers(0, 4), min_size=m, max_size=m).filter(any)
    counts = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    mechanism = Mechanism(counts / counts.sum(axis=1, keepdims=True), Space(range(n)), Space(range(m)))
    weights = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    return mechanism, Prior.from_counts(mechanism.secrets, weights)


def maps(observables: int, guesses: int) -> Iterator[tuple[int, ...]]:
    """All deterministic strategies, as tuples of guesses."""
    return itertools.product(range(guesses), repeat=observables)


def symmetric(size: int, error: float) -> Mechanism:
    """The channel that reports the truth but for an error spread over the other values."""
    matrix = np.full((size, size), error / (size - 1)) if size > 1 else np.ones((1, 1))
    np.fill_diagonal(matrix, 1 - error)
    return Mechanism(matrix)


def exponential_on_line(size: int = 5) -> Mechanism:
    """Golden G.3: p(o|s) proportional to exp(-|s - o| / 2) on the line."""
    matrix = np.exp(-line(size) / 2)
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True))


def tight_on_line(epsilon: float, size: int = 5) -> Mechanism:
    """Golden G.3: Phi diag(w) with Phi = exp(-epsilon d) and Phi w = 1 (the truncated geometric)."""
    phi = np.exp(-epsilon * line(size))
    return Mechanism(phi * np.linalg.solve(phi, np.ones(size)))


def line(size: int = 5) -> Floats:
    x = np.arange(float(size))
    distances: Floats = np.abs(x[:, None] - x)
    return distances
