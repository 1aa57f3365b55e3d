"""AIPO: interpolated logarithms by hand, its bound of epsilon on many points, and its program solved elsewhere."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato_papers.follow_ups import AnchorNoise, Anchors, anchor_noise
from sfumato_papers.follow_ups.aipo import (
    AIPO,
    BOUND,
    CERTIFIED,
    EM,
    LP,
    RELAXED,
    design_noise,
    measure_mechanisms,
    violations,
)
from sfumato_papers.invented_city import invented_city

SMALL = Anchors((0.0, 0.0), 2, 1, (1.0, 2.0))
POINTS = np.random.default_rng(3).uniform((0, 0), (2, 2), (40, 2))
REPORTS = np.array([[0.2, 0.3], [1.9, 1.0], [1.0, 1.9]])


def test_weights_are_bilinear():
    weights = SMALL.weights(POINTS)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_allclose(weights @ SMALL.points, POINTS)
    corners = SMALL.points
    np.testing.assert_allclose(weights @ corners.prod(axis=1), POINTS.prod(axis=1))
    np.testing.assert_allclose(SMALL.weights(corners), np.eye(6), atol=1e-12)
    assert SMALL.distances(0.5, 2.0).array[0, 5] == pytest.approx(0.5 * 2 + 2.0 * 2)


def test_the_program_at_the_corners_is_that_of_another_solver():
    east, north = 0.6, 0.4
    noise = anchor_noise(SMALL, POINTS, REPORTS, east, north)
    weights = SMALL.weights(POINTS)
    costs = (weights.T @ np.hypot(*(POINTS[:, None] - REPORTS).transpose(2, 0, 1))) / len(POINTS)
    rows = []
    for i, first in enumerate(SMALL.points):
        for j, second in enumerate(SMALL.points):
            for o in range(3):
                row = np.zeros((6, 3))
                row[i, o], row[j, o] = 1, -np.exp(np.abs(first - second) @ (east, north))
                rows.append(row.ravel())
    sums = np.kron(np.eye(6), np.ones(3))
    least = linprog(costs.ravel(), np.array(rows), np.zeros(len(rows)), sums, np.ones(6)).fun
    assert (np.exp(noise.logs) * costs).sum() == pytest.approx(least, rel=2e-4)
    assert noise.epsilon <= 2 * np.hypot(east, north) * (1 + 1e-9)


def test_no_two_points_break_the_bound_of_epsilon():
    logs = np.log(np.random.default_rng(7).dirichlet(np.ones(3), 6))
    noise = AnchorNoise(SMALL, logs)
    beliefs = noise.at(POINTS)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1)
    np.testing.assert_allclose(noise.at(SMALL.points), np.exp(logs), rtol=1e-9)
    share, seen = violations(beliefs, POINTS, noise.epsilon)
    assert share == 0
    assert noise.epsilon / 4 < seen <= noise.epsilon
    assert violations(beliefs, POINTS, seen * 0.99)[0] > 0


def test_broken_pairs_by_hand():
    beliefs = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.2, 0.8, 0]])
    share, seen = violations(beliefs, np.array([[0.0, 0], [1, 0], [3, 0]]), 0.4)
    assert seen == pytest.approx(np.log(2.5) / 2)
    assert share == pytest.approx(1 / 3)  # ln 2.5 over 2 and over 3: the second is kept


@pytest.mark.slow
def test_on_a_city_only_what_promises_keeps_it():
    city = invented_city()
    parts = (measure_mechanisms("a city", city, 0.8, 200, 3, 1), design_noise("a city", city, 0.8, 200, 3, 25, 8))
    by: dict[Any, Any] = {row.mechanism: row for part in parts for row in part["anchors"]}
    for name in (AIPO, EM):
        assert by[name].broken == 0
        assert by[name].epsilon_seen <= by[name].epsilon_upper <= 0.8 * (1 + 1e-9)
    for name in (LP, RELAXED):
        assert by[name].broken > 0
        assert by[name].epsilon_seen > 0.8
    assert by[CERTIFIED].epsilon_upper <= 0.8 * (1 + 1e-9)
    assert all(by[BOUND].loss <= by[name].loss for name in (AIPO, EM, CERTIFIED))
