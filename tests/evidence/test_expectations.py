from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Loss
from sfumato.evidence import distortion_below, expected_loss_above, worst_loss_above

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
