"""Bounded range: the difference between the largest and the least privacy loss of a pair, over all reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...divergences import MaxDivergence, max_divergence
from ...rounding import at_most, factor_at_most
from ...rounding.errors import log_error, log_errors
from ..exact import largest_range
from ..limits import range_limits
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, channel
from ..search import Positions, search

DESCRIPTION: Final = Description(
    "bounded-range",
    "bounded range",
    ("eta",),
    question="How far apart are the largest and the least privacy loss of two secrets?",
    promise="over all reports the privacy loss between {about} varies by at most {eta}",
    source="Durfee and Rogers, NeurIPS 2019",
    context=("relation",),
)


@final
@dataclass(frozen=True, slots=True)
class BoundedRange(Notion):
    """Bounded range: the least eta.

    L(o) - L(o') <= eta for all related (s, s') and observables o, o', with L(o) = ln(p(o|s) / p(o|s'))

    Eta is the sum of the max divergences of the two orders, so that both orders have the
    same. It implies eta-differential privacy, and epsilon-differential privacy implies
    eta = 2 epsilon. The exponential mechanism of weights e**(epsilon u / (2 sensitivity)) has
    an eta of only epsilon.

    Attributes:
        relation: The pairs that must look alike; all pairs if None.

    Example:
        >>> BoundedRange().measure([[0.75, 0.25], [0.25, 0.75]])
        Bounded range: eta 2.19722

    Source:
        Durfee and Rogers, NeurIPS 2019.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "eta"

    relation: Relation | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return eta, with the pair and the two observables between which the loss ranges."""
        matrix = channel(mechanism).matrix
        mask = relation_on(self.relation, len(matrix)).array

        def ranges(s: Positions, t: Positions) -> Floats:
            one, other = matrix[s], matrix[t]
            return MaxDivergence().rows(one, other) + MaxDivergence().rows(other, one)

        # Each max divergence is at most eta, so three errors of eta are above the errors of both.
        top = search(mask, ranges, range_limits(matrix), lambda found, _s, _t: 3 * log_errors(found))
        value, pair = top.value, top.pair
        if pair is None:
            return Finding(self, value, 0.0, Witness())
        p, q = matrix[pair[0]], matrix[pair[1]]
        ends = [int(max_divergence(p, q).outputs[0]), int(max_divergence(q, p).outputs[0])]
        witness = Witness(pair, np.array(ends, dtype=np.intp))
        if math.isfinite(value):
            factor = largest_range(mechanism, top, mask)
            if factor is not None:
                return Finding.of_factor(self, factor, witness)
        return Finding(self, max(0.0, value), 3 * log_error(value), witness)

    def sentence(self, value: float) -> str:
        """Return what eta promises."""
        if math.isinf(value):
            return f"Some report gives away one of {related(self.relation)} for certain: no eta is enough."
        return (
            f"Between two reports, the odds of {related(self.relation)} never differ by more than a factor of "
            f"{factor_at_most(value)} (eta {at_most(value)})."
        )
