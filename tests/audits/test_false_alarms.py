"""False accusations of audits: never for mechanisms, else no more often than stated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.audits import Outcome, Requirement, audit_black_box, audit_sample
from tests.sampling.mechanisms import fix_seeds
from tests.thinned import thinned

from ..catalogue import CASES, discrete, geometric, line, randomised_response, unused
from ..proofs.exact import epsilon as exact_epsilon
from ..statistics.boxes import channel, counts_of, most_failures, rows_of

REPETITIONS, FAILURE = 60, 0.3
TRUE = {
    "randomised response": (randomised_response(3, 0.8), discrete(3), 0.8),
    "geometric on a line": (geometric(4, 0.6), line(4), 0.6),
}

EXTREME = [
    case for case in CASES if case.name in ("two towns, far apart", "two names of one place", "tiny probabilities")
]
"""Distances that are infinite or 0, and chances that no sample shows."""


def least_above(epsilon):
    """A claim that is true of the integers, with room for the rounding of text."""
    return f"epsilon <= {epsilon * (1 + 1e-9):.12g}/step"


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 6))
def test_mechanisms_that_keep_a_requirement_are_never_accused(seed, n, m):
    """The claim is the epsilon that arithmetic without rounding finds on the same integers."""
    rng = np.random.default_rng(seed)
    mechanism = sf.Mechanism(unused(rng.dirichlet(np.full(m, 2.0), n)))
    steps = line(n)
    claim = Requirement.parse(least_above(exact_epsilon(mechanism, steps)))
    found = sf.audit(mechanism, metric=sf.Metric(steps, "step"), deltas=())
    assert claim.hold_against(found).outcome is Outcome.HOLDS


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", TRUE)
def test_samples_refute_a_true_requirement_no_more_often_than_stated(name):
    matrix, distances, epsilon = TRUE[name]
    mechanism = sf.Mechanism(unused(matrix))
    metric = sf.Metric(distances, "step")
    claim = Requirement.parse(least_above(epsilon + 1e-9))
    rng, wrong = np.random.default_rng(41), 0
    for seed in range(REPETITIONS):
        counts = counts_of(rows_of(mechanism), 80, rng)
        sample = sf.Sample(counts, mechanism.secrets)
        found = audit_sample(sample, metric=metric, failure=FAILURE, seed=seed)
        wrong += claim.hold_against(found).outcome is Outcome.FAILS
    assert wrong <= most_failures(REPETITIONS, FAILURE)


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(TRUE, 2))
def test_black_boxes_that_keep_their_claim_are_accused_no_more_often_than_stated(name, monkeypatch):
    """All three questions together: the claim, outputs that repeat, and calls that depend on each other."""
    fix_seeds(monkeypatch)
    matrix, distances, epsilon = TRUE[name]
    metric = sf.Metric(distances, "step")
    rng, wrong = np.random.default_rng(42), 0
    for _ in range(REPETITIONS // 3):
        box = channel(unused(matrix), rng)
        found = audit_black_box(
            box, range(len(matrix)), f"{epsilon}/step", metric=metric, failure=FAILURE, limit=1_500
        )
        assert found.dependence is not None  # all three were asked
        assert found.decision.repetition is not None
        wrong += found.is_refuted
    assert wrong <= most_failures(REPETITIONS // 3, FAILURE)


def test_a_claim_a_little_too_small_is_refuted_with_enough_samples():
    """The same requirement, 20 % too small: the tests above can fail."""
    matrix, distances, epsilon = TRUE["randomised response"]
    mechanism = sf.Mechanism(unused(matrix))
    counts = counts_of(rows_of(mechanism), 20_000, np.random.default_rng(43))
    found = audit_sample(
        sf.Sample(counts, mechanism.secrets), metric=sf.Metric(distances, "step"), failure=1e-3, seed=1
    )
    assert Requirement.parse(least_above(0.8 * epsilon)).hold_against(found).outcome is Outcome.FAILS


@pytest.mark.slow
@pytest.mark.parametrize("case", EXTREME, ids=str)
def test_the_catalogue_is_accused_no_more_often_than_stated(case, monkeypatch):
    fix_seeds(monkeypatch)
    wrong, count, rng = 0, 60, np.random.default_rng(44)
    claim = case.epsilon * (1 + 1e-6)
    for _ in range(count):
        box = channel(rows_of(case.mechanism), rng)
        labels = range(case.mechanism.shape[0])
        found = audit_black_box(box, labels, claim, metric=case.metric, failure=FAILURE, limit=1_500)
        wrong += found.is_refuted
    assert wrong <= most_failures(count, FAILURE)
