"""Visits: what they hold, and what they refuse."""

import numpy as np
import pytest

from sfumato.errors import DataError, InputError
from sfumato.geo import Region, Visits


@pytest.fixture
def visits():
    return Visits(
        [48.86, 48.85, 48.87, 48.80],
        [2.34, 2.35, 2.33, 2.20],
        user=[17, "ann", 17, None],
        time=["2024-01-01T10:00:00", "2024-01-01T11:00:00", "NaT", "2024-01-02"],
        attributes={"area": ["x", "y", "x", "z"]},
        notes=["made by hand"],
    )


def test_the_columns_are_read_only(visits):
    for column in (visits.lat, visits.lon, visits.user, visits.time, visits.attributes["area"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]
    assert visits.time.dtype == "datetime64[us]"


def test_numpy_users_become_plain_ones():
    for given in (np.array([5, 6], dtype=np.int32), [np.int64(5), np.int64(6)]):
        users = Visits([1.0, 2.0], [3.0, 4.0], user=given).users()
        assert [type(user) for user in users] == [int, int]


def test_users_come_by_frequency_and_leave_out_the_unknown(visits):
    assert visits.users() == {17: 2, "ann": 1}
    assert list(visits.users()) == [17, "ann"]
    assert Visits([1.0], [2.0]).users() == {}


@pytest.mark.parametrize("name", [17, "17", np.int64(17)])
def test_a_user_is_found_by_number_and_by_text(visits, name):
    chosen = visits.of_user(name)
    assert list(chosen.lat) == [48.86, 48.87]
    assert list(chosen.attributes["area"]) == ["x", "x"]
    assert chosen.notes == visits.notes


def test_an_unknown_user_is_named_beside_known_ones(visits):
    with pytest.raises(DataError, match="'bob' is not among the 2 users") as refused:
        visits.of_user("bob")
    assert "17, ann" in refused.value.render(values=True)
    with pytest.raises(DataError, match="no user column"):
        Visits([1.0], [2.0]).of_user("bob")


def test_inside_keeps_borders_and_says_where_others_are(visits):
    assert len(visits.inside(Region(48.85, 2.33, 48.87, 2.35))) == 3
    with pytest.raises(DataError, match=r"of 4 visits none .*\nHint: choose a region") as refused:
        visits.inside(Region(40.0, 2.0, 41.0, 3.0))
    assert "48.80000 to 48.87000 N" in refused.value.render(values=True)


def test_repr_counts_visits_and_users(visits):
    assert repr(visits) == "4 visits of 2 users, 48.80000 to 48.87000 N, 2.20000 to 2.35000 E"
    assert repr(Visits([1.0], [2.0])) == "1 visit, 1.00000 to 1.00000 N, 2.00000 to 2.00000 E"


def test_latitudes_beyond_90_name_the_first_row():
    with pytest.raises(DataError, match="row 2 has a latitude beyond 90 degrees") as caught:
        Visits([10.0, 95.0, 99.0], [120.0, 20.0, 30.0])
    assert "swapped" not in str(caught.value)
    assert "correct the rows" in caught.value.hint


def test_metres_of_a_projection_are_recognised():
    with pytest.raises(DataError, match=r"row 1 has a latitude beyond") as caught:
        Visits([5.4e6], [4.5e5])
    assert "metres of a map projection: convert them to degrees" in caught.value.hint
    with pytest.raises(DataError, match="row 1 has a longitude beyond") as caught:
        Visits([54.0], [4.5e5])
    assert "metres of a map projection" in caught.value.hint


def test_longitudes_beyond_180_name_the_first_row():
    with pytest.raises(DataError, match=r"row 3 has a longitude beyond 180 degrees\.\n"):
        Visits([10.0, 20.0, 30.0], [0.0, 180.0, 181.0])


def test_one_slip_is_not_taken_for_swapped_columns():
    with pytest.raises(DataError, match="row 4 has a latitude beyond") as caught:
        Visits([46.05] * 3 + [146.05] + [46.06] * 30, [14.5] * 34)
    assert "swapped" not in str(caught.value)


def test_some_swapped_rows_beyond_90_degrees_are_enough():
    with pytest.raises(DataError, match="look swapped"):
        Visits([-118.0] * 40 + [-74.0] * 60, [34.0] * 40 + [40.0] * 60)


def test_swapped_coordinates_are_recognised():
    with pytest.raises(DataError, match=r"(?s)row 1 has a latitude beyond.*look swapped.*Hint: exchange"):
        Visits([116.4, 116.3], [39.9, 39.8])
    lat, lon = [-73.98] * 99 + [-40.0], [40.7] * 100
    with pytest.raises(DataError, match=r"(?s)99% of the latitudes.*Antarctica.*look swapped.*polar=True"):
        Visits(lat, lon)
    assert len(Visits(lat, lon, polar=True)) == 100


def test_antarctic_stations_and_southern_cities_pass():
    Visits([-67.57, -77.85], [-68.13, 166.67])  # Rothera and McMurdo
    Visits([-54.8], [-68.3])  # Ushuaia
    kept = Visits([-73.98, -40.0, 1.0], [40.7, 41.0, 2.0])
    assert len(kept.select(np.array([0]))) == 1  # a part is not judged again


def test_bad_shapes_and_values():
    with pytest.raises(DataError, match="there is no visit"):
        Visits([], [])
    with pytest.raises(DataError, match=r"'lon' has shape \(1,\), but there are 2"):
        Visits([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="'user' has shape"):
        Visits([1.0, 2.0], [1.0, 2.0], user=["a"])
    with pytest.raises(DataError, match="'area' has shape"):
        Visits([1.0], [1.0], attributes={"area": ["a", "b"]})
    with pytest.raises(InputError, match="the latitudes holds nan at position 1"):
        Visits([1.0, np.nan], [1.0, 2.0])


class TestHeldOut:
    def test_users_are_held_out_whole_where_there_are_several(self):
        rng = np.random.default_rng(0)
        users = rng.integers(0, 30, 400)
        visits = Visits(rng.uniform(48, 49, 400), rng.uniform(2, 3, 400), user=users)
        kept, apart = visits.held_out(0.2)
        assert len(kept) + len(apart) == 400
        assert not set(kept.users()) & set(apart.users())
        assert len(apart.users()) == round(0.2 * len(visits.users()))
        again = visits.held_out(0.2)[1]
        np.testing.assert_array_equal(again.lat, apart.lat)
        assert not np.array_equal(visits.held_out(0.2, seed=2)[1].lat, apart.lat)

    @pytest.mark.parametrize("user", [None, ["ada"] * 10])
    def test_visits_are_held_out_at_random_otherwise(self, user):
        visits = Visits(np.linspace(48, 49, 10), np.linspace(2, 3, 10), user=user)
        kept, apart = visits.held_out(0.3)
        assert (len(kept), len(apart)) == (7, 3)
        np.testing.assert_array_equal(np.sort(np.concatenate([kept.lat, apart.lat])), visits.lat)
        assert len(visits.held_out(0.3, by_user=False)[1]) == 3

    @pytest.mark.parametrize("share", [0, 1, -0.1, 0.01, 0.99, np.nan])
    def test_a_part_without_visits_is_refused(self, share):
        visits = Visits(np.linspace(48, 49, 10), np.linspace(2, 3, 10))
        with pytest.raises(InputError, match="10 visits cannot be held out"):
            visits.held_out(share)

    def test_users_need_a_column(self):
        with pytest.raises(DataError, match="no user column"):
            Visits([48.0, 49.0], [2.0, 2.0]).held_out(0.5, by_user=True)
