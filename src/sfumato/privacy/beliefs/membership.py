"""Membership privacy: how much a report may raise, lower or move the belief in a fact, and its odds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...rounding import at_most, factor_at_most
from ...rounding.errors import log_errors
from ..notion import Description
from .posterior import Odds, OfFacts, Rated, both, downward, upward

POSITIVE: Final = Description(
    "positive-membership",
    "positive membership privacy",
    ("epsilon",),
    question="How much more credible can a report make a fact?",
    promise=(
        "no report makes a fact more than e^{epsilon} times as probable, or its absence e^{epsilon} times less"
    ),
    source="Li, Qardaji, Su, Wu and Yang, CCS 2013; Desfontaines, definition 37",
    context=("priors", "events"),
)


@final
@dataclass(frozen=True, slots=True)
class PositiveMembershipPrivacy(OfFacts):
    """Positive membership privacy: no set of reports makes a fact much more credible.

    P[T | o in S] <= e**epsilon P[T]   and   P[not T | o in S] >= e**-epsilon P[not T]

    for all priors, facts T and sets S. Single reports suffice, because the posterior
    given a set is a mean of theirs. With rho the largest P[o|T] / P[o|not T] and p the
    prior probability of T,

    epsilon = max(ln(rho / (1 + p (rho - 1))), ln(1 + p (rho - 1))),

    and over an interval of p its ends attain it. Only the upward ratio is bounded: a
    report may still rule the fact out.

    Attributes:
        priors: The beliefs against which it must hold.
        events: The facts; every single secret if None.

    Example:
        >>> from sfumato.privacy import Priors
        >>> coin = [[0.75, 0.25], [0.25, 0.75]]
        >>> PositiveMembershipPrivacy(Priors.between(0.5, 0.5)).measure(coin)
        Positive membership privacy: epsilon 0.693147

    Source:
        Li, Qardaji, Su, Wu and Yang, CCS 2013; Desfontaines, definition 37.
    """

    description: ClassVar[Description] = POSITIVE
    parameter: ClassVar[str] = "epsilon"

    @staticmethod
    def _rate(found: Odds) -> Rated:
        return upward(found)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, a report can make some fact certain: no epsilon is enough."
        return (
            f"Under {self.priors}, no report makes a fact more than {factor_at_most(value)} times as probable as "
            f"it was, nor divides the probability that it is false by more (epsilon {at_most(value)})."
        )


NEGATIVE: Final = Description(
    "negative-membership",
    "negative membership privacy",
    ("epsilon",),
    question="How much less credible can a report make a fact?",
    promise=(
        "no report makes a fact more than e^{epsilon} times less probable, or its absence e^{epsilon} times more"
    ),
    source="Li, Qardaji, Su, Wu and Yang, CCS 2013",
    context=("priors", "events"),
)


@final
@dataclass(frozen=True, slots=True)
class NegativeMembershipPrivacy(OfFacts):
    """Negative membership privacy: no set of reports makes a fact much less credible.

    P[T | o in S] >= e**-epsilon P[T]   and   P[not T | o in S] <= e**epsilon P[not T]

    It is positive membership privacy of the facts "not T".

    Attributes:
        priors: The beliefs against which it must hold.
        events: The facts; every single secret if None.

    Source:
        Li, Qardaji, Su, Wu and Yang, CCS 2013; Desfontaines, 2.2.6.
    """

    description: ClassVar[Description] = NEGATIVE
    parameter: ClassVar[str] = "epsilon"

    @staticmethod
    def _rate(found: Odds) -> Rated:
        return downward(found)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, a report can rule some fact out: no epsilon is enough."
        return (
            f"Under {self.priors}, no report divides the probability of a fact by more than "
            f"{factor_at_most(value)}, nor multiplies the probability that it is false by more "
            f"(epsilon {at_most(value)})."
        )


BOTH: Final = Description(
    "membership",
    "membership privacy",
    ("epsilon",),
    question="How much more or less credible can a report make a fact?",
    promise="no report changes the probability of a fact, or of its absence, by more than a factor e^{epsilon}",
    source="Li, Qardaji, Su, Wu and Yang, CCS 2013",
    context=("priors", "events"),
)


@final
@dataclass(frozen=True, slots=True)
class MembershipPrivacy(OfFacts):
    """Membership privacy: positive and negative membership privacy together.

    Against all priors and every single secret it is differential privacy of all pairs.

    Attributes:
        priors: The beliefs against which it must hold.
        events: The facts; every single secret if None.

    Example:
        >>> from sfumato.privacy import Priors
        >>> MembershipPrivacy(Priors.all()).measure([[0.75, 0.25], [0.25, 0.75]])
        Membership privacy: epsilon 1.09861

    Source:
        Li, Qardaji, Su, Wu and Yang, CCS 2013.
    """

    description: ClassVar[Description] = BOTH
    parameter: ClassVar[str] = "epsilon"

    @staticmethod
    def _rate(found: Odds) -> Rated:
        return both(found)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, a report can decide some fact: no epsilon is enough."
        return (
            f"Under {self.priors}, no report multiplies or divides the probability that a fact is true, or that "
            f"it is false, by more than {factor_at_most(value)} (epsilon {at_most(value)})."
        )


EVENT_RATIO: Final = Description(
    "event-ratio",
    "event ratio",
    ("rise", "fall"),
    question="By which factors can a report favour a fact, or its opposite?",
    promise=(
        "no report is more than e^{rise} times, or less than e^-{fall} times, as likely when a fact holds as when "
        "it does not"
    ),
    source="Desfontaines, 2.2.6",
    context=("priors", "events"),
    defaults={"rise": math.inf, "fall": math.inf},
)


@final
@dataclass(frozen=True, slots=True)
class EventRatio(OfFacts):
    """The least rise with P[o | T] <= e**rise P[o | not T] for all priors, facts T and reports o.

    It is what membership and adversarial privacy make of a fact's probability: the odds
    of a fact grow by at most a factor e**rise, whatever they were. Sets of reports give
    averages of the ratios of single ones.

    Attributes:
        priors: How the secrets are distributed where the fact is true and where it is
            false; how probable the fact is does not matter.
        events: The facts; every single secret if None.

    Example:
        >>> from sfumato.privacy import Priors
        >>> EventRatio(Priors.all()).measure([[0.75, 0.25], [0.25, 0.75]])
        Event ratio: rise 1.09861

    Source:
        Desfontaines, 2.2.6 (the ratio rho of the formulas there).
    """

    description: ClassVar[Description] = EVENT_RATIO
    parameter: ClassVar[str] = "rise"
    on_request: ClassVar[bool] = True

    @staticmethod
    def _rate(found: Odds) -> Rated:
        return _rise(found)

    def sentence(self, value: float) -> str:
        """Return what the rise promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report is possible only where a fact is true: no rise is enough."
        return (
            f"Under {self.priors}, no report is more than {factor_at_most(value)} times as likely where a fact is "
            f"true as where it is false (rise {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class FallOfEventRatio(OfFacts):
    """The least fall with P[o | not T] <= e**fall P[o | T] for all priors, facts T and reports o.

    The odds of a fact shrink by at most a factor e**-fall. For facts whose opposites are
    facts too it is the same number as the rise.

    Attributes:
        priors: As for `EventRatio`.
        events: The facts; every single secret if None.

    Source:
        Desfontaines, 2.2.6.
    """

    description: ClassVar[Description] = EVENT_RATIO
    parameter: ClassVar[str] = "fall"
    on_request: ClassVar[bool] = True

    @staticmethod
    def _rate(found: Odds) -> Rated:
        return _fall(found)

    def sentence(self, value: float) -> str:
        """Return what the fall promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report is possible only where a fact is false: no fall is enough."
        return (
            f"Under {self.priors}, no report is more than {factor_at_most(value)} times as likely where a fact is "
            f"false as where it is true (fall {at_most(value)})."
        )


def _rise(found: Odds) -> Rated:
    value: Floats = np.maximum(found.high, 0.0)
    upper = value + log_errors(value, found.terms)
    p = (found.least.p + found.most.p) / 2
    return Rated(value, upper, p, found.high_at, np.ones(len(value), dtype=np.bool_))


def _fall(found: Odds) -> Rated:
    return _rise(found.opposite).opposite
