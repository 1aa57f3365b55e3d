"""Pufferfish privacy: distribution privacy of conditioned priors, and its special cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior, Space
from sfumato.divergences import MaxDivergence
from sfumato.errors import InputError
from sfumato.privacy import Events, NoiselessPrivacy, Priors, Pufferfish, Rivals

from ...catalogue import CASES, Case
from ..bayes import channels, few, known, pure_epsilon


def approx(value: float):
    return value if math.isinf(value) else pytest.approx(value, abs=1e-12)


@given(known(smallest=4, largest=5))
def test_it_is_distribution_privacy_of_the_conditioned_priors(case):
    matrix, prior = case
    space, theta = prior.space, prior.probabilities
    pairs = [([0, 1], [2]), ([3], [0, 2])]
    expected = 0.0
    for pair in pairs:
        for first, second in (pair, pair[::-1]):
            if theta[first].sum() > 0 and theta[second].sum() > 0:
                lifted = [theta[g] @ matrix[g] / theta[g].sum() for g in (first, second)]
                expected = max(expected, MaxDivergence()(*(row / row.sum() for row in lifted)))
    found = Pufferfish(Priors.of(prior), Rivals.of_pairs(space, pairs)).measure(matrix)
    assert found.value == approx(expected)


@given(channels(smallest=4, largest=5), st.integers(0, 10**6))
def test_all_priors_are_differential_privacy_across_the_rivals(matrix, seed):
    space = Space(range(len(matrix)))
    rivals = Rivals.of_pairs(space, [([0, 1], [2]), ([3], [0, 2])])
    across = [(0, 2), (1, 2), (3, 0), (3, 2)]
    pairs = iter(across + [(t, s) for s, t in across])
    found = Pufferfish(Priors.all(), rivals).measure(matrix)
    assert found.value == approx(pure_epsilon(matrix, pairs))
    prior = Prior(space, np.random.default_rng(seed).dirichlet(np.full(len(space), 0.3)))
    assert Pufferfish(Priors.of(prior), rivals).measure(matrix).value <= found.value + 1e-12


@few
@given(known(smallest=3, largest=5))
def test_values_of_an_attribute_are_noiseless_privacy(case):
    matrix, prior = case
    events = Events.partition(prior.space, {label: label % 2 for label in range(len(matrix))})
    for priors in (Priors.of(prior), Priors.all()):
        noiseless = NoiselessPrivacy(priors, events).measure(matrix).value
        assert Pufferfish(priors, events).measure(matrix).value == noiseless
        assert Pufferfish(priors).measure(matrix).value == NoiselessPrivacy(priors).measure(matrix).value


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case: Case):
    every = Pufferfish(Priors.all()).measure(case.mechanism)
    assert every.value == approx(pure_epsilon(case.mechanism.matrix))
    own = Pufferfish(Priors.of(case.prior)).measure(case.mechanism)
    assert own.value == approx(pure_epsilon(case.mechanism.matrix[case.prior.support]))


@few
@given(known(smallest=3, positive=True))
def test_witness_attains_the_value(case):
    matrix, prior = case
    space = prior.space
    rivals = Rivals.of_pairs(space, [([0, 1], [2])])
    for priors in (Priors.of(prior), Priors.all()):
        found = Pufferfish(priors, rivals).measure(matrix)
        if found.value == 0:
            continue
        theta, event = found.witness.prior, found.witness.event
        assert theta is not None
        assert event is not None
        other = np.array([2]) if 0 in event else np.array([0, 1])
        rows = [theta[g] @ matrix[g] / theta[g].sum() for g in (event, other)]
        o = found.witness.outputs[0]
        assert math.log(rows[0][o] / rows[1][o]) == approx(found.value)


def test_several_priors_are_the_worst_of_them():
    matrix = np.array([[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]])
    space = Space("abc")
    rivals = Rivals.of_pairs(space, [("ab", "c")])
    priors = [Prior(space, p) for p in ([0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0])]
    values = [Pufferfish(Priors.of(prior), rivals).measure(matrix).value for prior in priors]
    assert values[2] == 0  # under the last prior one fact is impossible
    assert Pufferfish(Priors.of(*priors), rivals).measure(matrix).value == max(values) > min(values[:2])


def test_refusals_and_words():
    space = Space("abc")
    with pytest.raises(InputError, match="true of the same secret"):
        Rivals.of_pairs(space, [("ab", "bc")])
    with pytest.raises(InputError, match="do not go together"):
        Rivals(np.ones((2, 3), dtype=bool), np.array([[False, True], [False, False]]))
    rivals = Rivals.of_pairs(space, [("a", "bc")])
    with pytest.raises(InputError, match="about 3 secrets, but the mechanism has 2"):
        Pufferfish(Priors.all(), rivals).measure(np.eye(2))
    mechanism = Mechanism([[0.5, 0.5], [0.25, 0.75], [0.25, 0.75]], space, Space("xy"))
    found = Pufferfish(Priors.all(), rivals).measure(mechanism)
    assert "at most 2.0000000001 times" in found.sentence
    assert "no epsilon is enough" in Pufferfish(Priors.all(), rivals).sentence(math.inf)
    assert "report x" in found.witness.describe(mechanism.secrets, mechanism.observables)
    assert list(itertools.chain(*found.notion.rivals.facts.tolist())).count(True) == 3  # type: ignore[attr-defined]
