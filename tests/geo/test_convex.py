"""Points outside: moved to the nearest point of a convex region, so that no distance gets longer."""

import itertools
import math

import numpy as np
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Lattice, Projection
from sfumato.geo.vertices import ConvexPart
from tests.geo.test_lattice import KINDS, REGION, lattices

GEOD = pyproj.Geod(ellps="WGS84")


def earth(n, seed, centre=(48.85, 2.35)):
    """Points all over the Earth, near a centre, at its antipode, and pairs of close ones."""
    rng = np.random.default_rng(seed)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)
    near = np.array(centre)[:, None] + rng.normal(0, 1, (2, n)) * 10.0 ** rng.uniform(-3, 0.5, n)
    beyond = np.array([-centre[0], (centre[1] + 360) % 360 - 180])[:, None] + rng.normal(0, 0.5, (2, n))
    found = np.concatenate([np.array([lat, lon]), near, beyond], axis=1)
    found = np.concatenate([found, found + rng.normal(0, 1e-4, found.shape)], axis=1)
    return np.clip(found[0], -90, 90), (found[1] + 180) % 360 - 180


@pytest.mark.thinned(5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("centre", ["48.85,2.35", "0.0,0.0", "-85,170"])
def test_no_two_points_on_earth_get_farther_apart_than_the_plane_allows(kind, centre):
    """On the ground, against PROJ's geodesics: near, far, and on the other side of the Earth."""
    lattice = Lattice.covering(f"80 km x 60 km around {centre}", "5 km", kind=kind)
    lat, lon = earth(120, 1, tuple(map(float, centre.split(","))))
    moved = lattice.projection.forward(*lattice.nearest(lat, lon))
    i, j = np.triu_indices(len(lat), 1)
    ground = GEOD.inv(lon[i], lat[i], lon[j], lat[j])[2]
    plane = np.hypot(*(moved[i] - moved[j]).T)
    assert (plane <= ground * lattice.stretch + 1e-6).all()
    assert lattice.inside(*lattice.nearest(lat, lon)).all()


@pytest.mark.slow
def test_the_widest_regions_keep_distances_too():
    lattice = Lattice.covering("1700 km x 1700 km around 48.85,2.35", "100 km")
    lat, lon = earth(150, 3)
    moved = lattice.projection.forward(*lattice.nearest(lat, lon))
    i, j = np.triu_indices(len(lat), 1)
    ground = GEOD.inv(lon[i], lat[i], lon[j], lat[j])[2]
    assert (np.hypot(*(moved[i] - moved[j]).T) <= ground * lattice.stretch + 1e-6).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 9), st.integers(0, 2**32 - 1))
