"""The optimal remap: never worse, exact, idempotent, and best among all deterministic maps."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, MetricPrivacy, Prior, Space
from sfumato.errors import InputError
from sfumato.mechanisms import constant, exponential, remap_mechanism
from sfumato.proofs import distortion_below, prove_metric_privacy


@st.composite
def instances(draw):
    n, m, k = (draw(st.integers(1, 5)) for _ in range(3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = rng.dirichlet(np.ones(n))
    if n > 1:
        weights[rng.integers(n)] = 0.0
    matrix = rng.dirichlet(np.ones(m), size=n)
    reports, goals = Space([f"z{i}" for i in range(m)]), Space([f"o{i}" for i in range(k)])
    mechanism = Mechanism(matrix, Space(range(n)), reports)
    return mechanism, Prior.from_counts(mechanism.secrets, weights), rng.normal(size=(n, k)), goals


@given(instances())
def test_no_deterministic_map_is_better(instance):
    mechanism, prior, loss, goals = instance
    after = remap_mechanism(mechanism, prior, loss, goals)
    joint = mechanism.joint(prior)
    costs = [
        sum(joint[:, z] @ loss[:, o] for z, o in enumerate(target))
        for target in product(range(len(goals)), repeat=mechanism.shape[1])
    ]
    assert after.expected_loss(prior, loss) == pytest.approx(min(costs), abs=1e-12)
    assert after.observables == goals


@given(instances())
def test_integers_are_only_moved(instance):
    mechanism, prior, loss, goals = instance
    after = remap_mechanism(mechanism, prior, loss, goals)
    assert after.bits == mechanism.bits
    goal = (mechanism.joint(prior).T @ loss).argmin(axis=1)  # unique, for random losses
    for o in range(len(goals)):
        assert after.weights[:, o].tolist() == mechanism.weights[:, goal == o].sum(axis=1).tolist()


@given(st.integers(2, 9), st.integers(0, 2**32), st.floats(0.1, 4))
def test_where_the_loss_is_the_distance_the_attacker_errs_by_the_loss(size, seed, epsilon):
    rng = np.random.default_rng(seed)
    space = Space(range(size), rng.normal(size=(size, 2)))
    prior = Prior.from_counts(space, rng.dirichlet(np.ones(size)))
    metric = space.metric("euclidean")
    before = exponential(space, metric, epsilon)
    after = remap_mechanism(before, prior, metric)
    loss = after.expected_loss(prior, metric)
    assert loss <= before.expected_loss(prior, metric) + 1e-12
    assert distortion_below(after, prior, metric) == pytest.approx(loss, abs=1e-10)
    claim = MetricPrivacy(epsilon, metric)
    assert prove_metric_privacy(after, claim).upper <= prove_metric_privacy(before, claim).upper * (1 + 1e-9)
    again = remap_mechanism(after, prior, metric)
    assert again.expected_loss(prior, metric) == pytest.approx(loss, abs=1e-12)


def test_a_report_stays_where_none_is_better():
    space = Space("abc")
    even = Prior.uniform(space)
    flat = np.ones((3, 3))
    mechanism = exponential(space, space.metric("hamming"), 1.0)
    assert remap_mechanism(mechanism, even, flat) == mechanism
    median = remap_mechanism(constant(space, [1, 0, 0]), Prior(space, [0.1, 0.1, 0.8]), 1 - np.eye(3))
    assert median.matrix[:, 2].tolist() == [1, 1, 1]


def test_sizes_must_fit():
    mechanism = Mechanism(np.eye(3))
    with pytest.raises(InputError, match="2 secrets"):
        remap_mechanism(mechanism, Prior.uniform(Space(range(3))), np.ones((2, 3)))
    with pytest.raises(InputError, match="prior has 2"):
        remap_mechanism(mechanism, Prior.uniform(Space(range(2))), np.ones((3, 3)))
