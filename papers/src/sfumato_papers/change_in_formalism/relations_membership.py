"""Relations of beliefs about a fact: indistinguishable, membership and adversarial privacy."""

from __future__ import annotations

import math
from itertools import chain, combinations
from typing import Final

import numpy as np

from sfumato.privacy import (
    AdversarialPrivacy,
    DeltaOfAdversarialPrivacy,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    EventRatio,
    Events,
    IndistinguishablePrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
)

from .channels import FormalCase, case_of
from .posteriors import DIGITS, beliefs, bounded
from .relation import Ask, FormalRelation, Measured, both_ways, coin, implied, same

_FIRST: Final = "2.2.6, proposition 1"
_POSITIVE: Final = "2.2.6, definition 37"
_ADVERSARIAL: Final = "2.2.6, definition 38"
_TABLE: Final = "2.2.9, table 2.20"

_RULED_OUT: Final = case_of(np.array([[1.0, 0.0], [0.5, 0.5]]))
"""The second report rules the first secret out; no report makes it more than twice as likely as the other."""

_LEAKY: Final = case_of(np.array([[0.05, 0.0, 0.95], [0.0, 0.05, 0.95]]), epsilon=0.0)
"""A channel that gives the secret away with probability .05, and else says nothing: (0, .05)-DP."""


def _dp(_: FormalCase) -> Notion:
    return DifferentialPrivacy()


def _indistinguishable(_: FormalCase) -> Notion:
    return IndistinguishablePrivacy()


def _every(kind: type[PositiveMembershipPrivacy | NegativeMembershipPrivacy | MembershipPrivacy]) -> Ask:
    """Against every prior, about every single secret."""
    return lambda _: kind(Priors.all())


def _of_first(kind: type[PositiveMembershipPrivacy | NegativeMembershipPrivacy | MembershipPrivacy]) -> Ask:
    """About one fact, of one prior."""
    return lambda case: kind(case.given, case.first)


def _adversarial(case: FormalCase) -> Notion:
    return AdversarialPrivacy(case.given)


def _sets_of_reports(case: FormalCase) -> Measured | None:
    """The epsilon of positive membership privacy over all sets of reports, by brute force."""
    alone = PositiveMembershipPrivacy(case.given, case.first).measure(case.rows)
    if not math.isfinite(alone.upper):
        return None
    m = case.rows.shape[1]
    sets = chain.from_iterable(combinations(range(m), size) for size in range(1, m + 1))
    columns = np.column_stack([case.rows[:, list(each)].sum(axis=1) for each in sets])
    before, after = beliefs(case, case.first, columns)
    with np.errstate(divide="ignore"):
        value = float(max(np.log(after / before).max(), np.log((1 - before) / (1 - after)).max()))
    return Measured(alone.upper, value - DIGITS, value)


def _rise_of(case: FormalCase) -> float:
    return EventRatio(Priors.all()).measure(case.rows).value


def _ratio_to_positive(case: FormalCase) -> Measured | None:
    """For facts of probability a to b it is ln max(rho / (1 + a (rho - 1)), 1 + b (rho - 1))."""
    rise = _rise_of(case)
    if not math.isfinite(rise):
        return None
    (low, high), rho = case.interval, math.exp(rise)
    allowed = math.log(max(rho / (1 + low * (rho - 1)), 1 + high * (rho - 1)))
    found = PositiveMembershipPrivacy(case.between).measure(case.rows)
    return Measured(allowed, found.lower, found.value)


def _positive_to_ratio(case: FormalCase) -> Measured | None:
    """Rho is at most min(e^epsilon (1 - a) / (1 - a e^epsilon), (e^epsilon + b - 1) / b)."""
    (low, high), epsilon = case.interval, PositiveMembershipPrivacy(case.between).measure(case.rows).upper
    if not math.isfinite(epsilon):
        return None
    grown = math.exp(epsilon)
    first = grown * (1 - low) / (1 - low * grown) if low * grown < 1 else math.inf
    found = EventRatio(Priors.all()).measure(case.rows)
    return Measured(math.log(min(first, (grown + high - 1) / high)), found.lower, found.value)


def _delta_of_adversaries(case: FormalCase) -> Measured | None:
    """(sqrt(rho) - sqrt(e^epsilon))^2 / (rho - 1), over all probabilities of a fact."""
    rise = _rise_of(case)
    if not math.isfinite(rise) or rise == 0:
        return None
    rho = math.exp(rise)
    excess = max(0.0, math.sqrt(rho) - math.exp(case.epsilon / 2))
    found = DeltaOfAdversarialPrivacy(Priors.all(), case.epsilon).measure(case.rows)
    return Measured(excess**2 / (rho - 1), found.lower, found.value)


