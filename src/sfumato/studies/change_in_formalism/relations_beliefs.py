"""Relations of beliefs: membership, adversarial, noiseless and information privacy (B.4 to B.8 and B.12)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import Final

import numpy as np

from ...core import Prior, Space
from ...core.arrays import Floats
from ...privacy import (
    AdversarialPrivacy,
    AposterioriNoiselessPrivacy,
    Band,
    DeltaOfAdversarialPrivacy,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    EventRatio,
    Events,
    Family,
    IndistinguishablePrivacy,
    InformationPrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
    Pufferfish,
    band,
)
from .channels import FormalCase, case_of
from .relation import FormalRelation, Measured, coin, implied

_FIRST: Final = "2.2.6, proposition 1"
_POSITIVE: Final = "2.2.6, definition 37"
_ADVERSARIAL: Final = "2.2.6, definition 38"
_NOISELESS: Final = "2.2.6, definition 39"
_INFORMATION: Final = "2.2.6, definition 41"
_TABLE: Final = "2.2.9, table 2.20"
_DIGITS: Final = 1e-10  # of logarithms of posteriors

_RULED_OUT: Final = case_of(np.array([[1.0, 0.0], [0.5, 0.5]]))
"""The second report rules the first secret out; no report makes it more than twice as likely as the other."""

LEAKY: Final = case_of(np.array([[0.05, 0.0, 0.95], [0.0, 0.05, 0.95]]), epsilon=0.0)
"""A channel that gives the secret away with probability .05, and else says nothing: (0, .05)-DP."""

# Two secrets of small probability, one likelier and one less likely than the rest to make the first report.
_FACTORS: Final = np.array([2.0, 0.5, 1.0]) / 4
_TWO_RARE: Final = case_of(
    np.column_stack([_FACTORS, 1 - _FACTORS]), Prior(Space(range(3)), [1e-6, 1e-6, 1 - 2e-6])
)
_RARE_VALUE: Final = case_of(
    np.array([[0.8, 0.2], [0.2, 0.8]]),
    Prior(Space(range(2)), [1e-6, 1 - 1e-6]),
)
_STEPS: Final = np.exp(np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.5, 0.0]]))
_LADDER: Final = case_of(_STEPS / _STEPS.sum(axis=1, keepdims=True))

Ask = Callable[[FormalCase], Notion]


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


def _noiseless(case: FormalCase) -> Notion:
    return NoiselessPrivacy(case.given)


def _afterwards(case: FormalCase) -> Notion:
    return AposterioriNoiselessPrivacy(case.given)


def _information(case: FormalCase) -> Notion:
    return InformationPrivacy(case.given)


def _same(value: float) -> float:
    return value


def _twice(value: float) -> float:
    return 2 * value


def beliefs(case: FormalCase, facts: Events, columns: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the probability of each fact before, array (k,), and after each report, array (k, m), by Bayes' rule.

    Args:
        case: The channel and the prior.
        facts: The k facts.
        columns: Other reports, such as sets of them, array (n, m); by default those of the channel.
    """
    rows = case.rows if columns is None else columns
    joint = case.prior.probabilities[:, None] * rows
    before = facts.masks @ case.prior.probabilities
    total = joint.sum(axis=0)
    used = total > 0
    after: Floats = (facts.masks @ joint[:, used]) / total[used]
    return before, after


def _within(found: Callable[[FormalCase], tuple[Band, Events]]) -> Callable[[FormalCase], Measured | None]:
    """Return the check that posteriors lie in a band: shares of what is allowed, above and below."""

    def check(case: FormalCase) -> Measured | None:
        own, facts = found(case)
        if not math.isfinite(min(own.high, own.rise, own.slope)):
            return None
        before, after = beliefs(case, facts)
        high = float((after / own.upper(before)[:, None]).max())
        # Where nothing bounds from below, this is (1 - posterior) / 1.
        low = float(((1 - after) / (1 - own.lower(before))[:, None]).max())
        share = max(high, low if math.isfinite(own.low) or math.isfinite(own.fall) else 0.0)
        return Measured(1.0, share - _DIGITS, share)

    return check


