"""The largest likelihood on the simplex: closed forms, a second solver, and a gap that bounds every point."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from sfumato.leakage.likelihood import interior_points, maximise


def test_seen_outcomes_are_their_own_best_explanation():
    shares = np.array([0.5, 0.3, 0.2])
    found = maximise(np.eye(3), shares, np.zeros(3), np.ones(3), 1e-12)
    np.testing.assert_allclose(found.probabilities, shares, atol=1e-9)
    assert found.value == pytest.approx(shares @ np.log(shares), abs=1e-12)


def test_a_linear_term_moves_two_outcomes_as_by_hand():
    # ln x + b x on the segment x + y = 1 with f = (1/2, 1/2): 1/(2x) + b = 1/(2(1 - x)).
    b = 0.75
    x = (b - 1 + np.sqrt(b * b + 1)) / (2 * b)
    found = maximise(np.eye(2), np.full(2, 0.5), np.array([b, 0.0]), np.ones(2), 1e-13)
    np.testing.assert_allclose(found.probabilities, [x, 1 - x], atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_no_point_is_better_by_more_than_the_gap_and_another_solver_agrees(seed):
    rng = np.random.default_rng(seed)
    matrix, f, b = rng.dirichlet(np.ones(4), size=6), rng.dirichlet(np.ones(4)), rng.normal(size=6)

    def value(x):
        return float(f @ np.log(x @ matrix) + b @ x)

    others = rng.dirichlet(np.ones(6), size=300)
    points = interior_points(matrix, f, b, np.ones(6), 1e-10)
    for point, _ in zip(points, range(8), strict=False):
        assert max(map(value, others)) <= value(point.x) + point.gap + 1e-12
    found = maximise(matrix, f, b, np.ones(6), 1e-10)
    assert found.gap <= 1e-10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SciPy 1.15 steps out of the bounds and says so
        other = minimize(
            lambda x: -value(x),
            np.full(6, 1 / 6),
            bounds=[(1e-12, 1)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            options={"ftol": 1e-13},
        )
    assert found.value == pytest.approx(-other.fun, abs=1e-7)
