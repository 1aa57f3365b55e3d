"""Optima known in closed form or from other programs, by every back-end."""

import math
import sys

import numpy as np
import pytest

from sfumato.core import DistortionPrivacy, Metric, MetricPrivacy, Prior, Space, blind_error, hamming
from sfumato.optimal import SOLVERS, Auto, Generating, Highs, Status, design

from ..catalogue import geometric, line, randomised_response

EVERY = [*(make() for make in SOLVERS.values()), Highs(crossover=True)]
LINE = Space.numbers(range(5))
STEPS = LINE.metric("absolute")
EVEN = Prior.uniform(LINE)


def ids(solver):
    return f"{solver.name}{' crossover' if getattr(solver, 'crossover', False) else ''}"


@pytest.mark.thinned(5)
@pytest.mark.parametrize("solver", EVERY, ids=ids)
@pytest.mark.parametrize(
    ("loss", "epsilon", "distortion", "cost"),
    [
        (STEPS, math.log(2), None, 0.816666667),
        (STEPS, 1.0, None, 0.583505631),
        (hamming(LINE), math.log(2), None, 0.533333333),
        (hamming(LINE), 1.0, None, 0.430306274),
        (hamming(LINE), None, 0.25, 0.0625),
        (hamming(LINE), None, 0.5, 0.125),
        (hamming(LINE), None, 0.75, 0.1875),
        (hamming(LINE), None, 1.0, 0.3),
        (hamming(LINE), 1.0, 0.25, 0.430306274),
        (hamming(LINE), 1.0, 0.5, 0.430306274),
        (hamming(LINE), 1.0, 0.75, 0.463397956),
        (hamming(LINE), 1.0, 1.0, 0.523139200),
    ],
)
def test_the_line_of_five(solver, loss, epsilon, distortion, cost):
    guarantees: list[MetricPrivacy | DistortionPrivacy] = []
    if epsilon is not None:
        guarantees.append(MetricPrivacy(epsilon, STEPS))
    if distortion is not None:
        guarantees.append(DistortionPrivacy(distortion, STEPS))
    result = design(EVEN, loss=loss, guarantees=guarantees, solver=solver)
    proof = result.certificate
    assert proof.holds
    assert proof.value == pytest.approx(cost, abs=1e-6)
    assert proof.bound == pytest.approx(cost, abs=1e-6)
    assert proof.bound <= cost + 1e-9
    assert result.status is Status.OPTIMAL
    names = ("closed form", "structured") if isinstance(solver, Auto) else (solver.name,)
    # What does not suit the generation of observables goes on to the structured method.
    assert result.solver.startswith((*names, "structured") if isinstance(solver, Generating) else names)
    if epsilon is not None:
        assert proof.epsilon_upper <= epsilon


@pytest.mark.thinned(3)
@pytest.mark.parametrize("solver", [Auto(), Highs(), Highs("simplex")], ids=ids)
@pytest.mark.parametrize(("epsilon", "distortion", "cost"), [(1.0, None, 0.430306274), (1.0, 0.75, 0.463397956)])
def test_the_line_of_five_without_the_extra(monkeypatch, solver, epsilon, distortion, cost):
    """SciPy's HiGHS reaches the same optima; a time limit and a stop end it."""
    monkeypatch.setitem(sys.modules, "highspy", None)
    monkeypatch.setitem(sys.modules, "clarabel", None)
    guarantees: list[MetricPrivacy | DistortionPrivacy] = [MetricPrivacy(epsilon, STEPS)]
    guarantees += [] if distortion is None else [DistortionPrivacy(distortion, STEPS)]
    result = design(EVEN, loss=hamming(LINE), guarantees=guarantees, solver=solver)
    assert result.certificate.holds
    assert result.certificate.value == pytest.approx(cost, abs=1e-6)
    assert result.certificate.bound == pytest.approx(cost, abs=1e-6)
    assert result.status is Status.OPTIMAL
    few = design(EVEN, loss=hamming(LINE), guarantees=guarantees, solver=solver, stop=lambda: True)
    assert few.certificate.holds


def test_the_most_distortion_of_the_line_of_five():
    assert blind_error(EVEN.probabilities, STEPS.array) == pytest.approx(1.2)


