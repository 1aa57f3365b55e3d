"""The outcome of a release, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.immutable import CompactRepr
from ..escaping import plain
from ..rounding import amount_at_most, counted

_SHOWN = 12  # names of columns in a sentence


@dataclass(frozen=True, slots=True, repr=False)
class Release(CompactRepr):
    """The outcome of a release.

    Attributes:
        rows: How many rows of reports, or of tuples of reports, were written.
        dropped: How many rows were left out, because they are outside the secrets.
        moved: How many rows outside were taken to be at the nearest place.
        columns: The columns of the released table.
        notes: Sentences on what was taken for granted, or found on the way.
        places: How many places of users were reported once and repeated.
        cost: What this repetition costs, and what noise on a budget is charged, in words; otherwise empty.
        farthest_m: How far rows were moved at most, metres.
        promises: What was proved before the first draw and what it adds up to, and which columns stay, in
            sentences.
        mark: The fingerprints of the mechanisms, which the table bears.
        seconds: How long it took.
        without_position: How many of the rows that were left out have no position.
        resumed: How many reports had been drawn before an interruption.
        earlier: How often the source had been released to the same folder.
        row_reports: How many reports each row has.
    """

    rows: int
    dropped: int
    moved: int
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    places: int = 0
    cost: str = ""
    farthest_m: float = 0.0
    promises: tuple[str, ...] = ()
    mark: tuple[str, ...] = ()
    seconds: float = 0.0
    without_position: int = 0
    resumed: int = 0
    earlier: int = 0
    row_reports: int = 1

    def __str__(self) -> str:
        shown = self.columns if len(self.columns) <= _SHOWN else (*self.columns[:3], "...", self.columns[-1])
        rows = f" in {counted(self.rows, 'row')}" if self.row_reports > 1 else ""
        parts = [
            f"{counted(self.rows * self.row_reports, 'report')} released{rows} ({', '.join(map(plain, shown))})"
        ]
        if self.dropped:
            were = "was" if self.dropped == 1 else "were"
            parts.append(
                f"{counted(self.dropped, 'row')} outside {were} dropped, and the length of the table shows how "
                "many "
                "were inside"
            )
        if self.moved:
            were = "was" if self.moved == 1 else "were"
            far = f", by {amount_at_most(self.farthest_m, 'm')} at most" if self.farthest_m else ""
            parts.append(f"{counted(self.moved, 'row')} outside {were} moved to the nearest place first{far}")
        said = "; ".join([*parts, *(note.rstrip(".") for note in self.notes)])
        return said + (f". {self.cost}" if self.cost else "")
