"""Real check-ins, where they are at hand."""

from typing import Any

import numpy as np
import pytest

from sfumato import geo
from sfumato.core import Prior, greedy_spanner
from sfumato.geo import Grid

read_visits: Any = geo.read_visits  # the tests know which columns are there
PARIS = "48.8286,2.2855,48.8798,2.3909"


def test_paris(shared_data):
    visits = read_visits(shared_data / "gowalla_paris.parquet")
    assert len(visits) == 10_991
    assert visits.user is None
    assert visits.notes == ()
    grid = Grid.covering(visits, cell="1 km", region=PARIS)
    assert (grid.columns, grid.rows) == (8, 6)
    assert grid.counts(visits).sum() == len(visits)
    prior = Prior.from_visits(grid, visits)
    assert len(prior.support) > 40
    assert greedy_spanner(grid.metric("euclidean", "km"), 1.05).dilation == pytest.approx(1.0274, abs=1e-3)
    by_number = Grid.covering(visits, shape=(8, 6), region=PARIS)
    assert by_number.counts(visits).sum() == len(visits)
    np.testing.assert_allclose(by_number.cell_m, (966, 949), atol=1)


@pytest.mark.slow
def test_new_york_of_foursquare(shared_data):
    visits = read_visits(shared_data / "foursquare_nyc.parquet")
    assert len(visits) <= 59_647
    assert len(visits.users()) == 193
    assert {"category", "home_area"} <= set(visits.attributes)
    user, count = next(iter(visits.users().items()))
    own = visits.of_user(str(user))
    assert len(own) == count
    grid = Grid.covering(own, shape=(7, 7))
    assert grid.counts(visits, user).sum() == count
    assert visits.time.min() >= np.datetime64("2012-04-01")


@pytest.mark.slow
def test_new_york_of_gowalla(shared_data):
    visits = read_visits(shared_data / "gowalla_nyc.parquet", attributes=["venue"])
    dropped = 138_957 - len(visits)
    assert visits.notes == (f"{dropped} of 138,957 rows that repeat another's user, time and place were dropped.",)
    assert len(visits.users()) == 7_115
    assert list(visits.attributes) == ["venue"]
    inside = visits.inside(visits.region(trim=0.02))
    grid = Grid.covering(inside, shape=(20, 15))
    assert grid.counts(inside).sum() == len(inside)
