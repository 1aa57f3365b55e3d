import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import WGS84, Space
from sfumato.errors import InputError

from .arrays import refused


def test_labels_and_positions():
    space = Space(["home", "work", 3, ("a", 1), frozenset({"x", "y"})])
    assert len(space) == 5
    for position, label in enumerate(space.labels):
        assert space.position(label) == position
    assert space.position(np.int64(3)) == 2
    assert space.position({"y", "x"}) == 4  # type: ignore[arg-type]
    assert space.position(["a", 1]) == 3  # type: ignore[arg-type]
    np.testing.assert_array_equal(space.positions(["work", "home", "work"]), [1, 0, 1])


def test_labels_are_pythons_own():
    space = Space(np.arange(3))
    assert [type(label) for label in space.labels] == [int] * 3
    assert space == Space(range(3))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Space([]), "at least one label"),
        (lambda: Space(["a", "b", "a"]), "'a' stands at positions 0 and 2"),
        (lambda: Space([1, True]), "positions 0 and 1"),
        (lambda: Space([{"a": 1}]), "cannot be hashed"),  # type: ignore[list-item]
        (lambda: Space("ab", [[0, 0]]), "shape 1 x 2"),
        (lambda: Space("ab", [[0, 0], [1]]), "not an array of numbers"),
        (lambda: Space("ab", [[0.0, 0.0], [np.nan, 1.0]]), "nan"),
        (lambda: Space("ab", [[0.0, 0.0], [np.inf, 1.0]]), "inf"),
        (lambda: Space("ab", ["x", "y"]), "not an array of numbers"),
        (lambda: Space("ab", crs=WGS84), "two coordinates"),
        (lambda: Space("ab", [0.0, 1.0], crs=WGS84), "two coordinates"),
        (lambda: Space("ab", [[95, 2], [48, 2]], crs=WGS84), "latitudes"),
        (lambda: Space("ab", [[48, 2], [48, 181]], crs=WGS84), "longitudes"),
        (lambda: Space("ab").position("c"), "'c' is not in the space"),
        (lambda: Space("ab").positions(["a", "z"]), "'z'"),
        (lambda: Space("ab").counts(["a"], user="u"), "has no users"),
        (lambda: Space("ab").counts(["a", "q"]), "'q'"),
        (lambda: Space("ab").group_labels([["a"], []]), "empty"),
        (lambda: Space("ab").group_labels([["a", "c"]]), "'c'"),
        (lambda: Space("ab").group_labels([["a", "b"], ["b", "a"]]), "positions 0 and 1"),
        (lambda: Space("ab", [0, 1], "m").latlon, "no latitudes"),
    ],
)
def test_what_is_no_space_is_refused(make, says):
    refused(make, says)


def test_coordinates_are_kept_apart_from_the_caller():
    given_array = np.array([[0.0, 1.0], [2.0, 3.0]])
    space = Space("ab", given_array, "m")
    given_array[0, 0] = 7
    assert space.coordinates is not None
    assert space.coordinates[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        space.coordinates[0, 0] = 7


def test_numbers():
    ages = Space.numbers(range(18, 30), unit="years")
    assert ages.labels == tuple(range(18, 30))
    assert ages.coordinates is not None
    np.testing.assert_array_equal(ages.coordinates[:, 0], np.arange(18, 30))
    assert ages.metric("absolute").unit == "year"


def test_latitudes_and_longitudes():
    space = Space("ab", [[48.8, 2.3], [-90.0, -180.0]], crs=WGS84)
    assert space.unit == "degree"
    np.testing.assert_array_equal(space.latlon, [[48.8, 2.3], [-90, -180]])


def test_groups_have_the_middle_of_their_members():
    space = Space("abcd", [[0, 0], [2, 0], [0, 2], [2, 2]], "km")
    groups = space.group_labels([["a", "b"], ["d"], "abcd", ["b", "d"]])
    assert groups.labels == (frozenset("ab"), frozenset("d"), frozenset("abcd"), frozenset("bd"))
    assert groups.coordinates is not None
    np.testing.assert_allclose(groups.coordinates, [[1, 0], [2, 2], [1, 1], [2, 1]])
    assert groups.unit == "km"
    assert space.position("a") == 0
    assert Space("ab").group_labels([["a"]]).coordinates is None


def test_equality():
    plain = Space("ab")
    placed = Space("ab", [0.0, 1.0], "m")
    assert plain == Space(["a", "b"])
    assert hash(plain) == hash(Space(["a", "b"]))
    assert plain != Space("ba")
    assert plain != placed
    assert placed != plain
    assert placed == Space("ab", [0.0, 1.0], "m")
    assert placed != Space("ab", [0.0, 1.0], "km")
    assert placed != Space("ab", [0.0, 2.0], "m")
    assert placed != Space("ab", [0.0, 1.0], "m", crs="EPSG:2154")
    assert plain != "ab"


@given(st.lists(st.integers(0, 6)))
def test_counts(values):
    space = Space(range(7))
    np.testing.assert_array_equal(space.counts(values), [values.count(label) for label in range(7)])


def test_repr_states_size_and_unit():
    assert repr(Space.numbers([1, 2], "year")) == "Space of 2 values, 1 coordinate in year"
    assert repr(Space("abc")) == "Space of 3 values"


def test_error_is_a_value_error():
    with pytest.raises(ValueError, match="Hint"):
        Space([])
    assert issubclass(InputError, ValueError)
