"""The errors that tests can have: of a channel, of a guarantee, and what the printed equivalence would give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sfumato.core.immutable import CompactRepr
from sfumato.privacy import TestingRegion

from .relation import coin
from .relations_tests import RARE

REGION_EPSILON: Final = 1.0
ANSWER, ALLOWED, RARE_REPORTS = "randomised response", "all that (1, .1)-DP allows", "rare reports, no epsilon"


@dataclass(frozen=True, slots=True, repr=False)
class CornerRow(CompactRepr):
    """A corner of a region of errors.

    Attributes:
        region: What the region is of.
        false_alarm: The probability to take the first secret for the second.
        missed: The probability to take the second for the first.
    """

    region: str
    false_alarm: float
    missed: float


def corner_rows() -> list[CornerRow]:
    """Return the corners of three regions."""
    regions = {
        ALLOWED: TestingRegion.of_epsilon(REGION_EPSILON, 0.1),
        ANSWER: TestingRegion.of(coin(REGION_EPSILON).rows),
        RARE_REPORTS: TestingRegion.of(RARE.rows),
    }
    return [CornerRow(name, float(a), float(b)) for name, region in regions.items() for a, b in region.vertices]


def least_total() -> float:
    """Return the total error that epsilon-DP leaves every test, 2 / (1 + e**epsilon)."""
    return 2 / (1 + math.exp(REGION_EPSILON))
