"""Snapping against fractions, the promise against exact ratios of pairs, the plane against the ground."""

import math
from fractions import Fraction

import numpy as np
import pyproj
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.geo import Projection, pulled_in
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.planar.coordinate_noise import slack, stretch
from sfumato.mechanisms.planar.lattice_noise import snap

STEPS = st.sampled_from([Fraction(2), Fraction(1, 3), Fraction(0.1), Fraction(7, 2), Fraction(50)])
METRES = st.floats(-1e6, 1e6)


@given(METRES, METRES, STEPS)
def test_the_nearest_point_is_taken(x, y, step):
    found = snap(np.array([[x, y]]), step)[0].tolist()
    for value, whole in zip((x, y), found, strict=True):
        off = Fraction(value) / step - whole
        assert -Fraction(1, 2) <= off < Fraction(1, 2)


@pytest.mark.parametrize("step", [Fraction(2), Fraction(0.1), Fraction(1, 3)])
def test_borders_go_up_exactly(step):
    """Doubles at, just below and just above a border."""
    for k in (-100_003, -1, 0, 1, 7, 333_333):
        border = (k + Fraction(1, 2)) * step
        near = float(border)
        for value in (math.nextafter(near, -math.inf), near, math.nextafter(near, math.inf)):
            assert snap(np.array([[value, value]]), step).tolist() == [[k + (Fraction(value) >= border)] * 2]
    assert snap(np.array([[0.49999999999999994, -0.5]]), Fraction(1)).tolist() == [[0, 0]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_place_is_refused(bad):
    with pytest.raises(InputError, match="the places holds"):
        CoordinateNoise("1/km").simulate([[0.0, bad]], seed=1)
    with pytest.raises(InputError, match="the places holds"):
        CoordinateNoise("1/km").draw([[bad, 0.0]])


def test_places_beyond_all_counting_are_refused():
    with pytest.raises(InputError, match="from the origin of the plane"):
        CoordinateNoise("1/km").draw([[1e15, 0.0]])


def log_ratio(noise, x, y, report):
    """ln of M(x, o) / M(y, o) as an interval: the normaliser is the same for both."""
    rate = arb(fmpq(noise.noise.rate.numerator, noise.noise.rate.denominator))
    here, there = (snap(np.array([p]), noise.step_m)[0].tolist() for p in (x, y))
    near, far = (arb((report[0] - a) ** 2 + (report[1] - b) ** 2).sqrt() for a, b in (here, there))
    return rate * (far - near)


@given(
    st.tuples(METRES, METRES),
    st.tuples(st.floats(-300, 300), st.floats(-300, 300)),
    st.tuples(st.integers(-300, 300), st.integers(-300, 300)),
    STEPS,
)
def test_every_pair_keeps_the_promise(x, apart, beyond, step):
    y = (x[0] + apart[0], x[1] + apart[1])
    noise = CoordinateNoise("10/km", step)
    report = (snap(np.array([y]), step)[0] + np.array(beyond)).tolist()
    with ctx.workprec(300):
        distance = ((arb(x[0]) - arb(y[0])) ** 2 + (arb(x[1]) - arb(y[1])) ** 2).sqrt()
        assert not log_ratio(noise, x, y, report) > arb(0.01) * (distance + arb(noise.promise.slack_m))


@given(METRES, METRES, st.floats(0, 7), st.floats(1e-9, 5))
def test_pairs_across_a_border_keep_the_promise(i, j, angle, apart):
    """The closest pairs on both sides of a corner of four squares, for reports on their line."""
    step = Fraction(2)
    noise = CoordinateNoise("500/km", step)
    corner = np.floor(np.array([i, j]) / 2) * 2 + 1.0
    way = np.array([math.cos(angle), math.sin(angle)]) * apart / 2
    x, y = corner - way, corner + way
    here, there = snap(np.array([x, y]), step)
    report = (here + 5 * (here - there)).tolist()
    with ctx.workprec(300):
        distance = sum(((arb(float(a)) - arb(float(b))) ** 2 for a, b in zip(x, y, strict=True)), arb(0)).sqrt()
        assert not log_ratio(noise, x, y, report) > arb(0.5) * (distance + arb(noise.promise.slack_m))


def test_the_slack_is_needed():
    """Two places next to a corner are told apart by exp(epsilon sqrt(2) steps): no smaller slack would do."""
    noise = CoordinateNoise("10/km", "2 m")
    below, above = (math.nextafter(1.0, 0.0),) * 2, (1.0, 1.0)
    with ctx.workprec(100):
        found = float(log_ratio(noise, below, above, (-5, -5)))
    assert found == pytest.approx(0.01 * noise.promise.slack_m, rel=1e-12)
    assert noise.promise.slack_m == pytest.approx(2 * math.sqrt(2), rel=1e-14)
    for step in (Fraction(2), Fraction(1, 3), Fraction(0.1), Fraction(10**9)):
        assert Fraction(slack(step, projected=False)) ** 2 >= 2 * step**2


@pytest.mark.parametrize("lat", [0.0, 48.86, -72.0, 90.0])
@pytest.mark.parametrize("reach", [5e3, 100e3, 1500e3])
def test_the_plane_stretches_no_more_than_divided_out(lat, reach):
    rng, plane = np.random.default_rng(3), Projection(lat, 10.0)
    angle, far = rng.uniform(0, 2 * math.pi, 400), reach * np.sqrt(rng.uniform(0, 1, 400))
    rim = rng.uniform(0, 2 * math.pi, 400)
    x = np.column_stack([far * np.cos(angle), far * np.sin(angle)])
    x = np.concatenate([x, reach * np.column_stack([np.cos(rim), np.sin(rim)])])
    step = rng.normal(size=x.shape) * np.repeat([reach, reach / 1000], 400)[:, None]
    y = pulled_in(x + step, reach)
    ends = [plane.inverse(p) for p in (x, y)]
    ground = np.array(
        pyproj.Geod(ellps="WGS84").inv(ends[0][:, 1], ends[0][:, 0], ends[1][:, 1], ends[1][:, 0])[2]
    )
    straight = np.hypot(*(x - y).T)
    bound = stretch(reach)
    assert (straight <= ground * bound + 2e-6).all()
    if reach > 1e6:  # the bound is not idle
        assert (straight / ground).max() > 1 + 0.5 * (bound - 1)


def test_moving_places_to_the_reach_brings_none_apart():
    rng, plane = np.random.default_rng(4), Projection(48.86, 2.34)
    x = rng.uniform(-1.4e6, 1.4e6, (800, 2))
    y = x + rng.normal(size=x.shape) * rng.choice([1e2, 1e5], size=(800, 1))
    geod = pyproj.Geod(ellps="WGS84")

    def ground(a, b):
        (la, oa), (lb, ob) = plane.inverse(a).T, plane.inverse(b).T
        return np.array(geod.inv(oa, la, ob, lb)[2])

    moved = [pulled_in(p, 40e3) for p in (x, y)]
    assert (np.hypot(*moved[0].T) <= 40e3 * (1 + 1e-12)).all()
    assert (ground(*moved) <= ground(x, y) + 1e-6).all()
    inside = np.hypot(*x.T) <= 40e3
    np.testing.assert_array_equal(moved[0][inside], x[inside])


def test_the_ground_promise_divides_the_stretch_out():
    plane = Projection(48.86, 2.34)
    noise = CoordinateNoise("1/km", "2 m", plane, "1000 km")
    assert noise.noise.rate / noise.step_m <= Fraction(0.001) / Fraction(stretch(1e6))
    assert noise.reach_m == 1e6
    assert noise.promise.slack_m > CoordinateNoise("1/km").promise.slack_m
    far = noise.simulate([[5e6, 0.0]] * 200, seed=1)
    assert np.median(far[:, 0]) == pytest.approx(1e6, rel=1e-3)
    for reach in ("0 m", "1501 km"):
        with pytest.raises(InputError, match="the reach"):
            CoordinateNoise("1/km", "2 m", plane, reach)
