"""Indistinguishable privacy: differential privacy as a bound on what a report does to a belief."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Final, final

from ...rounding import at_most, factor_at_most
from ..notion import Description, Finding, Notion
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, channel
from .differential import DifferentialPrivacy

DESCRIPTION: Final = Description(
    "indistinguishable",
    "indistinguishable privacy",
    ("epsilon",),
    question="By which factor can a report move the odds of two secrets? (The epsilon of differential privacy.)",
    promise="no report changes the odds between {about} by more than a factor e^{epsilon}",
    source="Desfontaines, 2.2.6",
    context=("relation",),
)


@final
@dataclass(frozen=True, slots=True)
class IndistinguishablePrivacy(Notion):
    """Indistinguishable privacy: no report moves the odds of two related secrets by more than e**epsilon.

    epsilon = max over related s, s' and reports o of |ln(p(o|s) / p(o|s'))|

    Someone who is unsure between the two, with probability p for one of them, then has
    p / (p + (1-p) e**epsilon) <= posterior <= p / (p + (1-p) e**-epsilon). It is
    differential privacy of the pairs in both orders, and is measured as such.

    Attributes:
        relation: The pairs; all pairs if None. One order implies the other.

    Source:
        Desfontaines, 2.2.6 and proposition 1.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "epsilon"
    on_request: ClassVar[bool] = True

    relation: Relation | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon, with the pair and the reports that attain it."""
        given = relation_on(self.relation, len(channel(mechanism).matrix))
        both_orders = Relation(given.array | given.array.T, given.name)
        found = DifferentialPrivacy(both_orders).measure(mechanism)
        return replace(found, notion=self)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Some report rules out one of {related(self.relation)}: no epsilon is enough."
        half = at_most(1 / (1 + math.exp(-value)) * (1 + 2.0**-50))
        return (
            f"Someone who is unsure between {related(self.relation)} has, after any report, odds of at most "
            f"{factor_at_most(value)} times what they were: a belief of 1/2 becomes at most {half} "
            f"(epsilon {at_most(value)})."
        )
