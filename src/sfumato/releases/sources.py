"""Sources of a release: files, folders, tables in memory and visits, as streams of batches."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import pa
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

AnySource = str | os.PathLike[str] | Visits | ArrowStream | ArrowBatch | LazyTable

_ENDS: Final = 1 << 20  # bytes at the beginning and at the end of a file that are looked at
_NAMES: Final = ("lat", "lon", "user", "time")


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
    tables = folder_stream(path) if path.is_dir() else None
    if path.is_dir():
        if tables is not None and (
            options.column is not None or any(file.suffix.lower() != ".txt" for file in tables.files)
        ):
            return _table(tables, options)
        rows = rows_without_columns(
            path, options.people, skip_damaged=options.skip_damaged
        )  # a text file may explain the tracks
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
        if stream is not None:
            return _table(stream, options)
        if options.column is not None:  # labels may hold any characters
            check_table_of_text(file)
            return _table(text_stream(file), options)
        rows = rows_without_columns(path, options.people)
        if rows is None:
            return _table(text_stream(file), options)
    problem = f"{path.name!r} is of a format whose columns are fixed."
    stated = replace(options, people=None)  # its rows have the people that were stated
    return _of_visits(rows, stated, repr(path.name), problem)


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
    for each, column in zip(hashes, columns, strict=False):
        each.update(column.encode())
    known_as = " ".join(each.hexdigest() for each in hashes)
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
    named_roles = [role for role in _NAMES if getattr(options, role) is not None]
    if named_roles:
        raise InputError(problem, f"leave out {argument(f'release.{named_roles[0]}')}.")
    columns: dict[str, Any] = {"lat": visits.lat, "lon": visits.lon}
    roles: Mapping[str, NDArray[Any] | None] = {"user": visits.user, "time": visits.time}
    columns |= {role: _arrow(values) for role, values in roles.items() if values is not None}
    columns |= {
        attribute: _arrow(values) for attribute, values in visits.attributes.items() if attribute not in columns
    }
    user = "user" if visits.user is not None else None
    time = "time" if visits.time is not None else None
    named = replace(options, column=None, lat="lat", lon="lon", user=user, time=time)
    notes = visits.notes if isinstance(visits, RawVisits) else ()  # those of visits were shown when they were read
    return replace(frame_stream(pa.table(columns, metadata=IN_DEGREES), name), notes=notes), named


def _arrow(values: NDArray[Any]) -> Any:
    try:
        return pa.array(values, from_pandas=True)  # NaN and NaT become nulls
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed types
        return pa.array([None if value is None else str(value) for value in np.asarray(values).tolist()])
