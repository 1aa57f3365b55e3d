"""Points blurred by noise for coordinates: one and many, reproducible and not, and those that are refused."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.sampling import SeededWords
from sfumato_papers.invented_city import invented_city

NOISE = CoordinateNoise("2/km", "1 m", Projection(48.86, 2.34), "30 km")


def test_one_point_and_arrays():
    blur = sf.sampler(NOISE).blur
    assert blur(48.86, 2.35).shape == (2,)
    assert blur([48.86, 48.87], [2.35, 2.36]).shape == (2, 2)
    assert blur(np.full((3, 4), 48.86), np.full((3, 4), 2.35)).shape == (3, 4, 2)
    assert blur([], []).shape == (0, 2)
    once, again = ([blur(48.86, 2.35).tolist() for _ in range(5)] for _ in range(2))
    assert once != again  # by chance: each of the five repeats with a probability of less than 1e-4
    same = sf.simulator(NOISE, 5).blur([48.86] * 9, [2.35] * 9)
    np.testing.assert_array_equal(same, sf.simulator(NOISE, 5).blur([48.86] * 9, [2.35] * 9))
    one = NOISE.blur_point(48.86, 2.35, SeededWords(5))
    np.testing.assert_array_equal(one, sf.simulator(NOISE, 5).blur(48.86, 2.35))


def test_reports_are_those_of_the_plane():
    """The mean distance is that of planar noise, 2 / epsilon, within five standard errors."""
    plane = NOISE.projection
    assert plane is not None
    reports = sf.simulator(NOISE, 3).blur(np.full(20_000, 48.9), np.full(20_000, 2.3))
    away = np.hypot(*(plane.forward(*reports.T) - plane.forward([48.9], [2.3])).T)
    assert away.mean() == pytest.approx(1000.0, abs=5 * away.std() / math.sqrt(20_000))


@pytest.mark.parametrize(
    ("lat", "lon", "message"),
    [
        (math.nan, 2.35, "not a latitude and a longitude"),
        (48.86, math.inf, "not a latitude and a longitude"),
        (90.0000001, 2.35, "not a latitude and a longitude"),
        (90.0, 2.35, "km from the centre"),
        (-90.0, 2.35, "km from the centre"),
        (48.86, 2.34 + 0.5, "served up to 30 km"),
        (-48.86, -177.66, "served up to 30 km"),
        ("north", 2.35, "the latitude"),
    ],
)
def test_what_is_not_served_is_refused(lat, lon, message):
    with pytest.raises(InputError, match=message):
        sf.sampler(NOISE).blur([48.86, lat], [2.35, lon])


def test_shapes_and_secrets():
    with pytest.raises(InputError, match="as many latitudes as"):
        sf.sampler(NOISE).blur([48.86, 48.87], [2.35])
    with pytest.raises(InputError, match=r"use blur\(\)"):
        sf.sampler(NOISE).draw([0])
    with pytest.raises(InputError, match="for points of a plane"):
        sf.sampler(CoordinateNoise("1/km")).blur(48.86, 2.35)


def test_a_plane_at_the_pole_and_across_the_dateline():
    for plane, lat, lon in ((Projection(90.0, 0.0), 89.99, 170.0), (Projection(0.0, 180.0), 0.05, -179.95)):
        noise = CoordinateNoise("5/km", "1 m", plane, "30 km")
        reports = sf.simulator(noise, 1).blur([lat] * 500, [lon] * 500)
        away = np.hypot(*(plane.forward(*reports.T) - plane.forward([lat], [lon])).T)
        assert away.mean() == pytest.approx(400.0, rel=0.1)


def test_points_beyond_the_reach_are_moved_where_that_is_asked_for():
    reports = NOISE.blur_points(np.array([48.86] * 300), np.array([4.0] * 300), SeededWords(1), nearest=True)
    plane = NOISE.projection
    assert plane is not None
    assert np.median(plane.forward(*reports.T)[:, 0]) == pytest.approx(30_000, rel=0.02)
    with pytest.raises(InputError, match="not a latitude"):
        NOISE.blur_points(np.array([math.nan]), np.array([4.0]), SeededWords(1), nearest=True)
    np.testing.assert_array_equal(
        NOISE.serves(np.array([48.9, 48.9, math.nan]), np.array([2.3, 4.0, 2.0])), [1, 0, 0]
    )


@pytest.mark.slow
def test_noise_for_visits_serves_them_all():
    visits = invented_city()
    noise = CoordinateNoise.for_visits(visits, "1/km", fineness=1.0)
    assert noise.step_m == 2
    assert noise.serves(visits.lat, visits.lon).all()
    assert noise.remap is not None
    assert CoordinateNoise.for_visits(visits, "0.7/km", fineness=1.0).step_m == 2
    assert CoordinateNoise.for_visits(visits, "7/km", step="10 cm", fineness=1.0).promise.slack_m < 0.15
    with pytest.raises(InputError, match="epsilon"):
        CoordinateNoise.for_visits(visits, -1.0)
