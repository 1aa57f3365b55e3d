"""Coordinate privacy: for any two points, also a hand apart across a border, from the integers of the vertices."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import intervals
from sfumato.core import CoordinatePrivacy
from sfumato.errors import InputError, UnitError
from sfumato.geo import Lattice, Projection
from sfumato.proofs import (
    VertexPrivacy,
    prove_coordinate_privacy,
    prove_guarantees,
    prove_metric_privacy,
    slope,
    steepest,
)
from sfumato.proofs.slope import FLATTEST
from tests.geo.test_lattice import lattices
from tests.proofs.exact_slope import promised_slope, slope_is_at_most

CRS = Projection(48.85, 2.35).crs


def hexagon(radius, spacing_km):
    reach = range(-radius, radius + 1)
    vertices = [(a, b) for a in reach for b in reach if abs(a + b) <= radius]
    return Lattice(vertices, 1000 * spacing_km, (0, 0), CRS, "triangular")


def designed(lattice, epsilon, seed=None, **options):
    """The optimum for the vertices' own distances, under a random prior."""
    counts = (
        np.ones(len(lattice)) if seed is None else np.random.default_rng(seed).exponential(size=len(lattice)) ** 2
    )
    design = sf.design(
        sf.Prior.from_counts(lattice, counts),
        loss=lattice.metric("euclidean", unit="km"),
        guarantees=CoordinatePrivacy(epsilon),
        method="table",
        tie_break=False,
        **options,
    )
    assert slope_is_at_most(design.mechanism, promised_slope(lattice, epsilon))  # in exact arithmetic
    return design


def likelihoods(mechanism, lat, lon):
    rounding = mechanism.secrets.rounding(lat, lon)
    assert rounding.inside.all()
    return (rounding.shares[:, :, None] * mechanism.matrix[rounding.positions]).sum(axis=1)


def served(lattice, n, seed):
    """Random points that a lattice serves, half of them in pairs a few metres apart."""
    rng = np.random.default_rng(seed)
    low, high = lattice.coordinates.min(axis=0), lattice.coordinates.max(axis=0)
    xy = rng.uniform(low, high, (n, 2))
    close = xy + rng.normal(0, 2, xy.shape)
    border = lattice.coordinates[rng.integers(len(lattice), size=n)] + lattice.spacing_m / 2 * rng.integers(
        -1, 2, (n, 2)
    )
    across = border + rng.normal(0, 1, border.shape)
    found = np.concatenate([xy, close, border, across])
    lat, lon = lattice.projection.inverse(found).T
    inside = lattice.inside(lat, lon)
    return lat[inside], lon[inside]


def ground_km(lat, lon, i, j):
    import pyproj

    return pyproj.Geod(ellps="WGS84").inv(lon[i], lat[i], lon[j], lat[j])[2] / 1000


@pytest.mark.parametrize(
    ("radius", "spacing", "epsilon", "wanted"),
    [(2, 1, 0.7, 1.363176907), (3, 1, 0.7, 1.793931461), (3, 0.5, 1.0, 0.948175601)],
)
def test_golden_losses_of_hexagons(radius, spacing, epsilon, wanted):
    design = designed(hexagon(radius, spacing), epsilon)
    assert design.certificate.bound <= wanted * (1 + 1e-9)
    assert design.certificate.loss == pytest.approx(wanted, rel=1e-6)
    assert design.certificate.loss >= wanted * (1 - 1e-9)
    found = steepest(design.mechanism)
    assert found.epsilon.upper <= epsilon
    assert found.epsilon.lower == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [("triangular", 0.4), ("triangular", 3.0), pytest.param("square", 1.0, marks=pytest.mark.slow)],
)
def test_any_two_points_keep_the_promise(kind, epsilon):
    """A hundred thousand pairs on the ground, the closest ones across borders among them."""
    lattice = Lattice.covering("3 km x 2.5 km around 48.85,2.35", "500 m", kind=kind)
    design = designed(lattice, epsilon, seed=1)
    (proof,) = design.certificate.metric_privacy
    assert proof.holds
    assert proof.upper <= epsilon
    lat, lon = served(lattice, 120, 4)
    logs = np.log(likelihoods(design.mechanism, lat, lon))
    i, j = np.triu_indices(len(lat), 1)
    apart = ground_km(lat, lon, i, j)
    for start in range(0, len(i), 100_000):
        part = slice(start, start + 100_000)
        ratios = np.abs(logs[i[part]] - logs[j[part]]).max(axis=1)
        limit = epsilon * (apart[part] + 2 * lattice.slack_m / 1000)
        assert (ratios <= limit + 1e-12).all()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(lattices(), st.floats(0.1, 4), st.integers(0, 2**32 - 1))