def _bounded(
    key: str, notion: Ask, facts: Callable[[FormalCase], Events]
) -> Callable[[FormalCase], Measured | None]:
    def found(case: FormalCase) -> tuple[Band, Events]:
        epsilon = notion(case).measure(case.rows).upper
        return (band(key, epsilon) if math.isfinite(epsilon) else Band(key)), facts(case)

    return _within(found)


def _singletons(case: FormalCase) -> Events:
    return Events.singletons(case.size)


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
    return Measured(alone.upper, value - _DIGITS, value)


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


def _conditioned(case: FormalCase) -> DistributionPrivacy:
    """The prior given each value of an attribute, as a family of two distributions."""
    weights = case.halves.masks * case.prior.probabilities
    return DistributionPrivacy(Family(weights / weights.sum(axis=1, keepdims=True)))


def _first_fact(case: FormalCase) -> Events:
    return case.first


def _both_ways(
    name: str, other: str, where: str, start: Ask, end: Ask, says: Sequence[str]
) -> list[FormalRelation]:
    """Return the two halves of an equivalence that keeps the value."""
    return [
        FormalRelation(f"{name} to {other}", where, says[0], implied(start, end, _same), coin()),
        FormalRelation(f"{other} to {name}", where, says[1], implied(end, start, _same), coin()),
    ]


def _factors(case: FormalCase) -> float:
    """The largest |ln(posterior / prior)| of a value, by Bayes' rule."""
    before, after = beliefs(case, Events.singletons(case.size))
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(after / before[:, None])).max())


def _odds(case: FormalCase) -> float:
    """The largest change of the odds of two values, as a logarithm, by Bayes' rule."""
    before, after = beliefs(case, Events.singletons(case.size))
    with np.errstate(divide="ignore"):
        logs = np.log(after / before[:, None])
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def _by_hand(
    name: str, other: str, where: str, value: Callable[[FormalCase], float], end: Ask, says: Sequence[str]
) -> list[FormalRelation]:
    """Return the two halves of an equivalence, one side computed from posteriors."""

    def forth(case: FormalCase) -> Measured | None:
        allowed, found = value(case), end(case).measure(case.rows)
        return Measured(allowed + _DIGITS, found.lower, found.value) if math.isfinite(allowed) else None

    def back(case: FormalCase) -> Measured | None:
        allowed, found = end(case).measure(case.rows).upper, value(case)
        return Measured(allowed, found - _DIGITS, found) if math.isfinite(allowed) else None

    return [
        FormalRelation(f"{name} to {other}", where, says[0], forth, coin()),
        FormalRelation(f"{other} to {name}", where, says[1], back, coin()),
    ]


