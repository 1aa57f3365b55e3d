"""Regions: as text, around a point, around visits."""

import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, UnitError
from sfumato.geo import Region, Visits

PARIS = "48.8286,2.2855,48.8798,2.3909"


def test_corners_as_text():
    region = Region.parse(PARIS)
    assert (region.south, region.west, region.north, region.east) == (48.8286, 2.2855, 48.8798, 2.3909)
    assert Region.parse(str(region)) == region
    assert region.size == "7.73 km x 5.69 km"
    assert Region.parse(" -1.5, -2 , +0.5,.25 ") == Region(-1.5, -2, 0.5, 0.25)


@pytest.mark.parametrize(
    "text", ["8 km x 6 km around 48.85,2.35", "8 x 6 km around 48.85, 2.35", "8000 m × 6000 m around 48.85,2.35"]
)
def test_size_around_a_point_as_text(text):
    region = Region.parse(text)
    np.testing.assert_allclose(region.size_m, (8000, 6000), atol=0.01)
    np.testing.assert_allclose(region.centre, (48.85, 2.35), atol=1e-6)


@given(st.floats(-75, 75), st.floats(-170, 170), st.floats(100, 200_000), st.floats(100, 200_000))
def test_sizes_are_those_on_the_ground(lat, lon, width, height):
    region = Region.around(lat, lon, width, height)
    geod = pyproj.Geod(ellps="WGS84")
    assert geod.inv(lon, region.south, lon, region.north)[2] == pytest.approx(height, rel=1e-6)
    assert geod.inv(region.west, lat, region.east, lat)[2] == pytest.approx(width, rel=2e-3)
    assert region.size_m[0] == pytest.approx(width, rel=2e-3)


def test_around_visits_and_without_outliers():
    lat, lon = np.linspace(48.80, 48.90, 101), np.linspace(2.30, 2.40, 101)
    visits = Visits(np.append(lat, 60.0), np.append(lon, 20.0))
    assert visits.region() == Region(48.80, 2.30, 60.0, 20.0)
    trimmed = visits.region(trim=0.05)
    assert trimmed.north < 48.9
    assert len(visits.inside(trimmed)) == pytest.approx(0.9 * len(visits), abs=2)
    with pytest.raises(InputError, match=r"(?s)too wide.*trim=0.01"):
        Visits([0.0, 50.0], [0.0, 100.0]).region()
    with pytest.raises(InputError, match=r"the trim 0.5 is not between"):
        visits.region(trim=0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Paris", "'Paris' is not understood"),
        ("1,2,3", "is not understood"),
        ("1,2,3,4.5.6", "'4.5.6' in the region .* is not a number"),
        ("2,1,1,3", "its south above its north"),
        ("1,3,2,1", r"(?s)its west beyond its east.*180th meridian"),
        ("89,0,91,1", "leaves the globe"),
        ("89.98,-170,89.99,170", "too near a pole: it spans 340 degrees"),
        ("0 km x 6 km around 48,2", "is not positive"),
        ("8000 km x 6 km around 48,2", "too large for a flat map"),
        ("8 km x 6 km around 95,2", "not a latitude"),
    ],
)
def test_refused_texts(text, message):
    with pytest.raises(InputError, match=message) as caught:
        Region.parse(text)
    assert caught.value.hint


def test_lengths_need_units_of_length():
    with pytest.raises(UnitError):
        Region.parse("8 kg x 6 kg around 48,2")
    with pytest.raises(InputError, match="not four numbers"):
        Region(float("nan"), 0, 1, 1)


@given(st.floats(0.1, 900), st.floats(0.1, 900), st.integers(1, 500))
def test_a_grid_of_about_so_many_cells(width, height, cells):
    columns, rows = Region.around(48, 2, f"{width:.3f} km", f"{height:.3f} km").shape_of(cells)
    assert 1 <= columns <= cells
    assert cells / 2 < columns * rows < 2 * cells
    if min(columns, rows) > 1:
        assert 0.25 < (width / columns) / (height / rows) < 4


def test_a_region_without_extent_has_one_cell():
    assert Region(48, 2, 48, 2).shape_of(108) == (1, 1)
