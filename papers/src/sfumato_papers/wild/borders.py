"""Exact audit of schemes of cells for two people a metre apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sfumato.core.immutable import CompactRepr
from sfumato.geo import Grid, Projection
from sfumato.privacy import MetricDifferentialPrivacy

from .certified import CertifiedNoise
from .fixed_cells import FixedCells

APART_M: Final = 1.0

_PLANE: Final = Projection(40.0, -30.0).crs


@dataclass(frozen=True, slots=True, repr=False)
class BorderRow(CompactRepr):
    """The epsilons of one report about two people a metre apart.

    Attributes:
        scheme: The scheme's key.
        same_cell_epsilon: The least epsilon for two points of one cell, per km; audited on the integers.
        border_epsilon: For two points on the two sides of a border.
        certified_epsilon: Of the certified noise of the same average distance, proved, per km.
        certified_factor: By which factor a report of it favours one of the two at most; proved.
    """

    scheme: str
    same_cell_epsilon: float
    border_epsilon: float
    certified_epsilon: float
    certified_factor: float


def at_border(key: str, cells: FixedCells) -> BorderRow:
    """Return the audited epsilons of fixed cells for two people a metre apart.

    Args:
        key: Of the scheme.
        cells: The cells.
    """
    found = []
    for middle in (cells.width_m / 2, 0.0):  # inside a cell, and at its border
        two = Grid(2, 1, (APART_M, APART_M), (middle - APART_M, cells.height_m / 2), _PLANE)
        notion = MetricDifferentialPrivacy(two.metric("euclidean", unit="km"))
        found.append(float(notion.measure(cells.moved((0.0, 0.0)).mechanism(two)).value))
    proof = CertifiedNoise.of_mean(cells.mean_m, renewed=False).proof
    return BorderRow(key, found[0], found[1], proof.upper, float(proof.factor(APART_M)))
