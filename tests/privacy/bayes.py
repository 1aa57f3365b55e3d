"""Bayes' rule written out for small mechanisms, and random ones with zeros everywhere."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.core import Prior, Space
from sfumato.core.arrays import Floats

Mask = NDArray[np.bool_]

few = settings(max_examples=12)
"""For properties whose every example looks at many priors or sets."""


@st.composite
def channels(draw, smallest=2, largest=4, outputs=4, positive=False):
    """Return a random matrix; entries are often zero, unless positive."""
    n, m = draw(st.integers(smallest, largest)), draw(st.integers(1, outputs))
    row = st.lists(st.integers(int(positive), 6), min_size=m, max_size=m).filter(any)
    counts = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


@st.composite
def beliefs(draw, size, positive=False):
    """Return a random prior on the numbers 0, 1, ...; some probabilities are often zero."""
    weights = draw(st.lists(st.integers(int(positive), 6), min_size=size, max_size=size).filter(any))
    return Prior.from_counts(Space(range(size)), weights)


@st.composite
def known(draw, smallest=2, largest=4, outputs=4, positive=False):
    """Return a random matrix and a prior on its rows."""
    matrix = draw(channels(smallest, largest, outputs, positive))
    return matrix, draw(beliefs(len(matrix), positive=positive))


def facts(size: int) -> Mask:
    """All facts that are sometimes true and sometimes false, array (k, size)."""
    numbers = np.arange(1, 2**size - 1)
    answer: Mask = (numbers[:, None] >> np.arange(size)) % 2 == 1
    return answer


def events_of(outputs: int) -> Iterator[list[int]]:
    """All sets of at least one output."""
    for k in range(1, outputs + 1):
        yield from map(list, itertools.combinations(range(outputs), k))


def posteriors(matrix: Floats, prior: Floats, mask: Mask) -> Iterator[tuple[float, float, float, float]]:
    """Yield (p, 1 - p, P[T | S], P[not T | S]) for every possible set S of outputs."""
    joint = prior[:, None] * matrix
    p, q = float(prior[mask].sum()), float(prior[~mask].sum())
    for S in events_of(matrix.shape[1]):
        true, false = float(joint[mask][:, S].sum()), float(joint[~mask][:, S].sum())
        if true + false > 0:
            yield p, q, true / (true + false), false / (true + false)


def jointly(first: Floats, second: Floats) -> Floats:
    """Both reports of one secret as one report, array (n, m1 m2)."""
    return np.array([np.outer(one, other).ravel() for one, other in zip(first, second, strict=True)])


def log_ratio(a: float, b: float) -> float:
    """ln(a / b), where 0 against 0 asks nothing."""
    if a == 0:
        return -math.inf if b > 0 else 0.0
    return math.log(a / b) if b > 0 else math.inf


def positive_membership(matrix: Floats, prior: Floats, masks: Mask) -> float:
    """The least epsilon of definition 37, over all sets of outputs."""
    return max(
        [0.0]
        + [
            max(log_ratio(t, p), log_ratio(q, f))
            for mask in masks
            for p, q, t, f in posteriors(matrix, prior, mask)
            if p > 0 and q > 0
        ]
    )


def negative_membership(matrix: Floats, prior: Floats, masks: Mask) -> float:
    return max(
        [0.0]
        + [
            max(log_ratio(p, t), log_ratio(f, q))
            for mask in masks
            for p, q, t, f in posteriors(matrix, prior, mask)
            if p > 0 and q > 0
        ]
    )


def pure_epsilon(matrix: Floats, pairs: Iterator[tuple[int, int]] | None = None) -> float:
    """The least epsilon of differential privacy, pair by pair and output by output."""
    chosen = itertools.permutations(range(len(matrix)), 2) if pairs is None else pairs
    return max(
        [0.0] + [log_ratio(a, b) for s, t in chosen for a, b in zip(matrix[s], matrix[t], strict=True) if a > 0]
    )
