"""The law of tuples, and what a tupling mechanism refuses."""

from itertools import permutations, product

import numpy as np
import pytest

from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import Tupling, mixture_dummies, uniform_dummies

from . import exact

INNER = Mechanism([[0.5, 0.25, 0.25, 0.0], [0.125, 0.125, 0.75, 0.0], [1.0, 0.0, 0.0, 0.0]])
NU = [0.5, 0.25, 0.25, 0.0]  # the last observable is neither reported nor drawn
PRIOR = [0.25, 0.75, 0.0]


@pytest.mark.parametrize("dummies", [0, 1, 3])
def test_the_law_of_tuples_is_a_law_and_agrees_with_listed_multisets(dummies):
    tupling = Tupling(INNER, dummies, NU)
    tuples = np.array(list(product(range(4), repeat=dummies + 1)))
    likelihoods = np.exp(tupling.log_likelihood(tuples, PRIOR))
    assert likelihoods.sum() == pytest.approx(1.0, abs=1e-12)
    assert (likelihoods[(tuples == 3).any(axis=1)] == 0).all()
    lifted = INNER.lift(PRIOR)
    listed, _ = exact.laws_of_multisets(lifted, lifted, NU, dummies)
    sorted_tuples, where = np.unique(np.sort(tuples, axis=1), axis=0, return_inverse=True)
    assert len(sorted_tuples) == len(listed)
    assert np.bincount(where, likelihoods) == pytest.approx(listed, abs=1e-12)


def test_the_order_tells_nothing():
    tupling = Tupling(INNER, 2, NU)
    orders = np.array(list(permutations([0, 1, 2])))
    logs = tupling.log_likelihood(orders, PRIOR)
    assert np.ptp(logs) < 1e-14


def test_dummies_are_kept_as_integers():
    tupling = Tupling(INNER, 2, [1 / 3, 1 / 3, 1 / 3, 0.0])
    assert int(tupling.source.weights.sum()) == 2**tupling.source.bits
    assert tupling.distribution[3] == 0
    assert tupling.queries == 3
    assert "2 dummies" in repr(tupling)


def test_distributions_to_choose_from():
    even = uniform_dummies(INNER)
    assert even.probabilities.tolist() == [0.25] * 4
    every = mixture_dummies(INNER, np.eye(INNER.shape[0]))
    np.testing.assert_array_equal(mixture_dummies(INNER).probabilities, every.probabilities)
    mixed = mixture_dummies(INNER, np.array([PRIOR, [0, 0, 1]]), 0.04)
    lifted = (INNER.lift(PRIOR) + INNER.lift([0, 0, 1])) / 2
    assert mixed.probabilities == pytest.approx(0.96 * lifted + 0.01, abs=1e-15)
    assert mixed.space == INNER.observables
    Tupling(INNER, 1, mixed)
    with pytest.raises(InputError, match="floor is 0"):
        mixture_dummies(INNER, [PRIOR], 0.0)


def test_refusals():
    with pytest.raises(InputError, match="1 observables are reported but never drawn as dummies, such as 2"):
        Tupling(INNER, 1, [0.5, 0.5, 0.0, 0.0])
    with pytest.raises(InputError, match="dummies is -2"):
        Tupling(INNER, -2, NU)
    with pytest.raises(InputError, match="sum"):
        Tupling(INNER, 1, [0.5, 0.25, 0.125, 0.0])
    with pytest.raises(InputError, match="observables"):
        Tupling(INNER, 1, Prior.uniform(Space("abcd")))
    tupling = Tupling(INNER, 1, NU)
    for tuples in ([[0, 1, 2]], [0.5, 1.0], 3):
        with pytest.raises(InputError, match="2 in each tuple"):
            tupling.log_likelihood(tuples, PRIOR)
    for tuples in ([[0, 4]], [[-1, 0]]):
        with pytest.raises(InputError, match="is not an observable's position"):
            tupling.log_likelihood(tuples, PRIOR)
