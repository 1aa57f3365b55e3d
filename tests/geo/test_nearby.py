"""Polynomials in place of series: the same metres, near the centre and beyond the box."""

import numpy as np
import pyproj
import pytest

from sfumato.geo import Projection

CENTRES = [(0.0, 0.0), (48.85, 2.35), (-33.9, 151.2), (69.0, 18.9), (40.0, -179.95), (80.0, 10.0)]


@pytest.mark.parametrize("centre", CENTRES)
def test_many_points_are_where_single_ones_are(centre):
    rng = np.random.default_rng(1)
    lat = centre[0] + rng.normal(scale=0.3, size=20_000)
    lon = centre[1] + rng.normal(scale=0.4, size=20_000)
    lat, lon = np.clip(lat, -90, 90), (lon + 180) % 360 - 180
    plane = Projection(*centre)
    many = plane.forward(lat, lon)
    some = rng.choice(20_000, 300, replace=False)
    one = np.array([plane.forward_one(float(lat[k]), float(lon[k])) for k in some])
    assert np.abs(many[some] - one).max() < 1e-7
    azimuth, _, away = pyproj.Geod(ellps="WGS84").inv(
        np.full(300, centre[1]), np.full(300, centre[0]), lon[some], lat[some]
    )
    there = np.column_stack([away * np.sin(np.radians(azimuth)), away * np.cos(np.radians(azimuth))])
    assert np.abs(many[some] - there).max() < 1e-6


def test_what_is_not_on_earth_has_no_place():
    lat, lon = np.full(5000, 48.85), np.full(5000, 2.35)
    lat[:4], lon[4:6] = [np.nan, 91, -91, np.inf], [np.nan, np.inf]
    found = Projection(48.85, 2.35).forward(lat, lon)
    assert np.isnan(found[:6]).all()
    assert np.isfinite(found[6:]).all()
