"""Noiseless, a-posteriori noiseless, inferential, identity and causal privacy, by their definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Prior, Space
from sfumato.errors import InputError
from sfumato.privacy import (
    AposterioriNoiselessPrivacy,
    CausalPrivacy,
    Events,
    IdentityPrivacy,
    InferentialPrivacy,
    MembershipPrivacy,
    NoiselessPrivacy,
    Priors,
)

from ...catalogue import CASES, Case
from ..bayes import channels, events_of, few, known, log_ratio, pure_epsilon

PAIRS = Space(list(itertools.product((0, 1), repeat=2)))


def approx(value: float):
    return value if math.isinf(value) else pytest.approx(value, abs=1e-12)


@st.composite
def attributes(draw):
    """A matrix, a prior and the value of an attribute of each secret."""
    matrix, prior = draw(known(smallest=3, largest=5))
    return matrix, prior, draw(st.lists(st.integers(0, 2), min_size=len(matrix), max_size=len(matrix)))


def given_values(matrix, prior, values):
    """Return P[o | a] and P[a] of every possible value a."""
    theta, answer = prior.probabilities, {}
    for value in set(values):
        mask = np.array(values) == value
        if theta[mask].sum() > 0:
            answer[value] = (theta[mask] @ matrix[mask] / theta[mask].sum(), theta[mask].sum())
    return answer


@few
@given(attributes())
def test_definitions_over_all_sets_of_reports(case):
    matrix, prior, values = case
    events = Events.partition(prior.space, dict(enumerate(values)))
    likelihoods = given_values(matrix, prior, values)
    average = prior.probabilities @ matrix
    noiseless = after = odds = 0.0
    for S in events_of(matrix.shape[1]):
        if average[S].sum() == 0:
            continue
        posterior = {a: p * row[S].sum() / average[S].sum() for a, (row, p) in likelihoods.items()}
        for a, (row, p) in likelihoods.items():
            after = max(after, abs(log_ratio(posterior[a], p)))
            for b, (other, q) in likelihoods.items():
                noiseless = max(noiseless, log_ratio(row[S].sum(), other[S].sum()))
                if posterior[a] > 0 and posterior[b] > 0:
                    odds = max(odds, math.log(posterior[a] / posterior[b] / (p / q)))
    priors = Priors.of(prior)
    found = NoiselessPrivacy(priors, events).measure(matrix)
    assert found.value == approx(noiseless)
    before_after = AposterioriNoiselessPrivacy(priors, events).measure(matrix)
    assert before_after.value == approx(after)
    assert before_after.value <= found.value + 1e-12
    assert found.value <= 2 * before_after.value + 1e-12
    assert MembershipPrivacy(priors, events).measure(matrix).value == before_after.value
    assert InferentialPrivacy(priors, events).measure(matrix).value == found.value
    assert IdentityPrivacy(priors, events).measure(matrix).value == found.value
    if math.isfinite(found.value):
        assert found.value == approx(odds)


def test_factor_two_is_attained():
    matrix = [[0.4, 0.6], [0.1, 0.9], [0.15, 0.85]]
    priors = Priors.of(Prior(Space(range(3)), [0.25, 0.25, 0.5]))
    assert AposterioriNoiselessPrivacy(priors).measure(matrix).value == pytest.approx(math.log(2), abs=1e-12)
    assert NoiselessPrivacy(priors).measure(matrix).value == pytest.approx(2 * math.log(2), abs=1e-12)


@given(channels(), st.integers(0, 10**6))
def test_all_priors_are_differential_privacy_between_the_values(matrix, seed):
    n = len(matrix)
    values = [s % 2 for s in range(n)]
    events = Events.partition(Space(range(n)), dict(enumerate(values)))
    found = NoiselessPrivacy(Priors.all(), events).measure(matrix)
    across = [(s, t) for s, t in itertools.permutations(range(n), 2) if values[s] != values[t]]
    assert found.value == approx(pure_epsilon(matrix, iter(across)))
    assert NoiselessPrivacy(Priors.all()).measure(matrix).value == approx(pure_epsilon(matrix))
    prior = Prior(Space(range(n)), np.random.default_rng(seed).dirichlet(np.ones(n)))
    assert NoiselessPrivacy(Priors.of(prior), events).measure(matrix).value <= found.value + 1e-12


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case: Case):
    local = pure_epsilon(case.mechanism.matrix)
    for priors in (Priors.all(), Priors.of_range(0.1, 0.2), Priors.of_range(0, 1, case.prior)):
        assert NoiselessPrivacy(priors).measure(case.mechanism).value == approx(local)
    support = case.prior.support
    found = NoiselessPrivacy(Priors.of(case.prior)).measure(case.mechanism)
    assert found.value == approx(pure_epsilon(case.mechanism.matrix[support]))
    assert found.lower <= local <= math.inf


def test_facts_that_are_no_attribute_are_compared_with_their_opposites():
    matrix = np.array([[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]])
    prior = Prior(Space("abc"), [0.5, 0.25, 0.25])
    events = Events.sets(prior.space, ["a", "ab"])
    ratios = [0.5 / 0.1875, (2 * 0.5 + 0.25) / 3 / 0.125]
    found = NoiselessPrivacy(Priors.of(prior), events).measure(matrix)
    assert found.value == pytest.approx(math.log(max(ratios)), abs=1e-12)
    assert found.witness.event is not None
    assert found.witness.event.tolist() == [0, 1]
    assert "positions 2" in found.witness.note or found.witness.pair is not None


@given(known(smallest=3))
def test_facts_and_opposites_count_in_both_orders(case):
    matrix, prior = case
    mask = np.arange(len(matrix)) < 2
    rows = list(given_values(matrix, prior, mask.tolist()).values())
    expected = pure_epsilon(np.array([row for row, _ in rows]))
    found = NoiselessPrivacy(Priors.of(prior), Events(mask[None])).measure(matrix)
    assert found.value == approx(expected)


def test_a_parity_hides_each_bit_from_those_who_know_nothing_of_the_other():
    parity = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    first = Events.partition(PAIRS, {label: label[0] for label in PAIRS.labels})  # type: ignore[index]
    uniform = Priors.of(Prior.uniform(PAIRS))
    assert NoiselessPrivacy(uniform, first).measure(parity).value == 0
    assert NoiselessPrivacy(Priors.all(), first).measure(parity).value == math.inf


def test_causal_privacy_ignores_what_other_records_say():
    """The second bit is reported; the first is nearly a copy of it, but setting it changes nothing."""
    second = np.array([[0.75, 0.25], [0.25, 0.75], [0.75, 0.25], [0.25, 0.75]])
    copies = Prior(PAIRS, [0.5, 0.0, 0.0, 0.5])
    first = Events.partition(PAIRS, {label: label[0] for label in PAIRS.labels})  # type: ignore[index]
    assert NoiselessPrivacy(Priors.of(copies), first).measure(second).value == pytest.approx(math.log(3))
    causal = CausalPrivacy.of_records(PAIRS, Priors.of(copies))
    assert causal.interventions[0].tolist() == [[0, 1, 0, 1], [2, 3, 2, 3]]
    only_first = CausalPrivacy(Priors.of(copies), causal.interventions[:1])
    assert only_first.measure(second).value == 0
    assert causal.measure(second).value == pytest.approx(math.log(3))
    assert "record 1" in causal.measure(second).witness.note


@given(channels(smallest=4, largest=4), st.integers(0, 10**6))
def test_causal_privacy_by_its_definition(matrix, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(4))
    expected = 0.0
    for record in (0, 1):
        rows = []
        for value in (0, 1):
            row = np.zeros(matrix.shape[1])
            for s, (a, b) in enumerate(itertools.product((0, 1), repeat=2)):
                row += weights[s] * matrix[PAIRS.position((value, b) if record == 0 else (a, value))]
            rows.append(row)
        expected = max(expected, pure_epsilon(np.array(rows)))
    given_prior = CausalPrivacy.of_records(PAIRS, Priors.of(Prior(PAIRS, weights))).measure(matrix)
    assert given_prior.value == approx(expected)
    every = CausalPrivacy.of_records(PAIRS, Priors.all()).measure(matrix)
    bounded = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1), (2, 3), (3, 2)]
    assert every.value == approx(pure_epsilon(matrix, iter(bounded)))
    assert given_prior.value <= every.value + 1e-12


@given(known())
def test_causal_privacy_of_a_single_record_is_local_differential_privacy(case):
    matrix, prior = case
    for priors in (Priors.of(prior), Priors.all()):
        found = CausalPrivacy.of_records(prior.space, priors).measure(matrix)
        assert found.value == approx(pure_epsilon(matrix))


def test_interventions_need_not_keep_any_secret():
    matrix = np.array([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]])
    notion = CausalPrivacy(Priors.all(), [[[0, 0, 0], [1, 1, 1]]])
    assert notion.relation.pairs.tolist() == [[0, 1], [1, 0]]
    assert notion.measure(matrix).value == pytest.approx(math.log(2))


def test_causal_refusals():
    with pytest.raises(InputError, match="causal privacy was asked for"):
        CausalPrivacy(Priors.of_range(0.1, 0.2), [[[0, 1]]])
    with pytest.raises(InputError, match="no intervention"):
        CausalPrivacy(Priors.all(), [])
    with pytest.raises(InputError, match="positions of the 2 secrets"):
        CausalPrivacy(Priors.all(), [[[0, 2]]])
    with pytest.raises(InputError, match="on 2 secrets, but the mechanism has 3"):
        CausalPrivacy(Priors.all(), [[[0, 1]]]).measure(np.eye(3))
    with pytest.raises(InputError, match="not in the space"):
        CausalPrivacy.of_records(Space([(0, 0), (1, 1)]), Priors.all())


def test_words():
    prior = Priors.of(Prior.uniform(Space(range(2))))
    coin = [[0.75, 0.25], [0.25, 0.75]]
    for notion in (NoiselessPrivacy(prior), InferentialPrivacy(prior), IdentityPrivacy(prior)):
        assert "3.0000000001" in notion.measure(coin).sentence
        assert "no epsilon is enough" in notion.sentence(math.inf)
    causal = CausalPrivacy.of_records(Space(range(2)), Priors.all())
    assert "no report more than 3 times as likely" in causal.measure(coin).sentence
    assert "no epsilon is enough" in causal.sentence(math.inf)