MEMBERSHIP: Final = (
    *both_ways(
        "DP",
        "IndPr",
        _FIRST,
        _dp,
        _indistinguishable,
        ("epsilon-DP is epsilon-indistinguishable privacy.", "epsilon-indistinguishable privacy is epsilon-DP."),
    ),
    FormalRelation(
        "DP to posteriors",
        _FIRST,
        "epsilon-DP keeps a posterior between p / (e^epsilon + (1 - e^epsilon) p) and e^epsilon p / (1 + "
        "(e^epsilon - 1) p).",
        bounded("differential-privacy", _dp, lambda case: Events.singletons(case.size)),
        coin(),
    ),
    FormalRelation(
        "PMPr to posteriors",
        _POSITIVE,
        "epsilon-PMPr keeps a posterior below e^epsilon p and 1 - e^-epsilon (1 - p).",
        bounded("positive-membership", _of_first(PositiveMembershipPrivacy), lambda case: case.first),
        coin(),
    ),
    FormalRelation(
        "PMPr by single reports",
        _POSITIVE,
        "Sets of reports need no larger epsilon of PMPr than single reports.",
        _sets_of_reports,
        coin(),
        published=False,
    ),
    *both_ways(
        "DP",
        "PMPr of every prior",
        _TABLE,
        _dp,
        _every(PositiveMembershipPrivacy),
        (
            "epsilon-DP is epsilon-PMPr for every prior.",
            "epsilon-PMPr for every prior and every single secret is epsilon-DP.",
        ),
    ),
    *both_ways(
        "DP",
        "NMPr of every prior",
        _TABLE,
        _dp,
        _every(NegativeMembershipPrivacy),
        (
            "epsilon-DP is epsilon-NMPr for every prior.",
            "epsilon-NMPr for every prior and every single secret is epsilon-DP.",
        ),
    ),
    FormalRelation(
        "MPr to PMPr",
        _TABLE,
        "epsilon-MPr is epsilon-PMPr.",
        implied(_of_first(MembershipPrivacy), _of_first(PositiveMembershipPrivacy), same),
        coin(),
    ),
    FormalRelation(
        "MPr to NMPr",
        _TABLE,
        "epsilon-MPr is epsilon-NMPr.",
        implied(_of_first(MembershipPrivacy), _of_first(NegativeMembershipPrivacy), same),
        coin(),
    ),
    FormalRelation(
        "PMPr to NMPr",
        _TABLE,
        "epsilon-PMPr for one prior and one fact is epsilon-NMPr.",
        implied(_of_first(PositiveMembershipPrivacy), _of_first(NegativeMembershipPrivacy), same),
        _RULED_OUT,
        published=False,
    ),
    FormalRelation(
        "ratio to PMPr",
        _POSITIVE,
        "A likelihood ratio of rho gives PMPr of ln max(rho / (1 + a (rho - 1)), 1 + b (rho - 1)) for facts of "
        "probability a to b.",
        _ratio_to_positive,
        coin(),
        published=False,
    ),
    FormalRelation(
        "PMPr to ratio",
        _POSITIVE,
        "PMPr for facts of probability a to b bounds the likelihood ratio by min(e^epsilon (1 - a) / (1 - a "
        "e^epsilon), (e^epsilon + b - 1) / b).",
        _positive_to_ratio,
        coin(),
        published=False,
    ),
    FormalRelation(
        "PMPr to AdvPr",
        _TABLE,
        "epsilon-PMPr is (epsilon, 0)-AdvPr.",
        implied(lambda case: PositiveMembershipPrivacy(case.given), _adversarial, same),
        coin(),
    ),
    FormalRelation(
        "AdvPr to PMPr",
        _TABLE,
        "(epsilon, 0)-AdvPr for one prior is epsilon-PMPr.",
        implied(
            lambda case: AdversarialPrivacy(case.given, events=case.first),
            _of_first(PositiveMembershipPrivacy),
            same,
        ),
        case_of(np.array([[0.5, 0.5], [0.0, 1.0]])),
        published=False,
    ),
    *both_ways(
        "DP",
        "AdvPr of every prior",
        _TABLE,
        _dp,
        lambda _: AdversarialPrivacy(Priors.all()),
        (
            "epsilon-DP is (epsilon, 0)-AdvPr for every prior.",
            "(epsilon, 0)-AdvPr for every prior and every single secret is epsilon-DP.",
        ),
    ),
    FormalRelation(
        "(epsilon, delta)-DP to AdvPr",
        _TABLE,
        "(epsilon, delta)-DP is (epsilon, delta)-AdvPr, for every prior.",
        implied(
            lambda case: DeltaOfDifferentialPrivacy(case.epsilon),
            lambda case: DeltaOfAdversarialPrivacy(Priors.all(), case.epsilon),
            same,
        ),
        _LEAKY,
        published=False,
    ),
    FormalRelation(
        "AdvPr to (epsilon, delta)-DP",
        _TABLE,
        "(epsilon, delta)-AdvPr for every prior is (epsilon, delta)-DP.",
        implied(
            lambda case: DeltaOfAdversarialPrivacy(Priors.all(), case.epsilon),
            lambda case: DeltaOfDifferentialPrivacy(case.epsilon),
            same,
        ),
        coin(),
        published=False,
    ),
    FormalRelation(
        "ratio to AdvPr",
        _ADVERSARIAL,
        "For a likelihood ratio of rho and every prior, delta is (sqrt(rho) - sqrt(e^epsilon))^2 / (rho - 1).",
        _delta_of_adversaries,
        coin(),
        published=False,
    ),
)
"""In the order of the thesis."""
