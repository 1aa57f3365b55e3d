"""Membership, adversarial and noiseless privacy: limits on how far a report changes the probability of a fact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError
from ...rounding import at_most, factor_at_most, log_error, log_errors
from ..notion import Description, Finding
from ..rows import AnyMechanism, channel
from . import posterior as beliefs
from .attackers import AgainstPriors, Events, Priors, events_on
from .posterior import Chance, Odds, OfFacts, Ratings

_LARGEST = 700.0  # e to this is still a float


@final
@dataclass(frozen=True, slots=True)
class EventRatio(OfFacts):
    """The least rise with P[o | T] <= e**rise P[o | not T] for all priors, facts T and reports o.

    The odds of a fact grow by at most a factor e**rise, for any prior odds. Sets of reports give averages of the
    ratios of single ones. The probabilities of facts under the priors do not count.
    """

    description = Description(
        "event-ratio",
        "event ratio",
        ("rise", "fall"),
        question="By which factors can a report favour a fact, or its opposite?",
        promise=(
            "no report is more than e^{rise} times, or less than e^-{fall} times, as likely when a fact holds as "
            "when it does not"
        ),
        source="Desfontaines, 2.2.6",
        context=("priors", "events"),
        defaults={"rise": math.inf, "fall": math.inf},
    )
    parameter = "rise"
    on_request = True
    certainty = "some report is possible only where a fact is true"
    limit = "no report is more than {factor} times as likely where a fact is true as where it is false"

    _rate = staticmethod(beliefs.rise)


@final
@dataclass(frozen=True, slots=True)
class FallOfEventRatio(OfFacts):
    """The least fall with P[o | not T] <= e**fall P[o | T] for all priors, facts T and reports o.

    The odds of a fact shrink by at most a factor e**-fall. It equals the rise of `EventRatio` for facts whose
    opposites are facts too.
    """

    description = EventRatio.description
    parameter = "fall"
    on_request = True
    certainty = "some report is possible only where a fact is false"
    limit = "no report is more than {factor} times as likely where a fact is false as where it is true"

    _rate = staticmethod(beliefs.fall)


@final
@dataclass(frozen=True, slots=True)
class PositiveMembershipPrivacy(OfFacts):
    """Positive membership privacy: no set of reports makes a fact much more credible.

    P[T | o in S] <= e**epsilon P[T]   and   P[not T | o in S] >= e**-epsilon P[not T]

    for all priors, facts T and sets S. Single reports suffice, because the posterior given a set is a mean of
    theirs. With rho the largest P[o|T] / P[o|not T] and p the prior probability of T,

    epsilon = max(ln(rho / (1 + p (rho - 1))), ln(1 + p (rho - 1))),

    and over an interval of p its ends attain it. Only the upward ratio is bounded: a report may still rule the
    fact out.
    """

    description = Description(
        "positive-membership",
        "positive membership privacy",
        question="How much more credible can a report make a fact?",
        promise="no report makes a fact over e^{epsilon} times as probable, or its absence e^{epsilon} times less",
        source="Li, Qardaji, Su, Wu and Yang, CCS 2013; Desfontaines, definition 37",
        context=("priors", "events"),
    )
    certainty = "a report can make some fact certain"
    limit = (
        "no report makes a fact more than {factor} times as probable as it was, nor divides the probability "
        "that it is false by more"
    )

    _rate = staticmethod(beliefs.upward_change)


@final
@dataclass(frozen=True, slots=True)
class NegativeMembershipPrivacy(OfFacts):
    """Negative membership privacy: no set of reports makes a fact much less credible.

    P[T | o in S] >= e**-epsilon P[T]   and   P[not T | o in S] <= e**epsilon P[not T]

    It is positive membership privacy of the facts "not T".
    """

    description = Description(
        "negative-membership",
        "negative membership privacy",
        question="How much less credible can a report make a fact?",
        promise="no report makes a fact over e^{epsilon} times less likely, or its absence e^{epsilon} times more",
        source="Li, Qardaji, Su, Wu and Yang, CCS 2013",
        context=("priors", "events"),
    )
    certainty = "a report can rule some fact out"
    limit = (
        "no report divides the probability of a fact by more than {factor}, nor multiplies the probability "
        "that it is false by more"
    )

    _rate = staticmethod(beliefs.downward_change)


@final
@dataclass(frozen=True, slots=True)
class MembershipPrivacy(OfFacts):
    """Membership privacy: positive and negative membership privacy together.

    Against all priors and every single secret it is differential privacy of all pairs.
    """

    description = Description(
        "membership",
        "membership privacy",
        question="How much more or less credible can a report make a fact?",
        promise="no report changes the probability of a fact, or of its absence, by over a factor e^{epsilon}",
        source="Li, Qardaji, Su, Wu and Yang, CCS 2013",
        context=("priors", "events"),
    )
    certainty = "a report can decide some fact"
    limit = (
        "no report multiplies or divides the probability that a fact is true, or that it is false, by more "
        "than {factor}"
    )

    _rate = staticmethod(beliefs.larger_change)


@final
@dataclass(frozen=True, slots=True)
class AdversarialPrivacy(AgainstPriors):
    """Adversarial privacy: the least epsilon at a given delta.

    P[T | o in S] <= e**epsilon P[T] + delta   for all priors, facts T and sets S of reports

    Single reports suffice. Against all priors, with rho the largest P[o|T] / P[o|not T], epsilon = 2 ln(sqrt(rho)
    - sqrt(delta (rho - 1))) while that is positive.

    Raises `InputError` if delta is not between 0 and 1.
    """

    description = Description(
        "adversarial",
        "adversarial privacy",
        ("epsilon", "delta"),
        question="How much more credible can a report make a fact, if delta may be added?",
        promise="after any report a fact is at most e^{epsilon} times as probable as before, plus {delta}",
        source="Rastogi, Hay, Miklau and Suciu, PODS 2009; Desfontaines, definition 38",
        context=("priors", "events"),
        defaults={"delta": 0.0},
    )

    priors: Priors
    delta: float = 0.0
    events: Events | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        return beliefs.worst(self, mechanism, self.events, self._rate)

    def _rate(self, odds: Odds) -> Ratings:
        # (posterior - delta) / p peaks at p = sqrt(delta) / (sqrt(rho - 1) (sqrt(rho) - sqrt(delta (rho - 1)))).
        # Here rho is divided out.
        share = -np.expm1(-np.maximum(odds.high, 0.0))  # (rho - 1) / rho
        with np.errstate(divide="ignore", invalid="ignore"):
            under = np.sqrt(share) * (1 - np.sqrt(self.delta * share))
            peak = math.sqrt(self.delta) * np.exp(-odds.high) / under
        best = _nearest_chance(np.where(np.isnan(peak), 1.0, peak), odds)
        after = beliefs.posterior(best, odds.high)
        error = log_errors(odds.high, odds.terms) + log_error(0.0, odds.terms)
        if self.delta == 0:
            value = beliefs.gain(best, odds.high)
            upper = value + error
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(best.p)
            most = np.minimum(after * (1 + error), 1.0)
            value, upper = self._log_ratio(after, logs), self._log_ratio(most, logs) + error + log_errors(logs)
        return Ratings(value, upper, best.p, odds.high_at, np.ones(len(value), dtype=np.bool_))

    def _log_ratio(self, after: Floats, log_before: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(after > self.delta, np.log(after - self.delta) - log_before, 0.0)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Under {self.priors}, some report lifts a fact from almost nothing: no epsilon is enough."
        rest = f" plus {at_most(self.delta)}" if self.delta else ""
        return (
            f"Under {self.priors}, no report makes a fact more probable than {factor_at_most(value)} times what "
            f"it was{rest} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class DeltaOfAdversarialPrivacy(AgainstPriors):
    """Adversarial privacy: the least delta at a given epsilon from 0 to 700.

    delta = max over priors, facts T and reports o of P[T | o] - e**epsilon P[T], at least 0

    Against all priors it is (sqrt(rho) - sqrt(e**epsilon))**2 / (rho - 1) where rho, the largest P[o|T] / P[o|not
    T], exceeds e**epsilon. Raises `InputError` if epsilon is out of range.
    """

    description = AdversarialPrivacy.description
    parameter = "delta"
    on_request = True

    priors: Priors
    epsilon: float
    events: Events | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= _LARGEST:
            raise InputError(f"epsilon {self.epsilon} is not a number from 0 to {_LARGEST:g}.", "use 0.5, say.")

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        return beliefs.worst(self, mechanism, self.events, self._rate)

    def _rate(self, odds: Odds) -> Ratings:
        # p = (sqrt(rho e**-epsilon) - 1) / (rho - 1) is the peak of posterior - e**epsilon p.
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.exp(-(odds.high + self.epsilon) / 2) * np.expm1((self.epsilon - odds.high) / 2)
            peak = np.where(odds.high > self.epsilon, root / np.expm1(-odds.high), 0.0)
        best = _nearest_chance(peak, odds)
        value = beliefs.posterior(best, odds.high) - math.exp(self.epsilon) * best.p
        error = log_errors(odds.high, odds.terms) + log_error(self.epsilon, odds.terms)
        return Ratings(value, value + 2 * error, best.p, odds.high_at, np.ones(len(value), dtype=np.bool_))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        return (
            f"Under {self.priors}, no report makes a fact more probable than {factor_at_most(self.epsilon)} times "
            f"what it was plus {at_most(value)} (delta {at_most(value)})."
        )


def _nearest_chance(peak: Floats, odds: Odds) -> Chance:
    """Return the chances closest to the peaks within the interval of each fact."""
    p = np.clip(peak, odds.least.p, odds.most.p)
    q = np.where(p == odds.least.p, odds.least.q, np.where(p == odds.most.p, odds.most.q, 1 - p))
    return Chance(p, q)


@dataclass(frozen=True, slots=True)
class NoiselessPrivacy(AgainstPriors):
    """Noiseless privacy: p(o | a) <= e**epsilon p(o | a') for any two values of an attribute.

    p(o | a) = sum over s with value a of prior(s) p(o | s) / prior(a)

    The randomness of the secret counts like noise, so even a deterministic mechanism may satisfy it against
    attackers who know little. It is Pufferfish privacy with the values of the attribute as rivals; the
    probabilities of the values do not count. Facts that are not an attribute are each compared with their
    opposite.
    """

    description = Description(
        "noiseless",
        "noiseless privacy",
        question=(
            "By which factor can a report favour one value of an attribute over another, for someone who knows "
            "the prior?"
        ),
        promise="no report is more than e^{epsilon} times as likely for one value of the attribute as for another",
        source="Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 33",
        context=("priors", "events"),
    )
    certainty = "some report rules out a value of the secret"
    limit = "every report is at most {factor} times as likely with one value of what is hidden as with another"

    priors: Priors
    events: Events | None = None

    @final
    def _measure(self, mechanism: AnyMechanism) -> Finding:
        events = events_on(self.events, len(channel(mechanism).matrix))
        return beliefs.compare_rivals(self, mechanism, *events.rivals)


@final
@dataclass(frozen=True, slots=True)
class AposterioriNoiselessPrivacy(OfFacts):
    """A-posteriori noiseless privacy: e**-epsilon <= P[a | o in S] / P[a] <= e**epsilon.

    For a fixed prior it is membership privacy of the values of an attribute, because the probabilities of the
    other values sum to that of the opposite fact. Noiseless privacy implies it with the same epsilon; it implies
    noiseless privacy with twice its epsilon. Facts that are not an attribute count with their opposites.
    """

    description = Description(
        "aposteriori-noiseless",
        "a posteriori noiseless privacy",
        question="By which factor does a report change the probability of a value?",
        promise="no report changes the probability of a value of the attribute by more than a factor e^{epsilon}",
        source="Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 39",
        context=("priors", "events"),
    )
    certainty = "some report decides a fact"
    limit = "a report multiplies or divides the probability of a value of what is hidden by at most {factor}"

    _rate = staticmethod(beliefs.larger_change)


@final
@dataclass(frozen=True, slots=True)
class InferentialPrivacy(NoiselessPrivacy):
    """Inferential privacy: a report changes the odds of any two values by at most e**epsilon.

    P[a | o] / P[a' | o] <= e**epsilon P[a] / P[a']

    By Bayes' rule the quotient of the odds is p(o | a) / p(o | a'), so this is noiseless privacy and the same
    number.
    """

    description = Description(
        "inferential",
        "inferential privacy",
        question="By which factor does a report change the odds of two values? (As for noiseless privacy.)",
        promise="no report changes the odds between two values of the attribute by more than a factor e^{epsilon}",
        source="Ghosh and Kleinberg, ITCS 2017",
        context=("priors", "events"),
    )
    on_request = True
    limit = "no report multiplies the odds between two values of what is hidden by more than {factor}"


@final
@dataclass(frozen=True, slots=True)
class IdentityPrivacy(NoiselessPrivacy):
    """Identity privacy: a report changes the odds of two values by at most e**epsilon.

    It is known as a Bayesian form of noiseless privacy, and is measured as such.
    """

    description = Description(
        "identity",
        "identity privacy",
        question="By which factor does a report change the odds of two people it may be about? (As for "
        "noiseless privacy.)",
        promise="no report changes the odds of two people it may be about by more than a factor e^{epsilon}",
        source="Desfontaines, 2.2.6",
        context=("priors", "events"),
    )
    on_request = True
    certainty = "some report identifies a value against another"
    limit = (
        "someone unsure between two values of what is hidden has odds, after any report, of at most {factor} "
        "times what they were"
    )


@final
@dataclass(frozen=True, slots=True)
class InformationPrivacy(AgainstPriors):
    """Information privacy: e**-epsilon <= P[s | o] / P[s] <= e**epsilon for all secrets s.

    epsilon = max over s and o of |ln(p(o|s) / p(o))|

    It is a-posteriori noiseless privacy of the secret itself, and so bounds every fact about it. With a prior that
    holds every secret possible it implies differential privacy of all pairs with twice its epsilon.
    """

    description = Description(
        "information",
        "information privacy",
        question="By which factor does a report change the probability of any secret?",
        promise="no report changes the probability of any secret by more than a factor e^{epsilon}",
        source="du Pin Calmon and Fawaz, Allerton 2012; Desfontaines, definition 41",
        context=("priors",),
    )
    certainty = "some report decides if a secret is the true one"
    limit = "a report multiplies or divides the probability of any fact about the secret by at most {factor}"

    priors: Priors

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        return beliefs.worst(self, mechanism, None, beliefs.larger_change)
