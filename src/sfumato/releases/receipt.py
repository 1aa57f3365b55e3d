"""Outcome and receipt of a release: counts, bounds, columns and fingerprints, and nothing of a single person."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

from .._system import atomically, check_writable, owner_only
from .._version import __version__
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, python
from ..escaping import plain
from ..proofs import ReportBound
from ..rounding import amount_at_most, counted, float_above
from .person_limits import People, PersonLimits

_SHOWN = 12  # names of columns in a sentence
_CHUNK: Final = 1 << 20  # bytes that are hashed at a time


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


@dataclass(frozen=True, slots=True, repr=False)
class FileMark(CompactRepr):
    """The fingerprint of a file, or of all files of a folder.

    Attributes:
        name: Its name, without its folder.
        files: How many files it has; 1 for a file.
        bytes: How many bytes they have.
        sha256: The hash of the file; of a folder that of the lines that ``sha256sum`` prints for its files, in the
            order of their names.
    """

    name: str
    files: int
    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: str | os.PathLike[str], files: Sequence[Path] = ()) -> Self:
        """Return the fingerprint of a file or folder.

        Args:
            path: The file or folder.
            files: The files of the folder that count; by default all.

        Raises:
            FileError: If one cannot be read.
        """
        root = Path(path)
        try:
            if not root.is_dir():
                return cls(root.name, 1, root.stat().st_size, _sha256(root))
            chosen = sorted(files or files_in(root))
            lines = [f"{_sha256(each)}  {os.path.relpath(each, root)}\n" for each in chosen]
            digest = hashlib.sha256(
                "".join(sorted(lines, key=lambda line: line[66:])).encode("utf-8", "surrogateescape")
            )
            return cls(
                root.resolve().name, len(chosen), sum(each.stat().st_size for each in chosen), digest.hexdigest()
            )
        except OSError as error:
            raise FileError(
                f"{os.fspath(path)!r} cannot be read for its fingerprint ({error.strerror or error}).",
                "check the file and its permissions.",
            ) from None


@dataclass(frozen=True, slots=True, repr=False)
class PersonBound(CompactRepr):
    """A bound on what reports reveal.

    Attributes:
        measure: ``epsilon``, or ``rho`` of zero-concentrated privacy.
        one_report: What one report, or one row of several columns, is proved to spend at most.
        one_person: What the reports of one person in this release add up to at most; None where people cannot be
            counted.
        unit: The unit of distance that it counts per; empty where it has none.
        added_m: The metres that are added to every distance.
        pairs: The pairs of true values that it is for, in words; empty for all pairs.
        distances: ``confirmed`` where they follow from the places or labels, or the bound is for any two values,
            and ``stated`` where only the maker of the mechanism says so.
    """

    measure: str
    one_report: float
    one_person: float | None
    unit: str
    added_m: float
    pairs: str
    distances: str


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(CompactRepr):
    """A release in numbers and names of columns.

    It names no person and no place. The hash of a small source can be found by trying, so the file is readable by
    its owner only.

    Attributes:
        version: The version of sfumato.
        finished: When, in ISO 8601 with the time zone.
        seconds: How long it took.
        source: The fingerprint of the source; None for a table in memory.
        target: The fingerprint of the released table.
        mechanism_files: The fingerprints of the mechanism files.
        mechanisms: The marks of the mechanisms, which the table bears, too.
        rows_read: Rows of the source.
        rows_released: Rows of the table.
        rows_dropped: Rows that were left out, because they are at no place or label of the mechanism.
        rows_without_position: How many of these have no position.
        rows_moved: Rows outside that were moved to the nearest place.
        moved_at_most_m: How far they were moved at most, metres.
        rows_resumed: Rows that were drawn before an interruption.
        earlier_releases: How often the source had been released to this folder.
        people: How many people there are; None where no column names them.
        rows_without_person: Rows that name no user.
        reports_per_person: Pairs of a number of reports and how many people have it.
        exact: Whether these are exact; otherwise a person has at most so many reports.
        places_reported_once: Places of people that were reported once and repeated.
        bounds: What is proved of reports; empty where nothing is.
        max_reports_per_person: The limit that was set; None for none.
        max_epsilon_per_person: The limit that was set; None for none.
        ledger: Whether a ledger was charged.
        columns: The columns of the table.
        columns_carried_over: Those of them that were copied unchanged, which no bound covers.
        columns_left_out: The columns of the source that are not in the table.
        notes: Sentences on what was taken for granted, or noticed on the way.
    """

    version: str
    finished: str
    seconds: float
    source: FileMark | None
    target: FileMark
    mechanism_files: tuple[FileMark, ...]
    mechanisms: tuple[str, ...]
    rows_read: int
    rows_released: int
    rows_dropped: int
    rows_without_position: int
    rows_moved: int
    moved_at_most_m: int
    rows_resumed: int
    earlier_releases: int
    people: int | None
    rows_without_person: int
    reports_per_person: tuple[tuple[int, int], ...]
    exact: bool
    places_reported_once: int
    bounds: tuple[PersonBound, ...]
    max_reports_per_person: int | None
    max_epsilon_per_person: float | str | None
    ledger: bool
    columns: tuple[str, ...]
    columns_carried_over: tuple[str, ...]
    columns_left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        outcome: Release,
        people: People,
        bounds: Sequence[ReportBound],
        limits: PersonLimits,
        *,
        source: FileMark | None,
        target: FileMark,
        mechanism_files: Sequence[FileMark],
        carried_over: Sequence[str],
        left_out: Sequence[str],
        ledger: bool,
    ) -> Self:
        """Return the receipt of a release that is written.

        Args:
            outcome: Its outcome.
            people: How many reports each person has.
            bounds: What is proved of every report.
            limits: The limits per person.
            source: The fingerprint of the source.
            target: That of the table.
            mechanism_files: Those of the mechanisms.
            carried_over: The columns that were copied.
            left_out: The columns that were not.
            ledger: Whether a ledger was charged.
        """
        return cls(
            __version__,
            datetime.now(UTC).isoformat(timespec="seconds"),
            round(outcome.seconds, 3),
            source,
            target,
            tuple(mechanism_files),
            outcome.mark,
            outcome.rows + outcome.dropped,
            outcome.rows,
            outcome.dropped,
            outcome.without_position,
            outcome.moved,
            math.ceil(outcome.farthest_m),  # the exact distance would be a fact about one row
            outcome.resumed,
            outcome.earlier,
            people.users,
            people.nameless,
            people.counts,
            people.exact,
            outcome.places,
            tuple(_bound(each, people) for each in bounds),
            limits.reports,
            limits.epsilon,
            ledger,
            outcome.columns,
            tuple(carried_over),
            tuple(left_out),
            outcome.notes,
        )

    @property
    def most(self) -> int | None:
        """The largest number of reports of one person; None where people cannot be counted."""
        if self.people is None or self.rows_without_person:
            return None
        return max((reports for reports, _ in self.reports_per_person), default=0)

    def json(self) -> str:
        """Return the receipt as JSON."""
        facts: dict[str, Any] = asdict(self)
        facts["reports_per_person"] = [
            {"reports": reports, "people": people} for reports, people in self.reports_per_person
        ]
        return json.dumps({"sfumato_receipt": 1, **facts}, indent=2) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt as JSON, whole or not at all, readable by its owner only.

        Raises:
            FileError: If it cannot be written.
        """
        try:
            with owner_only(), atomically(path) as temporary:
                temporary.write_text(self.json(), encoding="utf-8")
        except FileError as error:
            raise FileError(
                f"{error.problem} The table is complete; its receipt is missing.", *error.hints
            ) from None