def test_outlines_of_any_shape_and_any_mechanism(lattice, epsilon, seed):
    """Rows made strict by shortest paths, on lattices with bays and islands."""
    if len(lattice) > 60:
        kept = np.unique(lattice.pieces[:3])
        lattice = Lattice(lattice.vertices[kept], lattice.spacing_m, lattice.origin, lattice.crs, lattice.kind)
    asked = VertexPrivacy(CoordinatePrivacy(epsilon), lattice)
    rng = np.random.default_rng(seed)
    bumps = rng.uniform(0, 3, (len(lattice), 4))
    exponents = 0.5 * asked.epsilon * asked.metric.array  # rows are normalised below, which costs as much again
    columns = np.exp(-np.max(bumps[None] - exponents[:, :, None], axis=1))
    mechanism = sf.Mechanism(columns / columns.sum(axis=1, keepdims=True), lattice)
    proof = prove_coordinate_privacy(mechanism, asked)
    assert proof.holds
    assert proof.upper <= epsilon
    assert steepest(mechanism).epsilon.lower <= proof.upper * (1 + 1e-9)
    lat, lon = served(lattice, 60, seed)
    if len(lat) > 1:
        logs = np.log(likelihoods(mechanism, lat, lon))
        i, j = np.triu_indices(len(lat), 1)
        ratios = np.abs(logs[i] - logs[j]).max(axis=1)
        assert (ratios <= proof.upper * (ground_km(lat, lon, i, j) + 2 * lattice.slack_m / 1000) + 1e-9).all()


@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_the_slope_is_the_largest_of_many_points(kind):
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "600 m", kind=kind)
    rng = np.random.default_rng(5)
    mechanism = sf.Mechanism(rng.dirichlet(np.full(len(lattice), 3), len(lattice)), lattice)
    found = steepest(mechanism)
    assert found.epsilon.lower <= found.epsilon.value <= found.epsilon.upper
    assert found.epsilon.upper <= found.epsilon.lower * (1 + 1e-7)
    lat, lon = served(lattice, 1500, 6)
    xy = lattice.projection.forward(lat, lon)
    largest = 0.0
    for step in (np.array([1.0, 0]), np.array([0, 1.0]), np.array([0.6, 0.8]), np.array([-0.8, 0.6])):
        beside = lattice.projection.inverse(xy + 0.05 * step).T
        inside = lattice.inside(*beside)
        change = np.log(likelihoods(mechanism, *beside[:, inside])) - np.log(
            likelihoods(mechanism, lat[inside], lon[inside])
        )
        largest = max(largest, float(np.abs(change).max()) / 5e-5)
    assert largest <= found.epsilon.upper * (1 + 1e-3)
    assert largest >= 0.5 * found.epsilon.lower
    at = lattice.projection.forward(*([coordinate] for coordinate in found.point))
    near = at + np.array(
        [[0.0, 0.0]] + [[0.5 * math.cos(a), 0.5 * math.sin(a)] for a in np.linspace(0, 2 * np.pi, 361)]
    )
    inside = lattice.inside(*lattice.projection.inverse(near).T)
    logs = np.log(likelihoods(mechanism, *lattice.projection.inverse(near[inside]).T))[:, found.observable]
    assert np.abs(logs - logs[0]).max() / 5e-4 == pytest.approx(found.epsilon.value, rel=2e-2)


