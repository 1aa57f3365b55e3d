"""Information privacy by its formula, and what it says of every fact and of differential privacy."""

import math

import numpy as np
import pytest
from hypothesis import given

from sfumato.privacy import (
    AdversarialPrivacy,
    AposterioriNoiselessPrivacy,
    Events,
    InformationPrivacy,
    MembershipPrivacy,
    Priors,
)

from ...catalogue import CASES, Case
from ..bayes import facts, few, known, pure_epsilon


def by_formula(matrix, theta):
    """max over s and o of |ln(p(o|s) / p(o))| for possible s and o."""
    average = theta @ matrix
    with np.errstate(divide="ignore"):
        logs = np.log(matrix[theta > 0][:, average > 0] / average[average > 0])
    return float(np.abs(logs).max())


@given(known())
def test_formula(case):
    matrix, prior = case
    found = InformationPrivacy(Priors.of(prior)).measure(matrix)
    expected = by_formula(matrix, prior.probabilities)
    assert found.value == (expected if math.isinf(expected) else pytest.approx(expected, abs=1e-12))
    assert found.lower <= expected <= found.upper or expected == pytest.approx(found.value, abs=1e-12)


@few
@given(known())
def test_every_group_of_secrets_is_bounded(case):
    """It is stronger than its single values look: no fact about the secret moves by more."""
    matrix, prior = case
    priors = Priors.of(prior)
    found = InformationPrivacy(priors).measure(matrix).value
    masks = Events(facts(len(matrix)))
    assert AposterioriNoiselessPrivacy(priors).measure(matrix).value == found
    assert MembershipPrivacy(priors, masks).measure(matrix).value <= found + 1e-12
    assert AdversarialPrivacy(priors, 0.0, masks).measure(matrix).value <= found + 1e-12


@given(known(positive=True))
def test_full_support_implies_differential_privacy_with_twice_the_epsilon(case):
    matrix, prior = case
    found = InformationPrivacy(Priors.of(prior)).measure(matrix).value
    assert pure_epsilon(matrix) <= 2 * found + 1e-12
    assert found <= pure_epsilon(matrix) + 1e-12


def test_without_full_support_it_implies_nothing_of_the_impossible():
    matrix = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]])
    assert by_formula(matrix, np.array([0.5, 0.5, 0.0])) == 0
    assert pure_epsilon(matrix) == math.inf


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_priors_are_local_differential_privacy(case: Case):
    found = InformationPrivacy(Priors.all()).measure(case.mechanism)
    local = pure_epsilon(case.mechanism.matrix)
    assert found.value == (local if math.isinf(local) else pytest.approx(local, abs=1e-12))
    own = InformationPrivacy(Priors.of(case.prior)).measure(case.mechanism)
    expected = by_formula(case.mechanism.matrix, case.prior.probabilities)
    assert own.value == (expected if math.isinf(expected) else pytest.approx(expected, abs=1e-12))


def test_words():
    assert "no epsilon is enough" in InformationPrivacy(Priors.all()).measure(np.eye(2)).sentence
    found = InformationPrivacy(Priors.all()).measure([[0.75, 0.25], [0.25, 0.75]])
    assert "at most 3.0000000001" in found.sentence
    assert "Under every prior" in found.sentence
