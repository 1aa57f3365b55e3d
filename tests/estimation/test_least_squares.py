"""Constrained least squares against all supports, one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Mechanism
from sfumato.estimation import Reports, least_squares

from ..catalogue import unused
from .cases import channel, collected, population, response


def objective(reports, p):
    return float(((p @ reports.mechanism.matrix - reports.counts / len(reports)) ** 2).sum())


def by_brute_force(reports):
    """The best of the optima on every face of the simplex."""
    matrix, f = reports.mechanism.matrix, reports.counts / len(reports)
    n = len(matrix)
    best = np.inf
    for size in range(1, n + 1):
        for support in combinations(range(n), size):
            rows = matrix[list(support)]
            system = np.block([[2 * rows @ rows.T, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            p = np.linalg.lstsq(system, np.append(2 * rows @ f, 1.0), rcond=None)[0][:size]
            if (p >= -1e-12).all():
                full = np.zeros(n)
                full[list(support)] = np.maximum(p, 0)
                best = min(best, objective(reports, full / full.sum()))
    return best


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 6), st.integers(1, 200))
def test_it_is_the_best_of_all_faces(seed, secrets, observables, total):
    reports = collected(channel(seed, secrets, observables), total, seed)
    found = least_squares(reports)
    assert found.converged
    assert found.probabilities.min() >= 0
    np.testing.assert_allclose(found.probabilities.sum(), 1, rtol=1e-12)
    best = by_brute_force(reports)
    np.testing.assert_allclose(objective(reports, found.probabilities), best, atol=1e-12)
    assert best >= objective(reports, found.probabilities) - found.gap - 1e-15


@pytest.mark.parametrize("seed", range(3))
def test_nothing_near_it_is_better(seed):
    reports = collected(response(6, 0.5), 200, seed)
    found = least_squares(reports)
    others = np.random.default_rng(seed).dirichlet(np.ones(6), size=200)
    for weight in (1.0, 0.1, 0.001):
        for other in others:
            p = (1 - weight) * found.probabilities + weight * other
            assert objective(reports, p) >= objective(reports, found.probabilities) - 1e-15


def test_expected_frequencies_give_the_truth():
    truth = population(4)
    reports = Reports(response(), np.rint(1e12 * truth @ response().matrix))
    np.testing.assert_allclose(least_squares(reports).probabilities, truth, atol=1e-9)


def test_twins_share_a_sum():
    matrix = unused(np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]]))
    found = least_squares(Reports(Mechanism(matrix), [500, 500, 0]))
    np.testing.assert_allclose(found.probabilities[1:].sum(), 0.5, atol=1e-9)
