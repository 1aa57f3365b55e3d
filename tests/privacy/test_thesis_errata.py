"""Misprints of the source (H13, H14), each refuted as printed and confirmed as corrected."""

import math

import numpy as np
import pytest

from sfumato.divergences import Renyi
from sfumato.privacy.point.probabilistic import ProbabilisticDifferentialPrivacy

ORDERS = (1.5, 2.0, 8.0)


def test_composed_concentration_adds_the_rhos():
    """H13: (xi, rho) means Renyi divergence of order a at most xi + rho a; both parts add up.

    Printed is (xi1 + xi2, xi1 + xi2). Randomised response has xi = 0 and rho = epsilon**2 / 2,
    so the print would promise that two answers together reveal nothing at all.
    """
    rows, rhos = [], []
    for epsilon in (0.5, 1.0):
        e = math.exp(epsilon)
        rows.append(np.array([[e, 1], [1, e]]) / (1 + e))
        rhos.append(epsilon**2 / 2)
    together = [np.kron(rows[0][s], rows[1][s]) for s in (0, 1)]
    for order in ORDERS:
        single = [Renyi(order)(row[0], row[1]) for row in rows]
        composed = Renyi(order)(*together)
        assert composed == pytest.approx(sum(single))
        assert all(value <= rho * order for value, rho in zip(single, rhos, strict=True))
        assert composed <= sum(rhos) * order
        printed = 0.0 + 0.0 * order
        assert composed > printed + 0.1


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_epsilon_of_a_report_suppressed_with_probability_delta(delta):
    """H14: where the ratio of probabilities is 1 / (1 - delta), epsilon is its logarithm."""
    matrix = [[1.0, 0.0], [1.0 - delta, delta]]
    found = ProbabilisticDifferentialPrivacy(delta=delta + 1e-9).measure(matrix)
    assert found.value == pytest.approx(math.log(1 / (1 - delta)), abs=1e-12)
    printed = 1 / (1 - delta)
    assert found.upper < printed
    assert matrix[0][0] == pytest.approx(math.exp(found.value) * matrix[1][0])
