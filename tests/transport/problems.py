"""Small transport problems, and slow answers to them by other routes."""

import itertools

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato.core.arrays import Floats


@st.composite
def distributions(draw, size, largest=5):
    """A random distribution on ``size`` values; entries are often zero."""
    counts = np.array(
        draw(st.lists(st.integers(0, largest), min_size=size, max_size=size).filter(any)), dtype=float
    )
    return counts / counts.sum()


@st.composite
def problems(draw, largest=5):
    """Two distributions on n and m values and distances between them, with ties and zeros."""
    n, m = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    entries = st.lists(st.integers(0, 6), min_size=n * m, max_size=n * m)
    distances = np.array(draw(entries), dtype=float).reshape(n, m) * draw(st.sampled_from([1.0, 0.3, 1e3]))
    return draw(distributions(n)), draw(distributions(m)), distances


def least_cost(first: Floats, second: Floats, cost: Floats) -> float:
    """The optimum of the transport program by a general solver; ``inf`` marks forbidden pairs."""
    n, m = cost.shape
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    bounds = [(0, 0) if forbidden else (0, None) for forbidden in np.isinf(cost).ravel()]
    right = np.concatenate([first, second])[:-1]
    found = linprog(
        np.where(np.isinf(cost), 0, cost).ravel(), A_eq=np.vstack([rows, columns])[:-1], b_eq=right, bounds=bounds
    )
    return float(found.fun) if found.status == 0 else float("inf")


def most_violation(first: Floats, second: Floats, relation) -> float:
    """The largest first[A] - second[Phi(A)] over all sets A."""
    n = len(first)
    sets = itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1))
    return max(float(first[list(A)].sum() - second[relation[list(A)].any(axis=0)].sum()) for A in map(list, sets))
