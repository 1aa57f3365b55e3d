"""Differential identifiability and sampling privacy as membership privacy against families of priors."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.audits import Outcome, Requirement, audit
from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.privacy import (
    Claim,
    DifferentialPrivacy,
    EventRatio,
    Events,
    FallOfEventRatio,
    MembershipPrivacy,
    PositiveMembershipPrivacy,
    Priors,
    Relation,
    band,
    convert,
)

from ...catalogue import randomised_response
from ..bayes import channels, few

PEOPLE = 3
DATA_SETS = Space(list(itertools.product((0, 1), repeat=PEOPLE)))
PAIRS = Space([label for label in itertools.product((0, 1), repeat=4) if sum(label) == 2])
FACTS = Events.of_members(DATA_SETS)


def differing(space, steps):
    """The pairs of data sets that differ in this number of people."""
    labels = np.array(space.labels)
    return Relation(np.abs(labels[:, None] - labels).sum(axis=2) == steps, "neighbours")


NEIGHBOURS = differing(DATA_SETS, 1)


def identifiability(matrix, space):
    """The largest posterior of the unknown person, by the definition, in fractions."""
    labels = [frozenset(np.flatnonzero(label).tolist()) for label in space.labels]
    people = range(len(space.labels[0]))
    worst = Fraction(0)
    for known in {label - {person} for label in labels for person in label}:
        worlds = [
            labels.index(known | {person})
            for person in people
            if person not in known and known | {person} in labels
        ]
        for column in np.transpose(matrix):
            masses = [Fraction(float(column[world])) for world in worlds]
            if len(worlds) > 1 and any(masses):
                worst = max(worst, max(masses) / sum(masses))
    return worst


def sampled(matrix, space, share):
    """The mechanism on samples of the data sets, each person with a probability, in fractions."""
    labels = [set(np.flatnonzero(label)) for label in space.labels]
    exact = [[Fraction(float(entry)) for entry in row] for row in matrix]
    rows = []
    for people in labels:
        weights = [
            share ** len(sample) * (1 - share) ** len(people - sample) if sample <= people else Fraction(0)
            for sample in labels
        ]
        rows.append(
            [
                sum((w * row[o] for w, row in zip(weights, exact, strict=True)), Fraction(0))
                for o in range(len(exact[0]))
            ]
        )
    return rows


def largest_ratio(rows, relation):
    ratios = [(a, b) for s, t in relation.pairs for a, b in zip(rows[s], rows[t], strict=True) if a or b]
    return max(math.inf if not b else a / b for a, b in ratios)


@given(channels(6, 6, outputs=3))
def test_differential_identifiability_is_positive_membership_at_one_over_m(matrix):
    """Two of four people: with one of them known, m = 3 may be the other."""
    priors = Priors.of_identity(PAIRS)
    assert len(priors.listed) == 4
    found = PositiveMembershipPrivacy(priors, Events.of_members(PAIRS)).measure(matrix).value
    rho = float(identifiability(matrix, PAIRS))
    factor = math.inf if rho == 1 else max(rho * 3, (2 / 3) / (1 - rho))
    assert found == (math.inf if rho == 1 else pytest.approx(math.log(factor), abs=1e-12))
    if rho < 1:
        assert float(band("positive-membership", found).upper(1 / 3)) == pytest.approx(rho, abs=1e-12)


@pytest.mark.parametrize(("m", "epsilon"), [(2, 0.5), (3, 1.0), (5, 2.0)])
def test_identifiability_of_differential_privacy_is_attained_by_randomised_response(m, epsilon):
    single = Space([tuple(row) for row in np.eye(m, dtype=int).tolist()])
    rows = randomised_response(m, epsilon)
    bound = 1 / (1 + (m - 1) * math.exp(-epsilon))
    assert float(identifiability(rows, single)) == pytest.approx(bound, rel=1e-12)
    assert float(band("differential-privacy", epsilon).upper(1 / m)) == pytest.approx(bound, rel=1e-12)
    found = PositiveMembershipPrivacy(Priors.of_identity(single), Events.of_members(single)).measure(rows)
    assert float(band("positive-membership", found.value).upper(1 / m)) == pytest.approx(bound, rel=1e-12)
    derived = convert(
        Claim("differential-privacy", epsilon=epsilon),
        to="positive-membership",
        priors=Priors.of_identity(single),
        events=Events.of_members(single),
    ).claim
    assert derived["epsilon"] == pytest.approx(found.value, rel=1e-12)


@given(channels(2, 2, outputs=4, positive=True))
def test_with_two_possible_people_identifiability_gives_differential_privacy(matrix):
    single = Space([(1, 0), (0, 1)])
    found = PositiveMembershipPrivacy(Priors.of_identity(single), Events.of_members(single)).measure(matrix)
    back = convert(found, to="differential-privacy").claim
    assert back["epsilon"] == pytest.approx(DifferentialPrivacy().measure(matrix).value, abs=1e-11)
    assert back.about == "secrets between which a prior is in doubt"


def test_with_three_possible_people_it_gives_none():
    single = Space([(1, 0, 0), (0, 1, 0), (0, 0, 1)])
    excluding = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]) / 2
    found = PositiveMembershipPrivacy(Priors.of_identity(single), Events.of_members(single)).measure(excluding)
    assert found.value == pytest.approx(math.log(1.5))
    assert identifiability(excluding, single) == Fraction(1, 2)
    assert DifferentialPrivacy().measure(excluding).value == math.inf
    with pytest.raises(InputError, match="priors on two secrets"):
        convert(found, to="differential-privacy")


@given(channels(8, 8, outputs=3), st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(7, 8)]))
def test_rise_and_fall_give_sampling_privacy_and_membership_implies_it(matrix, share):
    priors = Priors.of_sampling(DATA_SETS, float(share))
    rise, fall = (kind(priors, FACTS).measure(matrix).value for kind in (EventRatio, FallOfEventRatio))
    truth = largest_ratio(sampled(matrix, DATA_SETS, share), NEIGHBOURS)
    epsilon = math.inf if math.isinf(truth) else math.log(truth)
    b = float(share)
    assert max(math.log1p(b * math.expm1(rise)), -math.log1p(b * math.expm1(-fall))) == (
        math.inf if math.isinf(epsilon) else pytest.approx(epsilon, abs=1e-11)
    )
    assert MembershipPrivacy(priors, FACTS).measure(matrix).value >= epsilon - 1e-11 or math.isinf(epsilon)
    if share >= Fraction(1, 2) and math.isfinite(rise):
        positive = PositiveMembershipPrivacy(priors, FACTS).measure(matrix).value
        assert positive == pytest.approx(math.log1p(b * math.expm1(rise)), abs=1e-11)


@few
@given(channels(8, 8, outputs=3, positive=True), st.floats(0.05, 0.95))
def test_differential_privacy_of_neighbours_gives_both_families(matrix, share):
    start = DifferentialPrivacy(NEIGHBOURS).measure(matrix)
    samples = Priors.of_sampling(DATA_SETS, share)
    ratio = convert(start, to="event-ratio", priors=samples, events=FACTS).claim
    assert ratio["rise"] == pytest.approx(start.value, abs=1e-9)
    assert EventRatio(samples, FACTS).measure(matrix).lower <= ratio["rise"]
    membership = convert(start, to="membership", priors=samples, events=FACTS).claim
    assert MembershipPrivacy(samples, FACTS).measure(matrix).lower <= membership["epsilon"]
    # Exchange of one person for another: the data sets of one prior differ by two people.
    exchange = DifferentialPrivacy(differing(DATA_SETS, 2)).measure(matrix)
    identity = Priors.of_identity(DATA_SETS)
    ratio = convert(exchange, to="event-ratio", priors=identity, events=FACTS).claim
    assert ratio["rise"] == exchange.upper
    assert EventRatio(identity, FACTS).measure(matrix).lower <= ratio["rise"]


def test_amplification_by_sampling_is_attained():
    """One person's presence by randomised response at epsilon 1, on samples of a quarter."""
    present = Space([(0,), (1,)])
    rows = randomised_response(2, 1.0)
    found = MembershipPrivacy(Priors.of_sampling(present, 0.25), Events.of_members(present))
    amplified = math.log(1 + 0.25 * (math.e - 1))
    assert math.log(largest_ratio(sampled(rows, present, Fraction(1, 4)), differing(present, 1))) == pytest.approx(
        amplified
    )
    assert found.measure(rows).value > amplified  # it also bounds the probability of presence


