"""Relations of the thesis between notions: each is checked on random channels and on a known one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import norm

from sfumato.core import Bracket, Mechanism, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import TOTAL_VARIATION
from sfumato.leakage import shannon_capacity
from sfumato.privacy import (
    AdversarialPrivacy,
    Band,
    ConcentratedPrivacy,
    DeltaOfAdversarialPrivacy,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    DivergencePrivacy,
    Events,
    Family,
    Finding,
    GaussianPrivacy,
    KLPrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
    Pufferfish,
    TestingRegion,
    TradeOff,
    band,
)

from .channels import (
    AFTERWARDS,
    COIN,
    INDISTINGUISHABLE,
    INFORMATION,
    MEMBERSHIP,
    NEGATIVE,
    POSITIVE,
    RANGE,
    Ask,
    FormalCase,
    case_of,
    coin,
    constant,
    exchange,
    of_prior,
)

_SLACK: Final = 1e-9  # of rules and curves in floating point; measured values have bounds of their own
_DIGITS: Final = 1e-10  # of logarithms of posteriors
_CAPACITY_DIGITS: Final = 1e-6
_POSITIVE: Final = 1e-8

LEAKY: Final = case_of([[0.05, 0.0, 0.95], [0.0, 0.05, 0.95]], epsilon=0.0)
"""A channel that gives the secret away with probability .05, and else says nothing: (0, .05)-DP."""
ODD: Final = case_of([[1e-6, 1 - 1e-6], [1e-6 * math.e, 1 - 1e-6 * math.e]])
"""A rare report that is e times as likely for one secret, and another that says next to nothing."""
TWO_RARE: Final = case_of(
    [[0.5, 0.5], [0.125, 0.875], [0.25, 0.75]], Prior(Space(range(3)), [1e-6, 1e-6, 1 - 2e-6])
)
"""Two secrets of small probability: one makes the first report more often than the rest, one less often."""
RARE_VALUE: Final = case_of([[0.8, 0.2], [0.2, 0.8]], Prior(Space(range(2)), [1e-6, 1 - 1e-6]))
"""A value of small probability, and randomised response."""


class Measurement(NamedTuple):
    """The largest value that a relation allows of a channel, and the value found with its lower bound."""

    allowed: float
    lower: float
    value: float

    @property
    def fails(self) -> bool:
        """Whether more was found than is allowed."""
        return self.lower > self.allowed * (1 + _SLACK) + _SLACK

    @property
    def share(self) -> float:
        """The value found over the largest that is allowed; 0 where nothing is allowed and nothing found."""
        if self.allowed > _SLACK:
            return self.value / self.allowed
        return math.inf if self.fails else 0.0


Check = Callable[[FormalCase], Measurement | None]
"""A check of a relation; None where its premise does not apply."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormalRelation(CompactRepr):
    """A relation between two notions."""

    where: str
    name: str
    says: str
    check: Check
    known: FormalCase = COIN  # attains the relation or, if it fails, breaks it


@dataclass(frozen=True, slots=True, repr=False)
class RelationRow(CompactRepr):
    """A relation on the random channels of a seed."""

    relation: str
    seed: int
    instances: int  # channels to which it applies
    violations: int  # channels on which more is found than is allowed
    mean_share: float  # of what is allowed that was found, over the channels where something is allowed
    tightness: float  # the largest share


@dataclass(frozen=True, slots=True, repr=False)
class KnownRow(CompactRepr):
    """A relation on a channel that is known to attain it, or to break it."""

    relation: str
    where: str
    says: str
    known_channel: str  # entries apart by blanks, rows by strokes
    known_prior: str
    known_allowed: float
    known_found: float
    known_violated: bool


def relation_row(relation: FormalRelation, seed: int, cases: Iterable[FormalCase]) -> RelationRow:
    """Return the shares and violations of a relation on channels."""
    values = [value for case in cases if (value := relation.check(case)) is not None]
    # Where nothing is allowed, there is nothing to take a share of.
    shares = [value.share for value in values if value.allowed > _POSITIVE or value.fails]
    mean = math.fsum(shares) / len(shares) if shares else 0.0
    tightness = max((value.share for value in values), default=0.0)
    return RelationRow(relation.name, seed, len(values), sum(value.fails for value in values), mean, tightness)


def known_row(relation: FormalRelation) -> KnownRow:
    """Return the allowed and found value of a relation on its known channel; `ValueError` if it does not apply."""
    outcome = relation.check(relation.known)
    if outcome is None:
        raise ValueError(relation.name)
    rows, weights = (
        " / ".join(" ".join(f"{entry:.6g}" for entry in row) for row in matrix)
        for matrix in (relation.known.rows, relation.known.prior.probabilities[None, :])
    )
    values = outcome.allowed, outcome.value
    return KnownRow(relation.name, relation.where, relation.says, rows, weights, *values, outcome.fails)


