"""Many pairs of real points, the closest ones across borders among them: all within the promise."""

import numpy as np
import pyproj
import pytest
from scipy.spatial import cKDTree

import sfumato as sf
from tests.proofs.exact_slope import keeps

GEOD = pyproj.Geod(ellps="WGS84")
CITIES = {
    "gowalla_paris.parquet": "5 km x 5 km around 48.86,2.34",
    "foursquare_nyc.parquet": "6 km x 6 km around 40.74,-73.99",
}
PAIRS = 300_000
CLOSEST_CALLS = 200
_CHUNK = 20_000
_FLOATS = 1e-11  # what floats add to a difference of logarithms


def pairs_of(lattice, lat, lon, seed):
    """Nearest neighbours in different pieces of the lattice, all other near ones, and random pairs."""
    xy = lattice.projection.forward(lat, lon)
    _, near = cKDTree(xy).query(xy, k=min(60, len(xy)))
    i, j = np.repeat(np.arange(len(xy)), near.shape[1] - 1), near[:, 1:].ravel()
    rng = np.random.default_rng(seed)
    missing = max(0, PAIRS - len(i))
    first, second = rng.integers(len(xy), size=(2, missing))
    return np.concatenate([i, first])[:PAIRS], np.concatenate([j, second])[:PAIRS]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), list(zip(CITIES, ["square", "triangular"], strict=True)))
def test_pairs_of_real_points_keep_the_promise(shared_data, name, kind):
    epsilon = 1.0
    visits = sf.read_visits(shared_data / name)
    lattice = sf.Lattice.covering(CITIES[name], "600 m", kind=kind)
    inside = lattice.inside(visits.lat, visits.lon)
    lat, lon = np.unique(np.column_stack([visits.lat[inside], visits.lon[inside]]), axis=0).T
    if len(lat) > 6000:
        chosen = np.random.default_rng(0).permutation(len(lat))[:6000]
        lat, lon = lat[chosen], lon[chosen]
    mechanism = sf.design(
        sf.Prior.from_visits(lattice, visits.select(inside)),
        loss=lattice.metric("euclidean", unit="km"),
        guarantees=sf.CoordinatePrivacy(epsilon),
        method="table",
        gap=1e-3,
        tie_break=False,
    ).mechanism
    rounding = lattice.rounding(lat, lon)
    made = mechanism.weights.any(axis=0)  # reports that are never made
    matrix = mechanism.matrix[:, made]
    logs = np.log((rounding.shares[:, :, None] * matrix[rounding.positions]).sum(axis=1))
    i, j = pairs_of(lattice, lat, lon, 1)
    different = (np.sort(rounding.positions[i]) != np.sort(rounding.positions[j])).any(axis=1)
    ground = GEOD.inv(lon[i], lat[i], lon[j], lat[j])[2] / 1000
    assert len(i) == PAIRS
    assert (different & (ground < 0.030)).sum() > 20  # neighbours across borders, some metres apart
    limit = epsilon * (ground + lattice.slack_m / 1000)
    found = np.concatenate(
        [
            np.abs(logs[i[start : start + _CHUNK]] - logs[j[start : start + _CHUNK]]).max(axis=1)
            for start in range(0, PAIRS, _CHUNK)
        ]
    )
    assert (found <= limit + _FLOATS).all()
    share = np.where(ground > 1e-5, found / limit, 0)
    assert share.max() > 0.8  # the promise is not kept by chance
    snapped = [tuple(point) for point in lattice.snap(lat, lon).tolist()]
    for pair in np.argsort(share)[-CLOSEST_CALLS:]:
        assert keeps(mechanism, snapped[i[pair]], snapped[j[pair]], epsilon)