def test_correlated_people_are_not_coupled_by_neighbours():
    correlated = Priors.of(Prior(DATA_SETS, np.isin(np.arange(8), [0, 7]) / 2))  # all three, or none
    start = Claim("differential-privacy", epsilon=1.0, relation=NEIGHBOURS)
    ratio = convert(start, to="event-ratio", priors=correlated, events=FACTS).claim
    assert ratio["rise"] == pytest.approx(3.0)  # three steps
    last = Relation(NEIGHBOURS.array & (np.arange(8)[:, None] < 2) & (np.arange(8) < 2), "the last person")
    with pytest.raises(InputError, match="related secrets must couple"):
        convert(
            Claim("differential-privacy", epsilon=1.0, relation=last),
            to="event-ratio",
            priors=correlated,
            events=FACTS,
        )


@few
@given(channels(8, 8, outputs=3, positive=True), st.sampled_from(["tuples", "texts"]))
def test_requests_name_the_families(matrix, labels):
    """Differential identifiability and sampling privacy from requirements, against their definitions."""
    texts = ["".join(map(str, bits)) for bits in itertools.product((0, 1), repeat=PEOPLE)]
    space = DATA_SETS if labels == "tuples" else Space(texts)
    requests = ["positive-membership(prior=identity)", "rise(prior=sampling:.25)", "fall(prior=sampling:0.25)"]
    found = audit(Mechanism(matrix, space), also=[*requests, "pufferfish(prior=sampling:0.25)"])
    positive = found.find("positive-membership", prior="identity")
    rho = float(identifiability(matrix, DATA_SETS))
    # The set {1, 2} leaves one data set, and each other set of known people m = 2 or m = 3 data sets.
    priors = Priors.of_identity(space)
    assert {np.count_nonzero(prior.probabilities) for prior in priors.listed} == {2, 3}
    assert positive.number >= math.log(rho * 2) - 1e-9
    assert "priors of attackers who know all people but one" in positive.sentence
    rise, fall = (found.find(name, prior="sampling:0.25").number for name in ("rise", "fall"))
    # The rivals are that a person is in the data and that the person is not.
    assert found.find("pufferfish", prior="sampling:0.25").number == pytest.approx(max(rise, fall), abs=1e-9)
    truth = largest_ratio(sampled(matrix, DATA_SETS, Fraction(1, 4)), NEIGHBOURS)
    value = max(math.log1p(0.25 * math.expm1(rise)), -math.log1p(-0.25 * -math.expm1(-fall)))
    assert value == pytest.approx(math.log(truth), abs=1e-9)
    verdict = Requirement.parse("rise(prior=sampling:0.25) <= 1e-9").hold_against(found)
    assert verdict.outcome is (Outcome.HOLDS if rise <= 1e-9 else Outcome.FAILS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("membership(prior=sampling)", "write prior=every, prior=identity, prior=sampling:0.25"),
        ("membership(prior=sampling:)", "the sampling probability '' is not a number"),
        ("membership(prior=sampling:1.5)", "a sampling probability of 1.5 was given"),
        ("membership(prior=sampling:nan)", "the sampling probability 'nan' is not a number"),
        ("gaussian(prior=identity)", "gaussian has no prior"),
        ("membership(prior=identity)", "the secrets are not data sets"),
    ],
)
def test_requests_for_families_that_do_not_fit_are_refused(text, words):
    with pytest.raises(InputError, match=re.escape(words)):
        audit(Mechanism([[0.5, 0.5], [0.25, 0.75]], Space("ab")), also=[text])


