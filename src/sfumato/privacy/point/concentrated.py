"""Zero-concentrated privacy: the Rényi divergences of all orders above 1, each over its order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...rounding import at_most
from ...rounding.errors import divergence_errors
from ..notion import Description, Finding, Notion
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, channel, span
from ..witness import Witness
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
        pairs = relation_on(self.relation, len(matrix)).pairs
        impossible = _told_apart(matrix, pairs)
        if impossible is not None:
            return Finding(self, math.inf, 0.0, impossible)
        search, best = Search(), (-1, 0.0)
        size = max(1, _BLOCK // matrix.shape[1])
        for start in range(0, len(pairs), size):
            block = pairs[start : start + size]
            found = search.improve(matrix[block[:, 0]], matrix[block[:, 1]])
            if found is not None:
                best = (start + found.row, found.order)
        rounding = (
            search.upper
            - search.value
            + 2 * float(divergence_errors(np.asarray(search.upper), matrix.shape[1], span(matrix)))
        )
        if best[0] < 0:
            return Finding(self, 0.0, rounding, Witness())
        first, second = (int(each) for each in pairs[best[0]])
        note = "in the limit of order 1" if best[1] == 1 else f"at order {best[1]:.6g}"
        return Finding(self, search.value, rounding, Witness((first, second), note=note))

    def sentence(self, value: float) -> str:
        """Return what the rho promises."""
        if math.isinf(value):
            return f"Some report rules out one of {related(self.relation)}: no rho is enough."
        return (
            f"For {related(self.relation)}, the Rényi divergence of every order between their reports is at most "
            f"{at_most(value)} times the order, as with normal noise."
        )


def _told_apart(matrix: Floats, pairs: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Witness | None:
    """Return a pair and a report that only its first secret can make."""
    possible = matrix > 0
    for s in np.unique(pairs[:, 0]):
        others = pairs[pairs[:, 0] == s, 1]
        only = possible[s] & ~possible[others]
        if only.any():
            row, column = np.argwhere(only)[0]
            return Witness((int(s), int(others[row])), np.array([column]))
    return None
