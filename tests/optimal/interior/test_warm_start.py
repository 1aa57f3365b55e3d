"""Rows of an earlier solve change the way, not the optimum."""

from dataclasses import replace

import numpy as np
import pytest

from .programs import Case, check_kept, grid, skewed

D = grid(4, 4)
CASE = Case(skewed(16, seed=5, unvisited=3), D, D)


def check_same(case, result, other):
    """Assert that two results leave room for the same optimum, and little more."""
    check_kept(case, result)
    assert max(result.gap, other.gap) <= 1e-6
    assert max(result.lower_bound, other.lower_bound) <= min(result.cost, other.cost) + 1e-9


@pytest.mark.slow
def test_a_sweep_of_epsilon_both_ways():
    cold = {e: replace(CASE, ratio=e * D).solve(gap=1e-6) for e in (0.8, 1.2)}
    for path in ([0.8, 1.2], [1.2, 0.8]):
        earlier = None
        for epsilon in path:
            case = replace(CASE, ratio=epsilon * D)
            earlier = case.solve(gap=1e-6, warm=earlier)
            check_same(case, earlier, cold[epsilon])


@pytest.mark.slow
def test_a_sweep_of_distortion():
    most = float((D @ CASE.prior).min())
    earlier = None
    for share in (0.5, 0.9):
        case = replace(CASE, cost=1 - np.eye(16), distance=D, minimum=share * most)
        cold = case.solve(gap=1e-6)
        earlier = case.solve(gap=1e-6, warm=earlier)
        check_same(case, earlier, cold)


def test_another_prior():
    cold = CASE.solve(gap=1e-6)
    other = replace(CASE, prior=skewed(16, seed=6))
    check_same(other, other.solve(gap=1e-6, warm=cold), other.solve(gap=1e-6))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("symmetry", [True, False])
def test_a_start_that_does_not_fit(symmetry):
    # Rows of a program with other blocks or of another size are at worst of no use.
    even = replace(CASE, prior=np.full(16, 1 / 16))
    other = even.solve(gap=1e-6, symmetry=not symmetry)
    smaller = Case(np.full(9, 1 / 9), grid(3, 3), grid(3, 3)).solve()
    cold = even.solve(gap=1e-6, symmetry=symmetry)
    for warm in (other, smaller):
        result = even.solve(gap=1e-6, symmetry=symmetry, warm=warm)
        check_same(even, result, cold)
