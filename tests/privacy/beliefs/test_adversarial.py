"""Adversarial privacy: over all sets of reports, grids of priors, and the published golden values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Prior, Space
from sfumato.errors import InputError
from sfumato.privacy import (
    AdversarialPrivacy,
    DeltaOfAdversarialPrivacy,
    Events,
    PositiveMembershipPrivacy,
    Priors,
)

from ...catalogue import CASES, Case
from ..bayes import channels, facts, few, known, posteriors

EPSILONS = st.floats(0, 3)
DELTAS = st.one_of(st.sampled_from([0.0, 1e-9, 1.0]), st.floats(0, 1))

CHANCES = st.one_of(st.just(0.0), st.floats(1e-12, 1))


def response(rho: float):
    return np.array([[rho, 1.0], [1.0, rho]]) / (1 + rho)


@few
@given(known(), EPSILONS)
def test_delta_is_the_largest_excess_over_all_sets(case, epsilon):
    matrix, prior = case
    masks = facts(len(matrix))
    excess = [0.0] + [
        t - math.exp(epsilon) * p for mask in masks for p, _, t, _ in posteriors(matrix, prior.probabilities, mask)
    ]
    found = DeltaOfAdversarialPrivacy(Priors.of(prior), epsilon, Events(masks)).measure(matrix)
    assert found.value == pytest.approx(max(excess), abs=1e-12)


@given(known(), DELTAS)
def test_epsilon_is_the_largest_ratio_over_all_sets(case, delta):
    matrix, prior = case
    masks = facts(len(matrix))
    ratios = [0.0] + [
        math.log((t - delta) / p)
        for mask in masks
        for p, _, t, _ in posteriors(matrix, prior.probabilities, mask)
        if p > 0 and t - delta > 1e-15
    ]
    found = AdversarialPrivacy(Priors.of(prior), delta, Events(masks)).measure(matrix)
    assert found.lower <= max(ratios) + 1e-12
    assert found.upper >= max(ratios) - 1e-12


@pytest.mark.parametrize(
    ("rho", "epsilon", "delta"), [(5, 0.5, 0.2265963), (3, 0.2, 0.1964892), (10, 1, 0.2545392)]
)
def test_golden_values_over_all_priors(rho, epsilon, delta):
    found = DeltaOfAdversarialPrivacy(Priors.all(), epsilon).measure(response(rho))
    assert found.value == pytest.approx(delta, abs=1e-7)
    closed = (math.sqrt(rho) - math.exp(epsilon / 2)) ** 2 / (rho - 1)
    assert found.value == pytest.approx(closed, abs=1e-14)
    p = np.linspace(0, 1, 100_001)
    assert found.value == pytest.approx((p * rho / (1 + p * (rho - 1)) - math.exp(epsilon) * p).max(), abs=1e-9)
    back = AdversarialPrivacy(Priors.all(), found.value).measure(response(rho))
    assert back.value == pytest.approx(epsilon, abs=1e-12)
    assert back.upper >= epsilon


@few
@given(channels(), EPSILONS, DELTAS, CHANCES, CHANCES)
def test_interval_of_priors_is_a_dense_grid(matrix, epsilon, delta, one, other):
    a, b = min(one, other), max(one, other)
    mask = facts(len(matrix))[:1]
    p = np.concatenate([np.linspace(a, b, 2001), np.geomspace(max(a, 1e-12), max(b, 1e-12), 2001)])
    p = p[(p >= a) & (p <= b)]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.nanmax(matrix[mask[0]].max(axis=0) / matrix[~mask[0]].min(axis=0))
        after = np.where(p > 0, p / (p + (1 - p) / rho), 0.0)
        excess = float((after - math.exp(epsilon) * p).max())
        ratio = float(np.nan_to_num(np.log(np.maximum(after - delta, 0) / p), nan=0.0, neginf=0.0).max())
    by_delta = DeltaOfAdversarialPrivacy(Priors.of_range(a, b), epsilon, Events(mask)).measure(matrix)
    assert by_delta.upper >= excess - 1e-12
    if a > 0 or math.isfinite(rho):
        assert by_delta.value <= max(0.0, excess) + 1e-4
    by_epsilon = AdversarialPrivacy(Priors.of_range(a, b), delta, Events(mask)).measure(matrix)
    assert by_epsilon.upper >= ratio - 1e-9
    if a > 1e-9 and math.isfinite(rho):
        assert by_epsilon.value <= max(0.0, ratio) + 1e-2


@few
@given(known(positive=True), EPSILONS)
def test_epsilon_and_delta_are_inverse_and_the_witness_attains_them(case, epsilon):
    matrix, prior = case
    for priors in (Priors.of(prior), Priors.all(), Priors.of_range(0.1, 0.6)):
        found = DeltaOfAdversarialPrivacy(priors, epsilon).measure(matrix)
        if found.value < 1e-6:
            continue
        back = AdversarialPrivacy(priors, found.value).measure(matrix)
        assert back.value == pytest.approx(epsilon, abs=1e-8)
        assert found.witness.prior is not None
        assert found.witness.event is not None
        joint = found.witness.prior * matrix[:, found.witness.outputs[0]]
        before, after = (
            found.witness.prior[found.witness.event].sum(),
            joint[found.witness.event].sum() / joint.sum(),
        )
        assert after - math.exp(epsilon) * before == pytest.approx(found.value, abs=1e-12)


@few
@given(known())
def test_positive_membership_is_stronger(case):
    matrix, prior = case
    for priors in (Priors.of(prior), Priors.all(), Priors.of_range(0.1, 0.6)):
        weaker = AdversarialPrivacy(priors).measure(matrix).value
        assert weaker <= PositiveMembershipPrivacy(priors).measure(matrix).value + 1e-12


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case: Case):
    """Differential privacy at epsilon e bounds delta against all priors by its golden formula."""
    for epsilon in (0.0, 0.5):
        found = DeltaOfAdversarialPrivacy(Priors.all(), epsilon).measure(case.mechanism)
        own = DeltaOfAdversarialPrivacy(Priors.of(case.prior), epsilon).measure(case.mechanism)
        assert 0 <= own.lower <= found.upper <= 1 + 1e-10
        at = AdversarialPrivacy(Priors.all(), min(1.0, found.upper)).measure(case.mechanism)
        assert at.lower <= epsilon + 1e-6


def test_extremes():
    truth = np.eye(3)
    assert DeltaOfAdversarialPrivacy(Priors.all(), 1.0).measure(truth).value == 1.0
    assert AdversarialPrivacy(Priors.all(), 0.5).measure(truth).value == math.inf
    assert AdversarialPrivacy(Priors.all(), 1.0).measure(truth).upper < 1e-12
    assert AdversarialPrivacy(Priors.of_range(0, 1e-20), 1.0).measure(truth).upper < 1e-12
    assert AdversarialPrivacy(Priors.all()).measure(truth).value == math.inf
    uniform = Priors.of(Prior.uniform(Space(range(3))))
    assert AdversarialPrivacy(uniform).measure(truth).value == pytest.approx(math.log(3))
    assert DeltaOfAdversarialPrivacy(uniform, math.log(2)).measure(truth).value == pytest.approx(1 / 3)
    assert DeltaOfAdversarialPrivacy(Priors.all(), 0.0).measure(np.full((3, 2), 0.5)).upper < 1e-12


def test_the_least_of_all_floats_as_a_prior_probability():
    found = AdversarialPrivacy(Priors.of_range(0, 5e-324), 1e-9).measure([[1.0], [1.0]])
    assert found.value == 0
    found = AdversarialPrivacy(Priors.of_range(5e-324, 5e-324), 0.5).measure(np.eye(2))
    assert found.value == pytest.approx(math.log(0.5) - math.log(5e-324))


def test_refusals_and_words():
    for epsilon in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="from 0 to 700"):
            DeltaOfAdversarialPrivacy(Priors.all(), epsilon)
    with pytest.raises(InputError, match="not between 0 and 1"):
        AdversarialPrivacy(Priors.all(), 1.5)
    found = DeltaOfAdversarialPrivacy(Priors.all(), 0.5).measure(response(5))
    assert "1.649 times what it was plus 0.2266" in found.sentence
    assert "no epsilon is enough" in AdversarialPrivacy(Priors.all(), 0.5).measure(np.eye(2)).sentence
