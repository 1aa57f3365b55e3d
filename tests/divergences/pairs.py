"""Pairs of small distributions, with zeros everywhere by default."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sfumato.core.arrays import Floats


@st.composite
def several(draw, count=2, largest=6, positive=False):
    """Return ``count`` distributions on the same outputs; entries are often zero, unless positive."""
    m = draw(st.integers(1, largest))
    row = st.lists(st.integers(int(positive), 5), min_size=m, max_size=m).filter(any)
    counts = np.array(draw(st.lists(row, min_size=count, max_size=count)), dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


def subsets(size: int):
    return itertools.chain.from_iterable(itertools.combinations(range(size), k) for k in range(1, size + 1))


def greedy(p: Floats, q: Floats, delta: float) -> float:
    """The approximate max divergence by all prefixes in falling order of likelihood ratios, in fractions."""
    a, b, allowed = [Fraction(float(x)) for x in p], [Fraction(float(x)) for x in q], Fraction(delta)
    order = sorted((y for y in range(len(a)) if a[y]), key=lambda y: (b[y] > 0, -(a[y] / b[y] if b[y] else 0)))
    best, mass, other = -math.inf, Fraction(0), Fraction(0)
    for y in order:
        mass, other = mass + a[y], other + b[y]
        if mass > allowed:
            best = max(best, math.inf if other == 0 else log((mass - allowed) / other))
    return best


def log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)
