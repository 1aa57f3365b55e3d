"""Checks of relations on a channel: the value that one notion allows of another, and the value found."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, combinations
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import norm

from sfumato.core import Mechanism, Space
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
    EventRatio,
    Events,
    Family,
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
    Relation,
    SemanticPrivacy,
    TestingRegion,
    TradeOff,
    TradeOffPrivacy,
    band,
)

from .channels import FormalCase

_SLACK: Final = 1e-9  # of rules and curves in floating point; measured values have bounds of their own
_DIGITS: Final = 1e-10  # of logarithms of posteriors
_CAPACITY_DIGITS: Final = 1e-6
_PUBLISHED_UP_TO: Final = 1.35


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
_Membership = type[PositiveMembershipPrivacy | NegativeMembershipPrivacy | MembershipPrivacy]


def same(value: float) -> float:
    """Return a value unchanged."""
    return value


def twice(value: float) -> float:
    """Return twice a value."""
    return 2 * value


def tanh(share: float) -> Callable[[float], float]:
    """Return the rule that takes a share of epsilon to its hyperbolic tangent."""
    return lambda epsilon: math.tanh(share * epsilon)


def artanh(factor: float, inner: float) -> Callable[[float], float]:
    """Return the rule of a factor times the artanh of a multiple, infinite beyond its domain."""
    return lambda sigma: factor * math.atanh(inner * sigma) if inner * sigma < 1 else math.inf


def six_times(sigma: float) -> float:
    """Return six times sigma where the thesis states it, up to 1.35."""
    return 6 * sigma if 6 * sigma <= _PUBLISHED_UP_TO else math.inf


def epsilon_tanh(epsilon: float) -> float:
    """Return epsilon tanh(epsilon / 2)."""
    return epsilon * math.tanh(epsilon / 2)


def mu_of_epsilon(epsilon: float) -> float:
    """Return the mu of Gaussian privacy that epsilon-DP gives."""
    return 2 * float(norm.isf(1 / (1 + math.exp(epsilon))))


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
DEFAULTS: Final = always(SemanticPrivacy())
ADVERSARIES: Final = always(AdversarialPrivacy(Priors.all()))


def every(kind: _Membership) -> Ask:
    """Return a notion against every prior, about every single secret."""
    return always(kind(Priors.all()))


def of_prior(kind: Callable[[Priors], Notion]) -> Ask:
    """Return a notion of the prior, about every single secret."""
    return lambda case: kind(case.given)


def of_first(kind: _Membership) -> Ask:
    """Return a notion about one fact, of one prior."""
    return lambda case: kind(case.given, case.first)


NOISELESS: Final = of_prior(NoiselessPrivacy)
AFTERWARDS: Final = of_prior(AposterioriNoiselessPrivacy)
INFORMATION: Final = of_prior(InformationPrivacy)


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


def one_default(case: FormalCase) -> Notion:
    """Return semantic privacy where the last secret replaces any other."""
    return SemanticPrivacy.replacing(case.size, case.size - 1)


def from_default(case: FormalCase) -> Notion:
    """Return differential privacy between the default, which is the last secret, and each other one."""
    last = np.arange(case.size) == case.size - 1
    return DifferentialPrivacy(Relation(last[:, None] ^ last[None, :], "a secret and the default"))


def singletons(case: FormalCase) -> Events:
    """Return the facts that the secret is one of its values."""
    return Events.singletons(case.size)


def implied(start: Ask, end: Ask, rule: Callable[[float], float], *, positive: bool = False) -> Check:
    """Return the check that the value of one notion bounds that of another; positive leaves out zeros."""

    def check(case: FormalCase) -> Measured | None:
        if positive and not (case.rows > 0).all():
            return None
        return _bounded_by(rule(start(case).measure(case.rows).upper), end(case), case)

    return check


def _bounded_by(allowed: float, notion: Notion, case: FormalCase) -> Measured | None:
    if not math.isfinite(allowed):
        return None
    measured = notion.measure(case.rows)
    return Measured(allowed, measured.lower, measured.value)


def beliefs(case: FormalCase, facts: Events, columns: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the probability of each fact before, (k,), and after each report or column, (k, m), by Bayes."""
    rows = case.rows if columns is None else columns
    joint = case.prior.probabilities[:, None] * rows
    before = facts.masks @ case.prior.probabilities
    total = joint.sum(axis=0)
    used = total > 0
    after: Floats = (facts.masks @ joint[:, used]) / total[used]
    return before, after


def bounded(key: str, notion: Ask, facts: Callable[[FormalCase], Events]) -> Check:
    """Return the check that posteriors lie in the band of a notion: shares of what is allowed, above and below."""

    def check(case: FormalCase) -> Measured | None:
        epsilon = notion(case).measure(case.rows).upper
        limits = band(key, epsilon) if math.isfinite(epsilon) else Band(key)
        if not math.isfinite(min(limits.high, limits.rise, limits.slope)):
            return None
        before, after = beliefs(case, facts(case))
        high = float((after / limits.upper(before)[:, None]).max())
        # Where nothing bounds from below, this is (1 - posterior) / 1.
        low = float(((1 - after) / (1 - limits.lower(before))[:, None]).max())
        share = max(high, low if math.isfinite(limits.low) or math.isfinite(limits.fall) else 0.0)
        return Measured(1.0, share - _DIGITS, share)

    return check


