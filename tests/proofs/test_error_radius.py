"""Error radii against brute force, exact sums and a million draws."""

import itertools
import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.proofs import error_radius, posterior_radii
from sfumato.sampling import SeededWords

AREA = "3 km x 2 km around 48.85,2.35"
GRIDS = {
    "grid": sf.Grid.covering(AREA, "1 km"),
    "oblong": sf.Grid.covering(AREA, ("600 m", "1 km")),
}
PLACES: dict[str, Any] = {
    **GRIDS,
    "hexagons": sf.geo.Hexagons.covering(AREA, "1 km"),
    "square": sf.Lattice.covering(AREA, "1 km"),
    "triangular": sf.Lattice.covering(AREA, "1 km", kind="triangular"),
}
BITS = 62
DATA = st.integers(0, 2**32), st.sampled_from(sorted(PLACES)), st.sampled_from([0.5, 0.8, 0.95, 1.0])


def mechanism_on(places, seed):
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.1, 1.0])
    rows = [rng.multinomial(2**20, rng.dirichlet(np.full(len(places), spread))) for _ in range(len(places))]
    return sf.Mechanism.from_weights(np.array(rows) << (BITS - 20), BITS, places)


def points_of(places, seed, count=400):
    """Random points of the served area in degrees, with corners and centres of its cells."""
    rng = np.random.default_rng(seed)
    corners = places.outlines_latlon().reshape(-1, 2)
    low, high = corners.min(axis=0), corners.max(axis=0)
    latlon = np.concatenate([corners, places.latlon, low + (high - low) * rng.random((count, 2))])
    return latlon[places.inside(*latlon.T)]


def released(places):
    """The places on the plane, with their degrees rounded as in reports."""
    return places.projection.forward(*np.round(places.latlon, 7).T)


def chances(mechanism, latlon, radius):
    """The exact probability of a report within the radius, on the plane, for each point; an array of fractions."""
    places = mechanism.secrets
    true, reports = places.projection.forward(*latlon.T), released(places)
    rounding = places.rounding(*latlon.T)
    found = []
    for x, positions, shares in zip(true, rounding.positions, rounding.shares, strict=True):
        near = np.hypot(*(reports - x).T) <= radius
        masses = [sum(mechanism.weights[s][near].tolist()) for s in positions.tolist()]
        found.append(sum(Fraction(share) * mass for share, mass in zip(shares.tolist(), masses, strict=True)))
    return np.array([each / 2**BITS for each in found])


@given(*DATA)
@settings(max_examples=60)
def test_every_point_has_its_reports_within_the_radius(seed, kind, confidence):
    mechanism = mechanism_on(PLACES[kind], seed)
    radius = error_radius(mechanism, confidence)
    found = chances(mechanism, points_of(mechanism.secrets, seed), radius)
    assert min(found) >= Fraction(confidence) - Fraction(1, 2**40)  # shares are floats


@pytest.mark.slow
@given(*DATA)
@settings(max_examples=15)
def test_a_smaller_radius_fails_at_some_point(seed, kind, confidence):
    mechanism = mechanism_on(PLACES[kind], seed)
    radius = error_radius(mechanism, confidence)
    found = chances(mechanism, points_of(mechanism.secrets, seed, 4000), 0.94 * radius)
    assert min(found) < confidence


@pytest.mark.parametrize("kind", sorted(GRIDS))
def test_corners_of_cells_decide(kind):
    """All reports are in the centre of the first cell: the farthest point is the opposite corner."""
    grid = GRIDS[kind]
    always = sf.Mechanism(np.tile(np.eye(len(grid))[0], (len(grid), 1)), grid)
    sides = np.array(grid.cell_m) * (grid.columns - 0.5, grid.rows - 0.5)
    assert math.hypot(*sides) <= error_radius(always) <= 1.021 * math.hypot(*sides)


def test_wide_hexagons_far_from_the_centre():
    """Sides of hexagons are bent on the plane."""
    wide = sf.geo.Hexagons.covering("500 km x 500 km around 60,10", resolution=3)
    radius = error_radius(sf.Mechanism(np.eye(len(wide)), wide), 1.0)
    latlon = points_of(wide, 1, 20_000)
    centres = wide.latlon[wide.locate(*latlon.T)]
    ground = Geod(ellps="WGS84").inv(latlon[:, 1], latlon[:, 0], centres[:, 1], centres[:, 0])[2]
    assert ground.max() <= radius <= 1.03 * ground.max()


@pytest.mark.parametrize(("epsilon", "step"), [("1/km", "2 m"), ("1/km", "300 m"), ("5/km", "1 km")])
def test_noise_is_within_its_quantile(epsilon, step):
    """Sums over the lattice, for the points that snapping moves farthest and least."""
    noise = CoordinateNoise(epsilon, step)
    radius, rate, size = error_radius(noise), float(noise.noise.rate), float(noise.step_m)
    if rate < 0.01:  # the quantile of planar Laplace noise
        assert 4743.8 <= radius <= 4750
    else:
        line = np.arange(-400, 401)
        i, j = np.meshgrid(line, line)
        weights = np.exp(-rate * np.hypot(i, j))
        for x, y in [(0, 0), (0.5, 0.5), (0.5, 0), (-0.3, 0.2)]:
            near = size * np.hypot(i - x, j - y) <= radius
            assert weights[near].sum() / weights.sum() >= 0.95


