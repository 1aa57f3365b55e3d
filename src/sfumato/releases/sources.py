"""Sources of a release as streams of batches, and records of their releases against releasing one twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._system import atomically, hidden_name, pa
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument
from ..geo import (
    IN_DEGREES,
    People,
    RawVisits,
    Visits,
    check_skip,
    check_table_of_text,
    no_files,
    rows_without_columns,
)
from ..tables import (
    ArrowBatch,
    ArrowStream,
    LazyTable,
    Source,
    TableStream,
    as_path,
    cause,
    folder_stream,
    frame_stream,
    is_frame,
    stream_of,
    text_stream,
)
from .options import ReleaseOptions
from .provenance import Mark
from .work_folder import facts_of, is_locked, work_folder, work_folders

AnySource = str | os.PathLike[str] | Visits | ArrowStream | ArrowBatch | LazyTable

_ENDS: Final = 1 << 20  # bytes at the beginning and at the end of a file that are looked at
_NAMES: Final = ("lat", "lon", "user", "time")
_SUFFIX: Final = ".released.json"
_LARGEST: Final = 1 << 20  # bytes of a record


@dataclass(frozen=True, slots=True, repr=False)
class Identity(CompactRepr):
    """Hashes that distinguish sources: sizes and both ends of files; ``place`` also paths and times of change."""

    content: str
    place: str


def open_source(
    source: str | os.PathLike[str] | Visits | ArrowStream, options: ReleaseOptions
) -> tuple[TableStream, ReleaseOptions]:
    """Return a source as a stream, and the options in the names of its columns."""
    if isinstance(source, Visits):
        if options.column is not None:
            raise InputError(
                "visits have no column of labels.", "pass the path of a table", f"leave out {argument('column')}."
            )
        check_table(options.people, "the visits")
        check_skip("the table of visits", skip_damaged=options.skip_damaged)
        return _of_visits(source, options, "the visits", "visits have their columns already.")
    if is_frame(source):
        return _table(frame_stream(source), options)
    if isinstance(source, str) and source == "-":
        path = Path("/dev/stdin")
    else:
        path = as_path(source, "a table" if options.column is not None else "visits").expanduser()
    if path.is_dir():
        tables = folder_stream(path)
        of_tables = tables is not None and (
            options.column is not None or any(file.suffix.lower() != ".txt" for file in tables.files)
        )
        # A text file may explain the tracks.
        rows = None if of_tables else rows_without_columns(path, options.people, skip_damaged=options.skip_damaged)
        if rows is None and tables is not None:
            return _table(tables, options)
        if rows is None:
            raise DataError(
                f"the folder {str(path)!r} holds no tables (.parquet, .arrow, .csv) and no visits.",
                "pass the path of a file, or of a folder of such files.",
            )
    else:
        check_skip(repr(path.name), skip_damaged=options.skip_damaged)
        file = Source.of(path)
        stream = stream_of(file)
        if stream is None and options.column is not None:  # labels may hold any characters
            check_table_of_text(file)
            stream = text_stream(file)
        rows = None if stream is not None else rows_without_columns(path, options.people)
        if rows is None:
            return _table(stream or text_stream(file), options)
    problem = f"{path.name!r} is of a format whose columns are fixed."
    request = replace(options, people=None)  # its rows have the people that were stated
    return _of_visits(rows, request, repr(path.name), problem)


def check_table(people: People | None, name: str) -> None:
    """Refuse the statement that files or folders are people where the source is one table."""
    if people in ("file", "folder"):
        raise no_files(people, name)


def _table(stream: TableStream, options: ReleaseOptions) -> tuple[TableStream, ReleaseOptions]:
    check_table(options.people, stream.name)
    check_skip(stream.name, skip_damaged=options.skip_damaged)
    return stream, options


def identity(stream: TableStream, *columns: str) -> Identity | None:
    """Return the identity of a source with the released ``columns``; None for a table in memory."""
    if not stream.files:
        return None
    content, place = hashlib.blake2b(digest_size=20), hashlib.blake2b(digest_size=20)
    for path in stream.files:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            ends = file.read(_ENDS)
            if state.st_size > _ENDS:
                file.seek(max(_ENDS, state.st_size - _ENDS))
                ends += file.read(_ENDS)
        content.update(f"{state.st_size} ".encode() + hashlib.blake2b(ends).digest())
        place.update(f"{os.path.realpath(path)} {state.st_size} {state.st_mtime_ns} ".encode())
    hashes = [content.copy() for _ in columns] or [content]
    for digest, column in zip(hashes, columns, strict=False):
        digest.update(column.encode())
    known_as = " ".join(digest.hexdigest() for digest in hashes)
    return Identity(known_as, f"{known_as} {place.hexdigest()}")


def unreadable(stream: TableStream, error: Exception) -> DataError:
    """Return the error of a source whose values do not make a table that a release reads and writes."""
    return DataError(
        f"{stream.name} could not be released as such a table: {cause(error)}.",
        "give its columns plain types, or leave out those that are kept.",
    )


def _of_visits(
    visits: Visits | RawVisits, options: ReleaseOptions, name: str, problem: str
) -> tuple[TableStream, ReleaseOptions]:
    for role in _NAMES:
        if getattr(options, role) is not None:
            raise InputError(problem, f"leave out {argument(f'release.{role}')}.")
    columns: dict[str, Any] = {"lat": visits.lat, "lon": visits.lon}
    for role, values in (("user", visits.user), ("time", visits.time), *visits.attributes.items()):
        if values is not None and role not in columns:
            columns[role] = _arrow(values)
    user, time = (None if getattr(visits, role) is None else role for role in ("user", "time"))
    request = replace(options, column=None, lat="lat", lon="lon", user=user, time=time)
    notes = visits.notes if isinstance(visits, RawVisits) else ()  # those of visits were shown when they were read
    return replace(frame_stream(pa.table(columns, metadata=IN_DEGREES), name), notes=notes), request


def _arrow(values: NDArray[Any]) -> Any:
    try:
        return pa.array(values, from_pandas=True)  # NaN and NaT become nulls
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed types
        return pa.array([None if value is None else str(value) for value in np.asarray(values).tolist()])


@dataclass(frozen=True, slots=True, repr=False)
class Record(CompactRepr):
    """A finished release, also of a replaced table; ``times`` counts releases of the source, by places of rows."""

    content: str
    times: int
    run: str
    mechanism: str
    places: int = 1


def check_released(source: Identity, target: Path, *, run: str = "", known: int = 0) -> None:
    """Refuse a source with more than ``known`` releases in the target's folder, or one in progress there."""
    parts = set(source.content.split())  # one for each column
    for folder in work_folders(target.parent):  # before the records: one that ends meanwhile has left its record
        same = folder != work_folder(target) and parts & set(facts_of(folder).get("source", "").split())
        if same and is_locked(folder):  # asked last: a release that starts could meet the question
            raise InputError(
                f"another process is releasing this source into the same folder ({folder.name!r}). One more "
                "release draws every row once more, and both together reveal more than one.",
                f"wait for it, and use its file, or pass {argument('again', True)} if this is what you want.",
            )
    if history(source, target, run=run).reports <= known:
        return
    name, record, newest = _releases_of(source, target, run)[-1]
    if newest and facts_of(work_folder(target.with_name(name))).get("run") == record.run:
        hint = f"its release to {name!r} was interrupted: continue it with {argument('resume', True)}"
    else:
        hint = "use the file that is there" if newest and target.with_name(name).exists() else ""
    replaced = "" if newest else ", whose table was replaced since"
    raise InputError(
        f"this source was released before, to {name!r} in the same folder{replaced}. One more release draws every "
        "row once more, and both together reveal more than one.",
        hint,
        f"pass {argument('again', True)} if one more is what you want.",
    )


