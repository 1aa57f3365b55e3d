"""The supremum of the slope of log M in exact arithmetic, and random pairs of points in exact fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.geo import Lattice, Projection
from sfumato.proofs import VertexPrivacy, prove_coordinate_privacy, steepest
from tests.geo.test_lattice import KINDS, lattices
from tests.proofs.exact_slope import keeps, likelihoods_at, promised_slope, slope_is_at_most, weights_at
from tests.thinned import thinned

CRS = Projection(48.85, 2.35).crs


def block(columns, rows, spacing=500.0, without=()):
    vertices = [each for each in itertools.product(range(columns), range(rows)) if each not in without]
    return Lattice(vertices, spacing, (0, 0), CRS)


def hexagon(radius, without=()):
    reach = range(-radius, radius + 1)
    vertices = [(a, b) for a in reach for b in reach if abs(a + b) <= radius and (a, b) not in without]
    return Lattice(vertices, 500.0, (0, 0), CRS, "triangular")


HOLE = [(3, 3)]  # no square around its eight neighbours is served, so the region has a hole
DESIGNS = {
    "rectangle of squares": block(6, 5),
    "squares with a bay": block(7, 6, without=[(0, 0), (0, 1), (1, 0), (6, 5)]),
    "squares with a hole": block(8, 8, without=HOLE),
    "two islands of squares": block(9, 3, without=[(4, 0), (4, 1), (4, 2)]),
    "hexagon": hexagon(2),
    "hexagon with a hole": hexagon(3, without=[(0, 0)]),
    "two islands of triangles": Lattice(
        [(0, 0), (1, 0), (0, 1), (4, 0), (5, 0), (4, 1)], 500.0, (0, 0), CRS, "triangular"
    ),
}


def designed(lattice, epsilon, seed):
    counts = np.random.default_rng(seed).exponential(size=len(lattice)) ** 2
    counts[0] = 0
    return sf.design(
        sf.Prior.from_counts(lattice, counts),
        loss=lattice.metric("euclidean", unit="km"),
        guarantees=sf.CoordinatePrivacy(epsilon),
        tie_break=False,
    ).mechanism


def random_mechanism(lattice, epsilon, rng):
    """Columns that keep their rows by shortest paths; half of the exponent is left for making rows sum to one."""
    asked = VertexPrivacy(sf.CoordinatePrivacy(epsilon), lattice)
    bumps = rng.uniform(0, 3, (len(lattice), 4))
    exponents = 0.5 * asked.epsilon * asked.metric.array
    columns = np.exp(-np.max(bumps[None] - exponents[:, :, None], axis=1))
    return sf.Mechanism(columns / columns.sum(axis=1, keepdims=True), lattice)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        *thinned([(name, 1.0) for name in DESIGNS], 3),
        pytest.param("squares with a bay", 0.3, marks=pytest.mark.slow),
        pytest.param("hexagon with a hole", 4.0, marks=pytest.mark.slow),
    ],
)
def test_no_design_is_steeper_than_it_promises(name, epsilon):
    mechanism = designed(DESIGNS[name], epsilon, seed=3)
    assert slope_is_at_most(mechanism, promised_slope(mechanism.secrets, epsilon))
    if "island" not in name:
        assert not slope_is_at_most(mechanism, promised_slope(mechanism.secrets, epsilon / 2))


@settings(max_examples=10, deadline=None)
@given(lattices(), st.integers(0, 2**32 - 1))
def test_the_steepest_slope_lies_between_its_bounds_exactly(lattice, seed):
    kept = np.unique(lattice.pieces[:6])
    lattice = Lattice(lattice.vertices[kept], lattice.spacing_m, lattice.origin, lattice.crs, lattice.kind)
    rows = np.random.default_rng(seed).dirichlet(np.full(5, 2.0), len(lattice))
    mechanism = sf.Mechanism(rows, lattice, sf.Space("abcde"))
    found = steepest(mechanism).epsilon
    per_step = Fraction(1, 1000) * Fraction(lattice.spacing_m)
    assert slope_is_at_most(mechanism, Fraction(found.upper) * per_step)
    assert not slope_is_at_most(mechanism, Fraction(found.lower) * per_step * Fraction(999_999_999, 10**9))


def fine_points(lattice, n, rng):
    """Points that are served, in fine steps: anywhere, and a fine step from the borders of pieces."""
    one = 2**20
    pieces = lattice.pieces
    corners = lattice.vertices[pieces[rng.integers(len(pieces), size=n)]]
    if lattice.kind == "square":
        offsets = rng.integers(-one // 2, one // 2, (n, 2))
        close = rng.random((n, 2)) < 0.3
        offsets[close] = rng.choice([-one // 2, one // 2 - 1, 0, 1], close.sum())
        return [(int(a), int(b)) for a, b in corners[:, 4] * one + offsets]
    shares = rng.dirichlet(np.full(3, rng.choice([0.05, 1.0])), n)
    parts = np.floor(shares[:, 1:] * one).astype(np.int64)
    found = corners[:, 0] * one + (parts[:, :, None] * (corners[:, 1:] - corners[:, :1])).sum(axis=1)
    return [(int(a), int(b)) for a, b in found]


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(lattices(), st.floats(0.05, 8), st.integers(0, 2**32 - 1))
def test_random_pairs_keep_the_promise_in_exact_fractions(lattice, epsilon, seed):
    """Random outlines (bays, holes, islands), mechanisms and epsilons."""
    rng = np.random.default_rng(seed)
    kept = np.unique(lattice.pieces[rng.permutation(len(lattice.pieces))[:8]])
    lattice = Lattice(lattice.vertices[kept], lattice.spacing_m, lattice.origin, lattice.crs, lattice.kind)
    mechanism = random_mechanism(lattice, epsilon, rng)
    assert prove_coordinate_privacy(mechanism, VertexPrivacy(sf.CoordinatePrivacy(epsilon), lattice)).holds
    assert slope_is_at_most(mechanism, promised_slope(lattice, epsilon))
    points = fine_points(lattice, 24, rng)
    points += [
        (a + int(da), b + int(db)) for (a, b), (da, db) in zip(points, rng.integers(-2, 3, (24, 2)), strict=True)
    ]
    points = [point for point in points if is_served(lattice, *point)]
    for one, other in itertools.pairwise(points):
        assert keeps(mechanism, one, other, epsilon)
    for one, other in zip(points, points[24:], strict=False):
        assert keeps(mechanism, one, other, epsilon)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.sampled_from(sorted(DESIGNS)), st.floats(0.2, 4), st.integers(0, 2**32 - 1))
def test_random_pairs_of_designs_keep_the_promise_in_exact_fractions(name, epsilon, seed):
    """Optimal designs under random priors: their rows bind, so pairs come close to the limit."""
    mechanism = designed(DESIGNS[name], epsilon, seed)
    points = fine_points(mechanism.secrets, 40, np.random.default_rng(seed))
    for one, other in itertools.pairwise(points):
        assert keeps(mechanism, one, other, epsilon)


def is_served(lattice, a, b):
    try:
        weights_at(lattice, a, b)
    except KeyError:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_weights_are_those_of_the_lattice(kind):
    lattice = Lattice.covering("3 km x 2 km around 48.85,2.35", "700 m", kind=kind)
    rng = np.random.default_rng(0)
    lat, lon = lattice.projection.inverse(rng.uniform(-900, 900, (200, 2))).T
    rounding, snapped = lattice.rounding(lat, lon), lattice.snap(lat, lon)
    for positions, shares, (a, b) in zip(rounding.positions, rounding.shares, snapped.tolist(), strict=True):
        exact = weights_at(lattice, a, b)
        total = sum(exact.values())
        assert total == (2**82 if kind == "square" else 2**20)
        for position, share in zip(positions.tolist(), shares.tolist(), strict=True):
            assert exact.get(position, 0) / total == pytest.approx(share, abs=1e-15)


def test_the_exact_check_finds_what_is_wrong():
    """Cells break the promise across a border, and a pair that breaks it is found."""
    lattice = block(5, 5)
    weights = np.full((25, 2), 2**61, dtype=np.int64)
    weights[12] += (2**58, -(2**58))
    bump = sf.Mechanism.from_weights(weights, 62, lattice, sf.Space("ab"))
    found = steepest(bump).epsilon
    assert not slope_is_at_most(bump, promised_slope(lattice, found.lower * 0.999))
    middle = (2 * 2**20, 2 * 2**20)
    beside = (2 * 2**20 + 2**19, 2 * 2**20)
    assert keeps(bump, middle, beside, found.upper * 1.001)
    ratio = Fraction(likelihoods_at(bump, *middle)[0], likelihoods_at(bump, *beside)[0])
    assert not keeps(bump, middle, beside, math.log(ratio) / 0.25 * 0.999)
    rows = np.full((25, 2), 0.5)
    rows[[0, 1, 5, 6]] = 0, 1  # the vertices that the corner of the region is rounded to
    zero = sf.Mechanism(rows, lattice, sf.Space("ab"))
    assert not slope_is_at_most(zero, Fraction(1000))
    assert keeps(zero, middle, middle, 1e-9)
