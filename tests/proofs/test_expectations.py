from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Loss, Mechanism, Prior
from sfumato.proofs import constraints, distortion_below, expected_loss_above, worst_loss_above

from ..catalogue import CASES
from ..leakage.channels import cases
from . import exact

CLOSE = Fraction(1, 10**12)


@given(cases(), st.integers(0, 2**32), st.booleans())
def test_losses_are_bounded_from_above_and_tightly(case, seed, signed):
    mechanism, prior = case
    loss = np.random.default_rng(seed).normal(size=mechanism.shape) * 10
    loss = loss if signed else np.abs(loss)
    for bound, true in (
        (expected_loss_above(mechanism, prior, loss), exact.expected(mechanism, prior, loss)),
        (worst_loss_above(mechanism, loss), exact.worst(mechanism, loss)),
    ):
        assert true <= Fraction(bound) <= true + CLOSE


@given(cases(), st.integers(1, 4), st.integers(0, 2**32))
def test_distortion_is_bounded_from_below_and_tightly(case, guesses, seed):
    mechanism, prior = case
    distance = np.random.default_rng(seed).random((guesses, len(prior))) * 10
    bound, true = distortion_below(mechanism, prior, distance), exact.distortion(mechanism, prior, distance)
    assert true - CLOSE <= Fraction(bound) <= true


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_catalogue(case):
    mechanism, prior = case.mechanism, case.prior
    n, m = mechanism.shape
    loss = Loss(np.arange(1.0, n * m + 1).reshape(n, m) / 7, "m")
    distance = np.minimum(case.metric.array, 10.0)
    expected, truth = (
        Fraction(expected_loss_above(mechanism, prior, loss)),
        exact.expected(mechanism, prior, loss.array),
    )
    assert truth <= expected <= truth + CLOSE
    assert expected <= Fraction(worst_loss_above(mechanism, loss)) + CLOSE
    error = exact.distortion(mechanism, prior, distance)
    assert error - CLOSE <= Fraction(distortion_below(mechanism, prior, distance)) <= error


def test_small_numbers_are_bounded_without_slack():
    half, coin = Mechanism([[0.5, 0.5], [0.5, 0.5]]), Mechanism([[0.75, 0.25], [0.25, 0.75]])
    prior = Prior.uniform(half.secrets)
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert expected_loss_above(half, prior, swapped) == 0.5
    assert worst_loss_above(half, np.ones((2, 2))) == 1.0
    assert distortion_below(coin, prior, swapped) == 0.25
    assert -distortion_below(coin, prior, -np.eye(2)) == 0.75


@pytest.mark.parametrize("most", [1e-320, 1e-300, 1.0, 1.7e308])
def test_losses_of_any_size_are_bounded(most):
    mechanism = Mechanism([[0.3, 0.7], [0.9, 0.1]])
    prior = Prior.uniform(mechanism.secrets)
    loss = most * np.array([[0.0, 1.0], [1.0, 0.5]])
    for bound, value in (
        (expected_loss_above(mechanism, prior, loss), exact.expected(mechanism, prior, loss)),
        (worst_loss_above(mechanism, loss), exact.worst(mechanism, loss)),
    ):
        assert value <= Fraction(bound) <= value + Fraction(np.spacing(bound))


def test_large_mechanisms_are_bounded_as_small_ones(monkeypatch):
    random = np.random.default_rng(5)
    matrix = random.dirichlet(np.ones(7), 6)
    mechanism, loss = Mechanism(matrix), random.normal(size=(6, 7))
    prior = Prior(mechanism.secrets, random.dirichlet(np.ones(6)))
    gain = -np.abs(loss[:, :6])
    monkeypatch.setattr(constraints, "_EXACT", 0)
    for bound, true in (
        (expected_loss_above(mechanism, prior, loss), exact.expected(mechanism, prior, loss)),
        (worst_loss_above(mechanism, loss), exact.worst(mechanism, loss)),
        (-distortion_below(mechanism, prior, gain), -exact.distortion(mechanism, prior, gain)),
    ):
        assert true <= Fraction(bound) <= true + CLOSE
