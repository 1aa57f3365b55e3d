"""Promises about a mechanism that may be unknown: a notion, a value that holds, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError
from ...rounding import at_most
from ..notion import Finding, Notion

PROOFS = "docs/proofs/distribution-privacy.md"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a promise holds.

    Attributes:
        theorem: What the step is called.
        form: What it says, with its numbers.
        source: Where it was published.
        proof: Where the project proves it; empty for a measurement.
    """

    theorem: str
    form: str
    source: str
    proof: str = ""

    def __str__(self) -> str:
        where = f"; proof: {self.proof}" if self.proof else ""
        return f"{self.theorem}: {self.form} ({self.source}{where})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Promise:
    """A mechanism satisfies a notion at a value, for the reasons given.

    Attributes:
        notion: The notion, with its family, delta, distance or divergence.
        value: The value of its parameter, rounded to the safe side.
        reasons: The steps that led here, in order.
        everywhere: Whether it is known for all pairs of distributions in the lifting (or
            at finite distance), not only for those of the family.

    Raises:
        InputError: If the value is negative, NaN or infinite.
    """

    notion: Notion
    value: float
    reasons: tuple[Reason, ...]
    everywhere: bool = False

    def __post_init__(self) -> None:
        if not (self.value >= 0 and math.isfinite(self.value)):
            raise InputError(
                f"a promise of {self.notion.parameter} {self.value} was made.",
                "an infinite value promises nothing; a finite one of at least 0 is needed.",
            )

    @classmethod
    def measured(cls, finding: Finding) -> Promise:
        """Return what a finding proves: its value, rounded up.

        Raises:
            InputError: If the finding is infinite.
        """
        reason = Reason(
            "measurement",
            f"{finding.notion.parameter} {at_most(finding.upper, 9)}",
            finding.notion.description.source,
        )
        return cls(finding.notion, finding.upper, (reason,))

    @property
    def sentence(self) -> str:
        """The promise in plain words."""
        return self.notion.sentence(self.value)

    def __repr__(self) -> str:
        value = at_most(self.value, 6)
        return f"{self.notion.heading}: {self.notion.parameter} at most {value}, by {self.reasons[-1].theorem}"
