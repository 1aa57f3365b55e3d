"""Event ratio: the factors by which a report can favour a fact, or its opposite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...rounding import at_most, factor_at_most
from ...rounding.errors import log_errors
from ..notion import Description
from .posterior import Odds, OfFacts, Rated

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
