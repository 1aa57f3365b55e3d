"""Formats of visits: how a file is recognised and read, its rows and their cleaning, and its people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import DataError, InputError, argument
from ...rounding import plural
from ...tables import Objects, Source, Times, left_out_note, readable
from ..visits import Visits, check_degrees
from .points import UnknownSystemError

People = Literal["one", "file", "folder", "column"]
"""A person: all rows, each file, each folder, or each name in the column of users."""

PointReader = Callable[[Source, str | None], "RawVisits | None"]
"""Reads the points of one file of a person, or of no one stated; None where it holds none."""

PEOPLE: Final[tuple[People, ...]] = get_args(People)
_UNNAMED: Final = "one"  # the only person of a table that has no name


@dataclass(frozen=True, slots=True, repr=False)
class ColumnChoice(CompactRepr):
    """The caller's column for each role, other columns to keep (None for all), and ``people`` of `read_visits`."""

    by_role: Mapping[str, str | None]
    attributes: Sequence[str] | None
    people: str | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """One format of visits. To add one, write a module in this folder and list it in `read.EVERY`.

    ``matches`` decides by content; it is None for the fallback. ``text`` refuses control characters, ``columns``
    allows callers to name columns. ``suffix`` and ``points``, which reads one file, are for folders.
    """

    key: str
    title: str
    read: Callable[[Source, ColumnChoice], RawVisits]
    matches: Callable[[Source], bool] | None
    text: bool = True
    columns: bool = False
    suffix: str = ""
    points: PointReader | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RawVisits(CompactRepr):
    """The visits of a file, row by row, before anything is dropped; NaN, None and NaT where one is missing."""

    lat: Floats
    lon: Floats
    user: Objects | None = None
    time: Times | None = None
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def clean_rows(rows: RawVisits, source: str, *, polar: bool) -> Visits:
    """Return the visits among the rows, in their order, without useless ones, which are counted in the notes.

    They are rows without a position, at (0, 0), and exact repetitions of user, time and place where the time is
    known. A position out of range, or no row left, is a `DataError`.
    """
    size = len(rows.lat)
    if size == 0:
        raise DataError(f"{source} holds no rows.", "check that it is the right file.")
    check_degrees(
        np.where(np.isfinite(rows.lat), rows.lat, np.nan),
        np.where(np.isfinite(rows.lon), rows.lon, np.nan),
        polar=polar,
    )
    notes = list(rows.notes)
    has_place = np.isfinite(rows.lat) & np.isfinite(rows.lon)
    if dropped := size - int(has_place.sum()):
        notes.append(f"{dropped:,} of {size:,} rows without a position were dropped.")
    null_island = has_place & (rows.lat == 0) & (rows.lon == 0)
    if null_island.any():
        notes.append(f"{int(null_island.sum()):,} of {size:,} rows at latitude 0, longitude 0 were dropped.")
    mask = has_place & ~null_island
    copies = _repetitions(rows, mask)
    if copies.any():
        notes.append(
            f"{int(copies.sum()):,} of {size:,} rows that repeat another's user, time and place were dropped."
        )
    mask &= ~copies
    if not mask.any():
        raise DataError(f"{source} holds no usable row. {' '.join(notes)}", "check its latitudes and longitudes.")
    if rows.user is not None and (strangers := sum(name is None for name in rows.user[mask].tolist())):
        notes.append(f"{strangers:,} of {int(mask.sum()):,} visits have no user.")
    return Visits(
        rows.lat[mask],
        rows.lon[mask],
        None if rows.user is None else rows.user[mask],
        None if rows.time is None or np.isnat(rows.time).all() else rows.time[mask],
        {name: column[mask] for name, column in rows.attributes.items()},
        notes,
        polar=True,  # checked above, with the row numbers of the file
    )


def join_rows(parts: list[RawVisits]) -> RawVisits:
    """Return the rows of several files in order; all or none have users, none has attributes."""
    users = [part.user for part in parts if part.user is not None]
    return RawVisits(
        np.concatenate([part.lat for part in parts]),
        np.concatenate([part.lon for part in parts]),
        np.concatenate(users) if users else None,
        np.concatenate([part.time for part in parts if part.time is not None]),
        notes=tuple(note for part in parts for note in part.notes),
    )


