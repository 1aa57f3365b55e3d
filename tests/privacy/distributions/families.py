"""Small channels and families of distributions, and slow answers by all sets of reports."""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from sfumato.core.arrays import Floats
from sfumato.privacy import Relation


@st.composite
def channels(draw, secrets=4, reports=4, positive=False, grain=64):
    """A channel whose last observable no secret produces; entries are often zero, unless positive."""
    rows = [draw(dyadic(reports - 1, grain, positive)) for _ in range(secrets)]
    return np.column_stack([np.array(rows), np.zeros(secrets)])


@st.composite
def dyadic(draw, size, grain=16, positive=False):
    """A distribution in multiples of 1/grain, so that sums of it are exact."""
    free = grain - size if positive else grain
    cuts = sorted(draw(st.lists(st.integers(0, free), min_size=size - 1, max_size=size - 1)))
    counts = np.diff([0, *cuts, free]) + int(positive)
    return counts / grain


@st.composite
def beliefs(draw, size=4, count=2):
    """Distributions on the secrets, the last of which is impossible in all of them."""
    return np.array([[*draw(dyadic(size - 1)), 0.0] for _ in range(count)])


@st.composite
def relations(draw, size=4):
    """A relation on secrets, not always symmetric."""
    truths = draw(st.lists(st.booleans(), min_size=size * size, max_size=size * size))
    return Relation(np.array(truths).reshape(size, size))


@st.composite
def coupled(draw, relation, grain=16):
    """Two distributions in the lifting of a relation (with the diagonal), by a random coupling."""
    pairs = np.argwhere(relation.array | np.eye(relation.size, dtype=bool))
    masses = draw(dyadic(len(pairs), grain))
    joint = np.zeros(relation.array.shape)
    joint[pairs[:, 0], pairs[:, 1]] = masses
    return joint.sum(axis=1), joint.sum(axis=0)


def events(size: int):
    """All non-empty sets of positions."""
    return [list(event) for k in range(1, size + 1) for event in itertools.combinations(range(size), k)]


def least_epsilon(p: Floats, q: Floats, delta: float = 0.0) -> float:
    """The least epsilon of at least 0 with p[R] <= e**epsilon q[R] + delta for every set R."""
    best = 0.0
    for event in events(len(p)):
        mass, other = math.fsum(p[event]) - delta, math.fsum(q[event])
        if mass > 1e-15:
            best = max(best, math.inf if other == 0 else math.log(mass / other))
    return best


def excess(p: Floats, q: Floats, epsilon: float) -> float:
    """The largest p[R] - e**epsilon q[R] over all sets R."""
    return max([0.0] + [math.fsum(p[event]) - math.exp(epsilon) * math.fsum(q[event]) for event in events(len(p))])


def least_delta(rows: Floats, pairs, epsilon: float) -> float:
    """The least delta of the given pairs of rows at an epsilon."""
    return max([0.0] + [excess(rows[i], rows[j], epsilon) for i, j in pairs])
