"""The attacker within a radius: against all corners of discs, a fine grid of guesses, and simulated reports."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import chance_within
from sfumato.errors import DataError, InputError, UnitError

REGION = "5 km x 4 km around 48.85,2.35"


def some_visits(n=60, seed=0):
    area, rng = sf.geo.Region.parse(REGION), np.random.default_rng(seed)
    return sf.Visits(rng.uniform(area.south, area.north, n), rng.uniform(area.west, area.east, n))


def laplace(places, epsilon_per_km):
    matrix = np.exp(-epsilon_per_km * places.metric(unit="km").array)
    return sf.Mechanism(matrix / matrix.sum(axis=1, keepdims=True), places, places)


def joint_of(mechanism, visits):
    """Plain sums: array (visits, reports), and where the visits are on the plane."""
    places = mechanism.secrets
    rounding = places.rounding(visits.lat, visits.lon)
    dense = np.zeros((len(visits), len(places)))
    for i, (positions, shares) in enumerate(zip(rounding.positions, rounding.shares, strict=True)):
        for v, share in zip(positions, shares, strict=True):
            dense[i, v] += share * rounding.inside[i]
    return dense @ mechanism.matrix / rounding.inside.sum(), places.projection.forward(visits.lat, visits.lon)


def best(joint, xy, guesses, radius):
    near = np.hypot(*(guesses[:, None] - xy[None]).transpose(2, 0, 1)) <= radius
    return (near @ joint).max(axis=0).sum()


def corners_of_discs(xy, radius):
    """All guesses that matter: a disc with the most points can be moved until two are on its edge, or one is."""
    found = list(xy)
    for a, b in itertools.combinations(xy, 2):
        apart = np.hypot(*(b - a))
        if 0 < apart <= 2 * radius:
            side = np.array([-(b - a)[1], (b - a)[0]]) / apart * np.sqrt(radius**2 - apart**2 / 4)
            found += [(a + b) / 2 + side, (a + b) / 2 - side]
    return np.array(found)


@given(st.integers(0, 2**32), st.sampled_from([0.01, 1.0, 5.0]), st.sampled_from([50.0, 400.0, 1500.0]))
@settings(max_examples=25)
def test_the_bounds_hold_the_exact_chance_of_few_points(seed, epsilon, radius):
    rng = np.random.default_rng(seed)
    visits = some_visits(int(rng.integers(1, 9)), seed)
    make = sf.Lattice.covering if seed % 2 else sf.Grid.covering
    mechanism = laplace(make(REGION, "2 km"), epsilon)
    joint, xy = joint_of(mechanism, visits)
    inside = mechanism.secrets.inside(visits.lat, visits.lon)
    if not inside.any():
        return
    found = chance_within(mechanism, visits, radius)
    guesses = corners_of_discs(xy[inside], radius)
    assert found.lower <= best(joint[inside], xy[inside], guesses, radius + 1e-6)
    # The sum that is searched for here is one of floats, and may itself be a last digit above one.
    assert best(joint[inside], xy[inside], guesses, radius - 1e-6) * (1 - 1e-12) <= found.upper
    assert found.upper <= 1


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("make", "epsilon", "radius"),
    [
        (sf.Lattice.covering, 1e-6, "200 m"),
        (sf.Lattice.covering, 1.0, "1 km"),
        (sf.Lattice.covering, 20.0, "200 m"),
        (sf.Grid.covering, 1e-6, "1 km"),
        (sf.Grid.covering, 1.0, "200 m"),
        (sf.Grid.covering, 20.0, "1 km"),
    ],
)
def test_no_guess_on_a_fine_grid_beats_the_bound(make, epsilon, radius):
    visits = some_visits(300, 3)
    mechanism = laplace(make(visits, "1 km"), epsilon)
    joint, xy = joint_of(mechanism, visits)
    low, high = xy.min(axis=0), xy.max(axis=0)
    guesses = np.stack(np.meshgrid(*np.linspace(low, high, 70).T), axis=-1).reshape(-1, 2)
    metres = sf.core.units.length_m(radius, "the radius")
    found = chance_within(mechanism, visits, radius)
    brute = best(joint, xy, np.concatenate([guesses, xy]), metres)
    step = np.hypot(*(high - low)) / 69 / 2  # a guess of the grid is this near
    assert brute <= found.upper
    assert found.lower <= best(joint, xy, guesses, metres + step)
    assert 0 <= found.upper - found.lower <= 0.02 * found.lower
    rough = chance_within(mechanism, visits, radius, tolerance=0.2)
    assert rough.lower <= found.upper
    assert found.lower <= rough.upper


@pytest.mark.slow
def test_simulated_reports_are_as_often_near_the_best_guess():
    visits = some_visits(200, 5)
    mechanism = laplace(sf.Lattice.covering(visits, "1 km"), 1.5)
    joint, xy = joint_of(mechanism, visits)
    found = chance_within(mechanism, visits, "700 m")
    axes = [np.arange(xy[:, k].min(), xy[:, k].max(), 40.0) for k in (0, 1)]
    guesses = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    near = np.hypot(*(guesses[:, None] - xy[None]).transpose(2, 0, 1)) <= 700
    chosen = guesses[(near @ joint).argmax(axis=0)]
    draws = 100_000
    who = np.random.default_rng(1).integers(len(visits), size=draws)
    at = sf.simulator(mechanism, 4).blur(visits.lat[who], visits.lon[who])
    plane = mechanism.secrets.projection.forward(*at.T)
    reports = np.hypot(*(plane[:, None] - mechanism.secrets.coordinates[None]).transpose(2, 0, 1)).argmin(axis=1)
    right = (np.hypot(*(chosen[reports] - xy[who]).T) <= 700).mean()
    noise = 4 * np.sqrt(0.25 / draws)
    assert right <= found.upper + noise
    assert right >= 0.97 * found.lower - noise


def test_guesses_between_points_count():
    """Two homes 900 m apart are both within 500 m of the middle, and of no visit."""
    visits = sf.Visits([48.85, 48.85], [2.35, 2.35 + 0.9 / 73.3])
    places = sf.Grid.covering(REGION, "2 km")
    silent = sf.Mechanism(np.ones((len(places), 1)), places, sf.Space(["nothing"]))
    assert chance_within(silent, visits, "500 m").upper == 1
    assert chance_within(silent, visits, "400 m").upper == pytest.approx(0.5)


def test_one_user_is_attacked_alone():
    visits = sf.Visits([48.85, 48.855, 48.86], [2.35, 2.36, 2.37], user=["a", "b", "b"])
    silent = sf.Mechanism(np.ones((20, 1)), sf.Grid.covering(REGION, "1 km"), sf.Space(["nothing"]))
    assert chance_within(silent, visits, "10 m", user="a").upper == 1
    assert chance_within(silent, visits, "10 m", user="b").upper == pytest.approx(0.5)


def test_bad_input():
    visits, places = some_visits(), sf.Grid.covering(REGION, "1 km")
    mechanism = laplace(places, 1.0)
    for radius in ("0 m", "-5 m", 0):
        with pytest.raises(InputError, match="not positive"):
            chance_within(mechanism, visits, radius)
    for wrong in ("500", "5 h", float("nan")):
        with pytest.raises(UnitError):
            chance_within(mechanism, visits, wrong)
    with pytest.raises(InputError, match="reaches beyond"):
        chance_within(mechanism, visits, "2000 km")
    with pytest.raises(InputError, match="tolerance"):
        chance_within(mechanism, visits, "5 m", tolerance=0.0)
    with pytest.raises(InputError, match="need places"):
        chance_within(sf.Mechanism(np.eye(2)), visits, "5 m")
    with pytest.raises(DataError):
        chance_within(mechanism, sf.Visits([10.0], [10.0]), "5 m")