def _repetitions(rows: RawVisits, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    copies = np.zeros(len(rows.lat), dtype=bool)
    if rows.time is None or rows.user is None:  # equal rows may then be of two people
        return copies
    at = np.flatnonzero(mask & ~np.isnat(rows.time))
    ids: dict[Any, int] = {}
    users = np.fromiter((ids.setdefault(name, len(ids)) for name in rows.user[at].tolist()), np.int64, len(at))
    keys = [rows.lat[at], rows.lon[at], rows.time[at].astype(np.int64), users]
    order = np.lexsort(keys)  # stable: the first of equal rows stays first
    same = np.ones(max(len(at) - 1, 0), dtype=bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    copies[at[order[1:][same]]] = True
    return copies


def check_people(people: str | None, column: str | None, role: str) -> None:
    """Refuse an unknown statement of people, or one that a named column of users contradicts (`InputError`).

    ``role`` is the argument that names the column, with its function in front.
    """
    if people is not None and people not in PEOPLE:
        raise InputError(f"{argument('people', people)} is unknown.", f"use one of {', '.join(PEOPLE)}.")
    if people not in (None, "column") and column is not None:
        raise InputError(
            f"{argument('people', people)} and {argument(role, column)} name people in two ways.",
            "leave one of them out.",
        )


def person_of(path: Path, top: Path, people: str | None) -> str | None:
    """Return the person of a file at or below the source ``top``; None where nothing is stated.

    The folder of a person is the one that holds ``Trajectory``, else the first below the source, else the source.
    """
    if people in (None, "column"):
        return None
    below = path.relative_to(top)
    if people == "one":
        return person_at(top)
    if people == "file":
        return _bare(below if below.parts else Path(path.name)).as_posix()
    home = path.resolve().parent
    if home.name.lower() == "trajectory":
        return home.parent.name or _UNNAMED
    return below.parts[0] if len(below.parts) > 1 else home.name or _UNNAMED


def person_at(top: Path) -> str:
    """Return the name of the only person of a source: that of its folder, or of its file without the suffix."""
    return (top.resolve().name if top.is_dir() else _bare(Path(top.name)).name) or _UNNAMED


def each_file(
    folder: Path, files: Sequence[Path], people: str | None, points: PointReader, *, skip_damaged: bool
) -> RawVisits:
    """Return the rows of all files of a folder; `DataError` if one cannot be read or none holds a point.

    With ``skip_damaged`` a damaged file is left out and named in a note, unless all are.
    """
    parts: list[RawVisits] = []
    first: DataError | None = None
    unknown: list[Path] = []
    damaged: list[Path] = []
    for path in files:
        try:
            with readable(repr(str(path))):
                part = points(Source.of(path), person_of(path, folder, people))
        except DataError as error:
            leave = f"leave damaged files out with {argument('skip_damaged', True)}."
            first = first or DataError(error.text, *(hint.rstrip(".") for hint in error.hints), leave)
            if not skip_damaged:
                raise first from None
            (unknown if isinstance(error, UnknownSystemError) else damaged).append(path)
        else:
            parts += [] if part is None else [part]
    if first is not None and len(damaged) + len(unknown) == len(files):
        noun = "file" if unknown else "damaged file"
        raise DataError(
            f"nothing can be read: {plural(len(files), noun)}. The first: {first.text}", *first.hints[:-1]
        )
    if not parts:
        raise DataError(f"the files in {folder.name!r} hold no points.", "check that it is the right folder.")
    rows = join_rows(parts)
    for paths, why in ((damaged, "damaged"), (unknown, "in an unknown coordinate system")):
        rows = replace(rows, notes=(*rows.notes, *left_out_note(folder, paths, len(files), why)))
    return rows


def with_people(rows: RawVisits, people: str | None, source: str, person: str = _UNNAMED) -> RawVisits:
    """Return the rows of one table or file with the stated people; an error if the source cannot have them."""
    if people in ("file", "folder"):
        raise no_files(people, source)
    if people == "column" and rows.user is None:
        raise DataError(
            f"{source} has no column of users.",
            f"name it with {argument('read_visits.user', 'column')}",
            f"state that all rows are of one person with {argument('people', 'one')}",
            f"for a format without columns that each file is a person with {argument('people', 'file')}.",
        )
    if people != "one":
        return rows
    users = np.empty(len(rows.lat), dtype=object)
    users[:] = person
    return replace(rows, user=users)


def no_files(people: str, source: str) -> InputError:
    """Return the error for one table whose people are stated to be files or folders."""
    return InputError(
        f"{argument('people', people)} was given, but {source} is one table, whose rows may be of several people.",
        f"name the column of users with {argument('read_visits.user', 'column')}",
        f"state that all rows are of one person with {argument('people', 'one')}.",
    )


def _bare(path: Path) -> Path:
    """Return a path without its suffix, such as ``.gpx`` or ``.gpx.gz``."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix("")
