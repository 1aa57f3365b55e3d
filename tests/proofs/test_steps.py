import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core import Mechanism, Metric, MetricPrivacy
from sfumato.errors import InputError
from sfumato.geo import Lattice
from sfumato.geo.vertices import implying_pairs
from sfumato.proofs import VertexPrivacy, prove_coordinate_privacy, prove_metric_privacy
from sfumato.proofs.coordinates import prove_steps

CRS = sf.Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km").crs or ""


@st.composite
def lattices(draw):
    """A lattice with holes, bays and islands: a block of vertices and others beside it, in any order."""
    kind = draw(st.sampled_from(["square", "triangular"]))
    core = [(a, b) for a in range(3) for b in range(3)]
    cells = [(a, b) for a in range(-4, 8) for b in range(-4, 8) if (a, b) not in core]
    vertices = core + draw(st.lists(st.sampled_from(cells), unique=True, max_size=30))
    return Lattice(draw(st.permutations(vertices)), 500.0, (0.0, 0.0), CRS, kind)


def closed(lattice):
    """Shortest ways over the pairs that are looked at, by Floyd and Warshall."""
    n, d = len(lattice), lattice.steps().array
    s, t = implying_pairs(lattice.kind, lattice.vertices)
    ways = np.full((n, n), np.inf)
    ways[s, t] = d[s, t]
    np.fill_diagonal(ways, 0.0)
    for k in range(n):
        np.minimum(ways, ways[:, k, None] + ways[None, k, :], out=ways)
    return ways


@settings(max_examples=15)
@given(lattices())
def test_few_pairs_imply_all(lattice):
    d = lattice.steps().array
    if lattice.kind == "triangular":
        assert np.array_equal(closed(lattice), d)
    else:
        assert (closed(lattice) <= d * (1 + 2.0**-50)).all()


def test_few_pairs_are_few():
    lattice = sf.Lattice.covering("8 km x 6 km around 48.85,2.35", "500 m", kind="triangular")
    assert len(implying_pairs("triangular", lattice.vertices)[0]) <= 6 * len(lattice)
    lattice = sf.Lattice.covering("8 km x 6 km around 48.85,2.35", "500 m")
    assert len(implying_pairs("square", lattice.vertices)[0]) <= 8 * len(lattice)


@settings(max_examples=12)
@given(lattices(), st.integers(0, 2**32 - 1), st.floats(0.05, 3.0), st.sampled_from([0.9, 0.999, 1.0, 1.1]))
def test_the_proof_is_that_of_all_pairs(lattice, seed, rate, factor):
    rng, d = np.random.default_rng(seed), lattice.steps().array
    sources = rng.choice(len(lattice), 4, replace=False)
    rows = rng.random(4) * np.exp(-rate * d[:, sources])
    mechanism = Mechanism(rows / rows.sum(axis=1, keepdims=True), lattice, sf.Space(range(4)))
    whole = prove_metric_privacy(mechanism, MetricPrivacy(1.0, Metric(d, triangle=True)))
    few = prove_steps(mechanism, lattice, 1.0)
    assert few.upper == pytest.approx(whole.upper, rel=1e-13)
    claim = whole.upper * factor
    assert prove_steps(mechanism, lattice, claim).holds == (factor >= 1)
    s, t = few.worst_pair
    o = few.worst_observable
    ratio = mechanism.weights[s, o] / mechanism.weights[t, o]
    assert math.log(ratio) / d[s, t] == pytest.approx(few.upper, rel=1e-9)


def test_a_pair_across_a_bay_is_looked_at():
    """Neighbours alone hold here: the ends of a horseshoe are far apart along it, and near across the water."""
    ring = [(a, b) for a in range(9) for b in range(9) if not (2 < a < 6 and b > 2)]
    lattice = Lattice(ring, 500.0, (0.0, 0.0), CRS, "square")
    left, right = ring.index((2, 8)), ring.index((6, 8))
    d = lattice.steps().array
    s, t = implying_pairs("square", lattice.vertices)
    along = np.full(d.shape, np.inf)
    beside = d[s, t] < 1.5
    along[s[beside], t[beside]] = d[s, t][beside]
    np.fill_diagonal(along, 0.0)
    for k in range(len(d)):
        np.minimum(along, along[:, k, None] + along[None, k, :], out=along)
    column = 0.25 * np.exp(-0.3 * along[:, left])
    mechanism = Mechanism(np.column_stack([column, 1 - column]), lattice, sf.Space("ab"))
    ratio = mechanism.weights[left, 0] / mechanism.weights[right, 0]
    assert math.log(ratio) > 0.3 * d[left, right] * 1.5
    assert not prove_steps(mechanism, lattice, 0.4).holds
    logs = np.log(mechanism.matrix[s[beside], 0] / mechanism.matrix[t[beside], 0])
    assert (logs <= 0.4 * d[s, t][beside]).all()


def test_steps_are_a_metric_that_is_not_kept():
    lattice = sf.Lattice.covering("4 km x 3 km around 48.85,2.35", "500 m", kind="triangular")
    steps = lattice.steps()
    array = steps.array
    rows, columns = np.indices(array.shape).reshape(2, -1)
    assert np.array_equal(steps.at(rows, columns).reshape(array.shape), array)
    kept = Metric(array)  # which checks the axioms
    assert kept.triangle
    assert kept.finite
    assert steps.finite
    assert len(steps) == len(kept) == len(lattice)
    assert steps.diameter == kept.diameter
    assert np.array_equal(kept.at(rows, columns), array.ravel())


def test_the_proof_is_for_the_lattice_of_the_promise():
    lattice = sf.Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km", kind="triangular")
    other = Mechanism(np.full((len(lattice), 1), 1.0))
    with pytest.raises(InputError, match="vertices of a lattice"):
        prove_coordinate_privacy(other, VertexPrivacy(sf.CoordinatePrivacy(1.0), lattice))
