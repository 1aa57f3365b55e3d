"""Zero-concentrated privacy: closed forms, dense grids of orders, and the bound over all of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy import (
    BoundedRange,
    Claim,
    ConcentratedPrivacy,
    DifferentialPrivacy,
    KLPrivacy,
    RenyiPrivacy,
    convert,
)

from ...catalogue import CASES, randomised_response
from ..atlas.claimed import implied
from ..bayes import channels
from ..brute import concentrated


def normal(steps, mu, width):
    """A normal distribution on a lattice and its shift by mu, cut off where nothing is left."""
    x = np.arange(-width, width + 1) / steps
    rows = np.exp(-((x - np.array([[0.0], [mu]])) ** 2) / 2)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 1.0, 3.0, 30.0, 600.0])
def test_randomised_response_attains_it_in_the_limit_of_order_one(epsilon):
    found = ConcentratedPrivacy().measure(randomised_response(2, epsilon))
    assert found.value == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-9, abs=1e-15)
    assert "order 1" in found.witness.note


@pytest.mark.thinned(2)
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_normal_noise_on_a_lattice_has_half_the_squared_shift_at_every_order(mu):
    found = ConcentratedPrivacy().measure(normal(4, mu, 80))
    assert found.value == pytest.approx(mu**2 / 2, rel=1e-9)
    assert found.upper <= found.value * (1 + 2e-9) + 1e-9


def test_laplace_noise_in_narrow_bins():
    """Its divergences have a closed form (Mironov, table II); bins only lose."""
    scale = 0.5
    edges = np.concatenate([[-np.inf], np.linspace(0, 1, 4001), [np.inf]])

    def below(x, centre):
        near = np.exp(-np.abs(x - centre) / scale) / 2
        return np.where(x < centre, near, 1 - near)

    rows = np.array([np.diff(below(edges, centre)) for centre in (0.0, 1.0)])
    orders = 1 + np.geomspace(1e-6, 100, 20_000)
    terms = np.logaddexp(
        np.log(orders / (2 * orders - 1)) + (orders - 1) / scale,
        np.log((orders - 1) / (2 * orders - 1)) - orders / scale,
    )
    exact = max(float((terms / (orders - 1) / orders).max()), 1 / scale + math.exp(-1 / scale) - 1)
    found = ConcentratedPrivacy().measure(rows / rows.sum(axis=1, keepdims=True))
    assert found.value == pytest.approx(exact, rel=1e-5)
    assert found.value <= exact * (1 + 1e-9)


@given(channels(outputs=6))
def test_no_order_of_a_dense_grid_exceeds_the_bound_and_some_order_attains_the_value(matrix):
    found = ConcentratedPrivacy().measure(matrix)
    if (matrix == matrix[0]).all():
        assert found.value == found.upper == 0.0  # exactly, which a grid in floats is not
        return
    pairs = [(s, t) for s in range(len(matrix)) for t in range(len(matrix)) if s != t]
    dense = max(concentrated(matrix[s], matrix[t]) for s, t in pairs)
    if math.isinf(dense):
        assert found.value == found.lower == math.inf
        return
    assert dense <= found.upper
    assert found.value <= dense * (1 + 1e-4) + 1e-12
    assert found.upper - found.value <= 2e-9 * found.value + 1e-11
    pair, note = found.witness.pair, found.witness.note
    if pair is not None:
        order = float(note.split()[-1])
        divergence = KLPrivacy() if order == 1 else RenyiPrivacy(order)
        assert divergence.measure(matrix[list(pair)]).value / order >= found.value * (1 - 1e-4) - 1e-12


@given(st.floats(-300, -3), st.floats(0.01, 0.99))
def test_very_rare_reports(exponent, share):
    rare = 10.0**exponent
    matrix = np.array([[rare, share, 1 - share - rare], [rare / 7, share, 1 - share - rare / 7]])
    found = ConcentratedPrivacy().measure(matrix)
    dense = max(concentrated(*matrix), concentrated(*matrix[::-1]))
    assert dense <= found.upper + 1e-15
    assert found.value <= dense * (1 + 1e-4) + 1e-15


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_lies_between_its_neighbours(case):
    matrix = case.mechanism.matrix
    found = ConcentratedPrivacy().measure(case.mechanism)
    pure, spread = DifferentialPrivacy().measure(matrix), BoundedRange().measure(matrix)
    assert found.upper >= KLPrivacy().measure(matrix).lower
    assert found.upper >= RenyiPrivacy(2.0).measure(matrix).lower / 2
    if math.isfinite(pure.value):
        most = convert(Claim("differential-privacy", epsilon=pure.upper), to="concentrated-privacy").claim["rho"]
        assert found.lower <= most
        assert found.lower <= implied("range-to-zcdp", eta=spread.upper)["rho"]


def test_equal_rows_single_rows_and_one_column():
    for matrix in (np.full((3, 2), 0.5), np.array([[0.2, 0.8]]), np.ones((3, 1))):
        found = ConcentratedPrivacy().measure(matrix)
        assert found.value == 0
        assert found.upper < 1e-12


def test_what_is_left_open_is_bounded_by_the_larger_order_over_the_smaller(monkeypatch):
    monkeypatch.setattr("sfumato.privacy.point.concentrated._PASSES", 1)
    found = ConcentratedPrivacy().measure(normal(4, 1.0, 60))
    assert found.lower <= 0.5 * (1 + 1e-9)
    assert 0.5 <= found.upper <= 1.1
