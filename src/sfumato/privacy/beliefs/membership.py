"""Membership privacy: how much a report may raise, lower or move the belief in a fact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

from ...rounding import at_most, factor_at_most
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
