"""Provenance of a released table: fingerprints of its mechanisms, outcome and receipt, without data of persons."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

from .._system import atomically, check_writable, owner_only, pa, parquet
from .._version import __version__
from ..core.immutable import CompactRepr
from ..errors import DataError, FileError, InputError, argument, python
from ..escaping import plain
from ..ledgers import fingerprint
from ..proofs import ReportBound
from ..rounding import amount_at_most, float_above, plural
from .kept_columns.private_schema import list_names
from .promises import People, PersonLimits

KEY: Final = b"sfumato"
"""The key of the mark among the metadata of a Parquet or Arrow table."""

SUFFIX: Final = ".sfumato.json"
"""Suffix of the small file next to a CSV file that holds its mark."""

INSIDE: Final = "_sfumato.json"
"""The small file that holds the mark in a folder written by Spark; readers of tables skip such names."""

_MOST_COLUMNS: Final = 8  # columns in a message
_LARGEST: Final = 1 << 20  # bytes of a mark
_SHOWN_COLUMNS: Final = 12  # names of columns in a sentence


@dataclass(frozen=True, slots=True, repr=False)
class Mark(CompactRepr):
    """Fingerprints of a table's mechanisms, sorted, and by column where each has its own mechanism."""

    mechanisms: tuple[str, ...]
    columns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, drawables: Mapping[str, Any], *, columnwise: bool = False) -> Self:
        """Return the mark of mechanisms by name; ``columnwise``: by the column that each is for."""
        fingerprints = {name: fingerprint(drawable).hex() for name, drawable in drawables.items()}
        return cls(tuple(sorted(set(fingerprints.values()))), tuple(fingerprints.items()) if columnwise else ())

    @property
    def text(self) -> str:
        """The mark as JSON."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        return json.dumps({"sfumato": __version__, "mechanisms": list(self.mechanisms), **columns})

    @classmethod
    def from_text(cls, text: bytes | str, source: str) -> Self:
        """Return the mark in a text; `DataError` if it holds none."""
        try:
            data = json.loads(text)
            mechanisms, columns = data["mechanisms"], data.get("columns", {})
            if not isinstance(mechanisms, list) or not all(isinstance(mechanism, str) for mechanism in mechanisms):
                raise ValueError("no list of texts")
            if not isinstance(columns, dict) or not all(isinstance(column, str) for column in columns.values()):
                raise ValueError("no texts for columns")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataError(
                f"the mark of the mechanism on {source} is damaged ({error}).", "get the table as it was released."
            ) from None
        return cls(tuple(mechanisms), tuple(columns.items()))

    def check(self, drawable: Any, source: str, column: str | None = None) -> None:
        """Refuse a table (`DataError`), called ``source`` in messages, that was drawn from another mechanism.

        ``column`` is the column of its reports, where columns may have their own mechanisms.
        """
        expected = fingerprint(drawable).hex()
        actual = dict(self.columns).get(column or "")
        if actual is not None:
            if actual != expected:
                raise DataError(
                    f"the column {column!r} of {source} was drawn from another mechanism: its mark is "
                    f"{actual[:12]}, that of the mechanism given is {expected[:12]}.",
                    "give the mechanism file that the column was released with.",
                )
            return
        if expected not in self.mechanisms:
            problem = f"{source} bears an empty mark."
            if self.mechanisms:
                mark = self.mechanisms[0][:12] or "(none)"
                problem = (
                    f"{source} was drawn from another mechanism: its mark is {mark}, that of the mechanism given "
                    f"is {expected[:12]}."
                )
            raise DataError(problem, "give the mechanism file that the table was released with.")
        if len(self.mechanisms) > 1 and self.columns:
            fitting = [name for name, digest in self.columns if digest == expected] or [self.columns[0][0]]
            raise DataError(
                f"the columns of {source} were each drawn from a separate mechanism: "
                f"{', '.join(repr(name) for name, _ in self.columns[:_MOST_COLUMNS])}.",
                f"name the mechanism's own with {argument('column', fitting[0])}.",
            )
        if len(self.mechanisms) > 1:
            raise DataError(
                f"{source} was drawn from {len(self.mechanisms)} mechanisms, one of which is the given one.",
                "keep the column that names the mechanism, and estimate from the rows of one mechanism at a time.",
            )


def read_mark(path: Path) -> Mark | None:
    """Return the mark on a CSV, Parquet or Arrow file, or a Spark folder; None without, `DataError` if damaged."""
    name = repr(path.name)
    mark_file = path / INSIDE if path.is_dir() else mark_beside(path)
    try:
        metadata = {} if path.is_dir() else _metadata(path)
        mark = mark_in(metadata, name)
        if mark is None and not metadata and mark_file.is_file() and mark_file.stat().st_size <= _LARGEST:
            mark = Mark.from_text(mark_file.read_bytes(), name)
        return mark
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, DataError | FileError):
            raise
        return None  # the reader of the table reports what is wrong with it


def _metadata(path: Path) -> Mapping[bytes, bytes]:
    """Return the metadata of a Parquet or Arrow file; none of other files."""
    with path.open("rb") as stream:
        head = stream.read(6)
    if head[:4] == b"PAR1":
        return parquet.read_schema(str(path)).metadata or {}
    if head != b"ARROW1":
        return {}
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        return reader.schema.metadata or {}


def mark_in(metadata: Mapping[bytes, bytes], source: str) -> Mark | None:
    """Return the mark in the metadata of an Arrow or pandas table; None without, `DataError` if damaged."""
    if KEY in metadata:
        return Mark.from_text(metadata[KEY], source)
    text = None
    with suppress(ValueError, AttributeError, RecursionError):
        attributes = json.loads(metadata.get(b"PANDAS_ATTRS", b"{}"))
        attributes = attributes or json.loads(metadata.get(b"pandas", b"{}")).get("attributes")
        text = (attributes or {}).get("sfumato")
    return Mark.from_text(text, source) if isinstance(text, str) else None


def mark_beside(path: Path) -> Path:
    """Return the small file that holds the mark of a CSV file."""
    return path.with_name(path.name + SUFFIX)


@dataclass(frozen=True, slots=True, repr=False)
class Release(CompactRepr):
    """Outcome of a release.

    Attributes:
        rows: Rows of reports, or of tuples of reports, that were written.
        dropped: Rows that were left out because they are outside the secrets.
        moved: Rows outside that were moved to the nearest place.
        notes: Sentences on assumptions and findings.
        places: Places of users that were reported once and repeated.
        cost: Sentence on the cost of this repetition, and of noise on a budget; empty without any.
        farthest_m: Largest distance by which a row was moved, metres.
        promises: Sentences on the guarantees, their total, and the columns that are left out.
        mark: Fingerprints of the mechanisms, which the table bears.
        without_position: Dropped rows that have no position.
        resumed: Reports drawn before an interruption.
        earlier: Earlier releases of the source to the same folder.
        row_reports: Reports of each row.
        carried_over: Columns of the table that were copied unchanged, which no guarantee covers.
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
    carried_over: tuple[str, ...] = ()

    def __str__(self) -> str:
        columns = self.columns
        if len(columns) > _SHOWN_COLUMNS:
            columns = (*columns[:3], "...", columns[-1])
        rows = f" in {plural(self.rows, 'row')}" if self.row_reports > 1 else ""
        parts = [
            f"{plural(self.rows * self.row_reports, 'report')} released{rows} ({', '.join(map(plain, columns))})"
        ]
        if self.dropped:
            were = "was" if self.dropped == 1 else "were"
            parts.append(
                f"{plural(self.dropped, 'row')} outside {were} dropped, and the length of the table shows how "
                "many were inside"
            )
        if self.moved:
            were = "was" if self.moved == 1 else "were"
            far = f", by {amount_at_most(self.farthest_m, 'm')} at most" if self.farthest_m else ""
            parts.append(f"{plural(self.moved, 'row')} outside {were} moved to the nearest place first{far}")
        text = "; ".join([*parts, *(note.rstrip(".") for note in self.notes)])
        if self.carried_over:
            text += (
                f". Carried over unchanged, because you named it: {list_names(self.carried_over)}. The guarantee "
                "does not cover it: a precise time, the name of a place or a rare value can reveal the secret"
            )
        return text + (f". {self.cost}" if self.cost else "")


