"""The attacker who sees report after report, against the sum over all paths."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import track_beliefs
from sfumato.errors import InputError

SPACE = sf.Space(["a", "b", "c"])
PRIOR = sf.Prior(SPACE, [0.5, 0.5, 0.0])
CHANNEL = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
NEAR = np.array([[True, True, False], [True, True, True], [False, True, True]])


def by_paths(reports, near):
    """Return the last belief as the sum over all paths of the attacker's model."""
    p, n = PRIOR.probabilities, len(PRIOR)
    found = np.zeros(n)
    for path in itertools.product(range(n), repeat=len(reports)):
        weight = p[path[0]] if near is None else sum(p[s] * move(s, path[0], near) for s in range(n))
        for before, after in itertools.pairwise(path):
            weight *= move(before, after, near)
        found[path[-1]] += weight * np.prod([CHANNEL[s, o] for s, o in zip(path, reports, strict=True)])
    return found / found.sum()


def move(start, end, near):
    if near is None:
        return float(start == end)
    allowed = near[start] * PRIOR.probabilities
    return allowed[end] / allowed.sum() if allowed.sum() else float(start == end)


@given(reports=st.lists(st.integers(0, 2), min_size=1, max_size=4), moving=st.booleans())
def test_beliefs_are_those_of_all_paths(reports, moving):
    near = NEAR if moving else None
    found = track_beliefs(CHANNEL, PRIOR, reports, near)
    assert found.shape == (len(reports) + 1, 3)
    np.testing.assert_allclose(found[-1], by_paths(reports, near), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="no observable"):
        track_beliefs(CHANNEL, PRIOR, [3])
    with pytest.raises(InputError, match="is impossible"):
        track_beliefs(np.eye(3), PRIOR, [2])
    with pytest.raises(InputError, match="near has the shape"):
        track_beliefs(CHANNEL, PRIOR, [0], np.ones((2, 2), dtype=bool))
    with pytest.raises(InputError, match=r"the channel"):
        track_beliefs(CHANNEL[:2], PRIOR, [0])
