"""Curves of Laplace noise, of functions and of points: closed forms, tests by brute force, and both sides."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import laplace

import sfumato as sf
from sfumato.errors import InputError
from sfumato.privacy import (
    Claim,
    Curve,
    Family,
    FunctionTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    Rivals,
    TradeOff,
    TradeOffPrivacy,
    convert,
)

from ...catalogue import randomised_response
from ..bayes import channels

GRID = np.linspace(0, 1, 501)


@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0, 4.0, 50.0])
def test_laplace_curve_is_that_of_thresholds(shift):
    thresholds = np.linspace(-20, 20 + shift, 2001)
    alphas, confidences = laplace.sf(thresholds), laplace.cdf(thresholds)
    betas, powers = LaplaceTradeOff(shift).errors(alphas, confidences)
    assert betas == pytest.approx(laplace.cdf(thresholds - shift), rel=1e-9, abs=1e-15)
    assert powers == pytest.approx(laplace.sf(thresholds - shift), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("shift", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.9, 5.0])
def test_laplace_delta_is_the_excess_of_one_density(shift, epsilon):
    """The excess is over all x above where the ratio of the densities is e**epsilon."""
    x = np.linspace(-30, 30 + shift, 200_001)
    gain = np.maximum(laplace.pdf(x - shift) - math.exp(epsilon) * laplace.pdf(x), 0)
    curve = LaplaceTradeOff(shift)
    assert curve.delta(epsilon) == pytest.approx(float(np.trapezoid(gain, x)), abs=1e-4)
    betas = curve(GRID)
    assert curve.delta(epsilon) >= (1 - betas - math.exp(epsilon) * GRID).max() - 1e-12


@pytest.mark.parametrize("shift", [0.5, 1.0, 3.0])
def test_laplace_delta_is_that_of_an_accountant(shift):
    from dp_accounting.pld import privacy_loss_distribution as library

    pld = library.from_laplace_mechanism(1 / shift, value_discretization_interval=1e-4)
    for epsilon in (0.0, 0.2, 0.45, 2.0):
        # The accountant rounds losses up to its grid.
        assert pld.get_delta_for_epsilon(epsilon) == pytest.approx(LaplaceTradeOff(shift).delta(epsilon), abs=1e-4)


def test_laplace_noise_in_bins_keeps_its_curve_and_no_better_one():
    edges = np.concatenate([[-np.inf], np.linspace(-3, 4, 701), [np.inf]])
    rows = np.array([np.diff(laplace.cdf(edges - centre)) for centre in (0.0, 1.0)])
    rows /= rows.sum(axis=1, keepdims=True)
    assert TradeOffPrivacy(LaplaceTradeOff(1.0)).measure(rows).value < 1e-12
    assert TradeOffPrivacy(LaplaceTradeOff(0.98)).measure(rows).value > 1e-3
    # Its epsilon alone promises less.
    assert (LaplaceTradeOff(1.0)(GRID) >= TradeOff.of_epsilon(1.0)(GRID) - 1e-12).all()
    assert LaplaceTradeOff(1.0)(0.3) > TradeOff.of_epsilon(1.0)(0.3) + 0.04


def test_laplace_curve_as_a_claim():
    claim = Claim("trade-off", curve=LaplaceTradeOff(1.0))
    for wanted, epsilon, delta in (
        ({"delta": 0.0}, 1.0, 0.0),
        ({"epsilon": 0.5}, 0.5, 1 - math.exp(-0.25)),
        ({"delta": 0.1}, 1 + 2 * math.log(0.9), 0.1),
        ({}, 0.0, 1 - math.exp(-0.5)),
    ):
        found = convert(claim, to="differential-privacy", **wanted).claim
        assert found["epsilon"] == pytest.approx(epsilon, rel=1e-12)
        assert found["delta"] == pytest.approx(delta, rel=1e-12)
        assert found["delta"] >= LaplaceTradeOff(1.0).delta(found["epsilon"]) * (1 - 1e-14)
    with pytest.raises(InputError, match="at least 0"):
        LaplaceTradeOff(-1.0)


@given(channels(positive=True, outputs=5), st.sampled_from([0.3, 1.0, 2.5]))
def test_functions_measure_like_the_curves_that_they_compute(matrix, size):
    curves: list[tuple[Curve, Curve]] = [
        (GaussianTradeOff(size), FunctionTradeOff(GaussianTradeOff(size))),
        (LaplaceTradeOff(size), FunctionTradeOff(LaplaceTradeOff(size))),
        (TradeOff.of_epsilon(size, 0.1), FunctionTradeOff(TradeOff.of_epsilon(size, 0.1))),
    ]
    for known, function in curves:
        expected, found = TradeOffPrivacy(known).measure(matrix), TradeOffPrivacy(function).measure(matrix)
        assert found.value == pytest.approx(expected.value, abs=1e-11)
        assert found.lower <= expected.value + 1e-15
        assert expected.value <= found.upper + 1e-15


def test_function_against_all_randomised_tests():
    """(1 - a)**2 against randomised response, whose curve is two lines, on a fine grid."""
    curve = FunctionTradeOff(lambda a: (1 - a) ** 2)
    rows = randomised_response(2, 1.0)
    a = np.linspace(0, 1, 100_001)
    slack = float(np.max((1 - a) ** 2 - TradeOff.of_epsilon(1.0)(a)))
    assert TradeOffPrivacy(curve).measure(rows).value == pytest.approx(max(0, slack), abs=1e-5)
    assert "FunctionTradeOff" in repr(curve)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda a: 1 - a**2, "not between 0 and 1 - a"),
        (lambda a: 2 * (1 - a), "not between 0 and 1 - a"),
        (lambda a: np.where(a < 0.5, 0.2, 0.3) * (1 - a), "rises"),
        (lambda a: np.minimum(0.3, 1 - a), "not convex"),
        (lambda a: 0.5, "shape"),
        (lambda a: a - np.inf, "finite"),
        (lambda a: math.exp(-a), "np.vectorize"),
    ],
)
def test_functions_that_are_no_trade_off_functions(function, says):
    with pytest.raises(InputError, match=says):
        FunctionTradeOff(function)


@st.composite
def sampled(draw):
    """A curve of a random pair and some of its points."""
    p, q = draw(channels(2, 2, outputs=6))
    at = draw(st.lists(st.integers(0, 100), min_size=1, max_size=8, unique=True))
    curve = TradeOff(p, q)
    x = np.sort(np.array(at)) / 100
    return curve, x, curve(x)


@given(sampled())
def test_points_enclose_the_curve_that_they_are_of(case):
    curve, x, y = case
    upper, lower = TradeOff.through(x, y), TradeOff.minorant(x, y)
    assert (upper(GRID) >= curve(GRID) - 1e-11).all()
    assert (
        lower(GRID) <= curve(GRID) + 1e-15 / x[x > 0].min(initial=1.0)
    ).all()  # y is rounded, and x at least .01
    assert upper(x) == pytest.approx(y, abs=1e-11)


@given(sampled(), st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_what_reaches_the_points_keeps_the_curve_below_them_however_bent(case, shares):
    curve, x, y = case
    promised = TradeOff.minorant(x, y * np.array(shares)[: len(x)])
    assert (promised(GRID) <= curve(GRID) + 1e-15).all()


def test_dense_points_come_close():
    curve = GaussianTradeOff(1.0)
    x = np.linspace(0, 1, 2001)
    inner = GRID[1:]  # at 0 a normal curve is infinitely steep
    assert np.abs(TradeOff.minorant(x, curve(x))(inner) - curve(inner)).max() < 2e-3
    assert np.abs(TradeOff.through(x, curve(x))(inner) - curve(inner)).max() < 2e-4
    assert TradeOff.minorant([0.5], [0.5]).least_total_error == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([0.1, 0.2, 0.3], [0.5, 0.49, 0.1], "not convex"),
        ([0.3], [0.9], "above 1 - alpha"),
        ([0.3, 0.2], [0.1, 0.2], "sort them"),
        ([], [], "at least one"),
        ([0.5], [0.1, 0.2], "two arrays"),
    ],
)
def test_points_that_are_on_no_trade_off_function(x, y, says):
    with pytest.raises(InputError, match=says):
        TradeOff.through(x, y)


def test_equal_curves_families_and_rivals_are_equal():
    rows = [[0.5, 0.5], [0.25, 0.75]]
    space = sf.Space("ab")
    pairs = [
        ("trade-off", "curve", lambda: LaplaceTradeOff(1.0), LaplaceTradeOff(2.0)),
        ("trade-off", "curve", lambda: TradeOff(*rows), TradeOff.of_epsilon(1.0)),
        ("pufferfish", "rivals", lambda: Rivals.of_pairs(space, [("a", "b")]), None),
        ("distribution-privacy", "family", lambda: Family(rows), Family([[0.5, 0.5], [0.5, 0.5]])),
    ]
    for notion, name, make, other in pairs:
        numbers = {} if notion == "trade-off" else {"epsilon": 1.0}
        first, second = (Claim(notion, **numbers, **{name: make()}) for _ in range(2))
        assert first.implies(second)
        assert not first.implies(Claim(notion, **numbers, **{name: other}))
