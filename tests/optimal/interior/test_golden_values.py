"""Optima known in closed form or from other programs."""

import numpy as np
import pytest

from sfumato.optimal import Status

from .programs import EVEN, HAMMING, LINE, Case, bound_of, grid


@pytest.mark.parametrize(
    ("cost", "epsilon", "expected"),
    [
        (LINE, np.log(2), 0.816666667),
        (LINE, 1.0, 0.583505631),
        (HAMMING, np.log(2), 0.533333333),
        (HAMMING, 1.0, 0.430306274),
    ],
)
def test_metric_privacy_on_the_line_of_five(cost, epsilon, expected):
    result = Case(EVEN, cost, epsilon * LINE).solve(gap=1e-8)
    assert result.cost == pytest.approx(expected, abs=1e-7)
    assert result.status is Status.OPTIMAL


@pytest.mark.parametrize(("minimum", "expected"), [(0.25, 0.0625), (0.5, 0.125), (0.75, 0.1875), (1.0, 0.3)])
def test_distortion_alone_on_the_line_of_five(minimum, expected):
    free = np.where(np.eye(5, dtype=bool), 0.0, np.inf)
    result = Case(EVEN, HAMMING, free, LINE, minimum).solve(gap=1e-7)
    assert result.cost == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("minimum", "expected"), [(0.25, 0.430306274), (0.5, 0.430306274), (0.75, 0.463397956), (1.0, 0.5231392)]
)
def test_both_on_the_line_of_five(minimum, expected):
    result = Case(EVEN, HAMMING, LINE, LINE, minimum).solve(gap=1e-8)
    assert result.cost == pytest.approx(expected, abs=1e-7)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("side", "expected", "symmetry"),
    [(5, 1.448197, True), (5, 1.448197, False), (7, 1.755576, True), (10, 2.037466, True)],
)
def test_square_grids(side, expected, symmetry):
    d = grid(side, side)
    case = Case(np.full(side**2, side**-2.0), d, 0.7 * d)
    result = case.solve(gap=1e-7, symmetry=symmetry)
    assert result.cost == pytest.approx(expected, abs=1e-6)
    assert result.symmetry == (8 if symmetry else 1)
    assert bound_of(case, result) == pytest.approx(result.lower_bound, abs=1e-9)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_randomised_response_on_the_discrete_metric(size):
    other = 1 - np.eye(size)
    for worst in (False, True):
        result = Case(np.full(size, 1 / size), other, other, worst=worst).solve(gap=1e-8)
        assert result.cost == pytest.approx((size - 1) / (size - 1 + np.e), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.05, pytest.param(0.01, marks=pytest.mark.slow)])
def test_distortion_that_the_pairs_give_anyway_costs_nothing(epsilon):
    plain = Case(EVEN, HAMMING, epsilon * LINE).solve(gap=1e-8)
    attained = Case(EVEN, HAMMING, LINE, LINE).distortion(plain.matrix)
    joint = Case(EVEN, HAMMING, epsilon * LINE, LINE, attained).solve(gap=1e-8)
    assert joint.cost == pytest.approx(plain.cost, rel=1e-7)


def test_the_game_and_the_joint_program_are_inverse():
    limit = 0.5
    game = Case(EVEN, HAMMING, LINE, LINE, max_loss=limit).solve(gap=1e-8)
    back = Case(EVEN, HAMMING, LINE, LINE, -game.cost).solve(gap=1e-8)
    assert back.cost == pytest.approx(limit, abs=1e-5)
