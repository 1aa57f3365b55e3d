"""Spanners: programs and their optima by a general solver, and rows counted by hand."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.core import greedy_spanner
from sfumato_papers.follow_ups.regions import grid_ground
from sfumato_papers.follow_ups.spanners import EXACT, NOMINAL, REALISED, compare_spanners

DILATION = 1.3


@pytest.fixture(scope="module")
def ground():
    return grid_ground(3, 1.0, 5)


@pytest.fixture(scope="module")
def rows(ground):
    made: Any = compare_spanners(ground, (DILATION,))
    return {row.kind: row for row in made["spanners"]}


def least(prior, pairs, exponents):
    """Return the optimum of a program with rows of metric privacy for some ordered pairs, by SciPy."""
    d = prior.space.metric("euclidean", unit="km").array
    n = len(d)
    sums = np.kron(np.eye(n), np.ones(n))
    private = []
    for i, j in pairs:
        for o in range(n):
            row = np.zeros((n, n))
            row[i, o], row[j, o] = 1.0, -np.exp(exponents[i, j])
            private.append(row.ravel())
    costs = (prior.probabilities[:, None] * d).ravel()
    found = linprog(costs, np.array(private), np.zeros(len(private)), sums, np.ones(n))
    return found.fun, len(private)


def test_losses_are_those_of_another_solver(ground, rows):
    prior = ground.prior
    metric = prior.space.metric("euclidean", unit="km")
    every = [(i, j) for i in range(9) for j in range(9) if i != j]
    optimum, count = least(prior, every, metric.array)
    assert rows[EXACT].loss == pytest.approx(optimum, rel=2e-4)
    assert rows[EXACT].least <= optimum * (1 + 1e-7)
    assert rows[EXACT].rows == count == 9 * 9 * 8
    spanner = greedy_spanner(metric, DILATION)
    edges = [(i, j) for a, b in spanner.edges for i, j in ((a, b), (b, a))]
    for kind, dilation in ((REALISED, spanner.dilation), (NOMINAL, DILATION)):
        optimum, count = least(prior, edges, metric.array / dilation)
        assert rows[kind].loss == pytest.approx(optimum, rel=2e-4), kind
        assert rows[kind].rows == count == 2 * 9 * len(spanner)
        assert rows[kind].dilation == spanner.dilation <= DILATION


def test_promises_are_kept_and_the_spanner_costs(rows):
    assert all(row.kept and row.epsilon_proved <= 1.0 for row in rows.values())
    assert rows[EXACT].loss < rows[REALISED].loss < rows[NOMINAL].loss
    assert rows[EXACT].error_best == pytest.approx(rows[EXACT].loss, rel=1e-3)