@pytest.mark.parametrize("epsilon", [0.3, math.log(2), 1.5])
def test_on_a_line_the_optimum_is_the_geometric_mechanism(epsilon):
    # Strictly: the identity remap is optimal where the corners of the prior carry enough weight.
    result = design(EVEN, loss=STEPS, guarantees=[MetricPrivacy(epsilon, STEPS)])
    known = float(EVEN.probabilities @ (geometric(5, epsilon) * STEPS.array).sum(axis=1))
    assert result.solver.startswith("closed form: truncated geometric")
    assert result.certificate.value <= known * (1 + 1e-6)
    if epsilon >= math.log(2):
        assert result.certificate.value == pytest.approx(known, rel=1e-6)
        np.testing.assert_allclose(result.mechanism.matrix, geometric(5, epsilon), atol=1e-5)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_on_the_discrete_metric_the_optimum_is_randomised_response(size):
    space = Space(range(size))
    for objective in ("expected", "worst-case"):
        result = design(
            Prior.uniform(space),
            loss=hamming(space),
            guarantees=[MetricPrivacy(1.0, hamming(space))],
            objective=objective,
        )
        known = "closed form: randomised response" if objective == "expected" else "structured"
        assert result.solver.startswith(known)
        assert result.certificate.value == pytest.approx((size - 1) / (size - 1 + math.e), rel=1e-6)
        if objective == "worst-case":
            np.testing.assert_allclose(result.mechanism.matrix, randomised_response(size, 1.0), atol=1e-5)


def grid(side):
    xy = np.array([(x, y) for x in range(side) for y in range(side)], dtype=float)
    return Space([tuple(map(int, p)) for p in xy], xy, "km")


@pytest.mark.parametrize(("side", "cost"), [(5, 1.448197), (7, 1.755576)])
def test_square_grids(side, cost):
    space = grid(side)
    metric = space.metric("euclidean")
    result = design(Prior.uniform(space), loss=metric, guarantees=[MetricPrivacy("0.7/km", metric)])
    assert result.solver == "structured interior point"
    assert result.certificate.value == pytest.approx(cost, abs=3e-6)
    assert result.certificate.holds
    assert result.certificate.gap <= 1e-6
    assert result.tie_gap is None  # nothing to break where the loss is the distance


def test_where_the_loss_is_the_distance_the_attacker_errs_by_the_loss():
    # Bordenabe et al., CCS 2014: such an optimum is also optimal against the optimal attack.
    from sfumato.proofs import distortion_below

    result = design(EVEN, loss=STEPS, guarantees=[MetricPrivacy(0.8, STEPS)])
    assert distortion_below(result.mechanism, EVEN, STEPS) == pytest.approx(result.certificate.loss, rel=1e-5)


def test_where_the_loss_is_the_distance_distortion_costs_itself():
    for minimum in (0.3, 0.9, 1.19):
        result = design(EVEN, loss=STEPS, guarantees=[DistortionPrivacy(minimum, STEPS)])
        assert result.solver.startswith("closed form: coin")
        assert result.certificate.loss == pytest.approx(minimum, rel=1e-6)


def test_joint_privacy_can_cost_more_than_either():
    # Privacy Games says the cost of both is the larger cost of one; this is its counterexample.
    alone = design(EVEN, loss=hamming(LINE), guarantees=[MetricPrivacy(1, STEPS)]).certificate.value
    for minimum in (0.25, 0.5, 0.75, 1.0):
        d = DistortionPrivacy(minimum, STEPS)
        one = design(EVEN, loss=hamming(LINE), guarantees=[d]).certificate.value
        both = design(EVEN, loss=hamming(LINE), guarantees=[MetricPrivacy(1, STEPS), d]).certificate.value
        assert both >= max(alone, one) - 1e-6
        if minimum >= 0.75:
            assert both > max(alone, one) + 0.03


def test_distortion_already_there_costs_nothing():
    # Scenario 1: a distortion that the metric optimum reaches anyway.
    from sfumato.proofs import distortion_below

    prior = Prior(LINE, [0.1, 0.2, 0.4, 0.3, 0.0])
    metric = MetricPrivacy(0.6, STEPS)
    alone = design(prior, loss=hamming(LINE), guarantees=[metric])
    reached = distortion_below(alone.mechanism, prior, STEPS)
    both = design(prior, loss=hamming(LINE), guarantees=[metric, DistortionPrivacy(reached * 0.9999, STEPS)])
    assert both.certificate.value == pytest.approx(alone.certificate.value, rel=3e-6)


def test_a_metric_in_other_units_gives_the_same_mechanism():
    km = Metric(line(4), "km")
    space = Space(range(4))
    prior = Prior(space, [0.4, 0.0, 0.35, 0.25])
    one = design(prior, loss=km, guarantees=[MetricPrivacy("0.9/km", km)]).certificate.loss
    other = design(prior, loss=km.to("m"), guarantees=[MetricPrivacy("0.0009/m", km)]).certificate.loss
    assert other == pytest.approx(1000 * one, rel=1e-5)
