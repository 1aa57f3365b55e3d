"""A number of a report: its bounds, its unit, and how it is known."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any, Self, final

from ...core import Bracket
from ...core.immutable import CompactRepr


class Known(enum.Enum):
    """Ways in which a number is known; the value is the word for it."""

    PROVED = "proved"
    ESTIMATED = "estimated"
    STATED = "stated by the file"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Quantity(CompactRepr):
    """A number between two bounds.

    Attributes:
        lower: The true number is at least this; None where nothing is known.
        value: The best estimate, or the bound that is known.
        upper: The true number is at most this; None where nothing is known, infinite where the number is.
        unit: Its unit; empty for a pure number. A rate has a slash in front: ``"/km"``.
        known: How it is known.
        confidence: The probability that the bounds hold, where they come from a simulation; None where they are
            certain.
    """

    lower: float | None
    value: float
    upper: float | None
    unit: str = ""
    known: Known = Known.PROVED
    confidence: float | None = None

    @classmethod
    def exact(cls, value: float, unit: str = "", known: Known = Known.PROVED) -> Self:
        """Return a number that is known exactly."""
        return cls(value, value, value, unit, known)

    @classmethod
    def at_most(cls, upper: float, unit: str = "", known: Known = Known.PROVED) -> Self:
        """Return a number of which an upper bound is known."""
        return cls(None, upper, upper, unit, known)

    @classmethod
    def at_least(cls, lower: float, unit: str = "", known: Known = Known.PROVED) -> Self:
        """Return a number of which a lower bound is known."""
        return cls(lower, lower, None, unit, known)

    @classmethod
    def about(cls, value: float, unit: str = "") -> Self:
        """Return an estimate without bounds."""
        return cls(None, value, None, unit, Known.ESTIMATED)

    @classmethod
    def of(
        cls, bracket: Bracket, unit: str = "", known: Known = Known.PROVED, confidence: float | None = None
    ) -> Self:
        """Return the number of a bracket."""
        return cls(bracket.lower, bracket.value, bracket.upper, unit, known, confidence)

    def as_dict(self) -> dict[str, Any]:
        """Return the number as JSON has it; infinities are text."""
        found = {
            "lower": _json(self.lower),
            "value": _json(self.value),
            "upper": _json(self.upper),
            "unit": self.unit,
            "known": self.known.value,
        }
        return found if self.confidence is None else {**found, "confidence": self.confidence}


def _json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
