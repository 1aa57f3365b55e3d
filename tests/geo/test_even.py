"""Points in place of visits: evenly spread, or in proportion to weights."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.geo import Projection, Region, repeat_by_weight, spread_evenly


@pytest.mark.parametrize("shape", [(1, 1), (12, 9), (70, 3)])
def test_points_are_spread_evenly(shape):
    """Their mean is the middle, and their variances are those of a uniform law on the rectangle."""
    region = Region.parse("8 km x 6 km around 48.85,2.35")
    points = spread_evenly(region, shape)
    xy = Projection(*region.centre).forward(points.lat, points.lon)
    np.testing.assert_allclose(xy.mean(axis=0), 0, atol=1)
    np.testing.assert_allclose(xy.std(axis=0), np.array([8000, 6000]) / np.sqrt(12), rtol=0.06)
    assert 1_000 < len(points) < 8_000
    if shape != (1, 1):
        counts = sf.Grid.covering(region, shape=shape).counts(points)
        assert counts.min() == counts.max() > 0


def test_weights_are_shares_of_points():
    weights = np.random.default_rng(3).lognormal(0, 3, 500)
    lat = 48.85 + np.arange(500) / 10_000
    points = sf.Visits(lat, np.full(500, 2.35), attributes={"Weight": weights})
    repeated = repeat_by_weight(points, "'blocks.csv'")
    shares = np.array([(repeated.lat == each).mean() for each in lat])
    assert (shares > 0).all()
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=500 / 20_000)
    assert np.abs(shares - weights / weights.sum()).sum() < 0.03


def test_weights_of_any_size_are_used():
    points = sf.Visits([48.85, 48.86], [2.35, 2.36], attributes={"pop": [3e300, 1e300]})
    repeated = repeat_by_weight(points, "'blocks.csv'")
    assert (repeated.lat == 48.85).mean() == pytest.approx(0.75, abs=1e-3)
    with pytest.raises(DataError, match="columns of weights"):
        repeat_by_weight(sf.Visits([48.85], [2.35]), "'blocks.csv'")