@pytest.mark.parametrize(("count", "epsilon"), [(2, "1/km"), (3, "0.3/km"), (20, "5/km")])
def test_noise_with_a_table_is_within_its_radius_near_the_table(count, epsilon):
    """Reports are simulated as they are drawn, from the corners, sides and inside of the rectangle."""
    rng = np.random.default_rng(count)
    visits = sf.Visits(48.85 + 0.02 * rng.standard_normal(count), 2.35 + 0.03 * rng.standard_normal(count))
    noise = CoordinateNoise.for_visits(visits, epsilon)
    assert noise.remap is not None
    places = noise.remap.arrays()[1]
    low, high = places.min(axis=0), places.max(axis=0)
    radius = error_radius(noise, near_table=True)
    worst = 0.0
    for share in itertools.product((0, 0.3, 0.7, 1), (0, 0.5, 1)):
        x = low + (high - low) * share
        away = np.hypot(*(noise.simulate(np.tile(x, (4000, 1)), seed=7) - x).T)
        assert (away <= radius).mean() >= 0.935  # four standard deviations
        worst = max(worst, np.quantile(away, 0.95))
    assert count > 3 or radius <= 1.15 * worst  # of many places the worst point lies between these
    assert error_radius(noise) >= noise.reach_m  # from far away reports are far


@pytest.mark.parametrize(("epsilon", "step"), [("1/km", "200 m"), ("0.2/km", "1 km"), ("4/km", "50 m")])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_posterior_of_noise_is_that_of_bayes(epsilon, step, confidence):
    """The probability of each point by a sum over the reports' lattice points, and the least radius that holds."""
    rng = np.random.default_rng(3)
    visits = sf.Visits(*(np.array([[48.85], [2.35]]) + [[0.02], [0.03]] * rng.standard_normal((2, 60))))
    noise = CoordinateNoise(epsilon, step, Projection(48.85, 2.35))
    plane, size = Projection(48.85, 2.35), float(noise.step_m)
    reports = noise.blur_points(visits.lat, visits.lon, SeededWords(5))
    radii = posterior_radii(noise, visits, confidence, reports=reports)
    points = plane.forward(visits.lat, visits.lon)
    for report, radius in zip(plane.forward(*reports.T), radii, strict=True):
        moves = np.rint(report / size) - np.floor(points / size + 0.5)
        posterior = np.exp(-float(noise.noise.rate) * np.hypot(*moves.T))
        away = np.hypot(*(points - report).T)
        order = np.argsort(away)
        shares = np.cumsum(posterior[order]) / posterior.sum()
        least = away[order][np.searchsorted(shares, confidence)]
        assert radius == pytest.approx(least, abs=0.02)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_posterior_of_noise_with_a_table_holds_the_true_point(confidence):
    """Of 200,000 reports drawn from the prior, those of each place are within its radius as often as it says."""
    rng = np.random.default_rng(4)
    visits = sf.Visits(*(np.array([[48.85], [2.35]]) + [[0.02], [0.03]] * rng.standard_normal((2, 12))))
    noise = CoordinateNoise.for_visits(visits, "1/km")
    plane = cast("Projection", noise.projection)
    which = rng.integers(len(visits), size=200_000)
    reports = noise.blur_points(visits.lat[which], visits.lon[which], SeededWords(5))
    met, place, counts = np.unique(reports, axis=0, return_inverse=True, return_counts=True)
    radii = posterior_radii(noise, visits, confidence, reports=met)
    away = np.hypot(*(plane.forward(visits.lat, visits.lon)[which] - plane.forward(*reports.T)).T)
    near = np.bincount(place.ravel(), weights=away <= radii[place.ravel()]) / counts
    often = counts > 2000
    assert often.sum() >= 4
    assert (near >= confidence - 4 * np.sqrt(0.25 / counts))[often].all()
    smaller = np.bincount(place.ravel(), weights=away < radii[place.ravel()] - 0.1) / counts
    assert (smaller <= confidence + 4 * np.sqrt(0.25 / counts) + 0.01)[
        often
    ].mean() >= 0.9  # and no larger than needed