class History(NamedTuple):
    """Earlier releases of a source here: reports of each row, releases, and mechanisms ("" for lost records)."""

    reports: int
    releases: int
    mechanisms: frozenset[str]

    def is_of(self, mark: Mark) -> bool:
        """Return whether all releases are on record with the mechanisms of a mark."""
        return self.mechanisms <= {_fingerprint(mark)}


def history(source: Identity, target: Path, *, run: str = "") -> History:
    """Return the earlier releases of a source, or of some of its columns, to the target's folder."""
    parts = set(source.content.split())
    records = [record for _, record, _ in _releases_of(source, target, run)]
    places = sum({record.run: record.places for record in records}.values())
    reports = max([places, *(record.times for record in records if set(record.content.split()) <= parts)])
    mechanisms = {record.mechanism for record in records} | ({""} if reports > places else set())
    return History(reports, len({record.run for record in records}) + reports - places, frozenset(mechanisms))


def keep_record(source: Identity, target: Path, mark: Mark, run: str, places: int = 1) -> None:
    """Add a release to the record of its target, once for each run."""
    path = target.with_name(hidden_name(target.name, _SUFFIX))
    records = _read(path)[1]
    if any(record.run == run for record in records):
        return
    times = history(source, target, run=run).reports + places
    with atomically(path) as temporary:
        temporary.chmod(0o600)  # the hash of a small source can be found by trial
        records = [*records, Record(source.content, times, run, _fingerprint(mark), places)]
        temporary.write_text(_text(target.name, records), encoding="utf-8")


def _fingerprint(mark: Mark) -> str:
    if len(mark.mechanisms) == 1:
        return mark.mechanisms[0]
    return hashlib.blake2b(mark.text.encode(), digest_size=20).hexdigest()


def _text(name: str, records: Sequence[Record]) -> str:
    """Return the newest records that fit, at least one."""
    lines: list[str] = []
    room = _LARGEST - 1024
    for record in reversed(records):
        lines.insert(0, json.dumps(asdict(record)))
        room -= len(lines[0]) + 2
        if room < 0 and len(lines) > 1:
            del lines[0]
            break
    return f'{{"target": {json.dumps(name)}, "releases": [\n' + ",\n".join(lines) + "\n]}\n"


def _releases_of(source: Identity, target: Path, run: str) -> list[tuple[str, Record, bool]]:
    """Return the releases of a source: target, record, and whether it is the target's newest."""
    parts = set(source.content.split())
    records_of_source = [
        (name, record, record is records[-1])
        for name, records in map(_read, sorted(target.parent.glob(f".*{_SUFFIX}")))
        for record in records
        if parts & set(record.content.split()) and record.run != run
    ]
    return sorted(records_of_source, key=lambda row: row[2])


def _read(path: Path) -> tuple[str, list[Record]]:
    """Return the target and the records in a file; none where it holds none."""
    try:
        if path.stat().st_size > 2 * _LARGEST:
            return "", []
        data = json.loads(path.read_bytes())
        return str(data["target"]), [
            Record(
                str(record["content"]),
                int(record["times"]),
                str(record["run"]),
                str(record.get("mechanism", "")),
                int(record.get("places", 1)),
            )
            for record in data.get("releases", [data])
        ]
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return "", []  # not a record