@dataclass(frozen=True, slots=True, repr=False)
class FileMark(CompactRepr):
    """Fingerprint of a file, or of all files of a folder.

    ``sha256`` is the hash of the file; for a folder, of the lines that ``sha256sum`` prints for its files, sorted
    by name.
    """

    name: str
    files: int
    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: str | os.PathLike[str], files: Sequence[Path] = ()) -> Self:
        """Return the mark of a file, or a folder with ``files`` (by default all); `FileError` if unreadable."""
        root = Path(path)
        try:
            if not root.is_dir():
                return cls(root.name, 1, root.stat().st_size, _sha256(root))
            members = sorted(files or files_in(root))
            lines = [f"{_sha256(file)}  {os.path.relpath(file, root)}\n" for file in members]
            listing = "".join(sorted(lines, key=lambda line: line[66:])).encode("utf-8", "surrogateescape")
            size, digest = sum(file.stat().st_size for file in members), hashlib.sha256(listing).hexdigest()
            return cls(root.resolve().name, len(members), size, digest)
        except OSError as error:
            raise FileError(
                f"{os.fspath(path)!r} cannot be read for its fingerprint ({error.strerror or error}).",
                "check the file and its permissions.",
            ) from None


@dataclass(frozen=True, slots=True, repr=False)
class PersonBound(CompactRepr):
    """Upper bound on what the reports of one person reveal.

    Attributes:
        measure: ``epsilon``, or ``rho`` of zero-concentrated privacy.
        one_report: Proved bound for one report, or one row of several columns.
        one_person: Bound for all reports of one person in this release; None where people cannot be counted.
        unit: Unit of distance that it counts per; empty without one.
        added_m: Metres that are added to every distance.
        pairs: The pairs of true values that it is for, in words; empty for all pairs.
        distances: ``confirmed`` where they follow from the places or labels, or the bound is for any two values;
            ``stated`` where only the maker of the mechanism states them.
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
    """A release in numbers and names of columns, without persons and places; other fields are those of `Release`.

    The hash of a small source can be found by trial, so only the owner can read the file.

    Attributes:
        finished: Time of completion, ISO 8601 with time zone.
        source: Fingerprint of the source; None for a table in memory.
        moved_at_most_m: Largest distance by which a row was moved, metres, rounded up.
        people: Number of people; None where no column names them.
        rows_without_person: Rows that name no user.
        reports_per_person: Pairs of a number of reports and its number of people.
        exact: Whether these are exact; otherwise they are upper bounds for each person.
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
        left_out: Sequence[str],
        ledger: bool,
    ) -> Self:
        """Return the receipt of a release that is written."""
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
            tuple(_bound(bound, people) for bound in bounds),
            limits.reports,
            limits.epsilon,
            ledger,
            outcome.columns,
            outcome.carried_over,
            tuple(left_out),
            outcome.notes,
        )

    @property
    def max_reports(self) -> int | None:
        """Largest number of reports of one person; None where people cannot be counted."""
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
        """Write the receipt as JSON, whole or not at all, readable by its owner only; else a `FileError`."""
        try:
            with owner_only(), atomically(path) as temporary:
                temporary.write_text(self.json(), encoding="utf-8")
        except FileError as error:
            raise FileError(
                f"{error.problem} The table is complete; its receipt is missing.", *error.hints
            ) from None


