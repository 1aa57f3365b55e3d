"""Membership privacy against its definition, over all sets of reports and many priors."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.privacy import (
    DifferentialPrivacy,
    Events,
    IndistinguishablePrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    PositiveMembershipPrivacy,
    Priors,
    Relation,
)

from ...catalogue import CASES, Case
from ..bayes import channels, facts, few, known, log_ratio, negative_membership, positive_membership, pure_epsilon

RATIOS = [[0.75, 0.25], [0.25, 0.75]]
AnyMembership = type[PositiveMembershipPrivacy] | type[NegativeMembershipPrivacy] | type[MembershipPrivacy]
NOTIONS: list[AnyMembership] = [PositiveMembershipPrivacy, NegativeMembershipPrivacy, MembershipPrivacy]


def approx(value: float):
    return value if math.isinf(value) else pytest.approx(value, abs=1e-12)


@few
@given(known())
def test_single_reports_suffice_for_all_sets_and_facts(case):
    matrix, prior = case
    masks = facts(len(matrix))
    up = positive_membership(matrix, prior.probabilities, masks)
    down = negative_membership(matrix, prior.probabilities, masks)
    for notion, expected in zip(NOTIONS, [up, down, max(up, down)], strict=True):
        assert notion(Priors.of(prior), Events(masks)).measure(matrix).value == approx(expected)


@few
@given(known())
def test_witness_attains_the_value(case):
    matrix, prior = case
    n = len(matrix)
    for priors in (
        Priors.of(prior),
        Priors.of_range(0.25, 0.5),
        Priors.of_range(0.1, 0.9, Prior.uniform(prior.space)),
    ):
        found = MembershipPrivacy(priors).measure(matrix)
        if found.value == 0:
            continue
        assert found.witness.prior is not None
        assert found.witness.event is not None
        mask = np.isin(np.arange(n), found.witness.event)
        joint = found.witness.prior * matrix[:, found.witness.outputs[0]]
        p, q = found.witness.prior[mask].sum(), found.witness.prior[~mask].sum()
        t, f = joint[mask].sum() / joint.sum(), joint[~mask].sum() / joint.sum()
        assert max(abs(log_ratio(t, p)), abs(log_ratio(f, q))) == approx(found.value)


@few
@given(known(positive=True), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_ends_of_an_interval_of_priors_are_the_worst(case, one, other):
    matrix, given_prior = case
    a, b = min(one, other), max(one, other)
    mask = facts(len(matrix))[:1]
    theta = given_prior.probabilities
    priors = Priors.of_range(a, b, given_prior)
    for notion, reference in zip(NOTIONS, [positive_membership, negative_membership], strict=False):
        found = notion(priors, Events(mask)).measure(matrix).value
        at = []
        for p in np.linspace(a, b, 9):
            belief = np.where(mask[0], p * theta / theta[mask[0]].sum(), (1 - p) * theta / theta[~mask[0]].sum())
            at.append(reference(matrix, belief, mask))
        assert found == approx(max(at))
        assert max(at) == approx(max(at[0], at[-1]))


@given(channels(positive=True), st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.01, 3))
def test_interval_is_the_published_threshold_of_the_ratio(matrix, one, other, epsilon):
    a, b = min(one, other), max(one, other)
    mask = facts(len(matrix))[:1]
    rho = max(float(column[mask[0]].max() / column[~mask[0]].min()) for column in matrix.T)
    E = math.exp(epsilon)
    allowed = min(E * (1 - a) / (1 - a * E) if a * E < 1 else math.inf, (E + b - 1) / b)
    found = PositiveMembershipPrivacy(Priors.of_range(a, b), Events(mask)).measure(matrix).value
    if abs(rho - allowed) > 1e-9 * rho:
        assert (found <= epsilon) == (rho <= allowed)


@few
@given(channels(), st.randoms(use_true_random=False))
def test_no_prior_exceeds_all_priors_which_are_differential_privacy(matrix, random):
    found = MembershipPrivacy(Priors.all()).measure(matrix)
    assert found.value == approx(pure_epsilon(matrix))
    n = len(matrix)
    for _ in range(5):
        prior = Prior.from_counts(Space(range(n)), [random.choice([0, 1e-6, 1, 3]) + 1e-9 for _ in range(n)])
        assert MembershipPrivacy(Priors.of(prior)).measure(matrix).value <= found.value + 1e-12
        inside = MembershipPrivacy(Priors.of(prior), Events(facts(n))).measure(matrix).value
        assert inside <= MembershipPrivacy(Priors.all(), Events(facts(n))).measure(matrix).value + 1e-12


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case: Case):
    local = DifferentialPrivacy().measure(case.mechanism)
    every = MembershipPrivacy(Priors.all()).measure(case.mechanism)
    assert every.value == approx(local.value)
    assert every.upper >= local.lower
    own = MembershipPrivacy(Priors.of(case.prior)).measure(case.mechanism)
    assert own.lower <= every.upper
    listed = MembershipPrivacy(Priors.of(case.prior, Prior.uniform(case.mechanism.secrets))).measure(
        case.mechanism
    )
    single = MembershipPrivacy(Priors.of(Prior.uniform(case.mechanism.secrets))).measure(case.mechanism)
    assert listed.value == max(own.value, single.value)


def test_only_the_upward_ratio_is_bounded():
    matrix = [[0.0, 1.0], [0.5, 0.5]]
    space = Space(["a", "b"])
    fact = Events.sets(space, ["a"])
    assert PositiveMembershipPrivacy(Priors.all(), fact).measure(matrix).value == pytest.approx(math.log(2))
    assert NegativeMembershipPrivacy(Priors.all(), fact).measure(matrix).value == math.inf
    opposite = Events.sets(space, ["b"])
    assert PositiveMembershipPrivacy(Priors.all(), opposite).measure(matrix).value == math.inf


def test_a_fact_that_the_prior_holds_impossible_costs_nothing():
    matrix = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    prior = Prior(Space(range(3)), [0.5, 0.5, 0.0])
    found = MembershipPrivacy(Priors.of(prior)).measure(matrix)
    assert found.value == 0
    assert found.upper < 1e-13
    assert MembershipPrivacy(Priors.of_range(0.1, 0.2, prior)).measure(matrix).value == math.inf


@few
@given(known(positive=True, largest=5, outputs=5))
def test_rounding_is_covered(case):
    matrix, prior = case
    found = MembershipPrivacy(Priors.of(prior)).measure(matrix)
    weights = [Fraction(float(x)) for x in prior.probabilities]
    total = sum(weights, Fraction(0))
    best = Fraction(1)
    for column in matrix.T:
        entries = [Fraction(float(x)) for x in column]
        mean = sum((w * x for w, x in zip(weights, entries, strict=True)), Fraction(0)) / total
        for w, x in zip(weights, entries, strict=True):
            rest = (mean - w / total * x) / (1 - w / total)
            best = max([best, x / mean, mean / x, rest / mean, mean / rest])
    with flint.ctx.workprec(200):
        truth = (flint.arb(best.numerator) / flint.arb(best.denominator)).log()
        assert flint.arb(found.lower) <= truth <= flint.arb(found.upper)


@few
@given(known(), st.integers(0, 10**6))
def test_post_processing_does_not_hurt(case, seed):
    matrix, prior = case
    after = matrix @ np.random.default_rng(seed).dirichlet(np.ones(3), matrix.shape[1])
    for notion in NOTIONS:
        for priors in (Priors.of(prior), Priors.all(), Priors.of_range(0.2, 0.3)):
            assert notion(priors).measure(after).value <= notion(priors).measure(matrix).value + 1e-12


@given(channels(positive=True), st.floats(0.001, 0.999))
def test_indistinguishable_secrets_keep_the_belief_in_the_band(matrix, p):
    relation = Relation(np.eye(len(matrix), k=1, dtype=bool))
    found = IndistinguishablePrivacy(relation).measure(matrix)
    neighbours = [(s, s + 1) for s in range(len(matrix) - 1)]
    assert found.value == approx(pure_epsilon(matrix, iter(neighbours + [(t, s) for s, t in neighbours])))
    E = math.exp(found.upper)
    for s, t in neighbours:
        after = p * matrix[s] / (p * matrix[s] + (1 - p) * matrix[t])
        assert (after <= E * p / (1 + (E - 1) * p) + 1e-12).all()
        assert (after >= p / (E + (1 - E) * p) - 1e-12).all()


def test_many_facts_at_once_are_each_of_them(monkeypatch):
    monkeypatch.setattr("sfumato.privacy.beliefs.posterior._BLOCK", 8)
    rng = np.random.default_rng(5)
    matrix, masks = rng.dirichlet(np.ones(4), 6), facts(6)
    one_by_one = max(MembershipPrivacy(Priors.all(), Events(mask[None])).measure(matrix).value for mask in masks)
    assert MembershipPrivacy(Priors.all(), Events(masks)).measure(matrix).value == one_by_one


def test_four_hundred_secrets_and_observables():
    rng = np.random.default_rng(4)
    matrix = rng.dirichlet(np.full(400, 3.0), 400)
    theta = rng.dirichlet(np.ones(400))
    theta[7] = 0.0
    prior = Prior.from_counts(Space(range(400)), theta)
    average = prior.probabilities @ matrix
    changes = np.abs(np.log(matrix[prior.support] / average)).max()
    assert MembershipPrivacy(Priors.of(prior)).measure(matrix).value == pytest.approx(changes, abs=1e-11)
    extreme = np.log(matrix.max(axis=0) / matrix.min(axis=0)).max()
    found = MembershipPrivacy(Priors.all()).measure(matrix)
    assert found.value == pytest.approx(extreme, abs=1e-12)
    assert found.rounding < 1e-12


def test_refusals():
    prior = Prior.uniform(Space(range(3)))
    with pytest.raises(InputError, match="on 3 secrets, but the mechanism has 2"):
        MembershipPrivacy(Priors.of(prior)).measure(RATIOS)
    with pytest.raises(InputError, match="about 3 secrets"):
        MembershipPrivacy(Priors.all(), Events.singletons(3)).measure(RATIOS)
    with pytest.raises(InputError, match="is not an interval"):
        Priors.of_range(0.5, 0.25)
    with pytest.raises(InputError, match="no prior was given"):
        Priors.of()
    with pytest.raises(InputError, match="true of 3 of 3"):
        Events.sets(Space("abc"), ["abc"])
    with pytest.raises(InputError, match="2 values of the attribute"):
        Events([[True, True], [False, True]], attribute=True)
    with pytest.raises(InputError, match="says nothing about 'c'"):
        Events.partition(Space("abc"), {"a": 1, "b": 2})
    with pytest.raises(InputError, match="occur together with probability"):
        MembershipPrivacy(Priors.all()).measure([[1e-260, 1 - 1e-260], [0.5, 0.5]])
    hollow = Prior(Space("abc"), [1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="true of several secrets"):
        MembershipPrivacy(Priors.of_range(0.1, 0.2, hollow), Events.sets(Space("abc"), ["bc"])).measure(
            np.full((3, 2), 0.5)
        )


def test_words():
    mechanism = Mechanism(RATIOS, Space(["home", "work"]))
    found = MembershipPrivacy(Priors.of_range(0.5, 0.5)).measure(mechanism)
    assert "gives the fact 0.5 to 0.5" in found.sentence
    assert "2.001 times" not in found.sentence
    assert "home" in found.witness.describe(mechanism.secrets, mechanism.observables)
    assert "no epsilon is enough" in MembershipPrivacy(Priors.all()).measure(np.eye(2)).sentence
