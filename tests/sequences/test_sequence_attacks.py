"""Attackers over days drawn from a model, whose beliefs are then calibrated, and over simulated homes."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.sequences import (
    Follower,
    MovementModel,
    PrivateMovementModel,
    attack_days,
    day_positions,
    home_error,
    sequence_errors,
)

PLANE = Projection(40.0, -74.0)
SLOTS = [540, 720, 900, 1080]
ZONE = "America/New_York"


@pytest.fixture(scope="module")
def study():
    """Return a model, noise, and 200 days with reports that were drawn from them."""
    rng = np.random.default_rng(7)
    places = PLANE.inverse(rng.normal(size=(12, 2)) * 2500)
    start = rng.dirichlet(np.ones(12))
    kernel = 0.6 * np.eye(12) + 0.4 * rng.dirichlet(np.ones(12) * 0.3, size=12)
    marginals = [start]
    for _ in range(3):
        marginals.append(marginals[-1] @ kernel)
    public = MovementModel(places, SLOTS, marginals, np.tile(kernel, (4, 1, 1, 1)), ZONE)
    paths = np.empty((200, 4), dtype=int)
    paths[:, 0] = rng.choice(12, size=200, p=start)
    for t in range(1, 4):
        paths[:, t] = [rng.choice(12, p=kernel[x]) for x in paths[:, t - 1]]
    noise = CoordinateNoise("1/km", projection=PLANE)
    days = places[paths]
    reports = sf.simulator(noise, 3).blur(days[..., 0], days[..., 1])
    return public, noise, days, reports


def test_attackers_with_more_reports_are_closer(study):
    public, noise, days, reports = study
    result = sequence_errors(days, reports, public, noise)
    values = {name: bracket.value for name, bracket in result.errors.items()}
    assert values["smoother"] < values["filter"] < values["memoryless"] < values["reports"]
    assert values["reports"] == pytest.approx(2000, rel=0.1)
    assert (result.strongest, result.days, result.ticks) == ("smoother", 200, 800)
    assert "a failed attack proves nothing" in result.sentence
    assert "over 200 days" in result.sentence


def test_the_filter_attacker_expects_the_error_that_they_have(study):
    public, noise, days, reports = study
    follower, expected = Follower(public, noise), []
    for day in reports:
        follower.restart()
        for slot, report in zip(SLOTS, day, strict=True):
            follower.update(slot, *report)
            expected.append(follower.estimate(slot).error_m)
    bracket = sequence_errors(days, reports, public, noise).errors["filter"]
    assert bracket.lower < np.mean(expected) < bracket.upper


def test_silent_ticks_and_missing_positions_are_left_out(study):
    public, noise, days, reports = study
    positions, seen = days[:3].copy(), reports[:3].copy()
    seen[0, :2] = np.nan
    positions[1, 3] = np.nan
    positions[2] = np.nan
    result = sequence_errors(positions, seen, public, noise)
    assert (result.days, result.ticks) == (2, 5)
    private = PrivateMovementModel(public.places, SLOTS, public.marginals, public.kernels, ZONE)
    assert sequence_errors(positions, seen, private, noise).errors == result.errors
    single = sequence_errors(positions[:1], seen[:1], public, noise)
    assert single.errors["filter"].upper == math.inf
    with pytest.raises(InputError, match="any x 4 x 2"):
        sequence_errors(positions[:, :2], seen, public, noise)
    with pytest.raises(InputError, match="no tick has both"):
        sequence_errors(positions[2:], seen[2:], public, noise)


@pytest.mark.parametrize(("days", "printed"), [(7, 500), (30, 230)])
def test_homes_are_found_by_the_root_of_the_number_of_reports(days, printed):
    noise = CoordinateNoise("1/km")
    bracket = home_error(noise, 2, days)
    assert bracket.lower - 5 < printed < bracket.upper + 5
    assert bracket.value == pytest.approx(1770 / math.sqrt(2 * days), rel=0.1)
    assert home_error(noise, 2, days) == bracket
    with pytest.raises(InputError, match="at least 1"):
        home_error(noise, 0, days)


@pytest.mark.slow
def test_a_follower_is_closer_than_raw_reports_on_real_days(shared_data):
    visits = sf.read_visits(shared_data / "gowalla_nyc.parquet", user="user", time="time")
    slots = [540, 720, 900, 1080, 1260, 1440]
    person = visits.of_user(3480)
    rest = visits.select(np.asarray(visits.user != 3480))
    grid = sf.Grid.covering(person, shape=(11, 11), region=person.region(trim=0.02))
    others = MovementModel.of_visits(rest.inside(person.region()), grid.latlon, slots, ZONE)
    noise = CoordinateNoise("1/km", projection=grid.projection)
    days = day_positions(person, slots, ZONE)
    reports = np.full(days.shape, np.nan)
    known = np.isfinite(days[..., 0])
    reports[known] = sf.simulator(noise, 5).blur(*days[known].T)
    learned = MovementModel.of_reports(reports[170:200], noise, others)
    general, personal = (sequence_errors(days[200:], reports[200:], m, noise).errors for m in (others, learned))
    assert personal["filter"].value < general["filter"].value < general["reports"].value


def test_homes_are_found_from_reports_of_tables():
    lattice = sf.geo.Lattice.covering("6 km x 6 km around 48.85,2.35", "2 km")
    uniform = sf.Mechanism(np.full((len(lattice), len(lattice)), 1 / len(lattice)), lattice)
    blind, later = home_error(uniform, 1, 1), home_error(uniform, 2, 30)
    assert blind.lower <= later.upper  # reports that reveal nothing
    assert later.lower <= blind.upper
    cells = sf.Grid.covering("6 km x 6 km around 48.85,2.35", shape=(3, 3))
    exact = sf.Mechanism(np.eye(9), cells)
    assert home_error(exact, 1, 1).upper < 1
    with pytest.raises(InputError, match="places"):
        home_error(sf.mechanisms.geometric(sf.Space.numbers([0, 1]), 1.0), 1, 1)


def test_days_of_users_are_attacked_with_a_model_of_the_others():
    rng = np.random.default_rng(4)
    time = np.datetime64("2026-05-01", "s") + rng.integers(0, 20 * 86_400, 600).astype("timedelta64[s]")
    lat, lon = 48.85 + rng.normal(0, 0.01, 600), 2.35 + rng.normal(0, 0.01, 600)
    visits = sf.Visits(lat, lon, rng.integers(0, 10, 600).tolist(), time)
    steep = sf.mechanisms.planar.CoordinateNoise.for_visits(visits, "20/km")
    errors = attack_days(steep, visits, (480, 960), "Europe/Paris", user=3)
    assert errors.days <= 20
    assert errors.errors["reports"].value == pytest.approx(2000 / 20, rel=0.3)  # the mean of the noise
    assert attack_days(steep, visits, (480, 960), "Europe/Paris", user=3).sentence == errors.sentence
    with pytest.raises(DataError, match="no one else"):
        attack_days(steep, visits.of_user(3), (480, 960), "Europe/Paris", user=3)