def check_receipt(path: str | os.PathLike[str], *paths: object) -> None:
    """Refuse a receipt path that does not end in ``.json``, or is at or in one of ``paths`` (source and target).

    It is a `FileError` if it cannot be written, else an `InputError`.
    """
    if Path(path).suffix.lower() != ".json":
        raise InputError(
            f"the receipt {os.fspath(path)!r} does not end in .json.",
            f"write it as {Path(path).stem}.json",
            python("for a page use sfumato.reports.document.receipt_page."),
        )
    where = Path(os.path.realpath(path))
    for other in (Path(os.path.realpath(name)) for name in paths if isinstance(name, str | os.PathLike)):
        if where == other or (other.is_dir() and where.is_relative_to(other)):
            raise InputError(
                f"the receipt {os.fspath(path)!r} would be a part of {str(other)!r}.",
                "choose another place for it.",
            )
    check_writable(path)


def files_in(folder: Path) -> list[Path]:
    """Return all files in a folder and its folders."""
    return [path for path in folder.rglob("*") if path.is_file()]


def state_of(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when a file, or a file of a folder, is written: sizes and times of change."""
    files = files_in(path) if path.is_dir() else [path]
    states = ((str(file), file.stat()) for file in sorted(files))
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
        promise.scope.strip("()"),
        "confirmed" if promise.confirmed else "stated",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
