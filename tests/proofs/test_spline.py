"""The steepest slope of splines: by linear programs at single points, by random columns, and by its limits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato.proofs.slope import _columns, gradient_and_value, octile_exponent, octile_slope, slope_holds

STEEPEST = [(0.3, 0.33221848, (0.5, 0.125)), (0.9, 1.00358436, (-0.125, 0.375))]
AROUND = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]


def octile(a, b):
    low, high = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    return high - low + math.sqrt(2) * low


def weights(t):
    return np.array([(0.5 - t) ** 2 / 2, 0.75 - t * t, (0.5 + t) ** 2 / 2])


def slopes(t):
    return np.array([t - 0.5, -2 * t, 0.5 + t])


def steepest_of_any_column(exponent, x, y, angle):
    """By a linear program: the largest directional slope of a column with value one at a point."""
    rows = np.array(
        [
            np.eye(9)[v] - math.exp(exponent * octile(AROUND[v], AROUND[w])) * np.eye(9)[w]
            for v in range(9)
            for w in range(9)
            if v != w
        ]
    )
    value = np.outer(weights(x), weights(y)).ravel()
    slope = math.cos(angle) * np.outer(slopes(x), weights(y)) + math.sin(angle) * np.outer(weights(x), slopes(y))
    return -linprog(-slope.ravel(), A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=[value], b_eq=[1]).fun


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("exponent", "wanted", "point"), STEEPEST)
def test_the_slope_is_attained_and_never_exceeded(exponent, wanted, point):
    assert octile_slope(exponent) == pytest.approx(wanted, rel=1e-6)
    rng = np.random.default_rng(0)
    points = zip(*rng.uniform(-0.5, 0.5, (2, 25)), rng.uniform(0, 7, 25), strict=True)
    assert max(steepest_of_any_column(exponent, x, y, angle) for x, y, angle in points) <= octile_slope(exponent)
    x, y = point
    around = [steepest_of_any_column(exponent, x, y, angle) for angle in np.linspace(0, 2 * np.pi, 121)]
    assert wanted * 0.9995 <= max(around) <= octile_slope(exponent)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 2.5), st.integers(0, 2**32 - 1))
def test_random_columns_are_never_steeper(exponent, seed):
    """Columns made strict by shortest paths, at random points."""
    rng = np.random.default_rng(seed)
    potential = rng.uniform(-3, 3, 9) * exponent
    away = np.array([[exponent * octile(a, b) for b in AROUND] for a in AROUND])
    column = np.exp((potential[None, :] + away).min(axis=1)).reshape(3, 3)
    x, y = rng.uniform(-0.5, 0.5, (2, 50))
    limit = octile_slope(exponent)
    for a, b in zip(x, y, strict=True):
        value = weights(a) @ column @ weights(b)
        steep = math.hypot(slopes(a) @ column @ weights(b), weights(a) @ column @ slopes(b))
        assert steep <= limit * value * (1 + 1e-12)


def test_the_extreme_columns_are_all_there():
    """Another search finds the same corners: half-spaces intersected in floating point."""
    from scipy.spatial import HalfspaceIntersection

    rows = []
    for v in range(9):
        for w in range(9):
            if v != w and max(abs(AROUND[v][0] - AROUND[w][0]), abs(AROUND[v][1] - AROUND[w][1])) == 1:
                rows.append(np.append(np.delete(np.eye(9)[v] - np.eye(9)[w], 4), -octile(AROUND[v], AROUND[w])))
    corners = np.unique(np.round(HalfspaceIntersection(np.array(rows), np.zeros(8)).intersections, 9), axis=0)
    values = _columns() @ (1, math.sqrt(2))
    images = {
        tuple(np.round(np.delete(image.ravel(), 4), 9))
        for column in values
        for turn in range(4)
        for image in (np.rot90(column, turn), np.rot90(column, turn).T)
    }
    assert len(corners) == 1690
    assert images == {tuple(corner) for corner in corners}


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "slope",
    [1e-6, 0.35, 6.0],
)
def test_exponent_and_slope_invert_each_other(slope):
    exponent = octile_exponent(slope)
    assert slope_holds(exponent, slope)
    assert not slope_holds(exponent * (1 + 1e-8), slope)
    assert octile_slope(exponent) == pytest.approx(slope, rel=1e-8)
    assert octile_slope(exponent) >= slope * (1 - 1e-8)


def test_it_is_never_flatter_than_a_plane_wave():
    """As steps get short, columns look like exponentials of one direction, whose slope is the octile norm's."""
    assert octile_slope(1e-4) >= 1e-4 * math.hypot(1, math.sqrt(2) - 1)


def test_bernstein_coefficients_are_those_of_the_polynomials():
    rng = np.random.default_rng(2)
    column = rng.random((1, 3, 3))
    steep, value = gradient_and_value(column)
    for u, v in rng.random((20, 2)):
        east, north = ([math.comb(4, k) * s**k * (1 - s) ** (4 - k) for k in range(5)] for s in (u, v))
        basis = np.outer(east, north)
        x, y = u - 0.5, v - 0.5
        assert (basis * value[..., 0]).sum() == pytest.approx((4 * weights(x) @ column[0] @ weights(y)) ** 2)
        wanted = (slopes(x) @ column[0] @ weights(y)) ** 2 + (weights(x) @ column[0] @ slopes(y)) ** 2
        assert (basis * steep[..., 0]).sum() == pytest.approx(16 * wanted)


@pytest.mark.parametrize("slope", [1e-300, 1e-12, 9e-10])
def test_slopes_too_flat_for_a_proof_have_none(slope):
    assert octile_exponent(slope) == 0
    assert octile_slope(slope) == math.inf


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "slope",
    [20.0, 1e300],
)
def test_steep_slopes_have_an_exponent_that_is_proved(slope):
    exponent = octile_exponent(slope)
    assert 5 < exponent < 8
    assert slope_holds(exponent, min(slope, 50.0))
    assert octile_slope(1e3) == math.inf
