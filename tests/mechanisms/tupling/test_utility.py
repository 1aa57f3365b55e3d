"""Quality loss and attack success against the listing of all tuples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import Tupling, attack_success, quality_loss, quality_loss_of_secrets

from . import exact


@options(max_examples=12)
@given(exact.settings(3), st.integers(0, 3), st.lists(st.integers(-3, 5), min_size=6, max_size=6))
def test_loss_is_the_mean_of_the_least_loss(setting, dummies, losses):
    p, q, nu = setting
    table = np.array(losses, dtype=float).reshape(2, 3)
    tupling = Tupling(Mechanism([p, q]), dummies, nu)
    found = quality_loss_of_secrets(tupling, table)
    for row, own, values in zip(found, (p, q), table, strict=True):
        assert row == pytest.approx(exact.least_losses(own, nu, values, dummies), abs=1e-12)
    prior = Prior(Space(range(2)), [0.25, 0.75])
    assert quality_loss(tupling, prior, table) == pytest.approx(found @ [0.25, 0.75], abs=1e-12)


def test_loss_agrees_with_simulation_and_falls_with_dummies():
    rng = np.random.default_rng(3)
    x = rng.random((30, 2))
    distance = np.hypot(*(x[:, None] - x).transpose(2, 0, 1))
    matrix = np.exp(-4 * distance)
    inner = Mechanism(matrix / matrix.sum(axis=1, keepdims=True))
    prior = Prior(inner.secrets, rng.dirichlet([1.0] * 30))
    nu = rng.dirichlet([1.0] * 30)
    losses = [quality_loss(Tupling(inner, k, nu), prior, distance) for k in (0, 1, 5, 20)]
    assert losses[0] == pytest.approx(inner.expected_loss(prior, distance), abs=1e-12)
    assert (np.diff(losses) < 0).all()
    secrets = rng.choice(30, size=40_000, p=prior.probabilities)
    own = (rng.random(40_000)[:, None] > inner.matrix.cumsum(axis=1)[secrets]).sum(axis=1).clip(max=29)
    drawn = np.column_stack([own, rng.choice(30, size=(40_000, 5), p=nu)])
    seen = distance[secrets[:, None], drawn].min(axis=1)
    assert abs(seen.mean() - losses[2]) < 5 * seen.std() / 200


@options(max_examples=10)
@given(exact.settings(3), st.integers(0, 3), st.floats(0, 1))
def test_attack_success_is_that_of_the_best_guess(setting, dummies, prior):
    p, q, nu = setting
    tupling = Tupling(Mechanism([p, q]), dummies, nu)
    tuples = np.array(list(product(range(3), repeat=dummies + 1)))
    laws = [np.exp(tupling.log_likelihood(tuples, group)) for group in ([1, 0], [0, 1])]
    truth = np.maximum(prior * laws[0], (1 - prior) * laws[1]).sum()
    found = attack_success(tupling, [1, 0], [0, 1], prior)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-3


def test_refusals():
    tupling = Tupling(Mechanism([[0.5, 0.5], [0.5, 0.5]]), 1, [0.5, 0.5])
    with pytest.raises(InputError, match=r"prior 1\.5"):
        attack_success(tupling, [1, 0], [0, 1], 1.5)
    with pytest.raises(InputError, match="3 values"):
        quality_loss(tupling, Prior.uniform(Space("abc")), [[0, 1], [1, 0]])
    with pytest.raises(InputError, match="there are 2 and 2"):
        quality_loss(tupling, Prior.uniform(Space("ab")), [[0, 1, 2], [1, 0, 2]])