def test_it_is_the_nearest_point(k, seed):
    """By another search: least distance over convex combinations of the corners."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, k))
    if np.diff(np.append(angles, angles[0] + 2 * np.pi)).max() > 3:
        angles = np.arange(k) * 2 * np.pi / k
    corners = 1000 * np.column_stack([np.cos(angles), np.sin(angles)])
    part = ConvexPart(corners)
    xy = rng.normal(0, 1500, (3, 2))
    found = part.nearest(xy, 1e7)
    assert part.nearest(found, 1e7) == pytest.approx(found, abs=1e-6)
    for point, place in zip(xy, found, strict=True):
        start = np.full(k, 1 / k)
        best = minimize(
            lambda w, point=point: ((w @ corners - point) ** 2).sum() / 1e6,
            start,
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert math.dist(point, place) <= math.dist(point, best.x @ corners) + 1e-2
        bounds = np.column_stack(part.halves)
        assert (bounds[:, :2] @ place <= bounds[:, 2] + 1e-6).all()


@settings(max_examples=20)
@given(lattices())
def test_the_part_is_served_and_convex_regions_are_kept_whole(lattice):
    part = lattice.convex_part
    if part is None:
        with pytest.raises(InputError, match="not convex"):
            lattice.nearest([0.0], [0.0])
        return
    mix = np.random.default_rng(0).dirichlet(np.full(len(part.corners), 0.3), 300)
    corners = np.concatenate([part.corners, mix @ part.corners])
    assert lattice.inside(*lattice.projection.inverse(corners).T).all()
    x, y = part.corners.T
    area = (x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    assert area > 0
    whole = len(lattice.pieces) * lattice.spacing_m**2 * (1 if lattice.kind == "square" else math.sqrt(3) / 4)
    assert area <= whole
    if lattice.kind == "square":
        assert area == pytest.approx(whole, rel=1e-4)


def test_hexagons_and_rectangles_have_parts_and_bays_do_not():
    crs = Projection(48.85, 2.35).crs
    reach = range(-2, 3)
    vertices = [(a, b) for a in reach for b in reach if abs(a + b) <= 2]
    hexagon = Lattice(vertices, 1000, (0, 0), crs, "triangular").convex_part
    assert hexagon is not None
    assert np.hypot(*hexagon.corners.T) == pytest.approx(2000, abs=0.1)
    assert (
        Lattice([each for each in vertices if each != (0, 0)], 1000, (0, 0), crs, "triangular").convex_part is None
    )
    block = list(itertools.product(range(6), repeat=2))
    assert Lattice(block, 1000, (0, 0), crs).convex_part is not None
    assert Lattice(block[:-1], 1000, (0, 0), crs).convex_part is None
    assert Lattice([*block, (3, 6)], 1000, (0, 0), crs).convex_part is not None  # a vertex that serves nothing
    assert (
        Lattice([(0, 0), (1, 0), (0, 1), (5, 0), (6, 0), (5, 1)], 10, (0, 0), crs, "triangular").convex_part
        is None
    )
    for spacing in (1e-3, 1e-9):
        part = Lattice(block, spacing, (0, 0), crs).convex_part
        assert (part is None) == (spacing < 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_points_inside_stay_and_points_outside_go_to_the_border(kind):
    lattice = Lattice.covering(REGION, "1 km", kind=kind)
    rng = np.random.default_rng(1)
    lat, lon = lattice.projection.inverse(rng.uniform(-2900, 2900, (500, 2))).T
    np.testing.assert_array_equal(lattice.nearest(lat, lon), (lat, lon))
    bad = lattice.nearest([math.nan, 91, 48.85], [2.35, 2.35, math.inf])
    assert not lattice.inside(*bad).any()
    lat, lon = lattice.nearest([48.85, 90.0], [3.35, 0.0])
    assert lat[0] == pytest.approx(48.85, abs=1e-2)
    xy = lattice.projection.forward(lat, lon)
    assert lattice.convex_part is not None
    west, south = lattice.convex_part.corners.min(axis=0)
    east, north = lattice.convex_part.corners.max(axis=0)
    assert xy[0, 0] == pytest.approx(east, abs=1e-3)
    assert xy[1, 1] == pytest.approx(north, abs=1e-3)
    assert west < xy[1, 0] < east
    assert south < xy[0, 1] < north


def test_cells_take_the_nearest_centre():
    for cells in (sf.Grid.covering(REGION, cell="1 km"), sf.Hexagons.covering(REGION, "1 km")):
        lat, lon = earth(400, 2)
        moved = cells.nearest(lat, lon)
        outside = cells.locate(lat, lon) < 0
        np.testing.assert_array_equal(np.array(moved)[:, ~outside], np.array([lat, lon])[:, ~outside])
        found = cells.locate(*moved)
        assert (found >= 0).all()
        centres = cells.latlon
        for k in np.flatnonzero(outside)[:200:10]:
            away = GEOD.inv(
                np.full(len(cells), lon[k]), np.full(len(cells), lat[k]), centres[:, 1], centres[:, 0]
            )[2]
            if away.max() < 1_000_000:  # by great circles, and not by geodesics
                assert away[found[k]] <= away.min() * 1.01
        assert np.isnan(cells.nearest([math.nan], [2.35])[0]).all()
        assert (cells.locate(*cells.nearest([91], [2.35])) < 0).all()
