"""Hundreds of random channels with zeros: every notion and every closure by brute force."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sfumato.divergences import CHI_SQUARED, HELLINGER, TOTAL_VARIATION
from sfumato.errors import InputError
from sfumato.privacy import (
    PROPERTIES,
    AdversarialPrivacy,
    AposterioriNoiselessPrivacy,
    BoundedRange,
    CausalPrivacy,
    ConcentratedPrivacy,
    DeltaOfAdversarialPrivacy,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    DivergenceDistributionPrivacy,
    DivergenceMetricPrivacy,
    DivergencePrivacy,
    EventRatio,
    FallOfEventRatio,
    GaussianPrivacy,
    IdentityPrivacy,
    IndistinguishablePrivacy,
    InferenceBasedCausalPrivacy,
    InferentialPrivacy,
    InformationPrivacy,
    KLPrivacy,
    MembershipPrivacy,
    MetricDifferentialPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
    ProbabilisticDifferentialPrivacy,
    ProbabilisticDistributionPrivacy,
    Property,
    Pufferfish,
    RenyiPrivacy,
    SemanticPrivacy,
)

from .bayes import jointly
from .brute import ASKED, SETTING, channels

AT = SETTING
PHI, PRIORS, EVENTS, FAMILY, METRIC = AT.relation, AT.priors, AT.events, AT.family, AT.metric
NOTIONS: dict[str, Notion] = {
    "differential-privacy": DifferentialPrivacy(PHI),
    "differential-privacy of all pairs": DifferentialPrivacy(),
    "differential-privacy at delta": DifferentialPrivacy(PHI, AT.delta),
    "delta of differential-privacy": DeltaOfDifferentialPrivacy(AT.epsilon, PHI),
    "probabilistic-differential-privacy": ProbabilisticDifferentialPrivacy(relation=PHI, delta=AT.delta),
    "metric-privacy": MetricDifferentialPrivacy(METRIC),
    "metric-privacy at delta": MetricDifferentialPrivacy(METRIC, AT.delta),
    "indistinguishable": IndistinguishablePrivacy(PHI),
    "bounded-range": BoundedRange(PHI),
    "gaussian": GaussianPrivacy(PHI),
    "kl-privacy": KLPrivacy(PHI),
    "renyi-privacy": RenyiPrivacy(AT.order, PHI),
    "concentrated-privacy": ConcentratedPrivacy(PHI),
    "total variation": DivergencePrivacy(TOTAL_VARIATION, PHI),
    "chi-square divergence": DivergencePrivacy(CHI_SQUARED, PHI),
    "squared Hellinger distance": DivergencePrivacy(HELLINGER, PHI),
    "divergence-metric-privacy": DivergenceMetricPrivacy(TOTAL_VARIATION, METRIC),
    "positive-membership": PositiveMembershipPrivacy(PRIORS, EVENTS),
    "negative-membership": NegativeMembershipPrivacy(PRIORS, EVENTS),
    "membership": MembershipPrivacy(PRIORS, EVENTS),
    "membership of every prior": MembershipPrivacy(Priors.all()),
    "event-ratio": EventRatio(PRIORS, EVENTS),
    "event-ratio of secrets": EventRatio(PRIORS),
    "fall of event-ratio": FallOfEventRatio(PRIORS),
    "adversarial": AdversarialPrivacy(PRIORS, events=EVENTS),
    "adversarial at delta": AdversarialPrivacy(PRIORS, AT.delta, EVENTS),
    "delta of adversarial": DeltaOfAdversarialPrivacy(PRIORS, AT.epsilon, EVENTS),
    "noiseless": NoiselessPrivacy(PRIORS, EVENTS),
    "inferential": InferentialPrivacy(PRIORS, EVENTS),
    "identity": IdentityPrivacy(PRIORS, EVENTS),
    "aposteriori-noiseless": AposterioriNoiselessPrivacy(PRIORS, EVENTS),
    "information": InformationPrivacy(PRIORS),
    "pufferfish": Pufferfish(PRIORS, EVENTS),
    "causal": CausalPrivacy(PRIORS, [AT.settings]),
    "inference-based-causal": InferenceBasedCausalPrivacy(PRIORS, [AT.settings]),
    "semantic": SemanticPrivacy(),
    "semantic of one default": SemanticPrivacy.replacing(4, 0),
    "semantic of an exchange": SemanticPrivacy(np.array([[1, 0, 3, 2]])),
    "distribution-privacy": DistributionPrivacy(FAMILY),
    "distribution-privacy at delta": DistributionPrivacy(FAMILY, AT.delta),
    "probabilistic-distribution-privacy": ProbabilisticDistributionPrivacy(FAMILY, AT.delta),
    "divergence-distribution-privacy": DivergenceDistributionPrivacy(FAMILY, TOTAL_VARIATION),
}


def near(bound, value):
    return value if math.isinf(value) else bound + 1e-11 * (1 + abs(value))


def check_notions(seed, count):
    for rows in channels(np.random.default_rng(seed), count):
        for name, notion in NOTIONS.items():
            found, true = notion.measure(rows), ASKED[name](rows, AT)
            assert not math.isnan(found.value), (name, rows)
            assert found.lower <= found.value <= found.upper, (name, rows)
            assert math.isinf(found.value) == math.isinf(true), (name, rows, found.value, true)
            # The orders of Rényi divergences are sampled by brute force, and so it is a little low.
            least = found.lower * (1 - 1e-4) if name == "concentrated-privacy" else found.lower
            assert least <= near(true, true), (name, rows, found.value, true)
            assert true <= near(found.upper, true), (name, rows, found.value, true)


def test_notions_are_what_their_definitions_say():
    assert set(NOTIONS) == set(ASKED)
    check_notions(0, 40)


@pytest.mark.slow
def test_notions_are_what_their_definitions_say_of_many_channels():
    check_notions(1, 250)


NAMES = {
    "trade-off": ["delta of differential-privacy"],  # curves are as good as all their deltas
    "divergence-privacy": ["total variation", "chi-square divergence", "squared Hellinger distance"],
    "differential-privacy": ["differential-privacy", "differential-privacy at delta"],
    "distribution-privacy": ["distribution-privacy", "distribution-privacy at delta"],
    "metric-privacy": ["metric-privacy", "metric-privacy at delta"],
    "metric-distribution-privacy": ["metric-privacy"],  # for order inf it is metric privacy
    "adversarial": ["adversarial", "adversarial at delta"],
}
"""The values by which a notion is looked at, where it is not the one of its key."""


def added(first: float, second: float) -> float:
    return first + second


def by_artanh(first: float, second: float) -> float:
    with np.errstate(divide="ignore"):
        return math.tanh(np.arctanh(first) + np.arctanh(second))


def of_information(first: float, second: float) -> float:
    less, more = sorted((first, second))
    return math.inf if math.isinf(more) else less + math.log(math.exp(first + second) - math.exp(less) + 1)


TOGETHER: dict[str, Callable[[float, float], float]] = {
    "differential-privacy": added,
    "probabilistic-differential-privacy": added,
    "metric-privacy": added,
    "metric-distribution-privacy": added,
    "indistinguishable": added,
    "kl-privacy": added,
    "renyi-privacy": added,
    "concentrated-privacy": added,
    "bounded-range": added,
    "gaussian": math.hypot,
    "information": of_information,
    "total variation": added,
    "chi-square divergence": lambda x, y: (1 + x) * (1 + y) - 1,
    "squared Hellinger distance": lambda x, y: 1 - (1 - x) * (1 - y),
    "semantic": by_artanh,
}
"""How two mechanisms that are used on one secret add up; deltas add besides."""


def kept(asked):
    """The names of the values that a property keeps, by the table or, for semantic privacy, by its words."""
    for notion, row in PROPERTIES.items():
        if notion == "trade-off" and asked is Property.COMPOSITION:
            continue  # it composes as a curve, not as a number
        if row[asked].holds or notion == "semantic":
            yield from NAMES.get(notion, [notion])


def check_closures(seed, count):
    rng = np.random.default_rng(seed)
    twice = replace(AT, delta=2 * AT.delta)
    for one, other in zip(channels(rng, count, reports=3), channels(rng, count, reports=3), strict=True):
        width = max(one.shape[1], other.shape[1])
        first, second = (np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (one, other))
        blur = next(channels(rng, 1, secrets=width, reports=3))
        share = rng.choice([0.125, 0.5])
        processed, mixed = first @ blur, share * first + (1 - share) * second
        for name in kept(Property.POST_PROCESSING):
            most = ASKED[name](first, AT)
            assert ASKED[name](processed, AT) <= near(most, most), (name, first, blur)
        for name in kept(Property.CONVEXITY):
            most = max(ASKED[name](rows, AT) for rows in (first, second))
            assert ASKED[name](mixed, AT) <= near(most, most), (name, first, second)
        joint = jointly(one, other)
        for name in kept(Property.COMPOSITION):
            most = TOGETHER[name.removesuffix(" at delta")](ASKED[name](one, AT), ASKED[name](other, AT))
            assert ASKED[name](joint, twice) <= near(most, most), (name, one, other)


def test_closures_by_brute_force():
    check_closures(0, 30)


@pytest.mark.slow
def test_closures_by_brute_force_of_many_pairs_of_channels():
    check_closures(1, 250)


def tiny(rng, rows):
    """The rows with some entries that are next to nothing, down to the smallest float."""
    changed = rows.copy()
    for _ in range(int(rng.integers(1, 5))):
        s, o = rng.integers(0, rows.shape[0]), rng.integers(0, rows.shape[1])
        if changed[s, o] < changed[s].max():
            changed[s, o] = rng.choice([5e-324, 1e-310, 1e-300, 1e-160, 1e-17]) * float(rng.integers(1, 4))
    changed[np.arange(len(rows)), rows.argmax(axis=1)] += 1 - changed.sum(axis=1)
    return changed


def agree(first, second):
    return first.lower <= second.upper and second.lower <= first.upper


def check_invariance(seed, count):
    """Nothing breaks; the order of reports, and reports that are split in two, change nothing."""
    rng = np.random.default_rng(seed)
    whole = {"semantic of one default", "semantic of an exchange"}  # may use one part of a report
    for number, rows in enumerate(channels(rng, count, reports=5)):
        matrix = tiny(rng, rows) if number % 2 else rows
        order = rng.permutation(matrix.shape[1])
        for name, notion in NOTIONS.items():
            try:
                found, shuffled = notion.measure(matrix), notion.measure(matrix[:, order])
            except InputError:  # likelihoods below 1e-250 are refused in words
                continue
            assert found.lower <= found.value <= found.upper, (name, matrix)
            assert not math.isnan(found.rounding), (name, matrix)
            assert agree(found, shuffled), (name, matrix)
            assert found.sentence
            if number % 2 == 0 and name not in whole:
                assert agree(found, notion.measure(np.hstack([matrix / 4, 3 * matrix / 4]))), (name, matrix)


@pytest.mark.slow
def test_nothing_breaks_at_tiny_probabilities_and_reports_may_be_shuffled_and_split():
    check_invariance(0, 100)