def check_receipt(path: str | os.PathLike[str], *others: object) -> None:
    """Refuse, before the work, a receipt that cannot be written.

    It must not replace the others, which are the source and the target.

    Raises:
        InputError: If it does not end in ``.json``, or is one of the others or in it.
        FileError: If it cannot be written.
    """
    if Path(path).suffix.lower() != ".json":
        raise InputError(
            f"the receipt {os.fspath(path)!r} does not end in .json.",
            f"write it as {Path(path).stem}.json",
            python("for a page use sfumato.reports.document.receipt_page."),
        )
    where = Path(os.path.realpath(path))
    for other in (Path(os.path.realpath(each)) for each in others if isinstance(each, str | os.PathLike)):
        if where == other or (other.is_dir() and where.is_relative_to(other)):
            raise InputError(
                f"the receipt {os.fspath(path)!r} would be a part of {str(other)!r}.",
                "choose another place for it.",
            )
    check_writable(path)


def files_in(folder: Path) -> list[Path]:
    """Return all files in a folder and its folders."""
    return [each for each in folder.rglob("*") if each.is_file()]


def state_of(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when a file, or a file of a folder, is written: its size and time of change."""
    files = files_in(path) if path.is_dir() else [path]
    states = ((str(each), each.stat()) for each in sorted(files))
    return tuple((name, state.st_size, state.st_mtime_ns) for name, state in states)


def _bound(promise: ReportBound, people: People) -> PersonBound:
    most = None if people.most is None or people.nameless else people.most
    total = None if most is None else float_above(Fraction(promise.epsilon) * most)
    return PersonBound(
        promise.measure,
        promise.epsilon,
        total,
        promise.unit,
        promise.slack_m,
        promise.whom.strip("()"),
        "confirmed" if promise.confirmed else "stated",
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
