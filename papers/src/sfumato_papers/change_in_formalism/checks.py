"""Checks of relations on a channel: the value that one notion allows of another, and the value found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import norm

from sfumato.core import Bracket, Mechanism, Space
from sfumato.core.arrays import Floats
from sfumato.divergences import TOTAL_VARIATION
from sfumato.leakage import shannon_capacity
from sfumato.privacy import (
    AdversarialPrivacy,
    AposterioriNoiselessPrivacy,
    Band,
    BoundedRange,
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
    IndistinguishablePrivacy,
    InformationPrivacy,
    KLPrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
    SemanticPrivacy,
    TradeOff,
    band,
)

from .channels import FormalCase

_SLACK: Final = 1e-9  # of rules and curves in floating point; measured values have bounds of their own
_DIGITS: Final = 1e-10  # of logarithms of posteriors
_CAPACITY_DIGITS: Final = 1e-6


class Measured(NamedTuple):
    """The largest value that a relation allows of a channel, and the value found with its lower bound."""

    allowed: float
    lower: float
    value: float

    @property
    def violated(self) -> bool:
        """Whether more was found than is allowed."""
        return self.lower > self.allowed * (1 + _SLACK) + _SLACK

    @property
    def share(self) -> float:
        """The value found over the largest that is allowed; 0 where nothing is allowed and nothing found."""
        if self.allowed > _SLACK:
            return self.value / self.allowed
        return math.inf if self.violated else 0.0


Ask = Callable[[FormalCase], Notion]
"""The notion of a channel's prior and facts."""
Check = Callable[[FormalCase], Measured | None]
"""A check of a relation; None where its premise does not apply."""


def always(notion: Notion) -> Ask:
    """Return a notion that is the same for every channel."""
    return lambda _: notion


DP: Final = always(DifferentialPrivacy())
TOTAL: Final = always(DivergencePrivacy(TOTAL_VARIATION))
GAUSSIAN: Final = always(GaussianPrivacy())
INDISTINGUISHABLE: Final = always(IndistinguishablePrivacy())
RANGE: Final = always(BoundedRange())
CONCENTRATED: Final = always(ConcentratedPrivacy())
KL: Final = always(KLPrivacy())
# Against every prior, about every single secret.
ADVERSARIES: Final = always(AdversarialPrivacy(Priors.all()))
POSITIVE_OF_ALL: Final = always(PositiveMembershipPrivacy(Priors.all()))
NEGATIVE_OF_ALL: Final = always(NegativeMembershipPrivacy(Priors.all()))


def of_prior(kind: Callable[[Priors], Notion]) -> Ask:
    """Return a notion of the prior, about every single secret."""
    return lambda case: kind(case.given)


def of_first(kind: Callable[[Priors, Events], Notion]) -> Ask:
    """Return a notion about one fact, of one prior."""
    return lambda case: kind(case.given, case.first)


NOISELESS: Final = of_prior(NoiselessPrivacy)
AFTERWARDS: Final = of_prior(AposterioriNoiselessPrivacy)
INFORMATION: Final = of_prior(InformationPrivacy)
POSITIVE: Final = of_first(PositiveMembershipPrivacy)
NEGATIVE: Final = of_first(NegativeMembershipPrivacy)
MEMBERSHIP: Final = of_first(MembershipPrivacy)


def conditioned(case: FormalCase) -> Notion:
    """Return distribution privacy of the prior given each value of an attribute."""
    weights = case.halves.masks * case.prior.probabilities
    return DistributionPrivacy(Family(weights / weights.sum(axis=1, keepdims=True)))


def delta_of(case: FormalCase) -> Notion:
    """Return the delta of differential privacy at the channel's epsilon."""
    return DeltaOfDifferentialPrivacy(case.epsilon)


def delta_of_adversaries(case: FormalCase) -> Notion:
    """Return the delta of adversarial privacy over every prior, at the channel's epsilon."""
    return DeltaOfAdversarialPrivacy(Priors.all(), case.epsilon)


def exchange(case: FormalCase) -> Notion:
    """Return semantic privacy where secrets are exchanged two by two."""
    return SemanticPrivacy(case.exchange)


def twice(value: float) -> float:
    """Return twice a value."""
    return 2 * value


def implied(start: Ask, end: Ask, rule: Callable[[float], float] = lambda value: value) -> Check:
    """Return the check that the value of one notion bounds that of another, by default unchanged."""
    return lambda case: _bounded_by(rule(start(case).measure(case.rows).upper), end(case), case)


