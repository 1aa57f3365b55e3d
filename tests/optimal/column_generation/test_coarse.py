"""Nets of secrets, and the observables near others."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.optimal.column_generation import rounds
from sfumato.optimal.column_generation.program import edges_of, program

from .towns import few_edges

LATTICE = sf.Lattice.covering("6 km x 6 km around 48.85,2.35", "500 m", kind="triangular")


def given(chosen):
    """Return a program on the lattice whose observables are at some of its places."""
    n = len(LATTICE)
    loss = LATTICE.metric().to("km").array[:, chosen]
    exponents = 0.5 * LATTICE.steps().array
    return program(np.full(n, 1 / n), loss / n, exponents, np.asarray(chosen), few_edges(exponents))


@pytest.mark.parametrize("seed", range(3))
def test_a_net_is_a_lattice_where_some_reports_are_missing(seed):
    every = LATTICE.sublattice(2).indices
    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(every, size=int(0.9 * len(every)), replace=False))
    now = given(some)
    found = rounds.coarser(now)
    assert found is not None
    smaller, net, kept = found
    assert set(every) <= set(now.order[net])
    assert set(now.anchors) <= set(net)
    assert len(kept) == len(some)
    assert len(smaller.edges.upper) <= 6 * len(net)


def test_edges_of_a_net_that_is_none_may_be_ways_around():
    rng = np.random.default_rng(1)
    some = np.sort(rng.choice(len(LATTICE), size=len(LATTICE) // 3, replace=False))
    exponents = LATTICE.steps().array[np.ix_(some, some)]
    few, every = edges_of(exponents, 0.25), edges_of(exponents)
    assert few is not None
    assert every is None or len(few) < len(every)
    # What edges imply is no more than 1.25 times as much for each way that is one step longer.
    length = np.full(exponents.shape, np.inf)
    np.fill_diagonal(length, 0)
    length[few[:, 0], few[:, 1]] = exponents[few[:, 0], few[:, 1]]
    for k in range(len(some)):
        np.minimum(length, length[:, k, None] + length[k], out=length)
    assert np.isfinite(length).all()
    assert (length >= exponents * (1 - 1e-12)).all()
    assert np.quantile(length / np.maximum(exponents, 1e-9), 0.95) <= 1.4


def test_neighbours_are_at_most_a_step_of_observables_away():
    every = LATTICE.sublattice(2).indices
    now = given(every)
    inner = int(np.argmin(now.exponents[now.anchors].max(axis=1)))
    assert len(rounds.neighbours(now, np.array([inner]))) == 7


def test_those_that_are_spread_are_more_than_a_step_apart():
    now = given(LATTICE.sublattice(2).indices)
    order = np.random.default_rng(0).permutation(now.shape[1]).tolist()
    found = rounds.spread(now, order)
    assert found[0] == order[0]
    apart = now.exponents[np.ix_(now.anchors[found], now.anchors[found])] + np.diag(np.full(len(found), np.inf))
    least = float(np.sort(apart.ravel())[0])
    step = float(np.sort(now.exponents[now.anchors[0], now.anchors])[1])
    assert least > step * 1.5
    assert set(order) == set(rounds.neighbours(now, np.array(found)))
    assert rounds.spread(now, []) == []