DP: Final = constant(DifferentialPrivacy())
TOTAL: Final = constant(DivergencePrivacy(TOTAL_VARIATION))
CONCENTRATED: Final = constant(ConcentratedPrivacy())
NOISELESS: Final = of_prior(NoiselessPrivacy)


def conditional_privacy(case: FormalCase) -> Notion:
    """Return distribution privacy of the prior given each value of an attribute."""
    weights = case.halves.masks * case.prior.probabilities
    return DistributionPrivacy(Family(weights / weights.sum(axis=1, keepdims=True)))


def delta_of(case: FormalCase) -> Notion:
    """Return the delta of differential privacy at the channel's epsilon."""
    return DeltaOfDifferentialPrivacy(case.epsilon)


def delta_of_adversaries(case: FormalCase) -> Notion:
    """Return the delta of adversarial privacy over every prior, at the channel's epsilon."""
    return DeltaOfAdversarialPrivacy(Priors.all(), case.epsilon)


def double(value: float) -> float:
    """Return twice a value."""
    return 2 * value


def implication(start: Ask, end: Ask, rule: Callable[[float], float] = lambda value: value) -> Check:
    """Return the check that the value of one notion bounds that of another, by default unchanged."""
    return lambda case: _bounded_by(rule(start(case).measure(case.rows).upper), end(case), case)


def _bounded_by(allowed: float, notion: Notion, case: FormalCase) -> Measurement | None:
    if not math.isfinite(allowed):
        return None
    finding = notion.measure(case.rows)
    return Measurement(allowed, finding.lower, finding.value)


def equivalent(start: Ask, end: Ask) -> Check:
    """Return the check that two notions have one value."""
    return lambda case: _equal(*(notion(case).measure(case.rows) for notion in (start, end)))


def by_hand(value: Callable[[FormalCase], float], end: Ask, digits: float = _DIGITS) -> Check:
    """Return the check that a number computed here is the value of a notion."""

    def check(case: FormalCase) -> Measurement | None:
        number = value(case)
        return _equal(Bracket(number - digits, number, number + digits), end(case).measure(case.rows))

    return check


def _equal(*values: Bracket | Finding) -> Measurement | None:
    """Return the largest of some numbers against the least."""
    allowed = min(value.upper for value in values)
    if not math.isfinite(allowed):
        return None
    return Measurement(allowed, max(value.lower for value in values), max(value.value for value in values))


def beliefs(case: FormalCase, facts: Events) -> tuple[Floats, Floats]:
    """Return the probability of each fact before, (k,), and after each report, (k, m), by Bayes' rule alone."""
    joint = case.prior.probabilities[:, None] * case.rows
    before = facts.masks @ case.prior.probabilities
    total = joint.sum(axis=0)
    used = total > 0
    after: Floats = (facts.masks @ joint[:, used]) / total[used]
    return before, after


def band_check(key: str, notion: Ask, *, first: bool = False) -> Check:
    """Return the check that posteriors of the first secret, or of each, lie in the band of a notion.

    The value is the largest share of what is allowed, above and below.
    """

    def check(case: FormalCase) -> Measurement | None:
        epsilon = notion(case).measure(case.rows).upper
        limits = band(key, epsilon) if math.isfinite(epsilon) else Band(key)
        if not math.isfinite(min(limits.high, limits.rise, limits.slope)):
            return None
        before, after = beliefs(case, case.first if first else Events.singletons(case.size))
        high = float((after / limits.upper(before)[:, None]).max())
        # Where nothing bounds from below, this is (1 - posterior) / 1.
        low = float(((1 - after) / (1 - limits.lower(before))[:, None]).max())
        share = max(high, low if math.isfinite(limits.low) or math.isfinite(limits.fall) else 0.0)
        return Measurement(1.0, share - _DIGITS, share)

    return check


def _logs(case: FormalCase) -> Floats:
    """Return ln(posterior / prior) of each value and report, by Bayes' rule."""
    before, after = beliefs(case, Events.singletons(case.size))
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(after / before[:, None])
    return logs


def delta_of_errors(vertices: Callable[[FormalCase], Iterable[Floats]]) -> Check:
    """Return the check of the least delta with 1 - a <= e**epsilon b + delta and 1 - b <= e**epsilon a + delta."""

    def value(case: FormalCase) -> float:
        (a, b), factor = vertices(case), math.exp(case.epsilon)
        return max(0.0, float(np.max(1 - a - factor * b)), float(np.max(1 - b - factor * a)))

    return by_hand(value, delta_of, _SLACK)


