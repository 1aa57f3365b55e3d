"""Designs for metrics that depend on the direction, against a plain linear program."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.core import Metric, MetricPrivacy, Prior, Space, implied_distances
from sfumato.core.arrays import Floats
from sfumato.errors import InfeasibleError
from sfumato.mechanisms import exponential, tight_constraints
from sfumato.optimal import Status, closed_form, design, maximise_distortion
from sfumato.optimal.effort import STRUCTURED
from sfumato.proofs import prove_metric_privacy, prove_optimality

from ..catalogue import directed_metrics
from ..proofs import exact


def least_loss(prior: Floats, loss: Floats, exponents: Floats) -> float:
    """The optimum of p(o|s) <= exp(exponents[s, s']) p(o|s') for all ordered pairs at finite exponents."""
    (n, m), rows = loss.shape, []
    for s, t in np.argwhere(np.isfinite(exponents) & ~np.eye(n, dtype=bool)):
        row = np.zeros((m, n, m))
        row[range(m), s, range(m)], row[range(m), t, range(m)] = np.exp(-exponents[s, t]), -1.0
        rows.append(row.reshape(m, -1))
    above = np.concatenate(rows) if rows else np.zeros((1, n * m))
    sums = np.kron(np.eye(n), np.ones(m))
    return float(linprog((prior[:, None] * loss).ravel(), above, np.zeros(len(above)), sums, np.ones(n)).fun)


def check(count: int, solvers: Sequence[str], seed: int) -> None:
    """Compare designs for random asymmetric metrics, some secrets of prior zero, with the linear program.

    Where ``auto`` chose the structured method, that method is not run again.
    """
    rng = np.random.default_rng(seed)
    for metric in directed_metrics(count, seed, least=3):
        n, epsilon = len(metric), float(rng.choice([0.3, 1.0, 3.0]))
        masses = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.9)
        prior = Prior(Space(range(n)), masses / masses.sum() if masses.any() else np.full(n, 1 / n))
        loss = rng.uniform(0, 3, (n, n))
        optimum = least_loss(prior.probabilities, loss, epsilon * metric.array)
        chosen = ""
        for solver in solvers:
            if solver == "structured" and chosen == STRUCTURED:
                continue
            result = design(prior, loss=loss, guarantees=MetricPrivacy(epsilon, metric), solver=solver)
            chosen, certificate = result.solver, result.certificate
            assert exact.private(result.mechanism, metric.array, epsilon)
            assert certificate.holds
            assert certificate.bound <= optimum + 1e-7
            assert certificate.value == pytest.approx(optimum, rel=2e-6, abs=1e-7)
            assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("solver", ["auto", "structured", "highs"])
def test_designs_are_optimal_and_private_for_each_ordered_pair(solver):
    check(10, [solver], seed=3)


@pytest.mark.slow
def test_200_designs_are_optimal_and_private_for_each_ordered_pair():
    check(200, ["auto", "structured", "highs"], seed=4)


def test_distance_zero_in_one_direction_makes_rows_equal():
    array = np.array([[0, 0, 3.0], [2, 0, 2], [5, np.inf, 0]])
    metric = Metric(array, symmetric=False, triangle=False)
    prior, loss = Prior(Space(range(3)), [0.2, 0.5, 0.3]), 1.0 - np.eye(3)
    for solver in ("auto", "structured", "highs"):
        result = design(prior, loss=loss, guarantees=MetricPrivacy(1.0, metric), solver=solver)
        assert (result.mechanism.weights[0] == result.mechanism.weights[1]).all()
        optimum = least_loss(prior.probabilities, loss, array)
        assert result.certificate.value == pytest.approx(optimum, rel=2e-6)
        assert optimum == pytest.approx(least_loss(prior.probabilities, loss, implied_distances(array)), rel=1e-9)
        assert result.optimality is not None
        bound = prove_optimality(prior, result.loss, result.problem.guarantees, result.optimality)
        assert bound == pytest.approx(result.certificate.bound, rel=1e-9)


def test_an_asymmetric_metric_costs_less_than_its_smaller_direction_both_ways():
    hill = Metric([[0, 1, 2], [3, 0, 1], [6, 3, 0]], "km", symmetric=False)
    prior = Prior(Space(range(3)), [0.3, 0.4, 0.3])
    asymmetric, symmetric = (
        design(prior, loss=1.0 - np.eye(3), guarantees=MetricPrivacy("1/km", metric)).certificate.value
        for metric in (hill, hill.symmetrise())
    )
    assert asymmetric < 0.9 * symmetric


def test_tight_constraints_and_the_exponential_mechanism_hold_for_each_ordered_pair():
    attained = 0
    for metric in directed_metrics(40, seed=8):
        space = Space(range(len(metric)))
        noise = exponential(space, metric, "1/km")
        promise = noise.guarantees[0]
        assert isinstance(promise, MetricPrivacy)
        assert promise.metric is metric
        assert exact.private(noise, metric.array, 1.0)
        try:
            tight = tight_constraints(space, metric, "3/km")
        except InfeasibleError:
            continue
        assert exact.private(tight, metric.array, 3.0)
        if (metric.array[np.isfinite(metric.array)] > 0).any():
            assert isinstance(tight.guarantees[0], MetricPrivacy)
            assert prove_metric_privacy(tight, tight.guarantees[0]).upper == pytest.approx(3.0, rel=1e-6)
            attained += 1
    assert attained > 10


def test_tight_constraints_of_an_asymmetric_metric_are_proved_optimal():
    hill = Metric([[0, 1, 2], [3, 0, 1], [6, 3, 0]], "km", symmetric=False)
    prior = Prior(Space(range(3)), [0.3, 0.4, 0.3])
    result = design(prior, loss=1.0 - np.eye(3), guarantees=MetricPrivacy("1/km", hill), gap=1e-6)
    form = closed_form(result.problem)
    assert form is not None
    assert form.name == "tight constraints"
    optimum = least_loss(prior.probabilities, 1.0 - np.eye(3), hill.array)
    assert form.certificate.value == pytest.approx(optimum, rel=1e-6)
    assert form.bound == pytest.approx(optimum, rel=1e-6)


def test_an_attacker_whose_error_is_an_asymmetric_loss_errs_by_at_most_that_loss():
    hill = Metric([[0, 1, 2], [3, 0, 1], [6, 3, 0]], "km", symmetric=False)
    prior = Prior(Space(range(3)), [0.3, 0.4, 0.3])
    game = maximise_distortion(prior, loss=hill, max_loss="0.8 km")
    assert game.certificate.value == pytest.approx(0.8, rel=1e-5)  # guessing the report has the loss as error
    assert game.certificate.bound <= 0.8 * (1 + 1e-6)
