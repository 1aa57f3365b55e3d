"""Secrets without prior mass cannot be left out: docs/proofs/zero-prior.md."""

import numpy as np
import pytest

from .programs import Case, check, grid, skewed


def triangle(side):
    """Three secrets, `side` apart from each other, and their centre, which is never visited."""
    distance = np.full((4, 4), side)
    distance[3] = distance[:, 3] = side / np.sqrt(3)
    np.fill_diagonal(distance, 0)
    return Case(np.array([1, 1, 1, 0]) / 3, 1 - np.eye(4), distance)


@pytest.mark.parametrize("side", [0.1, 0.3, 0.6, 1.0, 2.0, 3.0])
def test_the_centre_of_a_triangle(side):
    response = np.exp(side) / (np.exp(side) + 2)
    reach = np.exp(side / np.sqrt(3))
    centre = min(reach / 3, 1 - 2 / (3 * reach))
    case = triangle(side)
    check(case, case.solve(gap=1e-8), 1 - min(response, centre), tolerance=1e-7)
    support = Case(case.prior[:3], case.cost[:3, :3], case.ratio[:3, :3])
    check(support, support.solve(gap=1e-8), 1 - response, tolerance=1e-7)
    least, most = 3 / reach * response, 3 * reach * response / np.exp(side)  # extensions to the centre
    assert (least <= 1 <= most) == (response <= centre)


def test_the_support_alone_bounds_from_below():
    d = grid(5, 5)
    case = Case(skewed(25, seed=8, unvisited=12), 1 - np.eye(25), 0.3 * d)
    visited = np.flatnonzero(case.prior)
    every = np.ix_(visited, visited)
    support = Case(case.prior[visited], case.cost[every], case.ratio[every])
    assert support.solve(gap=1e-7).lower_bound <= case.solve(gap=1e-7).cost
