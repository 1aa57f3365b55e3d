"""Helpers: how refusals are tested, and random arrays."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sfumato.core.metric import shortest_paths
from sfumato.errors import InputError


def refused(make: Callable[[], object], says: str, error: type[InputError] = InputError) -> None:
    """Check that a call raises the error, that its message says so, and that it helps."""
    with pytest.raises(error) as found:
        make()
    assert says in found.value.problem
    assert found.value.hint


@st.composite
def distances(draw, smallest=1, largest=7, infinite=True, symmetric=True):
    """A random metric: the shortest paths of random steps, some zero, some infinite."""
    n = draw(st.integers(smallest, largest))
    steps = [st.floats(0.01, 10), st.integers(1, 3).map(float), st.just(0.0)]
    if infinite:
        steps.append(st.just(np.inf))
    array, size = np.zeros((n, n)), n * (n - 1) // 2
    array[np.triu_indices(n, 1)] = draw(st.lists(st.one_of(steps), min_size=size, max_size=size))
    if not symmetric:
        array[np.tril_indices(n, -1)] = draw(st.lists(st.one_of(steps), min_size=size, max_size=size))
        return shortest_paths(array)
    found = shortest_paths(array + array.T)
    return np.minimum(found, found.T)


def stochastic(n: int, m: int) -> st.SearchStrategy:
    """A random row-stochastic matrix, many entries zero and some tiny."""
    entry = st.one_of(st.just(0.0), st.integers(1, 9).map(float), st.floats(1e-12, 1.0), st.floats(1e-35, 1e-20))
    raw = arrays.arrays(np.float64, (n, m), elements=entry).filter(lambda a: (a.sum(axis=1) > 0).all())
    return raw.map(lambda a: a / a.sum(axis=1, keepdims=True))