def test_the_witness_in_exact_fractions():
    """On a triangle the slope at the lowest corner, from the integers."""
    design = designed(hexagon(2, 1), 0.7, seed=3)
    lattice, weights = design.mechanism.secrets, design.mechanism.weights
    steep = Fraction(0)
    for corners in lattice.pieces:
        for column in weights[corners].T.tolist():
            low = min(map(int, column))
            p, q = Fraction(int(column[1] - column[0]), low), Fraction(int(column[2] - column[0]), low)
            steep = max(steep, (p * p - p * q + q * q) * Fraction(4, 3))
    found = steepest(design.mechanism).epsilon
    root = Fraction(math.isqrt(int(steep * 10**40)), 10**20)
    assert Fraction(found.lower) <= root + Fraction(1, 10**18)
    assert root <= Fraction(found.upper)
    assert steep <= Fraction(7, 10) ** 2


def test_zero_against_positive_is_infinite():
    lattice = hexagon(1, 1)
    matrix = np.full((7, 7), 1 / 7)
    matrix[0] = [0, 2 / 7, *[1 / 7] * 5]
    mechanism = sf.Mechanism(matrix, lattice)
    assert steepest(mechanism).epsilon.upper == math.inf
    (proof,), _ = prove_guarantees(mechanism, sf.Prior.uniform(lattice), CoordinatePrivacy(1))
    assert not proof.holds
    assert proof.upper == math.inf
    square = Lattice(list(itertools.product(range(3), repeat=2)), 1000, (0, 0), CRS)
    corner = np.full((9, 2), 0.5)
    corner[[0, 1, 3, 4]] = (0, 1)
    assert steepest(sf.Mechanism(corner, square, sf.Space("ab"))).epsilon.upper == math.inf


def test_a_constant_mechanism_has_no_slope():
    for lattice in (hexagon(1, 1), Lattice(list(itertools.product(range(3), repeat=2)), 1000, (0, 0), CRS)):
        mechanism = sf.Mechanism(np.full((len(lattice), 2), 0.5), lattice, sf.Space("ab"))
        assert steepest(mechanism).epsilon.upper == 0
        assert prove_guarantees(mechanism, sf.Prior.uniform(lattice), CoordinatePrivacy(0.1))[0][0].holds


def test_a_claim_too_strong_is_not_proved():
    design = designed(hexagon(2, 1), 0.7)
    (proof,), _ = prove_guarantees(design.mechanism, design.problem.prior, CoordinatePrivacy(0.699))
    assert not proof.holds
    assert 0.699 < proof.upper <= 0.7


