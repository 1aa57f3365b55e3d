"""Single points: the same vertices as by arrays, from the same words, wherever the point lies."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.geo import Lattice, Projection
from sfumato.geo.projection import CLOSE_M
from sfumato.geo.vertices import SNAP_BITS
from tests.geo.test_lattice import KINDS, REGION, lattices


def points_everywhere(lattice, n, seed):
    """Random points, vertices, and points at and next to borders of squares, triangles and fine steps."""
    rng = np.random.default_rng(seed)
    low, high = lattice.coordinates.min(axis=0), lattice.coordinates.max(axis=0)
    fine = lattice.spacing_m / 2**SNAP_BITS
    vertices = lattice.coordinates[rng.integers(len(lattice), size=n)]
    halves = vertices + lattice.spacing_m / 2 * rng.integers(-1, 2, (n, 2))
    between = halves + fine * (rng.integers(-50, 50, (n, 2)) + 0.5)
    xy = np.concatenate([rng.uniform(low, high, (3 * n, 2)), vertices, halves, between])
    return lattice.projection.inverse(xy).T


class Fixed:
    """Words that are given, again and again from the first one."""

    def __init__(self, words):
        self.words, self.asked = words, 0

    def __call__(self, count):
        self.asked += count
        return self.words[:count]


@settings(max_examples=15, deadline=None)
@given(lattices(), st.integers(0, 2**32 - 1))
def test_the_same_words_give_the_same_vertex(lattice, seed):
    single = lattice.singly()
    rng = np.random.default_rng(seed)
    for lat, lon in zip(*points_everywhere(lattice, 6, seed), strict=True):
        words = Fixed(rng.integers(0, 2**64, 2, dtype=np.uint64))
        found = single.draw_secret(float(lat), float(lon), words)
        if found is None:
            assert words.asked == 0
        else:
            assert found == lattice.draw_secrets([lat], [lon], Fixed(words.words))[0]


@pytest.mark.parametrize("kind", KINDS)
def test_nearly_all_points_inside_are_settled_and_extreme_words_fit(kind):
    lattice = Lattice.covering(REGION, "500 m", kind=kind)
    single = lattice.singly()
    rng = np.random.default_rng(0)
    lat, lon = lattice.projection.inverse(rng.uniform(-2500, 2500, (5000, 2))).T
    words = rng.integers(0, 2**64, (5000, 2), dtype=np.uint64)
    words[::7], words[1::7] = 0, 2**64 - 1
    points = zip(lat.tolist(), lon.tolist(), words, strict=True)
    found = [single.draw_secret(north, east, Fixed(word)) for north, east, word in points]
    assert found.count(None) <= 25  # two in a thousand at most
    wanted = lattice.draw_secrets(lat, lon, lambda _: words.ravel() if kind == "square" else words[:, 0])
    assert all(a == b for a, b in zip(found, wanted.tolist(), strict=True) if a is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_points_outside_and_points_that_are_none_are_left_to_arrays(kind):
    single = Lattice.covering(REGION, "500 m", kind=kind).singly()
    bad = [0.0, 91.0, -91.0, math.nan, math.inf, -math.inf, 1e300]
    for lat, lon in itertools.product(bad, bad):
        assert single.draw_secret(lat, lon, Fixed(np.zeros(2, dtype=np.uint64))) is None


@settings(max_examples=20)
@given(st.floats(-90, 90), st.floats(-180, 180), st.integers(0, 2**32 - 1), st.floats(1, 11_900_000))
def test_single_projections_are_those_of_arrays(lat, lon, seed, reach):
    """Far closer than what single points allow for, up to the other side of the Earth."""
    projection = Projection(lat, lon)
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 20)
    xy = reach * np.column_stack([np.cos(angle), np.sin(angle)])
    degrees = projection.inverse(xy)
    again = projection.forward(*degrees.T)
    np.testing.assert_allclose(again, xy, atol=CLOSE_M)
    for point, plane in zip(degrees.tolist(), xy.tolist(), strict=True):
        assert math.dist(projection.forward_one(*point), plane) < CLOSE_M
        back = projection.forward_one(*projection.inverse_one(*plane))
        assert math.dist(back, plane) < CLOSE_M


def test_single_points_that_are_none_have_no_place_on_the_plane():
    projection = Projection(48.85, 2.35)
    for lat, lon in ((91, 0), (math.nan, 0), (0, math.inf), (0, math.nan)):
        assert all(map(math.isnan, projection.forward_one(lat, lon)))
    assert projection.forward_one(48.85, 2.35) == (0, 0)
