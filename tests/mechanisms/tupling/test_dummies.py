"""The search for a distribution of dummies: its derivatives, and that it finds what a grid finds."""

import numpy as np
import pytest

from sfumato.core import Mechanism
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import FamilyAccountant, PairAccountant, Tupling, optimised_dummies
from sfumato.mechanisms.tupling.dummies import delta_and_gradient

from . import exact

INNER = Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])


@pytest.mark.parametrize("dummies", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.37, 1.1])
def test_derivatives_are_those_of_listed_multisets(dummies, epsilon):
    rng = np.random.default_rng(dummies)
    p, q = rng.dirichlet([0.7] * 4, 2)
    nu = rng.dirichlet([4.0] * 4)
    value, gradient = delta_and_gradient(p, q, nu, dummies, epsilon)
    assert value == pytest.approx(exact.delta(p, q, nu, dummies, epsilon), rel=1e-3)
    for _ in range(3):
        way = rng.normal(size=4) * nu
        way -= way.mean()
        step = 1e-7
        ends = [exact.delta(p, q, nu + sign * step * way, dummies, epsilon) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert gradient @ way == pytest.approx(slope, rel=2e-2, abs=2e-3)


@pytest.mark.slow
def test_the_search_reaches_the_best_of_a_grid():
    family = FamilyAccountant.of_points(Tupling(INNER, 20, [0.25] * 4))
    choice = optimised_dummies(family, delta=1e-3)
    grid = [
        PairAccountant(INNER.matrix[0], INNER.matrix[1], [a, 0.5 - a, 0.5 - a, a], 20).epsilon(1e-3).value
        for a in np.linspace(0.3, 0.42, 9)
    ]
    assert choice.value.upper <= min(grid) + 1e-3
    assert choice.mixture.upper == pytest.approx(0.4431, abs=1e-4)
    assert choice.improvement == pytest.approx(1 - choice.value.upper / choice.mixture.lower)
    assert choice.improvement > 0.08
    again = family.with_dummies(20, choice.distribution).epsilon(1e-3).bounds
    assert choice.value == again


def test_many_places_and_a_delta_to_lower():
    p, q = np.random.default_rng(1).dirichlet([0.2] * 100, 2)
    family = FamilyAccountant.of_points(Tupling(Mechanism([p, q]), 50, np.full(100, 0.01)))
    choice = optimised_dummies(family, epsilon=0.5)
    assert choice.value.upper < 0.9 * choice.mixture.lower < choice.uniform.lower
    assert choice.distribution.probabilities.min() >= 1e-3 / 100 * (1 - 1e-12)


def test_nothing_to_search_for():
    alone = FamilyAccountant.of_points(Tupling(INNER, 0, [0.25] * 4))
    choice = optimised_dummies(alone, delta=1e-3)
    assert choice.improvement == 0
    assert choice.value == choice.mixture
    same = FamilyAccountant.of_points(Tupling(Mechanism([[0.5, 0.5], [0.5, 0.5]]), 3, [0.5, 0.5]))
    assert optimised_dummies(same, epsilon=0.1).improvement == 0


def test_refusals():
    family = FamilyAccountant.of_points(Tupling(INNER, 2, [0.25] * 4))
    for wrong in ({}, {"epsilon": 1.0, "delta": 0.1}):
        with pytest.raises(InputError, match="one of epsilon and delta"):
            optimised_dummies(family, **wrong)
    for wrong in ({"delta": 0.0}, {"epsilon": -1.0}, {"delta": 0.1, "floor": 0.0}):
        with pytest.raises(InputError, match=r"delta is|epsilon is|floor is"):
            optimised_dummies(family, **wrong)
