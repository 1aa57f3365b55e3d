"""People of visits: whose each row is, as the caller states it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from ...errors import DataError, InputError, argument
from ...rounding import counted
from ...tables import Source, files_below, left_out_note, readable
from .crs import UnknownSystemError
from .format import RawVisits, joined

People = Literal["one", "file", "folder", "column"]
"""A person: all rows, each file, each folder, or each name in the column of users."""

PEOPLE: Final[tuple[People, ...]] = get_args(People)
_UNNAMED: Final = "one"  # the only person of a table that has no name


def check_people(people: str | None, column: str | None, role: str) -> None:
    """Refuse a statement that is unknown, or that a named column of users contradicts.

    Args:
        people: The statement.
        column: The column of users that the caller names.
        role: The argument that names it, with its function in front.

    Raises:
        InputError: If it is one of these.
    """
    if people is not None and people not in PEOPLE:
        raise InputError(f"{argument('people', people)} is unknown.", f"use one of {', '.join(PEOPLE)}.")
    if people not in (None, "column") and column is not None:
        raise InputError(
            f"{argument('people', people)} and {argument(role, column)} name people in two ways.",
            "leave one of them out.",
        )


def person_of(path: Path, top: Path, people: str | None) -> str | None:
    """Return whose a file below the source ``top``, or the source itself, is; None where nothing is stated.

    A file is named by its path below the source, without its ending. The folder of a person is the one that holds
    ``Trajectory``, as in GeoLife, or else the first one below the source, or else the source itself.
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
    """Return the name of the only person of a source: that of its folder, or of its file without the ending."""
    return (top.resolve().name if top.is_dir() else _bare(Path(top.name)).name) or _UNNAMED


def each_file(
    folder: Path,
    suffix: str,
    people: str | None,
    points: Callable[[Source, str | None], RawVisits | None],
    *,
    skip_damaged: bool,
) -> RawVisits | None:
    """Return the rows of all files with an ending below a folder; None where none of them holds a point.

    ``points`` reads a file whose person has a name, and returns None where it has a head alone. A file that cannot
    be read is a `DataError`. With ``skip_damaged`` it is left out and a note names it, unless all are damaged.
    """
    files = files_below(folder, suffix)
    parts, first = [], None
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
        what = "file" if unknown else "damaged file"
        raise DataError(
            f"nothing can be read: {counted(len(files), what)}. The first: {first.text}",
            *first.hints[:-1],
        )
    if not parts:
        return None
    rows = joined(parts)
    for paths, why in ((damaged, "damaged"), (unknown, "in an unknown coordinate system")):
        rows = replace(rows, notes=(*rows.notes, *left_out_note(folder, paths, len(files), why)))
    return rows


def with_people(rows: RawVisits, people: str | None, source: str, person: str = _UNNAMED) -> RawVisits:
    """Return the rows of one table, or of one source without columns, with the people that the caller states.

    ``source`` is the name for messages, and ``person`` the name of the person where there is one. It is an
    `InputError` if files or folders are people, but the source is one table, and a `DataError` if a column of
    users is stated and there is none.
    """
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
    """Return the error of a table of which files or folders are stated to be people."""
    return InputError(
        f"{argument('people', people)} was given, but {source} is one table, whose rows may be of several people.",
        f"name the column of users with {argument('read_visits.user', 'column')}",
        f"state that all rows are of one person with {argument('people', 'one')}.",
    )


def _bare(path: Path) -> Path:
    """Return a path without its ending, such as ``.gpx`` or ``.gpx.gz``."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix("")
