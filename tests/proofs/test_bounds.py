import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.proofs import Multipliers, distortion_bound, loss_bound

from ..reference import Request, requests, solved

PRIMAL = ("metric", "two metrics", "distortion", "joint", "worst", "worst joint")
DUAL = ("dual", "dual metric")


def bound(request, multipliers):
    if request.max_loss is not None:
        return distortion_bound(request.prior, request.loss, request.distance, request.max_loss, multipliers)
    return loss_bound(request.prior, request.loss, multipliers, request.distance, request.minimum)


def disturbed(multipliers, rng, how):
    """Prices that no solver would give: random, scaled, some of the wrong sign, or none at all."""

    def change(prices):
        if prices is None:
            return None
        if how == "zero":
            return np.zeros_like(prices)
        if how == "noise":
            return prices + rng.normal(size=prices.shape) * 0.1
        return rng.exponential(size=prices.shape) ** 3 * (1 if how == "random" else prices)

    return replace(
        multipliers,
        local=change(multipliers.local),
        guesses=change(multipliers.guesses),
        worst=change(multipliers.worst),
        loss=float(change(np.array([multipliers.loss]))[0]),
    )


@given(requests(), st.sampled_from(["zero", "noise", "random", "factor"]), st.integers(0, 2**32))
def test_any_prices_give_a_valid_bound(request_, how, seed):
    best = solved(request_)
    assert best is not None
    found = bound(request_, disturbed(best.multipliers, np.random.default_rng(seed), how))
    slack = 1e-9 * (1 + abs(best.value))  # the reference itself is a float
    if request_.max_loss is None:
        assert found <= best.value + slack
    else:
        assert found >= best.value - slack


@given(requests())
def test_the_optimal_prices_give_the_optimum(request_):
    best = solved(request_)
    assert best is not None
    assert bound(request_, best.multipliers) == pytest.approx(best.value, abs=1e-7 * (1 + abs(best.value)))


def test_without_prices_the_bound_is_the_least_loss_of_each_secret():
    prior, loss = np.array([0.25, 0.75, 0.0]), np.array([[1.0, 2.0], [4.0, 3.0], [0.0, 9.0]])
    none = np.zeros(0, dtype=np.intp)
    nothing = Multipliers(none, none, none, np.zeros(0), np.zeros(0))
    assert loss_bound(prior, loss, nothing) == pytest.approx(0.25 * 1 + 0.75 * 3, rel=1e-12)
    # No attacker errs by more than the best guess without a report.
    assert distortion_bound(prior, loss, 1 - np.eye(3), 1.0, nothing) == pytest.approx(0.25, rel=1e-12)
    evenly = replace(nothing, worst=np.zeros(3))
    assert loss_bound(prior, loss, evenly) == 3.0  # in the worst case, the least loss of the worst secret
    blind = replace(nothing, guesses=np.zeros((3, 2)))
    # The attacker who guesses evenly without looking.
    assert distortion_bound(np.full(3, 1 / 3), loss, 1 - np.eye(3), 1.0, blind) == pytest.approx(2 / 3, rel=1e-12)


def test_a_known_bound():
    # Two secrets, discrete metric, Hamming loss, uniform prior: the optimum is 1 / (1 + e).
    request = Request(np.array([0.5, 0.5]), 1 - np.eye(2), 1.0, (1 - np.eye(2),))
    best = solved(request)
    assert best is not None
    assert bound(request, best.multipliers) == pytest.approx(1 / (1 + math.e), rel=1e-9)
    assert bound(request, best.multipliers) <= 1 / (1 + math.e)


@given(requests(), st.integers(0, 2**32))
def test_no_bound_is_worse_than_the_trivial_one(request_, seed):
    best = solved(request_)
    assert best is not None
    found = bound(request_, disturbed(best.multipliers, np.random.default_rng(seed), "random"))
    if request_.max_loss is not None:
        assert found <= float((request_.distance @ request_.prior).min()) * (1 + 1e-12) + 1e-300
    else:
        each = request_.loss.min(axis=1)
        assert found >= (each.max() if request_.worst else float(request_.prior @ each)) - 1e-12
