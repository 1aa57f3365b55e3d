"""Users of a city, and where people live: who is hidden, within the largest loss, never above the optimum."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato_papers.invented_city import invented_city
from sfumato_papers.mipan import contest
from sfumato_papers.mipan.contest import NOISE, busiest, hidden_labels, measure
from sfumato_papers.mipan.square import GAP, NO_NOISE, OPTIMUM, TABLE

SIZE = (8_000.0, 6_000.0)


def test_a_contest_stays_within_the_loss_and_below_the_optimum(torch):
    city = hidden_labels("city", invented_city(), (3,), SIZE, 2_000.0)
    assert [each.name for each in city] == ["3 users", "Old Town or Northfield"]
    for hidden in city:
        rows = contest(hidden, 700.0, rounds=25)
        assert len(rows) == 6
        for row in rows:
            assert row.loss_m <= 700 * (1 + 1e-9), row
            assert row.largest_error <= row.blind_error + 1e-9
            assert row.error <= row.blind_error + 1e-9
            assert row.error <= row.largest_error + 1e-9
            assert row.held_out_error <= row.held_out_error_learned + 1e-12
        by = {row.mechanism: row for row in rows}
        # Gaps are relative to the largest vulnerability, one at most.
        assert by[OPTIMUM].largest_error - by[OPTIMUM].error <= 2 * GAP
        assert by[NO_NOISE].loss_m == 0
        assert by[NO_NOISE].error <= by[NOISE].error <= by[TABLE].error


def test_visits_without_homes_hide_their_users():
    """Gowalla has no column that tells where people live: its users are hidden all the same."""
    city = invented_city()
    bare = sf.Visits(city.lat, city.lon, city.user)
    (hidden,) = hidden_labels("bare", bare, (3,), SIZE, 2_000.0)
    assert hidden.name == "3 users"
    assert list(hidden.data.space.labels) == [1, 2, 3]


def test_users_with_few_visits_are_left_out():
    city = invented_city()
    users = [*np.asarray(city.user).tolist(), "rare"]
    rare = sf.Visits([*city.lat, city.lat[0]], [*city.lon, city.lon[0]], users)
    (hidden,) = hidden_labels("rare", rare, (100_000,), SIZE, 2_000.0)
    counts = np.bincount(hidden.data.classes)
    assert counts.min() >= 10
    assert len(counts) == len(hidden.data.space)


@pytest.mark.parametrize(
    ("users", "said"),
    [(None, "no user column"), (["a"] * 40, "fewer than two users"), (range(40), "fewer than two")],
)
def test_what_the_visits_lack_is_said(users, said):
    visits = sf.Visits([40.0] * 40, [-30.0] * 40, users)
    with pytest.raises(DataError, match=said):
        hidden_labels("visits", visits, (3,), SIZE, 2_000.0)


def test_the_busiest_region_holds_as_many_as_any_that_is_tried():
    """A town and a village on the other side of the world: the region is the town's, counted by brute force."""
    rng = np.random.default_rng(1)
    lat = np.r_[48.85 + rng.normal(0, 0.02, 300), -33.0 + rng.normal(0, 0.001, 5)]
    lon = np.r_[2.35 + rng.normal(0, 0.02, 300), 151.0 + rng.normal(0, 0.001, 5)]
    cells = busiest(sf.Visits(lat, lon), (2_000.0, 3_000.0), 500.0)
    assert len(cells) == 4 * 6
    held = np.count_nonzero(cells.inside(lat, lon))
    xy = cells.projection.forward(lat[:300], lon[:300])
    far = np.array([2_000.0, 3_000.0])
    corners = np.array([(x, y) for x in range(-3000, 2000, 500) for y in range(-3000, 1000, 500)], dtype=float)
    tried = [int(((xy >= corner) & (xy < corner + far)).all(axis=1).sum()) for corner in corners]
    assert held == max(tried)


def test_the_measures_are_those_of_counted_reports():
    """Both errors and the loss, against a loop over labels, places and reports of a case done by hand."""
    mechanism = sf.Mechanism([[0.75, 0.25, 0.0], [0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])  # the last report is unused
    joint = np.array([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])  # nobody was at the last place
    fresh = np.array([[0.25, 0.0, 0.0], [0.0, 0.75, 0.0]])
    loss = np.array([[0.0, 8.0, 9.0], [8.0, 0.0, 9.0], [8.0, 8.0, 0.0]])
    found = measure(mechanism, joint, fresh, loss)
    # Learned from: P(x, z) = (.375, .125), (.25, .25). Held out: (.1875, .0625), (.375, .375).
    assert found == pytest.approx((1 - 0.625, 0.5 * 2 + 0.5 * 4, 1 - 0.75, 1 - 0.5625, 0.25 * 2 + 0.75 * 4))


@pytest.mark.slow
def test_users_of_gowalla_are_hidden(torch, shared_data):
    """The study once ended at Gowalla, for want of a column of homes."""
    visits = sf.read_visits(shared_data / "gowalla_nyc.parquet")
    (hidden,) = hidden_labels("Gowalla", visits, (6,), (6_000.0, 9_000.0), 1_500.0)
    by = {row.mechanism: row for row in contest(hidden, 1_150.0)}
    assert by[TABLE].error > by[NOISE].error
    assert by[TABLE].error >= 0.95 * by[OPTIMUM].error