def test_priors_that_do_not_fit_noise():
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35))
    far = sf.Visits([48.85, 40.0], [2.35, 2.35])
    with pytest.raises(InputError, match="serves 1 of the prior's 2 points"):
        posterior_radii(noise, far, reports=[(48.85, 2.35)])
    with pytest.raises(InputError, match="prior on cells"):
        posterior_radii(noise, sf.Prior.uniform(GRIDS["grid"]), reports=[(48.85, 2.35)])
    near = sf.Visits([48.85, 48.86], [2.35, 2.35])
    with pytest.raises(InputError, match="no place of the table"):
        posterior_radii(CoordinateNoise.for_visits(near, "1/km"), near, reports=[(48.7, 2.3)])
    with pytest.raises(InputError, match="single reports"):
        posterior_radii(noise, near)
    with pytest.raises(InputError, match="prior is on points"):
        posterior_radii(mechanism_on(GRIDS["grid"], 1), near)


@given(*DATA)
@settings(max_examples=30)
def test_the_posterior_holds_the_true_point(seed, kind, confidence):
    places = PLACES[kind]
    mechanism, rng = mechanism_on(places, seed), np.random.default_rng(seed)
    prior = sf.Prior(places, rng.dirichlet(np.full(len(places), 0.5)))
    radii = posterior_radii(mechanism, prior, confidence)
    reports = released(places)
    latlon = points_of(places, seed, 2000)
    true, rounding = places.projection.forward(*latlon.T), places.rounding(*latlon.T)
    joint = mechanism.joint(prior)
    for report in np.flatnonzero(joint.sum(axis=0) > 0)[:8]:
        far = np.hypot(*(true - reports[report]).T) > radii[report]
        missed = np.unique(rounding.positions[far][rounding.shares[far] > 0])  # secrets with a point outside
        assert 1 - joint[missed, report].sum() / joint[:, report].sum() >= confidence - 1e-9


def test_a_report_that_the_prior_excludes_has_no_radius():
    grid = PLACES["grid"]
    prior = sf.Prior.from_counts(grid, np.eye(len(grid))[0])
    radii = posterior_radii(sf.Mechanism(np.eye(len(grid)), grid), prior)
    assert np.isfinite(radii).tolist() == [True] + [False] * (len(grid) - 1)
    assert radii[0] == pytest.approx(math.hypot(500, 500), abs=0.01)


def test_refusals():
    grid = PLACES["grid"]
    mechanism = sf.Mechanism(np.eye(len(grid)), grid)
    coin = sf.mechanisms.randomised_response(sf.Space(["yes", "no"]), 1.0)
    noise = CoordinateNoise("1/km")
    for wrong in (0.0, -1.0, 1.5, math.nan):
        with pytest.raises(InputError, match="not a probability"):
            error_radius(mechanism, wrong)
        with pytest.raises(InputError, match="not a probability"):
            posterior_radii(mechanism, sf.Prior.uniform(grid), wrong)
    with pytest.raises(InputError, match="needs places on the ground"):
        error_radius(coin)
    with pytest.raises(InputError, match="no noise with a table"):
        error_radius(noise, near_table=True)
    with pytest.raises(InputError, match="any length"):
        error_radius(noise, 1.0)
    with pytest.raises(InputError, match="prior on cells"):
        posterior_radii(noise, sf.Prior.uniform(grid))
    with pytest.raises(InputError, match="the prior"):
        posterior_radii(mechanism, sf.Prior.uniform(PLACES["square"]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cells", "lattice", "hexagons", "noise"])
def test_a_million_reports(kind):
    """Coverage of the radius on the ground, at the point where it is least, within four standard errors."""
    area = "8 km x 6 km around 48.85,2.35"
    if kind == "noise":
        mechanism: Any = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35))
        lat, lon = 48.861234, 2.354321
    else:
        places = {
            "cells": sf.Grid.covering(area, "1 km"),
            "lattice": sf.Lattice.covering(area, "1 km"),
            "hexagons": sf.geo.Hexagons.covering(area, "1 km"),
        }[kind]
        mechanism = sf.mechanisms.exponential(places, places.metric("euclidean", "km"), "1/km")
        latlon = points_of(places, 0)
        exact = sf.Mechanism(mechanism.matrix, places)
        radius = error_radius(exact)
        masses = [_mass(exact, at, radius) for at in latlon]
        lat, lon = latlon[np.argmin(masses)]
    count = 1_000_000
    table = pa.table({"lat": np.full(count, lat), "lon": np.full(count, lon)})
    reports = sf.release(mechanism, table, people="one", uncertainty=True)
    there = (reports["longitude"].to_numpy(), reports["latitude"].to_numpy())
    away = Geod(ellps="WGS84").inv(np.full(count, lon), np.full(count, lat), *there)[2]
    radius = reports["uncertainty_m"][0].as_py()
    share = float((away <= radius).mean())
    assert 0.95 - 4 * math.sqrt(0.05 * 0.95 / count) <= share < 0.97, f"{share:%} within {radius} m"


def _mass(mechanism, at, radius):
    places = mechanism.secrets
    rounding = places.rounding(at[:1], at[1:])
    row = rounding.shares[0] @ mechanism.matrix[rounding.positions[0]]
    near = np.hypot(*(released(places) - places.projection.forward(at[:1], at[1:])).T)
    return row[near <= radius].sum()