def _bounded_by(allowed: float, notion: Notion, case: FormalCase) -> Measured | None:
    if not math.isfinite(allowed):
        return None
    measured = notion.measure(case.rows)
    return Measured(allowed, measured.lower, measured.value)


def equivalent(start: Ask, end: Ask) -> Check:
    """Return the check that two notions have one value."""
    return lambda case: _equal(*(notion(case).measure(case.rows) for notion in (start, end)))


def by_hand(value: Callable[[FormalCase], float], end: Ask, digits: float = _DIGITS) -> Check:
    """Return the check that a number computed here is the value of a notion."""

    def check(case: FormalCase) -> Measured | None:
        number = value(case)
        return _equal(Bracket(number - digits, number, number + digits), end(case).measure(case.rows))

    return check


def _equal(*values: Bracket | Finding) -> Measured | None:
    """Return the largest of some numbers against the least."""
    allowed = min(each.upper for each in values)
    if not math.isfinite(allowed):
        return None
    return Measured(allowed, max(each.lower for each in values), max(each.value for each in values))


def beliefs(case: FormalCase, facts: Events) -> tuple[Floats, Floats]:
    """Return the probability of each fact before, (k,), and after each report, (k, m), by Bayes' rule alone."""
    joint = case.prior.probabilities[:, None] * case.rows
    before = facts.masks @ case.prior.probabilities
    total = joint.sum(axis=0)
    used = total > 0
    after: Floats = (facts.masks @ joint[:, used]) / total[used]
    return before, after


def bounded(key: str, notion: Ask, *, first: bool = False) -> Check:
    """Return the check that posteriors of the first secret, or of each, lie in the band of a notion.

    The value is the largest share of what is allowed, above and below.
    """

    def check(case: FormalCase) -> Measured | None:
        epsilon = notion(case).measure(case.rows).upper
        limits = band(key, epsilon) if math.isfinite(epsilon) else Band(key)
        if not math.isfinite(min(limits.high, limits.rise, limits.slope)):
            return None
        before, after = beliefs(case, case.first if first else Events.singletons(case.size))
        high = float((after / limits.upper(before)[:, None]).max())
        # Where nothing bounds from below, this is (1 - posterior) / 1.
        low = float(((1 - after) / (1 - limits.lower(before))[:, None]).max())
        share = max(high, low if math.isfinite(limits.low) or math.isfinite(limits.fall) else 0.0)
        return Measured(1.0, share - _DIGITS, share)

    return check


def _logs(case: FormalCase) -> Floats:
    """Return ln(posterior / prior) of each value and report."""
    before, after = beliefs(case, Events.singletons(case.size))
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(after / before[:, None])
    return logs


def factors(case: FormalCase) -> float:
    """Return the largest |ln(posterior / prior)| of a value, by Bayes' rule."""
    return float(np.abs(_logs(case)).max())


def odds(case: FormalCase) -> float:
    """Return the largest change of the odds of two values, as a logarithm, by Bayes' rule."""
    return float(np.ptp(_logs(case), axis=0).max())


def delta_of_errors(vertices: Callable[[FormalCase], Iterable[Floats]]) -> Check:
    """Return the check of the least delta with 1 - a <= e**epsilon b + delta and 1 - b <= e**epsilon a + delta."""

    def value(case: FormalCase) -> float:
        (a, b), grown = vertices(case), math.exp(case.epsilon)
        return max(0.0, float(np.max(1 - a - grown * b)), float(np.max(1 - b - grown * a)))

    return by_hand(value, delta_of, _SLACK)


def errors_on_curve(case: FormalCase) -> tuple[Floats, Floats]:
    """Return both errors at the vertices of the convex trade-off curve."""
    curve = TradeOff.of(case.rows)
    return curve.alphas, curve.betas


def gaussian_delta(case: FormalCase) -> Measured | None:
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


def kl_to_information(case: FormalCase) -> Measured | None:
    """Check the information about the pair with the largest divergence."""
    largest = KLPrivacy().measure(case.rows)
    if not math.isfinite(largest.upper) or largest.witness.pair is None:
        return None
    low, _ = information(case, largest.witness.pair)
    return Measured(largest.upper, low, low)


def information_to_total(case: FormalCase) -> Measured | None:
    """Check the total variation of the pair where it is largest."""
    total = TOTAL(case).measure(case.rows)
    if total.witness.pair is None:
        return None
    _, high = information(case, total.witness.pair)
    return Measured(math.sqrt(2 * high), total.lower, total.value)
