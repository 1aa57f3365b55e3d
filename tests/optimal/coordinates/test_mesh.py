"""The mesh: it covers the hull without a gap, whatever is quartered, and its numbers are exact."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from sfumato.optimal.coordinates.costs import DEEPEST, Mesh, points_inside


def weights_of(triangle, y):
    """Return barycentric weights in exact fractions."""
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(value)) for value in corner] for corner in triangle)
    px, py = (Fraction(float(value)) for value in y)
    whole = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    b = ((px - ax) * (cy - ay) - (cx - ax) * (py - ay)) / whole
    c = ((bx - ax) * (py - ay) - (px - ax) * (by - ay)) / whole
    return 1 - b - c, b, c


def covered(mesh, y):
    near = np.flatnonzero(
        (mesh.corners[mesh.triangles].min(axis=1) <= y).all(axis=1)
        & (mesh.corners[mesh.triangles].max(axis=1) >= y).all(axis=1)
    )
    return any(min(weights_of(mesh.corners[mesh.triangles[t]], y)) >= 0 for t in near)


@st.composite
def places(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.sampled_from(["cloud", "line", "one", "lattice", "far"]))
    n = draw(st.integers(1, 12))
    cloud = rng.normal(size=(n, 2)) * [900, 300]
    return {
        "cloud": cloud,
        "line": np.outer(rng.random(n), [300.0, 700.0]) + 5,
        "one": cloud[:1],
        "lattice": rng.integers(0, 4, (n, 2)) * 100.0,
        "far": cloud + np.array([448_000, 5_411_000]),
    }[shape], rng


@given(places(), st.integers(4, 200))
@settings(max_examples=20)
def test_every_point_of_the_hull_is_in_a_triangle_after_any_quartering(drawn, corners):
    points, rng = drawn
    mesh = Mesh.covering(points, corners)
    for _ in range(3):
        inside = rng.dirichlet(np.ones(len(points)), size=10) @ points
        for y in [*points, *inside]:
            assert covered(mesh, y)
        mesh = mesh.quarter(rng.random(len(mesh.triangles)) < 0.4)
    sides = np.ptp(mesh.corners[mesh.triangles], axis=1)
    ratio = sides[:, 1] / sides[:, 0]
    assert (ratio == 7 / 8).all()
    assert len(np.unique(mesh.triangles)) == len(mesh)


def test_middles_stay_exact_to_the_last_depth():
    mesh = Mesh.covering(np.array([[448_000.1, 5_411_000.3], [448_900.7, 5_411_333.3]]), 20)
    first = mesh.corners[mesh.triangles[0]]
    for _ in range(DEEPEST + 2):
        mesh = mesh.quarter(np.arange(len(mesh.triangles)) == np.argmax(mesh.depths))
    small = mesh.corners[mesh.triangles[mesh.depths == DEEPEST]]
    assert mesh.depths.max() == DEEPEST
    assert (np.ptp(small, axis=1) * 2**DEEPEST == np.ptp(first, axis=0)).all()


def test_about_as_many_corners_as_asked_for():
    points = np.random.default_rng(1).random((300, 2)) * 3000
    for corners in (50, 200, 1000):
        assert len(Mesh.covering(points, corners)) == pytest.approx(corners, rel=0.5)


def test_triangles_beyond_the_hull_are_left_out():
    points = np.array([[0.0, 0], [1000, 0], [0, 1000]])
    mesh = Mesh.covering(points, 400)
    middles = mesh.corners[mesh.triangles].mean(axis=1)
    side = np.ptp(mesh.corners[mesh.triangles[0]][:, 0])
    assert (middles.sum(axis=1) < 1000 + 1.5 * side).all()


def test_points_inside_are_in_the_hull():
    places = np.random.default_rng(2).random((9, 2)) * [5, 1]
    found = points_inside(places, 40)
    assert 40 <= len(found) <= 160
    assert (Delaunay(places).find_simplex(found) >= 0).all()
    assert len(points_inside(places[:2], 10)) == 0
    assert len(points_inside(places, 0)) == 0
