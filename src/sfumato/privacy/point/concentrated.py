"""Spread of the privacy loss: zero-concentrated privacy, and privacy of a bounded range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...divergences import KL, MaxDivergence, max_divergence
from ...rounding import at_most, factor_at_most
from ...rounding.errors import divergence_errors, log_error, log_errors
from ..exact import largest_range
from ..limits import divergence_limits, range_limits, rho_limits
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, Mask, channel, span
from ..search import Positions, falling, search
from .renyi_over_order import Search

_BLOCK: Final = 2**18  # entries of the rows that are looked at together


CONCENTRATED: Final = Description(
    "concentrated-privacy",
    "zero-concentrated privacy",
    ("rho",),
    question="Are all Rényi divergences at most rho times their order?",
    promise="the Rényi divergence of every order a > 1 between the reports of {about} is at most a times {rho}",
    source="Bun and Steinke, TCC 2016",
    context=("relation",),
)


@final
@dataclass(frozen=True, slots=True)
class ConcentratedPrivacy(Notion):
    """Zero-concentrated differential privacy: the least rho.

    D_a(p(.|s) || p(.|s')) <= a rho    for all orders a > 1 and all related (s, s')

    The least rho is the largest D_a / a, or the Kullback-Leibler divergence, its limit at
    order 1. All orders count, not those of a grid: between the value, which some order
    attains, and the upper bound lies one part in a billion and the rounding. The bound is proved
    interval by interval of the orders, in docs/proofs/rounding-of-notions.md.

    Attributes:
        relation: The pairs that must look alike; all pairs if None.

    Example:
        >>> ConcentratedPrivacy().measure([[0.75, 0.25], [0.25, 0.75]])
        Zero-concentrated privacy: rho 0.549306

    Source:
        Bun and Steinke, TCC 2016, definition 1.1.
    """

    description: ClassVar[Description] = CONCENTRATED
    parameter: ClassVar[str] = "rho"

    relation: Relation | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least rho, with the pair and the order that attain it."""
        matrix = channel(mechanism).matrix
        mask = relation_on(self.relation, len(matrix)).array
        impossible = _told_apart(matrix, mask)
        if impossible is not None:
            return Finding(self, math.inf, 0.0, impossible)
        found, best, order = Search(), None, 0.0
        for pairs in chain(_farthest(matrix, mask), _above(matrix, mask, lambda: found.upper)):
            peak = found.improve(matrix[pairs[:, 0]], matrix[pairs[:, 1]])
            if peak is not None:
                best, order = (int(pairs[peak.row, 0]), int(pairs[peak.row, 1])), peak.order
        rounding = (
            found.upper
            - found.value
            + 2 * float(divergence_errors(np.asarray(found.upper), matrix.shape[1], span(matrix)))
        )
        if best is None:
            return Finding(self, 0.0, rounding, Witness())
        note = "in the limit of order 1" if order == 1 else f"at order {order:.6g}"
        return Finding(self, found.value, rounding, Witness(best, note=note))

    def sentence(self, value: float) -> str:
        """Return what the rho promises."""
        if math.isinf(value):
            return f"Some report rules out one of {related(self.relation)}: no rho is enough."
        return (
            f"For {related(self.relation)}, the Rényi divergence of every order between their reports is at most "
            f"{at_most(value)} times the order, as with normal noise."
        )


def _told_apart(matrix: Floats, mask: Mask) -> Witness | None:
    """Return a pair and a report that only its first secret can make."""
    possible = matrix > 0
    if possible.all():
        return None
    for s in np.flatnonzero(mask.any(axis=1)):
        others = np.flatnonzero(mask[s])
        only = possible[s] & ~possible[others]
        if only.any():
            row, column = np.argwhere(only)[0]
            return Witness((int(s), int(others[row])), np.array([column]))
    return None


def _farthest(matrix: Floats, mask: Mask) -> Iterator[Positions]:
    """Yield the pair of largest Kullback-Leibler divergence, to begin with, array (1, 2); nothing of no pairs."""
    top = search(mask, lambda s, t: KL.rows(matrix[s], matrix[t]), divergence_limits(KL, matrix))
    if top.pair is not None:
        yield np.array([top.pair], dtype=np.intp)


def _above(matrix: Floats, mask: Mask, known: Callable[[], float]) -> Iterator[Positions]:
    """Yield the pairs that may need more than is known, mostly those that may need most first, arrays (k, 2)."""
    size = max(1, _BLOCK // matrix.shape[1])
    yield from falling(mask, np.flatnonzero(mask.any(axis=1)), rho_limits(matrix).of, known, size)


BOUNDED_RANGE: Final = Description(
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

    description: ClassVar[Description] = BOUNDED_RANGE
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
