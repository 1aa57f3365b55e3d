"""The coin: its distortion is its loss, and both are what was asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import DistortionPrivacy, Prior, Space, blind_error, hamming
from sfumato.errors import InfeasibleError, InputError
from sfumato.mechanisms import coin, coin_of_distortion
from sfumato.proofs import distortion_below, prove_guarantees


@given(st.integers(2, 12), st.integers(0, 2**32), st.floats(0, 0.9999), st.booleans())
def test_a_coin_costs_what_it_hides(size, seed, share, ground):
    rng = np.random.default_rng(seed)
    space = Space(range(size), rng.normal(size=(size, 2)), "km")
    weights = rng.dirichlet(np.ones(size) * 0.6)
    if size > 2:
        weights[0] = 0.0
    prior = Prior.from_counts(space, weights)
    metric = space.metric("euclidean") if ground else hamming(space)
    wanted = share * blind_error(prior.probabilities, metric.array)
    mechanism = coin_of_distortion(prior, metric, wanted)
    assert prove_guarantees(mechanism, prior, [DistortionPrivacy(wanted, metric)])[1][0].holds
    assert mechanism.expected_loss(prior, metric) == pytest.approx(wanted, abs=1e-11 * metric.diameter)
    assert distortion_below(mechanism, prior, metric) == pytest.approx(wanted, abs=1e-11 * metric.diameter)


def test_the_matrix():
    mechanism = coin(Space("abc"), 0.75, "b")
    assert mechanism.matrix.tolist() == [[0.75, 0.25, 0], [0, 1, 0], [0, 0.25, 0.75]]
    assert coin(Space("ab"), 0.0, "a").matrix.tolist() == [[1, 0], [1, 0]]


def test_bad_coins():
    space = Space("abc")
    prior = Prior.uniform(space)
    with pytest.raises(InputError, match="probability of the truth"):
        coin(space, 1.5, "a")
    with pytest.raises(InputError, match="not in the space"):
        coin(space, 0.5, "z")
    with pytest.raises(InfeasibleError, match="without a report"):
        coin_of_distortion(prior, hamming(space), 0.9)
    with pytest.raises(InputError, match="negative"):
        coin_of_distortion(prior, hamming(space), -0.1)
    for distance in (np.ones((3, 3)), np.zeros((2, 3)), -hamming(space).array):
        with pytest.raises(InputError, match="coin needs a distance"):
            coin_of_distortion(prior, distance, 0.1)