def test_priors_of_samples_are_independent():
    priors = Priors.of_sampling(DATA_SETS, 0.25)
    assert len(priors.listed) == 7
    joint = priors.listed[-1].probabilities.reshape(2, 2, 2)
    side = np.array([0.75, 0.25])
    assert joint == pytest.approx(np.einsum("i,j,k->ijk", side, side, side), rel=1e-15)


def test_wrong_data_sets_are_refused():
    with pytest.raises(InputError, match="tuples of 0 and 1"):
        Priors.of_identity(Space("ab"))
    with pytest.raises(InputError, match="tuples of 0 and 1"):
        Events.of_members(Space([(0, 1), (0, 2)]))
    with pytest.raises(InputError, match="tuples of 0 and 1"):
        Priors.of_sampling(Space([(0, 1), (1,)]), 0.5)
    with pytest.raises(InputError, match="no two data sets differ by one person"):
        Priors.of_identity(Space([(0, 0), (0, 1)]))
    with pytest.raises(InputError, match="between 0 and 1"):
        Priors.of_sampling(DATA_SETS, 1.0)
    with pytest.raises(InputError, match="is not among the data sets"):
        Priors.of_sampling(Space([(0, 0), (1, 1)]), 0.5)
    with pytest.raises(InputError, match="all data sets are empty"):
        Priors.of_sampling(Space([(0, 0)]), 0.5)
