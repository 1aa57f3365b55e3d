"""The synthetic city: the same for the same seed, and worth a try."""

import hashlib
from typing import Any

import numpy as np
import pytest

from sfumato import geo
from sfumato.core import Prior
from sfumato.errors import InputError
from sfumato.geo import Grid

synthetic_city: Any = geo.synthetic_city  # the tests know which columns are there

REGION = "8 km x 6 km around 37.78,-122.435"


def digest(visits: Any) -> str:
    parts = (visits.lat.tobytes(), visits.lon.tobytes(), visits.time.tobytes(), "".join(visits.user).encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_a_seed_is_a_city():
    assert digest(synthetic_city()) == digest(synthetic_city(seed=7))
    assert digest(synthetic_city(seed=1)) != digest(synthetic_city(seed=2))


def test_it_says_that_it_is_synthetic_and_everyone_is_on_land():
    city = synthetic_city()
    assert "synthetic" in city.notes[0]
    assert geo.whereabouts(city.lat, city.lon).endswith("in or near San Francisco")
    assert geo.world(37.7, -122.55, 37.85, -122.35).on_land(city.lat, city.lon).all()


def test_its_prior_is_uneven_with_cells_never_visited():
    grid = Grid.covering(REGION, cell="500 m")
    assert (grid.columns, grid.rows) == (16, 12)
    prior = Prior.from_visits(grid, synthetic_city())
    assert 20 <= len(grid) - len(prior.support) <= 120
    assert prior.probabilities.max() > 10 / len(grid)


@pytest.mark.parametrize("seed", range(5))
def test_everyone_is_there_with_home_and_age(seed):
    city = synthetic_city(seed=seed, users=50, days=1)
    assert len(city.users()) == 50
    for name in ("area", "age_group"):
        homes = {(user, value) for user, value in zip(city.user, city.attributes[name], strict=True)}
        assert len(homes) == 50


def test_times_are_in_order_within_the_days_asked_for():
    city = synthetic_city(days=10)
    assert city.time.min() >= np.datetime64("2024-01-01")
    assert city.time.max() < np.datetime64("2024-01-11")
    for user in list(city.users())[:20]:
        assert (np.diff(city.of_user(user).time) > np.timedelta64(0, "us")).all()


def test_people_of_different_areas_are_at_different_places():
    city = synthetic_city()
    west = city.attributes["area"] == "Richmond"
    assert city.lon[west].mean() < city.lon[~west].mean()


def test_a_city_needs_people_and_days():
    with pytest.raises(InputError, match="0 users over 28 days"):
        synthetic_city(users=0)
