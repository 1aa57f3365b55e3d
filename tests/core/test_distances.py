import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pyproj import Geod

from sfumato.core import WGS84, Space
from sfumato.core.distances import EARTH_RADIUS_M, KINDS, distance_matrix
from sfumato.errors import UnitError

from .arrays import refused

points = arrays(np.float64, (4, 2), elements=st.floats(-1e3, 1e3))
sets = st.lists(st.frozensets(st.integers(0, 5)), min_size=2, max_size=5, unique=True)
places = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=2, max_size=5, unique=True).map(
    lambda p: Space(range(len(p)), np.array(p), crs=WGS84)
)


@given(points)
def test_on_the_plane(xy):
    space = Space("abcd", xy, "m")
    euclidean, manhattan = space.metric("euclidean").array, space.metric("manhattan").array
    for i in range(4):
        for j in range(4):
            assert euclidean[i, j] == pytest.approx(math.dist(xy[i], xy[j]), rel=1e-12, abs=1e-150)
            assert manhattan[i, j] == pytest.approx(sum(abs(a - b) for a, b in zip(xy[i], xy[j], strict=True)))
    np.testing.assert_allclose(space.metric("euclidean", "km").array * 1000, euclidean)


def test_absolute_difference_of_ages():
    ages = Space.numbers([18, 30, 65], "year")
    np.testing.assert_array_equal(ages.metric("absolute").array, [[0, 12, 47], [12, 0, 35], [47, 35, 0]])
    np.testing.assert_array_equal(ages.metric("absolute", "month").array[0], [0, 144, 564])


def test_hamming():
    np.testing.assert_array_equal(Space("abc").metric("hamming").array, 1 - np.eye(3))
    array, unit = distance_matrix(Space("abc"), Space("xbz"), "hamming")
    np.testing.assert_array_equal(array, [[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    assert unit == ""


@given(sets)
def test_jaccard(labels):
    array = Space(labels).metric("jaccard").array
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            expected = 1 - len(a & b) / len(a | b) if a | b else 0
            assert array[i, j] == pytest.approx(expected, abs=1e-15)


def test_the_jaccard_distance_of_the_empty_set_to_itself_is_zero():
    assert not Space([frozenset()]).metric("jaccard").array.any()


def test_semantic():
    space = Space(["pub", "bar", "clinic"])
    by_name = space.metric("semantic", categories={"pub": "fun", "bar": "fun", "clinic": "health"})
    np.testing.assert_array_equal(by_name.array, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(space.metric("semantic", categories=[0, 0, 1]).array, by_name.array)


@given(places)
def test_great_circle_is_close_to_the_ellipsoid(space):
    array = space.metric("great-circle").array
    geod = Geod(ellps="WGS84")
    for i, (lat1, lon1) in enumerate(space.latlon):
        for j, (lat2, lon2) in enumerate(space.latlon):
            metres = geod.inv(lon1, lat1, lon2, lat2)[2]
            assert array[i, j] == pytest.approx(metres, rel=6e-3, abs=1e-3)
    np.testing.assert_array_equal(array, array.T)


@given(places)
def test_great_circle_by_the_angle_between_vectors(space):
    lat, lon = np.radians(space.latlon).T
    v = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    sine = np.linalg.norm(np.cross(v[:, None], v[None]), axis=2)
    angles = np.arctan2(sine, v @ v.T)
    np.testing.assert_allclose(space.metric("great-circle").array, EARTH_RADIUS_M * angles, rtol=1e-7, atol=1e-3)


def test_great_circle_on_known_arcs():
    space = Space("nesw", [[90, 0], [0, 90], [-90, 0], [0, -90]], crs=WGS84)
    quarter = EARTH_RADIUS_M * math.pi / 2
    expected = quarter * np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    np.testing.assert_allclose(space.metric("great-circle").array, expected, rtol=1e-12)
    assert space.metric("great-circle", "km").array[0, 1] == pytest.approx(10_007.557, abs=1e-2)


@given(sets)
def test_every_kind_is_a_metric(labels):
    n = len(labels)
    plane = Space(labels, np.arange(2.0 * n).reshape(n, 2) ** 2, "m")
    for metric in (
        plane.metric("euclidean"),
        plane.metric("manhattan"),
        plane.metric("hamming"),
        plane.metric("jaccard"),
        plane.metric("semantic", categories=[len(label) % 2 for label in labels]),
    ):
        d = metric.array
        assert not d.diagonal().any()
        np.testing.assert_array_equal(d, d.T)
        assert (d[:, None, :] <= (d[:, :, None] + d[None]) * (1 + 1e-12) + 1e-12).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Space("ab").metric("chebyshev"), "'chebyshev' is unknown"),
        (lambda: Space("ab").metric("euclidean"), "needs coordinates"),
        (lambda: Space("ab", [[48, 2], [49, 2]], crs=WGS84).metric("euclidean"), "in degrees"),
        (lambda: Space("ab", [[48, 2], [49, 2]], crs=WGS84).metric("manhattan"), "in degrees"),
        (lambda: Space("ab", [[48, 2], [49, 2]], "m").metric("great-circle"), "no latitudes"),
        (lambda: Space("ab", [[48, 2], [49, 2]], "m").metric("absolute"), "one coordinate"),
        (lambda: Space("ab").metric("jaccard"), "labels that are sets"),
        (lambda: Space("ab").metric("semantic"), "needs the category"),
        (lambda: Space("ab").metric("semantic", categories={"a": 1}), "'b'"),
        (lambda: Space("ab").metric("semantic", categories=[1]), "1 categories were given for 2 labels"),
        (lambda: Space("ab").metric("hamming", categories=[1, 2]), "uses no categories"),
        (lambda: distance_matrix(Space("a", [1.0], "m"), Space("a", [1.0], "km"), "euclidean"), "differ"),
        (lambda: distance_matrix(Space("a", [1.0], "m"), Space("a", [[1.0, 2.0]], "m"), "euclidean"), "differ"),
    ],
)
def test_what_a_space_lacks_is_said(make, says):
    refused(make, says)


def test_the_unit_must_fit():
    with pytest.raises(UnitError):
        Space("ab", [0, 1], "m").metric("euclidean", "year")
    with pytest.raises(UnitError):
        Space("ab").metric("hamming", "km")
    assert set(KINDS) >= {"euclidean", "great-circle"}
