"""Few pairs whose rows imply all others."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.metric import paths_along
from sfumato.optimal.column_generation.program import Edges, edges_of, graph_of
from sfumato.optimal.interior.blocks import cuthill_mckee


def exponents_of(lattice, epsilon=0.3):
    return epsilon * lattice.steps().array


def known(exponents):
    pairs = edges_of(exponents)
    assert pairs is not None
    return pairs


def paths(pairs, exponents):
    once = pairs[pairs[:, 0] < pairs[:, 1]]
    return paths_along(once, exponents[once[:, 0], once[:, 1]], len(exponents))


@pytest.mark.parametrize(("kind", "neighbours"), [("triangular", 6), ("square", 8)])
def test_a_lattice_has_the_edges_to_its_neighbours(kind, neighbours):
    lattice = sf.geo.Lattice.covering("4 km x 3 km around 48.85,2.35", "500 m", kind=kind)
    exponents = exponents_of(lattice)
    pairs = known(exponents)
    assert np.bincount(pairs[:, 0]).max() == neighbours
    assert exponents[pairs[:, 0], pairs[:, 1]].max() < 0.3 * 1.5
    assert paths(pairs, exponents) == pytest.approx(exponents)


@pytest.mark.parametrize("seed", range(4))
def test_holes_and_bays_get_the_edges_across_them(seed):
    whole = sf.geo.Lattice.covering("4 km x 4 km around 48.85,2.35", "500 m", kind="triangular")
    rng = np.random.default_rng(seed)
    kept = rng.random(len(whole)) < 0.8
    exponents = exponents_of(whole)[np.ix_(kept, kept)]
    pairs = known(exponents)
    assert paths(pairs, exponents) == pytest.approx(exponents)


def test_where_every_pair_counts_there_are_none():
    rng = np.random.default_rng(1)
    points = rng.random((60, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    assert edges_of(apart) is None
    assert edges_of(np.zeros((1, 1))) is None
    assert edges_of(np.array([[0.0, 70.0], [70.0, 0.0]])) is None  # beyond what the method's rows hold
    one_way = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert edges_of(one_way) is None


def test_rows_and_parts_of_them():
    lattice = sf.geo.Lattice.covering("3 km x 2 km around 48.85,2.35", "500 m", kind="triangular")
    exponents = exponents_of(lattice)
    n = len(exponents)
    edges = Edges.of(known(exponents), exponents)
    rng = np.random.default_rng(2)
    x, weights = rng.random(n), rng.random(len(edges.upper))
    s, t = edges.upper, edges.lower
    e = exponents[s, t]
    assert edges.slack(x) == pytest.approx(np.exp(e / 2) * x[t] - np.exp(-e / 2) * x[s])
    assert weights @ edges.slack(x) == pytest.approx(edges.adjoint(weights) @ x)
    chosen = rng.random(n) < 0.6
    part, rows = edges.among(chosen)
    assert (chosen[s[rows]] & chosen[t[rows]]).all()
    assert part.slack(x[chosen]) == pytest.approx(edges.slack(x)[rows])


def test_neighbours_are_near_each_other_in_the_order():
    lattice = sf.geo.Lattice.covering("8 km x 8 km around 48.85,2.35", "500 m", kind="triangular")
    pairs = known(exponents_of(lattice))
    order = cuthill_mckee(pairs[:, 0], pairs[:, 1], len(lattice))
    assert np.array_equal(np.sort(order), np.arange(len(lattice)))
    place = np.argsort(order)
    assert np.abs(place[pairs[:, 0]] - place[pairs[:, 1]]).max() < 3 * np.sqrt(len(lattice))


@pytest.mark.parametrize("apart", [1e-4, 0.05, 0.3, 0.5])
def test_edges_that_nearly_imply_all_rows_lead_everywhere(apart):
    """Two that are next to each other may leave a pair to one another: then there are no edges."""
    one = np.array([(x, y) for x in range(4) for y in range(4)], dtype=float)
    points = np.concatenate([one, one + np.array([apart, 0.0])])
    exponents = np.linalg.norm(points[:, None] - points, axis=2)
    found = graph_of(exponents)
    assert (found is None) == (apart < 0.1)
    if found is not None:
        assert (paths(found[0], exponents) <= 1.5 * exponents + 1e-12).all()


def test_edges_of_cells_nearly_imply_all_rows():
    exponents = sf.Grid.covering("3 km x 3 km around 48.85,2.35", "500 m").metric().to("km").array
    found = graph_of(exponents)
    assert found is not None
    pairs, whole = found
    assert not whole
    assert len(pairs) <= 8 * len(exponents)