def gaussian_delta(case: FormalCase) -> Measurement | None:
    """Check the delta that Gaussian privacy gives."""
    mu = GaussianPrivacy().measure(case.rows).upper
    if not 0 < mu < math.inf:
        return None
    first, second = -case.epsilon / mu + mu / 2, -case.epsilon / mu - mu / 2
    allowed = float(norm.cdf(first) - math.exp(case.epsilon) * norm.cdf(second))
    return _bounded_by(allowed + _SLACK, delta_of(case), case)


def information(case: FormalCase, pair: tuple[int, int]) -> tuple[float, float]:
    """Return bounds of the most information, in nats, that a report gives about which of two secrets it is."""
    m = case.rows.shape[1]
    two = Mechanism(case.rows[list(pair)], Space(range(2)), Space(range(m)))
    capacity = shannon_capacity(two, tolerance_bits=_CAPACITY_DIGITS).bits
    return capacity.lower * math.log(2), capacity.upper * math.log(2)


def kl_to_information(case: FormalCase) -> Measurement | None:
    """Check the information about the pair with the largest divergence."""
    largest = KLPrivacy().measure(case.rows)
    if not math.isfinite(largest.upper) or largest.witness.pair is None:
        return None
    low, _ = information(case, largest.witness.pair)
    return Measurement(largest.upper, low, low)


def information_to_total(case: FormalCase) -> Measurement | None:
    """Check the total variation of the pair where it is largest."""
    total = TOTAL(case).measure(case.rows)
    if total.witness.pair is None:
        return None
    _, high = information(case, total.witness.pair)
    return Measurement(math.sqrt(2 * high), total.lower, total.value)


