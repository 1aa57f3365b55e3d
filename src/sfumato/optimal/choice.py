"""The choice between a program on a lattice and planar noise with a remap, by their loss of the true point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..core import Bracket
from ..core.immutable import CompactRepr
from ..rounding import amount_at_least, amount_at_most

BETTER: Final = "better"
PROGRAM: Final = "program"
NOISE: Final = "noise"


@dataclass(frozen=True, slots=True, repr=False)
class Choice(CompactRepr):
    """Two ways to keep a promise per metre, and the one that loses less.

    Both losses are expected distances from the true point to the report, over the same points.

    Attributes:
        kept: ``program`` or ``noise``.
        program: From the least loss of any mechanism of the program to that of the one found; None where none
            was designed.
        noise: The loss of planar noise, between proved bounds.
        remapped: Whether its reports are replaced by the best places for these points.
        unit: The unit of the losses.
        slack_m: By how much farther apart than they are two points may seem to the noise, metres.
    """

    kept: str
    program: Bracket | None
    noise: Bracket
    remapped: bool
    unit: str
    slack_m: float

    @property
    def decided(self) -> bool:
        """Whether the one that is kept was proved to lose less, or the other one was not tried."""
        if self.program is None:
            return True
        if self.kept == NOISE:
            return self.noise.upper <= self.program.lower
        return self.program.upper <= self.noise.lower

    @property
    def sentence(self) -> str:
        """Sentence of what each loses, and which is kept."""
        unit = self.unit
        low, high = (
            amount_at_least(self.noise.lower, unit),
            amount_at_most(self.noise.upper, unit),
        )
        noise = f"planar noise {'with' if self.remapped else 'without'} a remap"
        added = amount_at_most(self.slack_m, "m")
        slack = f"Its promise has a slack: two points may seem {added} farther apart to it than they are."
        if self.program is None:
            return f"{noise[0].upper()}{noise[1:]} loses {low} to {high} on average. {slack}"
        least = amount_at_least(self.program.lower, unit)
        most = amount_at_most(self.program.upper, unit)
        if self.kept == NOISE:
            lost = f"at least {least}" if self.decided else f"{least} to {most}"
            return (
                f"The program on this lattice, with the reports tried, loses {lost} on average, {noise} {low} to "
                f"{high}: the noise is kept. {slack}"
            )
        why = "" if self.decided else ", because the noise was not proved to lose less"
        return (
            f"The program on this lattice loses at most {most} on average, {noise} {low} to {high}: the program "
            f"is kept{why}."
        )
