"""The attacker of the true point: against brute force over guesses, an optimiser, and simulated reports."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.geo.true_points import TruePoints

SHAPES = st.sampled_from(["plane", "line", "few", "far"])
REGION = "5 km x 4 km around 48.85,2.35"


def some_visits(n=60, seed=0, region=REGION):
    area, rng = sf.geo.Region.parse(region), np.random.default_rng(seed)
    return sf.Visits(rng.uniform(area.south, area.north, n), rng.uniform(area.west, area.east, n))


def laplace(places, epsilon_per_m):
    matrix = np.exp(-epsilon_per_m * places.metric(unit="m").array)
    return sf.Mechanism(matrix / matrix.sum(axis=1, keepdims=True), places, places)


def joint_of(mechanism, visits):
    """Plain sums: array (visits, reports), and where the visits are on the plane."""
    places = mechanism.secrets
    rounding = places.rounding(visits.lat, visits.lon)
    kept = rounding.inside
    dense = np.zeros((len(visits), len(places)))
    for i in np.flatnonzero(kept):
        for v, share in zip(rounding.positions[i], rounding.shares[i], strict=True):
            if share > 0:
                dense[i, v] += share
    xy = places.projection.forward(visits.lat, visits.lon)
    return (dense @ mechanism.matrix)[kept] / kept.sum(), xy[kept]


@pytest.mark.parametrize("make", [sf.Lattice.covering, sf.Grid.covering])
@pytest.mark.parametrize("epsilon", [1e-9, 5e-4, 2e-3, 0.1])
def test_no_guess_on_a_fine_grid_beats_the_bound_and_the_best_comes_close(make, epsilon):
    visits = some_visits()
    mechanism = laplace(make(visits, "1 km"), epsilon)
    found = sf.attacks.true_place(mechanism, visits, unit="m")
    joint, xy = joint_of(mechanism, visits)
    low, high = xy.min(axis=0), xy.max(axis=0)
    guesses = np.stack(np.meshgrid(*np.linspace(low, high, 60).T), axis=-1).reshape(-1, 2)
    guesses = np.concatenate([guesses, xy])
    brute = (np.hypot(*(xy[:, None] - guesses[None]).transpose(2, 0, 1)).T @ joint).min(axis=0).sum()
    assert found.error.lower <= brute
    step = np.hypot(*(high - low)) / 59 / 2  # a guess on the grid is this near
    assert found.error.upper >= brute - step
    assert found.error.width <= 1e-5 * found.error.upper
    assert found.error.lower <= found.error.value <= found.error.upper


def test_an_optimiser_finds_the_same_for_each_report():
    visits = some_visits(seed=3)
    mechanism = laplace(sf.Lattice.covering(visits, "1 km", kind="triangular"), 1e-3)
    found = sf.attacks.true_place(mechanism, visits, unit="m")
    joint, xy = joint_of(mechanism, visits)
    total = 0.0
    for o, guess in enumerate(mechanism.secrets.projection.forward(*found.guesses.T)):

        def error(g, o=o):
            return float(joint[:, o] @ np.hypot(*(xy - g).T))

        best = min(
            minimize(error, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-14}).fun
            for start in (guess, xy[int(np.argmax(joint[:, o]))], joint[:, o] @ xy / joint[:, o].sum())
        )
        assert error(guess) <= best * (1 + 1e-6)
        total += best
    assert found.error.lower <= total * (1 + 1e-9)
    assert found.error.upper >= total * (1 - 1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 5),
    st.sampled_from(["plane", "line", "few", "far"]),
)
def test_any_points_and_any_channel_are_bracketed(seed, k, reports, shape):
    """Also points on a line, many at one place, and one far away, where Newton's method has nothing to go by."""
    rng = np.random.default_rng(seed)
    xy = rng.normal(0, 1000, (k, 2))
    if shape == "line":
        xy[:, 1] = 2 * xy[:, 0] + 7
    elif shape == "few":
        xy = xy[rng.integers(0, min(2, k), k)]
    elif shape == "far":
        xy[0] = (1e6, -1e6)
    points = TruePoints.of(xy, csr_array(np.eye(k)))
    channel = rng.dirichlet(np.full(reports, 0.3), k)
    channel[rng.random(channel.shape) < 0.2] = 0.0
    found = points.guesses(channel)
    joint = channel / k
    here = sum(float(joint[:, o] @ np.hypot(*(xy - found.points[o]).T)) for o in range(reports))
    assert here == pytest.approx(found.value, rel=1e-9, abs=1e-9)
    assert found.lower <= found.value
    assert found.lower >= found.value * (1 - (1e-2 if shape == "far" else 4e-3)) - 1e-3
    trial = rng.normal(0, 1000, (400, 2)) @ np.diag(rng.choice([0.01, 1, 100], 2))
    trial = np.concatenate([trial, xy, xy.mean(axis=0)[None]])
    brute = (np.hypot(*(xy[:, None] - trial[None]).transpose(2, 0, 1)).T @ joint).min(axis=0).sum()
    assert found.lower <= brute * (1 + 1e-12)