def _logs(case: FormalCase) -> Floats:
    """Return ln(posterior / prior) of each value and report."""
    before, after = beliefs(case, singletons(case))
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(after / before[:, None])
    return logs


def factors(case: FormalCase) -> float:
    """Return the largest |ln(posterior / prior)| of a value, by Bayes' rule."""
    return float(np.abs(_logs(case)).max())


def odds(case: FormalCase) -> float:
    """Return the largest change of the odds of two values, as a logarithm, by Bayes' rule."""
    return float(np.ptp(_logs(case), axis=0).max())


def from_posteriors(value: Callable[[FormalCase], float], end: Ask) -> Check:
    """Return the check that a number of the posteriors bounds a notion."""
    return lambda case: _bounded_by(value(case) + _DIGITS, end(case), case)


def to_posteriors(value: Callable[[FormalCase], float], start: Ask) -> Check:
    """Return the check that a notion bounds a number of the posteriors."""

    def check(case: FormalCase) -> Measured | None:
        allowed, number = start(case).measure(case.rows).upper, value(case)
        return Measured(allowed, number - _DIGITS, number) if math.isfinite(allowed) else None

    return check


def _shortfall(case: FormalCase, a: Floats, b: Floats) -> float:
    """Return the least delta with 1 - a <= e**epsilon b + delta and 1 - b <= e**epsilon a + delta."""
    grown = math.exp(case.epsilon)
    return max(0.0, float(np.max(1 - a - grown * b)), float(np.max(1 - b - grown * a)))


def _of_errors(case: FormalCase) -> float:
    return _shortfall(case, *TestingRegion.of(case.rows).vertices.T)


def region_of_delta(case: FormalCase) -> Measured:
    """Check that differential privacy bounds both errors of all tests."""
    delta = _of_errors(case)
    return Measured(delta_of(case).measure(case.rows).upper, delta - _SLACK, delta)


def delta_of_region(case: FormalCase) -> Measured | None:
    """Check that the errors of all tests bound differential privacy."""
    return _bounded_by(_of_errors(case) + _SLACK, delta_of(case), case)


def curve_of_delta(case: FormalCase) -> Measured:
    """Check the trade-off curve of the delta: 1 plus the shortfall of tests."""
    delta = min(1.0, delta_of(case).measure(case.rows).upper)
    slack = TradeOffPrivacy(TradeOff.of_epsilon(case.epsilon, delta)).measure(case.rows)
    return Measured(1.0, 1 + slack.lower - _SLACK, 1 + slack.value)


def delta_of_curve(case: FormalCase) -> Measured | None:
    """Check the least delta for which f is nowhere above the convex curve of the channel, at its vertices."""
    curve = TradeOff.of(case.rows)
    return _bounded_by(_shortfall(case, curve.alphas, curve.betas) + _SLACK, delta_of(case), case)


def gaussian_delta(case: FormalCase) -> Measured | None:
    """Check the delta that Gaussian privacy gives."""
    mu = GaussianPrivacy().measure(case.rows).upper
    if not 0 < mu < math.inf:
        return None
    first, second = -case.epsilon / mu + mu / 2, -case.epsilon / mu - mu / 2
    allowed = float(norm.cdf(first) - math.exp(case.epsilon) * norm.cdf(second))
    return _bounded_by(allowed + _SLACK, delta_of(case), case)


def sets_of_reports(case: FormalCase) -> Measured | None:
    """Check the epsilon of positive membership privacy over all sets of reports, by brute force."""
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


def _ratio(case: FormalCase) -> float:
    """Return the likelihood ratio rho."""
    rise = EventRatio(Priors.all()).measure(case.rows).value
    return math.exp(rise) if math.isfinite(rise) else math.inf


def ratio_to_positive(case: FormalCase) -> Measured | None:
    """Check ln max(rho / (1 + a (rho - 1)), 1 + b (rho - 1)) for facts of probability a to b."""
    (low, high), rho = case.interval, _ratio(case)
    if math.isinf(rho):
        return None
    allowed = math.log(max(rho / (1 + low * (rho - 1)), 1 + high * (rho - 1)))
    return _bounded_by(allowed, PositiveMembershipPrivacy(case.between), case)


def positive_to_ratio(case: FormalCase) -> Measured | None:
    """Check that rho is at most min(e^epsilon (1 - a) / (1 - a e^epsilon), (e^epsilon + b - 1) / b)."""
    (low, high), epsilon = case.interval, PositiveMembershipPrivacy(case.between).measure(case.rows).upper
    if not math.isfinite(epsilon):
        return None
    grown = math.exp(epsilon)
    first = grown * (1 - low) / (1 - low * grown) if low * grown < 1 else math.inf
    return _bounded_by(math.log(min(first, (grown + high - 1) / high)), EventRatio(Priors.all()), case)


def ratio_to_adversaries(case: FormalCase) -> Measured | None:
    """Check (sqrt(rho) - sqrt(e^epsilon))^2 / (rho - 1), over all probabilities of a fact."""
    rho = _ratio(case)
    if math.isinf(rho) or rho == 1:
        return None
    excess = max(0.0, math.sqrt(rho) - math.exp(case.epsilon / 2))
    return _bounded_by(excess**2 / (rho - 1), delta_of_adversaries(case), case)


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
