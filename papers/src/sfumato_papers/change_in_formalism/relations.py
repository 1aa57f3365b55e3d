"""Relations of the thesis between notions, tried on random channels and on known ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sfumato.core import Bracket
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import (
    AdversarialPrivacy,
    DifferentialPrivacy,
    InformationPrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    PositiveMembershipPrivacy,
    Priors,
    Pufferfish,
    SemanticPrivacy,
)

from ..reproduction import interval
from .channels import (
    COIN,
    GOLDEN,
    LADDER,
    LEAKY,
    NEVER,
    ODD,
    RARE,
    RARE_VALUE,
    RULED_OUT,
    TWO_RARE,
    UNSEEN,
    FormalCase,
    coin,
)
from .checks import (
    ADVERSARIES,
    AFTERWARDS,
    CONCENTRATED,
    DEFAULTS,
    DP,
    GAUSSIAN,
    INDISTINGUISHABLE,
    INFORMATION,
    KL,
    NOISELESS,
    RANGE,
    TOTAL,
    Ask,
    Check,
    always,
    artanh,
    bounded,
    conditioned,
    curve_of_delta,
    delta_of,
    delta_of_adversaries,
    delta_of_curve,
    delta_of_region,
    epsilon_tanh,
    every,
    exchange,
    factors,
    from_default,
    from_posteriors,
    gaussian_delta,
    implied,
    information_to_total,
    kl_to_information,
    mu_of_epsilon,
    odds,
    of_first,
    of_prior,
    one_default,
    positive_to_ratio,
    ratio_to_adversaries,
    ratio_to_positive,
    region_of_delta,
    same,
    sets_of_reports,
    singletons,
    six_times,
    tanh,
    to_posteriors,
    twice,
)

_SOME: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormalRelation(CompactRepr):
    """A relation between two notions, as the thesis states it or as it is sharpened here."""

    name: str
    where: str
    says: str
    check: Check
    known: FormalCase = COIN  # attains the relation or, if it fails, breaks it
    published: bool = True  # in the thesis or a paper that it cites


@dataclass(frozen=True, slots=True, repr=False)
class RelationRow(CompactRepr):
    """A relation on the random channels of a seed."""

    relation: str
    where: str
    published: bool
    seed: int
    instances: int  # channels to which it applies
    violations: int  # channels on which more is found than is allowed
    mean_share: float  # of what is allowed that was found, over the channels where something is allowed
    tightness: float  # the largest share
    witness: str  # the channel of the largest share


@dataclass(frozen=True, slots=True, repr=False)
class KnownRow(CompactRepr):
    """A relation on a channel that is known to attain it, or to break it."""

    relation: str
    says: str
    channel: str
    prior: str
    allowed: float
    found: float
    violated: bool


@dataclass(frozen=True, slots=True, repr=False)
class RelationSummary(CompactRepr):
    """A relation over all seeds."""

    relation: str
    where: str
    says: str
    published: bool
    seeds: int
    instances: int
    violations: int
    mean_share: Bracket  # over channels: the mean over seeds with its 95 % interval; infinite if none is allowed
    tightness: float  # the largest share
    known_allowed: float
    known_found: float
    known_channel: str
    fails: bool  # whether a channel, random or known, breaks it


def tried(relation: FormalRelation, seed: int, some: Iterable[FormalCase]) -> RelationRow:
    """Return the shares and violations of a relation on channels."""
    instances = violations = 0
    shares = []
    most, witness = 0.0, ""
    for case in some:
        measured = relation.check(case)
        if measured is None:
            continue
        instances += 1
        violations += measured.violated
        if measured.allowed > _SOME or measured.violated:  # else there is nothing to take a share of
            shares.append(measured.share)
        if measured.share > most:
            most, witness = measured.share, _written(case.rows)
    mean = math.fsum(shares) / len(shares) if shares else 0.0
    of = relation.name, relation.where, relation.published
    return RelationRow(*of, seed, instances, violations, mean, most, witness)


def known(relation: FormalRelation) -> KnownRow:
    """Return the allowed and found value of a relation on its known channel.

    Raises:
        ValueError: If it does not apply there.
    """
    measured = relation.check(relation.known)
    if measured is None:
        raise ValueError(relation.name)
    channel = _written(relation.known.rows), _written(relation.known.prior.probabilities[None, :])
    values = measured.allowed, measured.value
    return KnownRow(relation.name, relation.says, *channel, *values, measured.violated)


def _written(rows: Floats) -> str:
    """Return rows as text: entries apart by blanks, rows by strokes."""
    return " / ".join(" ".join(f"{entry:.6g}" for entry in row) for row in rows)


def summaries(rows: Sequence[RelationRow], known: Sequence[KnownRow]) -> list[RelationSummary]:
    """Return a summary of each relation over its seeds, in their order."""
    related = []
    for each in known:
        seeds = [row for row in rows if row.relation == each.relation]
        violations = sum(row.violations for row in seeds)
        related.append(
            RelationSummary(
                each.relation,
                seeds[0].where,
                each.says,
                seeds[0].published,
                len(seeds),
                sum(row.instances for row in seeds),
                violations,
                _mean_share([row.mean_share for row in seeds]),
                max(row.tightness for row in seeds),
                each.allowed,
                each.found,
                each.channel,
                each.violated or violations > 0,
            )
        )
    return related


def _mean_share(shares: Sequence[float]) -> Bracket:
    """Return the mean with its interval, of which no more than 0 to 1 is possible where a relation holds."""
    if not all(map(math.isfinite, shares)):
        return Bracket(math.inf, math.inf, math.inf)
    mean = interval(shares)
    return Bracket(max(0.0, mean.lower), mean.value, min(mean.upper, max(1.0, mean.value)))


class _Section(NamedTuple):
    """A place in the thesis, with builders of the relations there."""

    where: str

    def states(self, name: str, says: str, check: Check, known: FormalCase = COIN) -> FormalRelation:
        """Return a relation of the thesis or of a paper that it cites."""
        return FormalRelation(name, self.where, says, check, known)

    def ours(self, name: str, says: str, check: Check, known: FormalCase = COIN) -> FormalRelation:
        """Return a sharper constant, a relation with a condition of ours, or a converse of a relation."""
        return FormalRelation(name, self.where, says, check, known, published=False)

    def both_ways(
        self, name: str, other: str, forth: str, back: str, start: Ask, end: Ask
    ) -> tuple[FormalRelation, FormalRelation]:
        """Return the two halves of an equivalence that keeps the value."""
        return (
            self.states(f"{name} to {other}", forth, implied(start, end, same)),
            self.states(f"{other} to {name}", back, implied(end, start, same)),
        )

    def by_hand(
        self, name: str, other: str, forth: str, back: str, value: Callable[[FormalCase], float], end: Ask
    ) -> tuple[FormalRelation, FormalRelation]:
        """Return the two halves of an equivalence, one side computed from posteriors."""
        return (
            self.states(f"{name} to {other}", forth, from_posteriors(value, end)),
            self.states(f"{other} to {name}", back, to_posteriors(value, end)),
        )


_TESTING: Final = _Section("2.2.6, hypothesis testing")
_CURVES: Final = _Section("2.2.6, definition 36")
_GAUSS: Final = _Section("2.2.6, Gaussian privacy")
_FIRST: Final = _Section("2.2.6, proposition 1")
_POSITIVE: Final = _Section("2.2.6, definition 37")
_ADVERSARIAL: Final = _Section("2.2.6, definition 38")
_TABLE: Final = _Section("2.2.9, table 2.20")
_NOISELESS: Final = _Section("2.2.6, definition 39")
_INFORMATION: Final = _Section("2.2.6, definition 41")
_SEMANTIC: Final = _Section("2.2.6, definition 40")
_BOUNDED_RANGE: Final = _Section("2.2.6, range-bounded privacy")
_LOSS: Final = _Section("2.2.2, KL privacy")
_INFERENTIAL: Final = _Section("2.2.6, inferential privacy and identity DP")
_PUFFERFISH: Final = _Section("2.2.5, definition 35")

_TESTS: Final = (
    _TESTING.states(
        "DP to total error",
        "epsilon-DP gives every test a total error of at least 2 / (1 + e^epsilon), which is a total variation of "
        "at most tanh(epsilon / 2).",
        implied(DP, TOTAL, tanh(1 / 2)),
    ),
    _TESTING.ours(
        "total error to DP",
        "If every test has a total error of at least 2 / (1 + e^epsilon), the channel is epsilon-DP.",
        implied(TOTAL, DP, artanh(2, 1)),
        RARE,
    ),
    _TESTING.states(
        "DP to both errors",
        "(epsilon, delta)-DP gives every test 1 - a <= e^epsilon b + delta and 1 - b <= e^epsilon a + delta.",
        region_of_delta,
    ),
    _TESTING.states(
        "both errors to DP",
        "Tests that keep both inequalities make the channel (epsilon, delta)-DP.",
        delta_of_region,
    ),
    _CURVES.states(
        "DP to f-DP",
        "(epsilon, delta)-DP is f-DP for f = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).",
        curve_of_delta,
    ),
    _CURVES.states("f-DP to DP", "A channel that is f-DP for that f is (epsilon, delta)-DP.", delta_of_curve),
    _GAUSS.states(
        "Gaussian DP to DP",
        "mu-GDP gives delta = Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2).",
        gaussian_delta,
    ),
    _GAUSS.ours(
        "DP to Gaussian DP",
        "epsilon-DP is mu-GDP for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)).",
        implied(DP, GAUSSIAN, mu_of_epsilon),
    ),
)
_BELIEFS: Final = (
    *_FIRST.both_ways(
        "DP",
        "IndPr",
        "epsilon-DP is epsilon-indistinguishable privacy.",
        "epsilon-indistinguishable privacy is epsilon-DP.",
        DP,
        INDISTINGUISHABLE,
    ),
    _FIRST.states(
        "DP to posteriors",
        "epsilon-DP keeps a posterior between p / (e^epsilon + (1 - e^epsilon) p) and e^epsilon p / (1 + "
        "(e^epsilon - 1) p).",
        bounded("differential-privacy", DP, singletons),
    ),
    _POSITIVE.states(
        "PMPr to posteriors",
        "epsilon-PMPr keeps a posterior below e^epsilon p and 1 - e^-epsilon (1 - p).",
        bounded("positive-membership", of_first(PositiveMembershipPrivacy), lambda case: case.first),
    ),
    _POSITIVE.ours(
        "PMPr by single reports",
        "Sets of reports need no larger epsilon of PMPr than single reports.",
        sets_of_reports,
    ),
    *_TABLE.both_ways(
        "DP",
        "PMPr of every prior",
        "epsilon-DP is epsilon-PMPr for every prior.",
        "epsilon-PMPr for every prior and every single secret is epsilon-DP.",
        DP,
        every(PositiveMembershipPrivacy),
    ),
    *_TABLE.both_ways(
        "DP",
        "NMPr of every prior",
        "epsilon-DP is epsilon-NMPr for every prior.",
        "epsilon-NMPr for every prior and every single secret is epsilon-DP.",
        DP,
        every(NegativeMembershipPrivacy),
    ),
    _TABLE.states(
        "MPr to PMPr",
        "epsilon-MPr is epsilon-PMPr.",
        implied(of_first(MembershipPrivacy), of_first(PositiveMembershipPrivacy), same),
    ),
    _TABLE.states(
        "MPr to NMPr",
        "epsilon-MPr is epsilon-NMPr.",
        implied(of_first(MembershipPrivacy), of_first(NegativeMembershipPrivacy), same),
    ),
    _TABLE.ours(
        "PMPr to NMPr",
        "epsilon-PMPr for one prior and one fact is epsilon-NMPr.",
        implied(of_first(PositiveMembershipPrivacy), of_first(NegativeMembershipPrivacy), same),
        RULED_OUT,
    ),
    _POSITIVE.ours(
        "ratio to PMPr",
        "A likelihood ratio of rho gives PMPr of ln max(rho / (1 + a (rho - 1)), 1 + b (rho - 1)) for facts of "
        "probability a to b.",
        ratio_to_positive,
    ),
    _POSITIVE.ours(
        "PMPr to ratio",
        "PMPr for facts of probability a to b bounds the likelihood ratio by min(e^epsilon (1 - a) / (1 - a "
        "e^epsilon), (e^epsilon + b - 1) / b).",
        positive_to_ratio,
    ),
    _TABLE.states(
        "PMPr to AdvPr",
        "epsilon-PMPr is (epsilon, 0)-AdvPr.",
        implied(of_prior(PositiveMembershipPrivacy), of_prior(AdversarialPrivacy), same),
    ),
    _TABLE.ours(
        "AdvPr to PMPr",
        "(epsilon, 0)-AdvPr for one prior is epsilon-PMPr.",
        implied(
            lambda case: AdversarialPrivacy(case.given, events=case.first),
            of_first(PositiveMembershipPrivacy),
            same,
        ),
        NEVER,
    ),
    *_TABLE.both_ways(
        "DP",
        "AdvPr of every prior",
        "epsilon-DP is (epsilon, 0)-AdvPr for every prior.",
        "(epsilon, 0)-AdvPr for every prior and every single secret is epsilon-DP.",
        DP,
        ADVERSARIES,
    ),
    _TABLE.ours(
        "(epsilon, delta)-DP to AdvPr",
        "(epsilon, delta)-DP is (epsilon, delta)-AdvPr, for every prior.",
        implied(delta_of, delta_of_adversaries, same),
        LEAKY,
    ),
    _TABLE.ours(
        "AdvPr to (epsilon, delta)-DP",
        "(epsilon, delta)-AdvPr for every prior is (epsilon, delta)-DP.",
        implied(delta_of_adversaries, delta_of, same),
    ),
    _ADVERSARIAL.ours(
        "ratio to AdvPr",
        "For a likelihood ratio of rho and every prior, delta is (sqrt(rho) - sqrt(e^epsilon))^2 / (rho - 1).",
        ratio_to_adversaries,
    ),
    _NOISELESS.states(
        "NPr to ANPr", "epsilon-NPr is epsilon-ANPr.", implied(NOISELESS, AFTERWARDS, same), RARE_VALUE
    ),
    _NOISELESS.states(
        "ANPr to NPr, twice", "epsilon-ANPr is (2 epsilon)-NPr.", implied(AFTERWARDS, NOISELESS, twice), TWO_RARE
    ),
    _NOISELESS.ours(
        "ANPr to NPr, the same", "epsilon-ANPr is epsilon-NPr.", implied(AFTERWARDS, NOISELESS, same), TWO_RARE
    ),
    _NOISELESS.states(
        "ANPr to posteriors",
        "epsilon-ANPr keeps a posterior between max(e^-epsilon p, 1 - e^epsilon (1 - p)) and min(e^epsilon p, 1 - "
        "e^-epsilon (1 - p)).",
        bounded("aposteriori-noiseless", AFTERWARDS, singletons),
    ),
    *_NOISELESS.by_hand(
        "ANPr",
        "MPr",
        "epsilon-ANPr is epsilon-MPr for one prior.",
        "epsilon-MPr for one prior is epsilon-ANPr.",
        factors,
        of_prior(MembershipPrivacy),
    ),
    *_INFERENTIAL.by_hand(
        "bounded odds",
        "NPr",
        "Where a report changes the odds of any two values by at most e^epsilon, it is epsilon-NPr.",
        "epsilon-NPr lets a report change the odds of any two values by at most e^epsilon.",
        odds,
        NOISELESS,
    ),
    *_PUFFERFISH.both_ways(
        "Pufferfish",
        "distribution privacy",
        "Pufferfish privacy is privacy of the distributions given each rival.",
        "Privacy of these distributions is Pufferfish privacy.",
        lambda case: Pufferfish(case.given, case.halves),
        conditioned,
    ),
    _INFORMATION.ours(
        "DP to InfPr",
        "epsilon-DP of all pairs of secrets is epsilon-InfPr for every prior.",
        implied(DP, INFORMATION, same),
        RARE_VALUE,
    ),
    _INFORMATION.states(
        "InfPr to DP, twice",
        "epsilon-InfPr, for a prior that holds every secret possible, is (2 epsilon)-DP of all pairs.",
        implied(INFORMATION, DP, twice),
        TWO_RARE,
    ),
    _INFORMATION.ours(
        "InfPr to DP, the same",
        "epsilon-InfPr for one prior is epsilon-DP.",
        implied(INFORMATION, DP, same),
        TWO_RARE,
    ),
    _TABLE.ours(
        "DP of neighbours to InfPr",
        "epsilon-DP of neighbours alone is epsilon-InfPr for every prior.",
        implied(lambda case: DifferentialPrivacy(case.chain), always(InformationPrivacy(Priors.all())), same),
        LADDER,
    ),
)
_RECORDS: Final = (
    _SEMANTIC.states(
        "DP to SemPr",
        "epsilon-DP is (e^epsilon - 1)-semantic privacy.",
        implied(DP, exchange, math.expm1),
        coin(0.01),
    ),
    _SEMANTIC.ours(
        "DP to SemPr, sharp",
        "epsilon-DP is tanh(epsilon / 2)-semantic privacy.",
        implied(DP, exchange, tanh(1 / 2)),
    ),
    _SEMANTIC.ours(
        "DP to SemPr of defaults",
        "epsilon-DP of all pairs is tanh(epsilon / 4)-semantic privacy where a record is replaced by a default.",
        implied(DP, DEFAULTS, tanh(1 / 4)),
    ),
    _SEMANTIC.ours(
        "SemPr to DP",
        "(1/2 - 1 / (e^epsilon + 1))-semantic privacy is epsilon-DP, where the default can make every report.",
        implied(one_default, from_default, artanh(2, 2), positive=True),
        coin(0.01),
    ),
    _SEMANTIC.ours(
        "SemPr to DP, up to 1.35",
        "(epsilon / 6)-semantic privacy is epsilon-DP for epsilon up to 1.35, where the default can make every "
        "report.",
        implied(one_default, from_default, six_times, positive=True),
        coin(0.01),
    ),
    _SEMANTIC.ours(
        "SemPr to DP, sharp",
        "tanh(epsilon / 4)-semantic privacy is epsilon-DP, where the default can make every report.",
        implied(one_default, from_default, artanh(4, 1), positive=True),
    ),
    _SEMANTIC.ours(
        "SemPr to DP, any default",
        "(1/2 - 1 / (e^epsilon + 1))-semantic privacy is epsilon-DP, for any default.",
        implied(one_default, from_default, artanh(2, 2)),
        UNSEEN,
    ),
    _SEMANTIC.ours(
        "SemPr by single reports",
        "Semantic privacy over single reports is semantic privacy over sets of reports.",
        implied(
            lambda case: SemanticPrivacy(case.taken_out, sets=False),
            lambda case: SemanticPrivacy(case.taken_out),
            same,
        ),
        GOLDEN,
    ),
    _BOUNDED_RANGE.states("bounded range to DP", "eta-bounded range is eta-DP.", implied(RANGE, DP, same), ODD),
    _BOUNDED_RANGE.states(
        "DP to bounded range", "epsilon-DP is (2 epsilon)-bounded range.", implied(DP, RANGE, twice)
    ),
    _BOUNDED_RANGE.states(
        "bounded range to concentrated DP",
        "eta-bounded range is (eta^2 / 8)-zCDP.",
        implied(RANGE, CONCENTRATED, lambda eta: eta**2 / 8),
        coin(0.01),
    ),
    _BOUNDED_RANGE.states(
        "DP to concentrated DP",
        "epsilon-DP is (epsilon^2 / 2)-zCDP.",
        implied(DP, CONCENTRATED, lambda epsilon: epsilon**2 / 2),
        coin(0.01),
    ),
    _BOUNDED_RANGE.ours(
        "DP to concentrated DP, sharp",
        "epsilon-DP is (epsilon tanh(epsilon / 2))-zCDP.",
        implied(DP, CONCENTRATED, epsilon_tanh),
    ),
    _LOSS.states(
        "DP to KL",
        "epsilon-DP is min(epsilon, epsilon^2)-KL privacy.",
        implied(DP, KL, lambda epsilon: min(epsilon, epsilon**2)),
        coin(5.0),
    ),
    _LOSS.ours(
        "DP to KL, sharp", "epsilon-DP is (epsilon tanh(epsilon / 2))-KL privacy.", implied(DP, KL, epsilon_tanh)
    ),
    _LOSS.states(
        "KL to mutual information",
        "epsilon-KL privacy lets a report give at most epsilon nats about which of two secrets it is.",
        kl_to_information,
        coin(0.1),
    ),
    _LOSS.states(
        "mutual information to total error",
        "At most epsilon nats of information make the channel (0, sqrt(2 epsilon))-DP.",
        information_to_total,
        coin(0.3),
    ),
    _LOSS.ours(
        "KL to total error, sharp",
        "epsilon-KL privacy makes the channel (0, sqrt(epsilon / 2))-DP.",
        implied(KL, TOTAL, lambda epsilon: math.sqrt(epsilon / 2)),
        coin(0.1),
    ),
)

GROUPS: Final[dict[str, tuple[FormalRelation, ...]]] = {"tests": _TESTS, "beliefs": _BELIEFS, "records": _RECORDS}
"""The relations in groups that are tried apart, in the order of the thesis."""