def test_two_and_three_places_by_hand():
    """Between two equally likely places every guess is as good; of three corners it is Fermat's point."""
    points = TruePoints.of(np.array([(0.0, 0.0), (100.0, 0.0)]), csr_array(np.eye(2)))
    assert points.guesses(np.ones((2, 1))).value == pytest.approx(50)
    corners = np.array([(0.0, 0.0), (100.0, 0.0), (50.0, 50 * 3**0.5)])
    found = TruePoints.of(corners, csr_array(np.eye(3))).guesses(np.ones((3, 1)))
    assert found.value == pytest.approx(100 / 3**0.5)
    assert found.lower == pytest.approx(found.value, rel=1e-7)
    np.testing.assert_allclose(found.points[0], corners.mean(axis=0), atol=0.1)
    heavy = TruePoints.of(corners[[0, 0, 0, 0, 1, 2]], csr_array(np.eye(6))).guesses(np.ones((6, 1)))
    np.testing.assert_array_equal(heavy.points[0], corners[0])  # a place with most visits is the median itself
    assert heavy.lower == pytest.approx(100 / 3, rel=1e-12)


def test_simulated_reports_are_guessed_as_badly_as_is_said():
    visits = some_visits(300, seed=5)
    lattice = sf.Lattice.covering(visits, "800 m")
    mechanism = laplace(lattice, 1.5e-3)
    found = sf.attacks.true_place(mechanism, visits, unit="m")
    rounds = 300
    lat, lon = np.tile(visits.lat, rounds), np.tile(visits.lon, rounds)
    rng = np.random.default_rng(9)
    vertices = lattice.draw_secrets(lat, lon, lambda n: rng.integers(0, 2**64, n, dtype=np.uint64))
    reports = sf.simulator(mechanism, seed=2).draw(vertices)
    away = np.hypot(
        *(lattice.projection.forward(lat, lon) - lattice.projection.forward(*found.guesses[reports].T)).T
    )
    assert away.mean() == pytest.approx(found.error.value, abs=5 * away.std() / len(away) ** 0.5)


def test_guesses_off_the_lattice_matter_and_a_report_never_hurts_the_attacker():
    visits = some_visits(400, seed=1)
    lattice = sf.Lattice.covering(visits, "1 km")
    mechanism, prior = laplace(lattice, 2e-3), sf.Prior.from_visits(lattice, visits)
    on = sf.attacks.optimal(mechanism, prior, lattice.loss(visits, unit="m").array.T).error
    found = sf.attacks.true_place(mechanism, visits, unit="m")
    assert found.error.upper < 0.97 * on
    assert found.error.upper <= found.blind.upper
    constant = sf.Mechanism(np.ones((len(lattice), 1)), lattice, sf.Space(["nothing"]))
    silent = sf.attacks.true_place(constant, visits, unit="m")
    assert silent.error == silent.blind


def test_one_visit_is_found():
    visits = sf.Visits([48.85], [2.35])
    found = sf.attacks.true_place(laplace(sf.Lattice.covering(REGION, "1 km"), 1e-3), visits)
    assert found.error.lower == 0
    assert found.error.upper < 1e-8
    np.testing.assert_allclose(found.guesses, np.tile([48.85, 2.35], (len(found.guesses), 1)), atol=1e-9)


def test_equal_visits_count_each_and_users_apart():
    visits = some_visits(20, seed=2)
    grid = sf.Grid.covering(visits, "1 km")
    twice = sf.Visits(np.tile(visits.lat, 2), np.tile(visits.lon, 2), user=["a"] * 20 + ["b"] * 20)
    mechanism = laplace(grid, 1e-3)
    once = sf.attacks.true_place(mechanism, visits).error
    for each in (sf.attacks.true_place(mechanism, twice), sf.attacks.true_place(mechanism, twice, user="b")):
        assert each.error.value == pytest.approx(once.value, rel=1e-9)


def test_what_cannot_be_attacked_is_refused():
    visits = some_visits()
    coin = sf.Mechanism([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(InputError, match="not places"):
        sf.attacks.true_place(coin, visits)
    mechanism = laplace(sf.Grid.covering(visits, "1 km"), 1e-3)
    with pytest.raises(DataError, match="of 1 visit none"):
        sf.attacks.true_place(mechanism, sf.Visits([10.0], [10.0]))
    with pytest.raises(DataError, match="no user column"):
        sf.attacks.true_place(mechanism, visits, user="ada")
    assert "PlaceAttack" in repr(sf.attacks.true_place(mechanism, visits))