_CASES: Final[dict[str, tuple[tuple[str, str, Check] | tuple[str, str, Check, FormalCase], ...]]] = {
    "2.2.6, hypothesis testing": (
        (
            "DP to total error",
            "epsilon-DP gives every test a total error of at least 2 / (1 + e^epsilon), which is a "
            "total variation of at most tanh(epsilon / 2).",
            implication(DP, TOTAL, lambda epsilon: math.tanh(epsilon / 2)),
        ),
        (
            "DP and both errors",
            "(epsilon, delta)-DP gives every test 1 - a <= e^epsilon b + delta and 1 - b <= "
            "e^epsilon a + delta, and tests that keep both make the channel (epsilon, delta)-DP.",
            delta_of_errors(lambda case: TestingRegion.of(case.rows).vertices.T),
        ),
    ),
    "2.2.6, definition 36": (
        (
            "DP and f-DP",
            "(epsilon, delta)-DP is f-DP for f = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - "
            "a)), and conversely.",
            delta_of_errors(lambda case: attrgetter("alphas", "betas")(TradeOff.of(case.rows))),
        ),
    ),
    "2.2.6, Gaussian privacy": (
        (
            "Gaussian DP to DP",
            "mu-GDP gives delta = Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2).",
            gaussian_delta,
        ),
    ),
    "2.2.6, proposition 1": (
        (
            "DP and IndPr",
            "epsilon-DP is epsilon-indistinguishable privacy, and conversely.",
            equivalent(DP, INDISTINGUISHABLE),
        ),
        (
            "DP to posteriors",
            "epsilon-DP keeps a posterior between p / (e^epsilon + (1 - e^epsilon) p) and e^epsilon "
            "p / (1 + (e^epsilon - 1) p).",
            band_check("differential-privacy", DP),
        ),
    ),
    "2.2.6, definition 37": (
        (
            "PMPr to posteriors",
            "epsilon-PMPr keeps a posterior below e^epsilon p and 1 - e^-epsilon (1 - p).",
            band_check("positive-membership", POSITIVE, first=True),
        ),
    ),
    "2.2.9, table 2.20": (
        (
            "DP and PMPr of every prior",
            "epsilon-DP is epsilon-PMPr for every prior and every single secret, and conversely.",
            equivalent(DP, constant(PositiveMembershipPrivacy(Priors.all()))),
        ),
        (
            "DP and NMPr of every prior",
            "epsilon-DP is epsilon-NMPr for every prior and every single secret, and conversely.",
            equivalent(DP, constant(NegativeMembershipPrivacy(Priors.all()))),
        ),
        ("MPr to PMPr", "epsilon-MPr is epsilon-PMPr.", implication(MEMBERSHIP, POSITIVE)),
        ("MPr to NMPr", "epsilon-MPr is epsilon-NMPr.", implication(MEMBERSHIP, NEGATIVE)),
        (
            "PMPr to AdvPr",
            "epsilon-PMPr is (epsilon, 0)-AdvPr.",
            implication(of_prior(PositiveMembershipPrivacy), of_prior(AdversarialPrivacy)),
        ),
        (
            "DP and AdvPr of every prior",
            "epsilon-DP is (epsilon, 0)-AdvPr for every prior and every single secret, and conversely.",
            equivalent(DP, constant(AdversarialPrivacy(Priors.all()))),
        ),
        (
            "(epsilon, delta)-DP to AdvPr",
            "(epsilon, delta)-DP is (epsilon, delta)-AdvPr, for every prior.",
            implication(delta_of, delta_of_adversaries),
            LEAKY,
        ),
        (
            "AdvPr to (epsilon, delta)-DP",
            "(epsilon, delta)-AdvPr for every prior is (epsilon, delta)-DP.",
            implication(delta_of_adversaries, delta_of),
        ),
    ),
    "2.2.6, definition 39": (
        ("NPr to ANPr", "epsilon-NPr is epsilon-ANPr.", implication(NOISELESS, AFTERWARDS), RARE_VALUE),
        (
            "ANPr to NPr, twice",
            "epsilon-ANPr is (2 epsilon)-NPr.",
            implication(AFTERWARDS, NOISELESS, double),
            TWO_RARE,
        ),
        (
            "ANPr to posteriors",
            "epsilon-ANPr keeps a posterior between max(e^-epsilon p, 1 - e^epsilon (1 - p)) and "
            "min(e^epsilon p, 1 - e^-epsilon (1 - p)).",
            band_check("aposteriori-noiseless", AFTERWARDS),
        ),
        (
            "ANPr and MPr",
            "epsilon-ANPr is epsilon-MPr for one prior, and conversely.",
            by_hand(lambda case: float(np.abs(_logs(case)).max()), of_prior(MembershipPrivacy)),
        ),
    ),
    "2.2.6, inferential privacy and identity DP": (
        (
            "bounded odds and NPr",
            "Where a report changes the odds of any two values by at most e^epsilon, it is "
            "epsilon-NPr, and conversely.",
            by_hand(lambda case: float(np.ptp(_logs(case), axis=0).max()), NOISELESS),
        ),
    ),
    "2.2.5, definition 35": (
        (
            "Pufferfish and distribution privacy",
            "Pufferfish privacy is privacy of the distributions given each rival, and conversely.",
            equivalent(lambda case: Pufferfish(case.priors, case.halves), conditional_privacy),
        ),
    ),
    "2.2.6, definition 41": (
        (
            "InfPr to DP, twice",
            "epsilon-InfPr, for a prior that holds every secret possible, is (2 epsilon)-DP of all pairs.",
            implication(INFORMATION, DP, double),
            TWO_RARE,
        ),
    ),
    "2.2.6, definition 40": (
        (
            "DP to SemPr",
            "epsilon-DP is (e^epsilon - 1)-semantic privacy.",
            implication(DP, exchange, math.expm1),
            coin(0.01),
        ),
    ),
    "2.2.6, range-bounded privacy": (
        ("bounded range to DP", "eta-bounded range is eta-DP.", implication(RANGE, DP), ODD),
        ("DP to bounded range", "epsilon-DP is (2 epsilon)-bounded range.", implication(DP, RANGE, double)),
        (
            "bounded range to concentrated DP",
            "eta-bounded range is (eta^2 / 8)-zCDP.",
            implication(RANGE, CONCENTRATED, lambda eta: eta**2 / 8),
            coin(0.01),
        ),
        (
            "DP to concentrated DP",
            "epsilon-DP is (epsilon^2 / 2)-zCDP.",
            implication(DP, CONCENTRATED, lambda epsilon: epsilon**2 / 2),
            coin(0.01),
        ),
    ),
    "2.2.2, KL privacy": (
        (
            "DP to KL",
            "epsilon-DP is min(epsilon, epsilon^2)-KL privacy.",
            implication(DP, constant(KLPrivacy()), lambda epsilon: min(epsilon, epsilon**2)),
            coin(5.0),
        ),
        (
            "KL to mutual information",
            "epsilon-KL privacy lets a report give at most epsilon nats about which of two secrets it is.",
            kl_to_information,
            coin(0.1),
        ),
        (
            "mutual information to total error",
            "At most epsilon nats of information make the channel (0, sqrt(2 epsilon))-DP.",
            information_to_total,
            coin(0.3),
        ),
    ),
}
"""By the place in the thesis: the name of a relation, what it says, its check, and a channel that attains it."""

FORMAL_RELATIONS: Final = tuple(FormalRelation(place, *row) for place, rows in _CASES.items() for row in rows)
