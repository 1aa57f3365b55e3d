import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.divergences import Renyi
from sfumato.errors import InputError
from sfumato.privacy import (
    BoundedRange,
    DifferentialPrivacy,
    Relation,
)

from ...catalogue import CASES, randomised_response
from ...divergences.pairs import several
from ..atlas.claimed import implied

UPWARDS = Relation(np.eye(3, k=1, dtype=bool))
ORDERS = (1.01, 1.5, 2.0, 4.0, 16.0, 200.0)


def range_of(p, q):
    """All quotients of quotients, by the definition: p(o) q(o') <= e**eta q(o) p(o')."""
    best = 0.0
    for a, b in zip(p, q, strict=True):
        for c, d in zip(p, q, strict=True):
            if (a or b) and (c or d) and a * d:
                best = max(best, math.inf if b * c == 0 else math.log(a * d / (b * c)))
    return best


@given(several(count=3), st.sampled_from([None, UPWARDS]))
def test_eta_is_the_largest_quotient_of_quotients(rows, relation):
    found = BoundedRange(relation).measure(rows)
    pairs = (Relation.all(3) if relation is None else relation).pairs
    expected = max(range_of(rows[s], rows[t]) for s, t in pairs)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.lower - 1e-14 <= expected <= found.upper + 1e-14  # logarithms of floats, added
    assert found.witness.pair is not None
    s, t = found.witness.pair
    high, low = found.witness.outputs
    with np.errstate(divide="ignore"):
        loss = np.log(rows[s, [high, low]]) - np.log(rows[t, [high, low]])
    assert loss[0] - loss[1] == pytest.approx(found.value, abs=1e-12)


@given(several(count=3))
def test_both_orders_have_the_same_eta(rows):
    downwards = Relation(UPWARDS.array.T)
    assert BoundedRange(UPWARDS).measure(rows).value == BoundedRange(downwards).measure(rows).value


@given(several(count=3))
def test_eta_and_epsilon_bound_each_other(rows):
    eta, epsilon = BoundedRange().measure(rows), DifferentialPrivacy().measure(rows)
    if math.isfinite(eta.upper):
        assert epsilon.lower <= implied("range-to-dp", eta=eta.upper)["epsilon"]
        assert eta.lower <= implied("dp-to-range", epsilon=epsilon.upper)["eta"]
    else:
        assert epsilon.upper == math.inf


def test_the_coin_has_twice_its_epsilon():
    assert BoundedRange().measure(randomised_response(2, 1.0)).value == pytest.approx(2.0)
    bound = implied("dp-to-range", epsilon=0.3)["eta"]
    assert BoundedRange().measure(randomised_response(5, 0.3)).value == pytest.approx(bound)


@given(several(count=2, positive=True))
def test_eta_bounds_every_renyi_divergence(rows):
    rho = implied("range-to-zcdp", eta=BoundedRange().measure(rows).upper)["rho"]
    for order in ORDERS:
        assert Renyi(order)(*rows) <= rho * order * (1 + 1e-9) + 1e-12


@given(several(count=2, positive=True))
def test_epsilon_alone_bounds_them_by_half_its_square(rows):
    epsilon = DifferentialPrivacy().measure(rows).upper
    for order in ORDERS:
        assert Renyi(order)(*rows) <= epsilon**2 / 2 * order * (1 + 1e-9) + 1e-12


def test_the_constant_of_eta_cannot_be_smaller():
    # A short range with even masses: the Renyi divergence is a variance times half the order.
    eta = 1e-2
    p = 1 / (1 + math.exp(eta / 2))
    found = Renyi(1.0001)([p, 1 - p], [1 - p, p])
    assert BoundedRange().measure([[p, 1 - p], [1 - p, p]]).value == pytest.approx(eta)
    assert found == pytest.approx(implied("range-to-zcdp", eta=eta)["rho"] * 1.0001, rel=1e-4)


@given(
    st.integers(2, 5).flatmap(
        lambda m: st.lists(st.lists(st.floats(0, 1), min_size=m, max_size=m), min_size=2, max_size=4)
    ),
    st.floats(0.1, 3),
)
def test_the_exponential_mechanism_has_eta_epsilon_and_twice_it_in_the_other_convention(scores, epsilon):
    u = np.array(scores)
    sensitivity = max(float(np.abs(u[:, None] - u).max()), 0.01)
    for weight, eta in ((epsilon / 2, epsilon), (epsilon, 2 * epsilon)):
        rows = np.exp(weight * u / sensitivity)
        rows /= rows.sum(axis=1, keepdims=True)
        assert BoundedRange().measure(rows).lower <= eta + 1e-14
        assert DifferentialPrivacy().measure(rows).lower <= eta + 1e-14


def test_the_other_convention_is_not_epsilon():
    rows = np.exp(1.0 * np.array([[1.0, 0.0], [0.0, 1.0]]))
    rows /= rows.sum(axis=1, keepdims=True)
    assert BoundedRange().measure(rows).value == pytest.approx(2.0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case):
    matrix = case.mechanism.matrix
    n = len(matrix)
    expected = max([0.0] + [range_of(matrix[s], matrix[t]) for s in range(n) for t in range(n) if s != t])
    assert BoundedRange().measure(case.mechanism).value == pytest.approx(expected)


def test_sentences_and_refusals():
    assert "eta 2" in BoundedRange().measure([[0.75, 0.25], [0.25, 0.75]]).sentence
    assert "no eta" in BoundedRange().measure(np.eye(2)).sentence
    assert implied("range-to-zcdp", eta=0.0)["rho"] == 0.0
    with pytest.raises(InputError, match="eta of"):
        implied("range-to-dp", eta=-1.0)