def test_files_keep_the_promise(tmp_path):
    design = designed(Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km"), 1.5)
    sf.save(design.mechanism, tmp_path / "points.sfm")
    held = sf.files.read_mechanism_file(tmp_path / "points.sfm")
    assert [str(each) for each in held.guarantees] == ["epsilon 1.5/km between any two points"]
    assert held.mechanism.secrets == design.mechanism.secrets
    prior = sf.Prior.uniform(held.report_channel.secrets)
    (proof,), _ = prove_guarantees(held.report_channel, prior, held.guarantees)
    assert proof == design.certificate.metric_privacy[0]


def test_bad_input_is_told():
    grid = sf.Grid.covering("2 km x 2 km around 48.85,2.35", cell="1 km")
    with pytest.raises(InputError, match="not the vertices of a lattice"):
        sf.design(sf.Prior.uniform(grid), loss=grid.metric(), guarantees=CoordinatePrivacy(1))
    with pytest.raises(UnitError):
        CoordinatePrivacy("1/year")
    with pytest.raises(InputError, match="positive"):
        CoordinatePrivacy(0)
    with pytest.raises(InputError, match="needs the vertices of a lattice"):
        steepest(sf.Mechanism(np.eye(2)))
    with pytest.raises(InputError, match="is for points"):
        sf.Mechanism(np.eye(2)).promising(CoordinatePrivacy(1))
    other = hexagon(2, 1)
    with pytest.raises(InputError, match="but the secrets are others"):
        prove_coordinate_privacy(designed(hexagon(1, 1), 1).mechanism, VertexPrivacy(CoordinatePrivacy(1), other))


def test_rows_of_another_lattice_of_equal_size_are_refused():
    here, there = (Lattice.covering(f"2 km x 2 km around {lat},2.35", "1 km") for lat in (48.85, 40.85))
    assert len(here) == len(there)
    rows = VertexPrivacy(CoordinatePrivacy(1), there)
    constant = sf.Mechanism(np.full((len(here), 2), 0.5), here, sf.Space("ab"))
    belief, loss = sf.Prior.uniform(here), here.metric()
    for ask in (
        lambda: constant.promising(rows),
        lambda: sf.MechanismFile(constant, guarantees=rows),
        lambda: prove_guarantees(constant, belief, rows),
        lambda: prove_metric_privacy(constant, rows),
        lambda: sf.design(belief, loss=loss, guarantees=rows),
        lambda: sf.mechanisms.exponential(here, loss, 1.0).promising(rows),
    ):
        with pytest.raises(InputError, match=r"of a lattice \(.*\), but the secrets are others"):
            ask()
    plain = sf.Mechanism(constant.matrix, sf.Space(range(len(here))), sf.Space("ab"))
    with pytest.raises(InputError, match="but the secrets are others"):
        plain.promising(rows)
    held = constant.promising(VertexPrivacy(CoordinatePrivacy(1), here)).guarantees
    assert [str(each) for each in held] == ["epsilon 1/km between any two points"]


def test_units_and_words():
    assert CoordinatePrivacy("1/km").epsilon == CoordinatePrivacy("0.001/m").epsilon == 1
    assert repr(CoordinatePrivacy("0.5/km")) == "CoordinatePrivacy(epsilon 0.5/km between any two points)"
    lattice = hexagon(1, 1)
    assert (
        VertexPrivacy(CoordinatePrivacy("1/km"), lattice).epsilon
        == VertexPrivacy(CoordinatePrivacy(0.001, "m"), lattice).epsilon
    )


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_extreme_epsilons_end_in_rows_or_in_words(kind):
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km", kind=kind)
    with pytest.raises(InputError, match="too strict for a spacing of 1000 m"):
        VertexPrivacy(CoordinatePrivacy(1e-300), lattice)
    for epsilon in (1e-6, 1e6):
        rows = VertexPrivacy(CoordinatePrivacy(epsilon), lattice)
        assert 0 < rows.epsilon < 20
        constant = sf.Mechanism(np.full((len(lattice), 2), 0.5), lattice, sf.Space("ab"))
        assert prove_coordinate_privacy(constant, rows).holds


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_rows_are_looked_for_where_they_are_needed_and_refused_at_once(kind, monkeypatch):
    """Promises that may be too strict for rows are tried when they are made; all others have rows."""
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km", kind=kind)
    for steep in np.geomspace(FLATTEST, 60, 6).tolist():
        assert VertexPrivacy(CoordinatePrivacy(1.001 * steep), lattice).epsilon > 0
    monkeypatch.setattr(slope, "octile_exponent", lambda _: 0.0)
    monkeypatch.setattr(intervals, "lower_end", lambda _: 0.0)
    rows = VertexPrivacy(CoordinatePrivacy(1.001 * FLATTEST), lattice)
    for wanted in (lambda: rows.epsilon, lambda: VertexPrivacy(CoordinatePrivacy(0.99 * FLATTEST), lattice)):
        with pytest.raises(InputError, match="too strict for a spacing of 1000 m"):
            wanted()


def test_a_slope_of_one_unit_is_between_its_bounds():
    """Integers that floats cannot tell apart: the bracket holds the slope all the same."""
    lattice = hexagon(1, 1)
    weights = np.full((7, 2), 2**61, dtype=np.int64)
    weights[0] += (255, -255)
    found = steepest(sf.Mechanism.from_weights(weights, 62, lattice, sf.Space("ab"))).epsilon
    assert found.lower <= 2 / math.sqrt(3) * 255 / 2**61 <= found.upper
