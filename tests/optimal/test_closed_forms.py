"""Closed forms: proved optimal, equal to what a solver finds, and refused where they are not optimal."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.core import DistortionPrivacy, MetricPrivacy, Prior, Space, ThresholdPrivacy, hamming
from sfumato.core.naming import EXPECTED, WORST_CASE
from sfumato.optimal import design
from sfumato.optimal.closed_forms import closed_form
from sfumato.optimal.problem import least_loss

from ..reference import requests, solved

LINE = Space.numbers(range(5))
STEPS = LINE.metric("absolute")
EVEN = Prior.uniform(LINE)


def found(prior, loss, *guarantees, objective=EXPECTED, observables=None, gap=1e-6):
    return closed_form(least_loss(prior, loss, guarantees, objective, observables), gap)


def beliefs(space, seed, zeros=True):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(len(space)) * 0.6)
    if zeros and len(space) > 2:
        weights[rng.integers(len(space), size=2)] = 0.0
    return Prior.from_counts(space, weights)


@pytest.mark.parametrize(("epsilon", "cost"), [(math.log(2), 0.816666667), (1.0, 0.583505631)])
def test_golden_on_the_line(epsilon, cost):
    answer = found(EVEN, STEPS, MetricPrivacy(epsilon, STEPS), gap=1e-8)
    assert answer is not None
    assert answer.name == "truncated geometric"
    assert answer.certificate.loss == pytest.approx(cost, abs=2e-9)
    assert answer.bound == pytest.approx(cost, abs=2e-9)
    assert answer.certificate.holds


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=14, unique=True),
    st.integers(0, 2**32),
    st.floats(0.02, 3),
    st.sampled_from([0.5, 1.0, 2.0, "hamming", "at least 3"]),
)
# A gap of exp(90) between neighbours, and a least loss of 3e-8 beside one of 6.
@example([37, 0, 1, 32, 31], 1820, 3.0, 0.5)
def test_on_any_line_every_prior_and_growing_loss_has_a_proved_closed_form(numbers, seed, epsilon, power):
    space = Space.numbers(numbers)
    metric = space.metric("absolute")
    d = metric.array
    loss = (d > 0) * 1.0 if power == "hamming" else (d >= 3) * 1.0 if isinstance(power, str) else d**power
    answer = found(beliefs(space, seed), loss, MetricPrivacy(epsilon, metric))
    assert answer is not None
    assert answer.certificate.holds
    assert answer.certificate.gap <= 1e-6 or answer.certificate.absolute_gap <= 2e-13 * loss.max()


@settings(max_examples=8)
@given(st.integers(2, 7), st.integers(0, 2**32), st.floats(0.1, 2))
def test_a_solver_finds_nothing_better_on_the_line(size, seed, epsilon):
    space = Space.numbers(range(size))
    metric, prior = space.metric("absolute"), beliefs(space, seed)
    answer = found(prior, metric, MetricPrivacy(epsilon, metric))
    solved_by = design(prior, loss=metric, guarantees=[MetricPrivacy(epsilon, metric)], solver="structured")
    assert solved_by.solver == "structured interior point"
    assert answer is not None
    assert answer.certificate.loss == pytest.approx(solved_by.certificate.loss, rel=5e-6, abs=1e-6)


@settings(max_examples=30)
@given(requests(kinds=("metric", "two metrics", "distortion", "joint", "worst")))
def test_whatever_is_returned_is_the_optimum(request_):
    answer = found(
        request_.belief,
        request_.loss,
        *request_.guarantees,
        objective=WORST_CASE if request_.worst else EXPECTED,
        observables=request_.observables,
    )
    if answer is None:
        return
    reference = solved(request_)
    assert reference is not None
    assert answer.certificate.holds
    scale = float(np.abs(request_.loss).max())
    assert answer.certificate.loss == pytest.approx(reference.value, rel=2e-6, abs=2e-8 * scale)
    assert answer.bound <= reference.value + 1e-8 * scale


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_on_the_discrete_metric_the_uniform_prior_has_randomised_response(size, epsilon):
    space = Space([f"v{i}" for i in range(size)])
    answer = found(Prior.uniform(space), hamming(space), MetricPrivacy(epsilon, hamming(space)))
    assert answer is not None
    assert answer.name == "randomised response"
    assert answer.bound == pytest.approx((size - 1) / (size - 1 + math.exp(epsilon)), rel=1e-6)


def test_on_a_grid_tight_constraints_are_returned_where_they_are_optimal():
    xy = np.array([(x, y) for x in range(4) for y in range(4)], dtype=float)
    space = Space(range(16), xy, "km")
    metric, prior = space.metric("euclidean"), Prior.uniform(space)
    sharp = found(prior, metric, MetricPrivacy("3/km", metric))
    assert sharp is not None
    assert sharp.name == "tight constraints"
    solver = design(prior, loss=metric, guarantees=[MetricPrivacy("3/km", metric)], solver="structured")
    assert solver.solver == "structured interior point"
    assert sharp.certificate.loss == pytest.approx(solver.certificate.loss, rel=5e-6)
    for blurred in ("0.7/km", "0.1/km"):  # not optimal; not even a mechanism
        assert found(prior, metric, MetricPrivacy(blurred, metric)) is None


@given(st.integers(2, 12), st.integers(0, 2**32), st.floats(0, 0.999))
def test_the_coin_where_the_loss_is_the_distance(size, seed, share):
    space = Space(range(size), np.random.default_rng(seed).normal(size=(size, 2)), "km")
    metric, prior = space.metric("euclidean"), beliefs(space, seed, zeros=size > 4)
    wanted = share * float((metric.array @ prior.probabilities).min())
    answer = found(prior, metric, DistortionPrivacy(wanted, metric), gap=1e-7)
    assert answer is not None
    assert answer.name == "coin"
    assert answer.certificate.holds
    assert answer.bound == pytest.approx(wanted, rel=1e-12)


def test_nothing_is_claimed_elsewhere():
    metric = MetricPrivacy(1.0, STEPS)
    assert found(EVEN, STEPS, metric, objective=WORST_CASE) is None
    assert found(EVEN, hamming(LINE), DistortionPrivacy(0.5, STEPS)) is None
    assert found(EVEN, 1 - np.eye(5)[::-1], DistortionPrivacy(0.1, 1 - np.eye(5)[::-1])) is None
    assert found(EVEN, STEPS, metric, DistortionPrivacy(1.1, STEPS)) is None
    apart = Space.numbers([0, 1, 10, 11])
    threshold = ThresholdPrivacy(1.0, apart.metric("absolute"), 2)
    assert found(Prior.uniform(apart), apart.metric("absolute"), threshold) is None
    assert found(EVEN, STEPS, MetricPrivacy(1e4, STEPS)) is None


def test_distortion_that_the_metric_optimum_has_anyway_changes_nothing():
    answer = found(EVEN, STEPS, MetricPrivacy(0.5, STEPS), DistortionPrivacy(0.3, STEPS))
    assert answer is not None
    assert answer.certificate.distortion[0].holds


def test_observables_may_be_others():
    halves = Space.numbers([0.5, 2.5])
    loss = np.abs(np.arange(5.0)[:, None] - [0.5, 2.5])
    answer = found(beliefs(LINE, 3), loss, MetricPrivacy(0.7, STEPS), observables=halves)
    assert answer is not None
    assert answer.mechanism.observables == halves
    assert answer.name == "truncated geometric with optimal remap"
