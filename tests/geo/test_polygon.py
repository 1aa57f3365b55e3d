"""Polygons: inside and outside by another route, and what is none."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Polygon

whole = st.integers(0, 8)


def winding(corners, lat, lon):
    """Return by how much the corners turn around a point."""
    angles = np.arctan2(corners[:, 0] - lat, corners[:, 1] - lon)
    turns = np.diff(np.append(angles, angles[0]))
    return round(float(((turns + np.pi) % (2 * np.pi) - np.pi).sum() / (2 * np.pi)))


@given(st.lists(st.tuples(whole, whole), min_size=3, max_size=7, unique=True), st.data())
def test_a_point_is_inside_where_the_sides_turn_around_it(corners, data):
    try:
        found = Polygon([(48 + lat / 100, 2 + lon / 100) for lat, lon in corners])
    except InputError:
        assume(False)
    lat = 48 + (data.draw(whole) + 0.37) / 100
    lon = 2 + (data.draw(whole) + 0.41) / 100
    inside = bool(found.contains([lat], [lon])[0])
    assert inside == (winding(found.corners, lat, lon) != 0)
    if inside:
        assert found.region.contains(np.array([lat]), np.array([lon]))[0]


@pytest.mark.parametrize(
    "corners",
    [
        [(0, 0), (1, 1), (0, 1), (1, 0)],
        [(0, 0), (1, 0), (2, 0)],
        [(0, 0), (0, 2), (1, 1), (0, 1), (2, 2)],
        [(0, 0), (0, 0), (1, 1)],
        [(0, 0), (0, 1)],
        [(0, 0), (0, 1), (91, 1)],
        [(0, 0), (0, 1), (float("nan"), 1)],
        [(0, 0), (0, 4), (4, 4), (4, 0), (0, 2)],
        [(k / 2000, 0) for k in range(1001)],
        [(-80, -179), (-80, 179), (80, 0)],
    ],
)
def test_what_is_no_polygon_is_refused(corners):
    with pytest.raises(InputError):
        Polygon(corners)


def test_visits_inside_are_chosen():
    visits = sf.Visits([48.86, 48.88, 48.80], [2.33, 2.30, 2.33])
    drawn = Polygon([(48.85, 2.30), (48.85, 2.36), (48.88, 2.33), (48.85, 2.30)])
    assert len(drawn.corners) == 3
    assert visits.inside(drawn).lat.tolist() == [48.86]
    with pytest.raises(sf.errors.DataError, match="a polygon of 3 corners"):
        visits.select(np.array([2])).inside(drawn)
