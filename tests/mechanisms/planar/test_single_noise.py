"""Noise for one point: distributed as for arrays, and moved alike where it is far away."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.stats import chisquare, ks_2samp

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection, pulled_in
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.planar.lattice_noise import LatticeNoise, snap, snap_one
from sfumato.sampling import ScalarCoins, SeededWords

GEOD = pyproj.Geod(ellps="WGS84")
PLANE = Projection(48.85, 2.35)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rate", [Fraction(3, 2), Fraction(1, 7)])
def test_single_noise_follows_the_density(rate):
    noise, scalar = LatticeNoise(rate), ScalarCoins(SeededWords(5))
    drawn = [noise.noise_one(scalar) for _ in range(8000)]
    reach = math.ceil(40 / rate)
    weights = {
        (i, j): math.exp(-float(rate) * math.hypot(i, j))
        for i, j in itertools.product(range(-reach, reach + 1), repeat=2)
    }
    total = sum(weights.values())
    common = [z for z, weight in weights.items() if weight / total * len(drawn) > 20]
    found = dict.fromkeys(common, 0)
    for z in drawn:
        if z in found:
            found[z] += 1
    counts = [*found.values(), len(drawn) - sum(found.values())]
    chances = [weights[z] / total for z in common]
    wanted = np.array([*chances, 1 - sum(chances)]) * len(drawn)
    assert chisquare(counts, wanted).pvalue > 1e-9


def test_acceptance_by_integers_is_that_of_floats_and_integers():
    """Coins of probability exp(-x), one at a time: their frequency for some offsets."""
    noise = LatticeNoise(Fraction(1, 9))
    scalar = ScalarCoins(SeededWords(3))
    for i, j in ((0, 0), (5, 0), (3, -4), (40, 1), (-17, 17)):
        (x,), _ = noise.exponent.floats(np.array([[i, j]]))
        share = np.mean([noise.exponent.accepted_one(i, j, scalar) for _ in range(4000)])
        assert abs(share - math.exp(-x)) <= 6 * math.sqrt(0.25 / 4000)


@given(st.floats(-1e6, 1e6), st.integers(1, 50), st.integers(1, 7))
def test_one_place_is_snapped_as_many_are(place, p, q):
    step = Fraction(p, q)
    for x in (place, float(step) * (round(place / float(step)) + 0.5), math.nextafter(float(step) / 2, 0)):
        assert snap_one(x, step) == snap(np.array([[x, 0.0]]), step)[0, 0]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("remapped", [False, True])
def test_single_reports_are_spread_as_those_of_arrays(remapped):
    noise = CoordinateNoise("2/km", "10 m", PLANE)
    if remapped:
        rng = np.random.default_rng(0)
        noise = noise.for_places(rng.normal(0, 800, (60, 2)), np.ones(60))
    one, many = sf.simulator(noise, seed=1), sf.simulator(noise, seed=2)
    single = np.array([one.blur(48.851, 2.352) for _ in range(1500)])
    arrays = many.blur(np.full(1500, 48.851), np.full(1500, 2.352))
    for axis in (0, 1):
        assert ks_2samp(single[:, axis], arrays[:, axis]).pvalue > 1e-9
    if noise.remap is not None:
        away, _ = cKDTree(noise.remap.arrays()[1]).query(PLANE.forward(*single.T))
        assert away.max() < 0.008  # metres, for seven decimals of a degree


def test_single_points_outside_and_points_that_are_none():
    noise = CoordinateNoise("1/km", "2 m", PLANE, "20 km")
    sampler = sf.sampler(noise)
    for bad in ((math.nan, 2.35), (91.0, 0.0), (48.85, math.inf)):
        for outside in ("error", "nearest"):
            with pytest.raises(InputError):
                sampler.blur(*bad, outside=outside)
    with pytest.raises(InputError, match="served up to 20 km"):
        sampler.blur(50.0, 2.35)
    lat, lon = sf.simulator(noise, seed=1).blur(50.0, 2.35, outside="nearest")
    away = GEOD.inv(2.35, 48.85, lon, lat)[2]
    assert 5000 < away < 60_000


def test_points_around_the_antipode_stay_together():
    """Straight to the reach alone they would be up to two reaches apart."""
    noise = CoordinateNoise("1/km", "2 m", PLANE, "30 km")
    rng = np.random.default_rng(0)
    lat, lon = np.array([-48.85, 2.35 - 180])[:, None] + rng.normal(0, 0.3, (2, 200))
    wide = np.concatenate([lat, rng.uniform(-90, 90, 200)]), np.concatenate([lon, rng.uniform(-180, 180, 200)])
    moved = pulled_in(PLANE.forward(*wide), noise.reach_m)
    i, j = np.triu_indices(len(moved), 1)
    ground = GEOD.inv(wide[1][i], wide[0][i], wide[1][j], wide[0][j])[2]
    plane = np.hypot(*(moved[i] - moved[j]).T)
    assert (plane <= ground * PLANE.stretch(noise.reach_m * (1 + 1e-12)) + 1e-6).all()