BELIEFS: Final = (
    *_both_ways(
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
        _bounded("differential-privacy", _dp, _singletons),
        coin(),
    ),
    FormalRelation(
        "PMPr to posteriors",
        _POSITIVE,
        "epsilon-PMPr keeps a posterior below e^epsilon p and 1 - e^-epsilon (1 - p).",
        _bounded("positive-membership", _of_first(PositiveMembershipPrivacy), _first_fact),
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
    *_both_ways(
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
    *_both_ways(
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
        implied(_of_first(MembershipPrivacy), _of_first(PositiveMembershipPrivacy), _same),
        coin(),
    ),
    FormalRelation(
        "MPr to NMPr",
        _TABLE,
        "epsilon-MPr is epsilon-NMPr.",
        implied(_of_first(MembershipPrivacy), _of_first(NegativeMembershipPrivacy), _same),
        coin(),
    ),
    FormalRelation(
        "PMPr to NMPr",
        _TABLE,
        "epsilon-PMPr for one prior and one fact is epsilon-NMPr.",
        implied(_of_first(PositiveMembershipPrivacy), _of_first(NegativeMembershipPrivacy), _same),
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
        implied(lambda case: PositiveMembershipPrivacy(case.given), _adversarial, _same),
        coin(),
    ),
    FormalRelation(
        "AdvPr to PMPr",
        _TABLE,
        "(epsilon, 0)-AdvPr for one prior is epsilon-PMPr.",
        implied(
            lambda case: AdversarialPrivacy(case.given, events=case.first),
            _of_first(PositiveMembershipPrivacy),
            _same,
        ),
        case_of(np.array([[0.5, 0.5], [0.0, 1.0]])),
        published=False,
    ),
    *_both_ways(
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
            _same,
        ),
        LEAKY,
        published=False,
    ),
    FormalRelation(
        "AdvPr to (epsilon, delta)-DP",
        _TABLE,
        "(epsilon, delta)-AdvPr for every prior is (epsilon, delta)-DP.",
        implied(
            lambda case: DeltaOfAdversarialPrivacy(Priors.all(), case.epsilon),
            lambda case: DeltaOfDifferentialPrivacy(case.epsilon),
            _same,
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
    FormalRelation(
        "NPr to ANPr",
        _NOISELESS,
        "epsilon-NPr is epsilon-ANPr.",
        implied(_noiseless, _afterwards, _same),
        _RARE_VALUE,
    ),
    FormalRelation(
        "ANPr to NPr, twice",
        _NOISELESS,
        "epsilon-ANPr is (2 epsilon)-NPr.",
        implied(_afterwards, _noiseless, _twice),
        _TWO_RARE,
    ),
    FormalRelation(
        "ANPr to NPr, the same",
        _NOISELESS,
        "epsilon-ANPr is epsilon-NPr.",
        implied(_afterwards, _noiseless, _same),
        _TWO_RARE,
        published=False,
    ),
    FormalRelation(
        "ANPr to posteriors",
        _NOISELESS,
        "epsilon-ANPr keeps a posterior between max(e^-epsilon p, 1 - e^epsilon (1 - p)) and min(e^epsilon p, 1 - "
        "e^-epsilon (1 - p)).",
        _bounded("aposteriori-noiseless", _afterwards, _singletons),
        coin(),
    ),
    *_by_hand(
        "ANPr",
        "MPr",
        _NOISELESS,
        _factors,
        lambda case: MembershipPrivacy(case.given),
        ("epsilon-ANPr is epsilon-MPr for one prior.", "epsilon-MPr for one prior is epsilon-ANPr."),
    ),
    *_by_hand(
        "bounded odds",
        "NPr",
        "2.2.6, inferential privacy and identity DP",
        _odds,
        _noiseless,
        (
            "Where a report changes the odds of any two values by at most e^epsilon, it is epsilon-NPr.",
            "epsilon-NPr lets a report change the odds of any two values by at most e^epsilon.",
        ),
    ),
    *_both_ways(
        "Pufferfish",
        "distribution privacy",
        "2.2.5, definition 35",
        lambda case: Pufferfish(case.given, case.halves),
        _conditioned,
        (
            "Pufferfish privacy is privacy of the distributions given each rival.",
            "Privacy of these distributions is Pufferfish privacy.",
        ),
    ),
    FormalRelation(
        "DP to InfPr",
        _INFORMATION,
        "epsilon-DP of all pairs of secrets is epsilon-InfPr for every prior.",
        implied(_dp, _information, _same),
        _RARE_VALUE,
        published=False,
    ),
    FormalRelation(
        "InfPr to DP, twice",
        _INFORMATION,
        "epsilon-InfPr, for a prior that holds every secret possible, is (2 epsilon)-DP of all pairs.",
        implied(_information, _dp, _twice),
        _TWO_RARE,
    ),
    FormalRelation(
        "InfPr to DP, the same",
        _INFORMATION,
        "epsilon-InfPr for one prior is epsilon-DP.",
        implied(_information, _dp, _same),
        _TWO_RARE,
        published=False,
    ),
    FormalRelation(
        "DP of neighbours to InfPr",
        _TABLE,
        "epsilon-DP of neighbours alone is epsilon-InfPr for every prior.",
        implied(lambda case: DifferentialPrivacy(case.chain), lambda _: InformationPrivacy(Priors.all()), _same),
        _LADDER,
        published=False,
    ),
)
"""In the order of the thesis."""
