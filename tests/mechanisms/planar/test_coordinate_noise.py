"""Coordinate noise as a whole: what it draws, says and refuses, and its loss in the middle of Paris."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError, UnitError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise

# The paper's numbers for 3 km x 3 km of central Paris: epsilon per km, loss in m.
PUBLISHED = {"0.5/km": 924.0, "1/km": 842.0, "2/km": 660.0, "4/km": 415.0}


def test_reports_are_lattice_points_until_they_are_remapped():
    x = np.random.default_rng(1).normal(size=(500, 2)) * 700
    noise = CoordinateNoise("1/km", "3 m")
    reports = noise.simulate(x, seed=5)
    np.testing.assert_array_equal(reports % 3, 0)
    np.testing.assert_array_equal(reports, noise.simulate(x, seed=5))
    assert (reports != noise.simulate(x, seed=6)).any()
    assert (noise.draw(x) != noise.draw(x)).any()
    best = noise.for_places(x, np.ones(500), fineness=0.5)
    assert best.remap is not None
    targets = {tuple(p) for window in best.remap.windows for p in window.targets.reshape(-1, 2)}
    assert {tuple(p) for p in best.simulate(x, seed=5)} <= targets
    np.testing.assert_array_equal(best.simulate(x, seed=5), best.remap.places((reports / 3).astype(np.int64)))


def test_one_place_and_none():
    noise = CoordinateNoise("1/km")
    assert noise.draw([[3.0, 4.0]]).shape == (1, 2)
    assert noise.draw(np.empty((0, 2))).shape == (0, 2)
    with pytest.raises(InputError, match="has shape"):
        noise.draw([3.0, 4.0])


def test_what_it_says():
    plane = Projection(48.86, 2.34)
    noise = CoordinateNoise("1/km", "2 m", plane, "30 km")
    assert noise.describe() == (
        "Places are snapped to the nearest point of a lattice of 2 m and moved by noise, drawn exactly.",
        "No report is more than e^(1/km x (distance + 2.83 m)) times as likely from one point as from another, "
        "for any two points of the region (within 30 km of its centre): 2.726 times for points 1 km apart.",
    )
    assert repr(CoordinateNoise("1/km")) == (
        "CoordinateNoise(epsilon 1/km, slack 2.83 m, noise of 2 km on average)"
    )
    best = CoordinateNoise("1/km").for_places([[0.0, 0.0]], [1.0], fineness=1.0)
    assert repr(best).endswith(", remapped)")
    assert "best place for what it reveals" in best.describe()[0]


def test_units_are_read_and_refused():
    assert CoordinateNoise("1/km").epsilon == 1.0
    assert CoordinateNoise(1.0).noise == CoordinateNoise("1/km").noise
    assert CoordinateNoise("1/km", Fraction(1, 3)).step_m == Fraction(1, 3)
    assert 0 <= Fraction(1, 2000) - CoordinateNoise("1/km", 0.5).noise.rate < Fraction(1, 2**70)
    with pytest.raises(UnitError, match="has no unit"):
        CoordinateNoise("1")
    for epsilon in (0.0, -1.0):
        with pytest.raises(InputError, match="epsilon must be a positive number"):
            CoordinateNoise(epsilon)
    with pytest.raises(UnitError, match="finite number"):
        CoordinateNoise(float("inf"))
    with pytest.raises(InputError, match="the step must be positive"):
        CoordinateNoise("1/km", "0 m")


@pytest.mark.parametrize("step", ["20001 km", "1e150 km", Fraction(10) ** 160])
def test_steps_longer_than_half_around_the_earth_are_refused(step):
    with pytest.raises(InputError, match="longer than half around the Earth"):
        CoordinateNoise("1e-6/km", step)


def test_rates_are_never_rounded_up():
    for epsilon in (1.0, 1000 / 3, 7e-6, 55500.0):
        for step in (Fraction(2), Fraction(1, 3), Fraction(0.1)):
            rate = CoordinateNoise(epsilon, step).noise.rate
            exact = Fraction(epsilon) / 1000 * step
            assert exact * (1 - Fraction(1, 2**60)) < rate <= exact


def test_copies_are_the_same_noise():
    x = np.random.default_rng(3).normal(size=(20, 2)) * 500
    for noise in (
        CoordinateNoise("2/km", "1 m", Projection(1.0, 2.0), "50 km").for_places(x, np.ones(20), fineness=1.0),
        CoordinateNoise("2/km", "1 m"),
    ):
        again = pickle.loads(pickle.dumps(noise))
        assert repr(again.promise) == repr(noise.promise)
        np.testing.assert_array_equal(again.simulate(x, seed=1), noise.simulate(x, seed=1))


def central_paris(folder):
    """The check-ins in 3 km x 3 km around 48.86 N, 2.34 E, in metres on their plane."""
    visits = sf.read_visits(folder / "gowalla_paris.parquet")
    plane = Projection(48.86, 2.34)
    x = plane.forward(visits.lat, visits.lon)
    return plane, x[(np.abs(x) <= 1500).all(axis=1)]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", PUBLISHED)
def test_central_paris(epsilon, shared_data):
    """The published square is not told; around 48.86, 2.34 the loss is within half a percent of its."""
    plane, x = central_paris(shared_data)
    noise = CoordinateNoise(epsilon, "2 m", plane, "10 km").for_places(x, np.ones(len(x)), fineness=0.25)
    found = noise.error(x, np.ones(len(x)))
    assert found.loss.value == pytest.approx(PUBLISHED[epsilon], rel=0.006)
    assert found.loss.width < 0.012 * found.loss.value
    assert found.attacker.lower > 0.96 * found.loss.lower
    reports = noise.simulate(np.tile(x, (6, 1)), seed=1)
    away = np.hypot(*(np.tile(x, (6, 1)) - reports).T)
    allowed = 5 * away.std() / len(away) ** 0.5
    assert found.loss.lower - allowed < away.mean() < found.loss.upper + allowed
