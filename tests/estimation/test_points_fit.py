"""The test of fit for noise on coordinates: what it refuses, what it cannot tell, and how rarely it is wrong."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.arrays import round_degrees
from sfumato.errors import DataError, InputError
from sfumato.estimation import characteristic_most, points_fit
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise

PLANE = Projection(48.86, 2.34)
NOISE = CoordinateNoise("4/km", "1 m", PLANE, "30 km")


def town(size, seed):
    """People at some hundred places of a town."""
    rng = np.random.default_rng(seed)
    places = rng.normal(0, 700, (100, 2))
    return PLANE.inverse(places[rng.integers(100, size=size)])


def reported(noise, size=4_000, seed=1):
    return sf.simulator(noise, seed).blur(*town(size, seed).T)


@pytest.mark.parametrize("rate", [0.05, 0.4, 2.0])
def test_the_characteristic_function_by_plain_summation(rate):
    reach = math.ceil(40 / rate)
    i = np.arange(-reach, reach + 1)
    weights = np.exp(-rate * np.hypot(i[:, None], i[None, :]))
    waves = np.random.default_rng(2).uniform(-np.pi, np.pi, (20, 2))
    waves[0], waves[1] = np.pi, rate
    plain = [(weights * np.cos(i * t)[:, None] * np.cos(i * u)[None, :]).sum() / weights.sum() for t, u in waves]
    most = characteristic_most(rate, waves)
    assert (most >= np.array(plain) - 1e-12).all()
    assert (most <= np.array(plain) + 1e-3 * rate**3 + 1e-8).all()


def test_its_own_reports_fit():
    for seed in range(5):
        found = points_fit(NOISE, *reported(NOISE, seed=seed).T)
        assert (found.impossible, found.failure) == (0, 1)
        found.check()
        assert "This test cannot detect wider noise on the same lattice" in found.sentence


@pytest.mark.parametrize("size", [1, 3, 400])
def test_few_reports_fit(size):
    points_fit(NOISE, *reported(NOISE, size=size).T).check()
    here = np.tile(round_degrees(PLANE.inverse([[0.0, 0.0]])), (size, 1))
    assert points_fit(NOISE, *here.T).failure == pytest.approx(1.0 if size < 400 else 0, abs=1e-6)


@pytest.mark.parametrize(
    ("step", "centre"), [("1.5 m", PLANE), ("0.9 m", PLANE), ("1 m", Projection(48.8601, 2.34)), ("3.3 m", PLANE)]
)
def test_another_lattice_is_impossible(step, centre):
    other = CoordinateNoise("4/km", step, centre, "30 km")
    found = points_fit(NOISE, *reported(other).T)
    assert found.impossible > 1000
    with pytest.raises(DataError, match="at no point of its lattice"):
        found.check()


def test_true_points_are_impossible():
    with pytest.raises(DataError, match="do not fit the noise"):
        points_fit(NOISE, *town(4_000, 1).T).check()
    rounded = np.round(reported(NOISE), 4)
    with pytest.raises(DataError, match="their degrees were rounded"):
        points_fit(NOISE, *rounded.T).check()


@pytest.mark.thinned(2)
@pytest.mark.parametrize("other", [("4/km", "2 m"), ("4/km", "5 m"), ("4/km", "7 m"), ("60/km", "1 m")])
def test_coarser_lattices_and_less_noise_are_refused(other):
    found = points_fit(NOISE, *reported(CoordinateNoise(other[0], other[1], PLANE, "30 km"), 20_000).T)
    assert found.impossible == 0
    with pytest.raises(DataError, match="as concentrated as these with a probability of at most"):
        found.check()


def test_snapped_points_without_noise_are_refused():
    snapped = round_degrees(PLANE.inverse(np.rint(PLANE.forward(*town(4_000, 3).T))))
    with pytest.raises(DataError, match="as concentrated as these"):
        points_fit(NOISE, *snapped.T).check()


def test_it_is_hardly_ever_wrong():
    """Reports of one place are the hardest: their waves are those of the noise itself."""
    close = CoordinateNoise("100/km", "5 m", PLANE, "30 km")
    lat, lon = np.full(50, 48.86), np.full(50, 2.34)
    wrong = sum(points_fit(close, *sf.simulator(close, seed).blur(lat, lon).T).failure < 0.5 for seed in range(60))
    assert wrong <= 60 * 0.5


@pytest.mark.slow
def test_with_a_table_reports_are_its_places():
    xy = PLANE.forward(*town(300, 4).T)
    tabled, other = (
        CoordinateNoise(epsilon, "2 m", PLANE, "30 km").for_places(xy, np.ones(len(xy)), 0.3)
        for epsilon in ("4/km", "6/km")
    )
    found = points_fit(tabled, *reported(tabled, seed=4).T)
    found.check()
    assert "Every report is one of the places in the noise's table" in found.sentence
    for points in (reported(other, seed=4), reported(NOISE, seed=4), town(300, 5)):
        with pytest.raises(DataError, match="none of its table's places"):
            points_fit(tabled, *points.T).check()
    assert points_fit(tabled, [np.nan], [2.34]).impossible == 1


def test_the_widest_noise_wraps_around_the_earth():
    wide = CoordinateNoise("0.0005/km", "1 km", PLANE, "1000 km")
    points_fit(wide, *reported(wide, 200).T).check()


def test_refusals():
    with pytest.raises(InputError, match="no plane"):
        points_fit(CoordinateNoise("1/km", "2 m"), [1.0], [1.0])
    with pytest.raises(InputError, match="no report"):
        points_fit(NOISE, [], [])
    assert points_fit(NOISE, [np.nan, 48.86], [2.0, 2.34]).impossible == 1
