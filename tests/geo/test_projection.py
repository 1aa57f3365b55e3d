"""The local plane against distances on the ellipsoid."""

import numpy as np
import pyproj
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.geo import Projection, Region

GEOD = pyproj.Geod(ellps="WGS84")

centres = st.tuples(st.floats(-80, 80), st.floats(-179, 179))
offsets = st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@given(centres, st.lists(offsets, min_size=1, max_size=5), st.floats(1, 1_000_000))
def test_inverse_undoes_forward(centre, points, reach):
    projection = Projection(*centre)
    plane = reach * np.array(points)
    latlon = projection.inverse(plane)
    np.testing.assert_allclose(projection.forward(*latlon.T), plane, atol=1e-7)


@example((1.0, 0.0), (0.0, 0.0), (5e-324, 5e-324), 1000.0)
@given(centres, offsets, offsets, st.floats(1_000, 1_050_000))
def test_distances_are_kept_to_one_percent_and_never_shortened(centre, a, b, reach):
    projection = Projection(*centre)
    plane = reach * np.array([a, b])  # within 1,485 km of the centre
    (lat1, lon1), (lat2, lon2) = projection.inverse(plane)
    ground = GEOD.inv(lon1, lat1, lon2, lat2)[2]
    flat = np.hypot(*(plane[0] - plane[1]))
    assert ground - 1e-3 <= flat * (1 + 1e-9)
    assert flat <= 1.01 * ground + 1e-3


@pytest.mark.parametrize(
    "centre", [(48.85, 2.35), (0, 0), (-80, 179.9), (89.9999, 10), (0, 180), (60, -180), (90, 0), (-90, 5)]
)
@pytest.mark.parametrize("reach", [1, 1e3, 1e5, 1e6])
def test_it_is_the_projection_of_proj(centre, reach):
    """Against geodesics of PROJ: to a ten-millionth of a metre, also across the date line and around the poles."""
    xy = reach * np.random.default_rng(0).uniform(-1, 1, (500, 2))
    start = np.broadcast_to(np.array(centre, dtype=float), xy.shape).T
    lon, lat, _ = GEOD.fwd(start[1], start[0], np.degrees(np.arctan2(*xy.T)), np.hypot(*xy.T))
    projection = Projection(*centre)
    np.testing.assert_allclose(projection.forward(lat, lon), xy, atol=1e-7)
    found = projection.inverse(xy)
    apart = GEOD.inv(lon, lat, *found.T[::-1])[2]
    assert apart.max() < 1e-7


def test_places_that_are_none():
    projection = Projection(48.85, 2.35)
    assert np.isnan(projection.forward([91, np.nan, 0, 0], [0, 0, np.inf, np.nan])).all()
    assert projection.forward(48.85, 2.35).tolist() == [[0, 0]]
    np.testing.assert_allclose(projection.forward(48.85, 362.35), 0, atol=1e-8)


@given(centres, offsets)
def test_distances_from_the_centre_are_exact(centre, a):
    projection = Projection(*centre)
    plane = 500_000 * np.array([a])
    lat, lon = projection.inverse(plane)[0]
    assert GEOD.inv(centre[1], centre[0], lon, lat)[2] == pytest.approx(np.hypot(*plane[0]), abs=1e-7)


def test_a_town_is_flat_to_a_millimetre():
    projection = Projection(48.85, 2.35)
    plane = np.array([(-4000.0, -3000.0), (4000.0, -3000.0)])
    (lat1, lon1), (lat2, lon2) = projection.inverse(plane)
    assert GEOD.inv(lon1, lat1, lon2, lat2)[2] == pytest.approx(8000, abs=1e-3)


@given(centres)
def test_the_crs_says_it_all(centre):
    projection = Projection(*centre)
    assert Projection.from_crs(projection.crs) == projection
    assert pyproj.CRS(projection.crs).is_projected


def test_refusals():
    with pytest.raises(InputError, match="not a latitude and a longitude"):
        Projection(91, 0)
    with pytest.raises(InputError, match="'EPSG:2154' is not a local projection"):
        Projection.from_crs("EPSG:2154")
    for wide in ("0,-20,1,20", "-60,-150,60,150", "50,-180,60,180"):
        with pytest.raises(InputError, match=r"too wide: its corners .* beyond 1,500 km distances"):
            Region.parse(wide)
