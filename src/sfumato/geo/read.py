"""Reading of visits from files, folders and tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..errors import DataError, InputError, argument
from ..tables import IN_MEMORY, ArrowStream, Source, as_path, files_below, is_frame, others_note, readable
from .formats.format import (
    ColumnChoice,
    Format,
    People,
    RawVisits,
    check_people,
    clean_rows,
    each_file,
    person_at,
    with_people,
)
from .formats.json_files import GEOJSON, GOOGLE
from .formats.table import ARROW, FOURSQUARE, PARQUET, SNAP, TEXT, read_frame
from .formats.tracks import GEOLIFE, GPX
from .visits import Visits

EVERY: Final = (TEXT, PARQUET, ARROW, GEOLIFE, GPX, GEOJSON, GOOGLE, SNAP, FOURSQUARE)
"""All formats. A file is read by the first one that it matches."""

_BY_KEY: Final = {format_.key: format_ for format_ in EVERY}
FORMATS: Final = tuple(_BY_KEY)
"""The names of the formats that `read_visits` reads."""
_KNOWN: Final = f"the formats are {', '.join(format_.title for format_ in EVERY)}, recognised by their content."
_LAYERS: Final = {b"SQLite format 3\0": "a GeoPackage or another database", b"\0\0\x27\x0a": "a shapefile"}


def read_visits(
    path: str | os.PathLike[str] | ArrowStream,
    *,
    lat: str | None = None,
    lon: str | None = None,
    user: str | None = None,
    time: str | None = None,
    attributes: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002
    polar: bool = False,
    people: People | None = None,
    skip_damaged: bool = False,
) -> Visits:
    """Read visits from a file, a folder, or a table in memory.

    The formats are those of `sfumato.geo.FORMATS`, such as CSV and TSV (also compressed by gzip), Parquet,
    GeoParquet, Arrow, GPX, GeoJSON, OziExplorer, Google's location history and published collections of check-ins.
    Folders of GeoLife, OziExplorer or GPX files are read as a whole; `Visits.notes` names files of other kinds.
    The format is recognised by content. Columns are found by names in common use (``lat``, ``Latitude``, ``lng``,
    ``user_id``, ``timestamp``, ...), or by the names given. Rows without a position, at (0, 0), and exact
    repetitions are dropped; `Visits.notes` counts them. A table in memory is any object with Arrow's PyCapsule
    interface: a data frame of pandas or Polars, a pyarrow Table, a DuckDB relation, ...

    Formats without columns, such as GPX, do not name a user. Unless ``people`` is stated, their visits have no
    `Visits.user`, and count as one person's.

    Positions are converted to WGS84 from the coordinate system that is stated: by Parquet's types, GeoParquet,
    GeoArrow, EWKB, EWKT, a column ``geodeticDatum`` or ``srid``, or GeoJSON's ``crs``. Without a statement WGS84
    is assumed. Raises `DataError` if the file does not exist, has no known format, holds no visit, or its columns
    or positions are invalid. Raises `InputError` if it is neither a path nor a table, the format is unknown,
    columns are named where there are none, or ``people`` does not fit the source.

    Args:
        path: The file or folder, or the table; ``-`` for standard input.
        lat: The column of latitudes, degrees WGS84; ``f0`` is the first of a table whose first line is data.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times; without a zone they are UTC.
        attributes: The other columns to keep; by default all.
        format: One of `sfumato.geo.FORMATS`, where the content misleads.
        polar: Whether places in Antarctica are meant.
        people: Who is a person: the names in the ``column`` of users (the default where there is one), ``one``
            for all rows, or, of formats without columns, each ``file`` or each ``folder``. The folder is the
            one that holds ``Trajectory``, as in GeoLife, or else the first below the path, or the path itself.
        skip_damaged: Leave out the files of a folder of GPX, GeoLife or OziExplorer that cannot be read;
            `Visits.notes` counts and names them. By default one such file is an error.
    """
    check_people(people, user, "read_visits.user")
    request = ColumnChoice({"lat": lat, "lon": lon, "user": user, "time": time}, attributes, people)
    if is_frame(path):
        if format is not None:
            raise InputError(f"the format {format!r} was given with a table.", f"leave out {argument('format')}.")
        check_skip(IN_MEMORY, skip_damaged=skip_damaged)
        return clean_rows(with_people(read_frame(path, request), people, IN_MEMORY), IN_MEMORY, polar=polar)
    place = Path("/dev/stdin") if str(path) == "-" else as_path(path, "visits").expanduser()
    if format is not None and format not in FORMATS:
        raise InputError(f"the format {format!r} is unknown.", f"use one of {', '.join(FORMATS)} or leave it out.")
    if os.path.isdir(place):
        raw = _folder(place, format, people, skip_damaged=skip_damaged)
    else:
        check_skip(repr(place.name), skip_damaged=skip_damaged)
        raw = _file(Source.of(place), format, request)
    return clean_rows(raw, repr(place.name), polar=polar)


def check_skip(source: str, *, skip_damaged: bool) -> None:
    """Refuse ``skip_damaged`` for one file or table, named ``source`` in the message (`InputError`)."""
    if skip_damaged:
        raise InputError(
            f"{argument('skip_damaged')} is for a folder of GPX, GeoLife or OziExplorer files, but {source} is no "
            "such folder.",
            f"leave out {argument('skip_damaged')}.",
        )


def rows_without_columns(path: Path, people: str | None, *, skip_damaged: bool = False) -> RawVisits | None:
    """Return the rows of a file or folder in a format without named columns, such as GPX; nothing is dropped.

    None for a table, and for a folder without such files. ``people`` and ``skip_damaged`` are as for
    `read_visits`. Raises `DataError` if the file does not exist, or has no known format.
    """
    if path.is_dir():
        rows = _rows_below(path, None, people, skip_damaged=skip_damaged)
        return None if rows is None else _assign_people(rows, people, path)
    source = Source.of(path)
    format_ = _recognise_format(source)
    if format_.text:
        _check_text(source)
    if format_.columns:
        return None
    with readable(str(source)):
        return _assign_people(format_.read(source, ColumnChoice({}, None, people)), people, path, format_)


def _assign_people(rows: RawVisits, people: str | None, path: Path, read: Format | None = None) -> RawVisits:
    """Return rows with the stated people; readers whose files may be people have done so already."""
    if people is None and read is None:
        return replace(rows, notes=(*rows.notes, "The files name no users, and count as one person's."))
    if people in ("file", "folder") and (read is None or read.points is not None):
        return rows
    return with_people(rows, people, repr(path.name), person_at(path))


def _rows_below(folder: Path, key: str | None, people: str | None, *, skip_damaged: bool) -> RawVisits | None:
    """Return the rows of the files of one format below a folder, with a note of the others; None without any."""
    for format_ in EVERY:
        if format_.points is None or key not in (None, format_.key):
            continue
        if files := files_below(folder, format_.suffix):
            rows = each_file(folder, files, people, format_.points, skip_damaged=skip_damaged)
            return replace(rows, notes=(*rows.notes, *others_note(folder, files)))
    return None


def _folder(folder: Path, key: str | None, people: str | None, *, skip_damaged: bool) -> RawVisits:
    rows = _rows_below(folder, key, people, skip_damaged=skip_damaged)
    if rows is not None:
        return _assign_people(rows, people, folder)
    names = sorted(entry.name for entry in folder.iterdir())[:5]
    raise DataError(
        f"the folder {str(folder)!r} holds no "
        + " or ".join(f"{format_.title} ({format_.suffix})" for format_ in EVERY if format_.points is not None)
        + " files"
        + (f", but {', '.join(names)}." if names else ": it is empty."),
        "pass the path of a file, or of a folder of such files.",
    )


def _file(source: Source, key: str | None, request: ColumnChoice) -> RawVisits:
    format_ = _BY_KEY[key] if key is not None else _recognise_format(source)
    roles = [role for role, name in request.by_role.items() if name is not None]
    if roles and not format_.columns:
        raise InputError(
            f"{argument(f'read_visits.{roles[0]}')} names a column, but {source} is read as {format_.key}, "
            "whose columns are fixed.",
            "leave it out",
            f"pass {argument('format', 'csv')} if the file is a table.",
        )
    if format_.text:
        _check_text(source)
    with readable(str(source)):
        return _assign_people(format_.read(source, request), request.people, source.path, format_)


def _recognise_format(source: Source) -> Format:
    for format_ in EVERY:
        if format_.matches is not None and (source.is_text or not format_.text) and format_.matches(source):
            return format_
    check_table_of_text(source)
    return next(format_ for format_ in EVERY if format_.matches is None)


def check_table_of_text(source: Source) -> None:
    """Refuse a file that is neither Parquet nor a table of text, such as JSON or a GeoPackage (`DataError`)."""
    if source.start.startswith((b"{", b"[")):
        raise DataError(
            f"{source} looks like JSON that is not GeoJSON.", f"convert it to CSV or GeoParquet: {_KNOWN}"
        )
    if source.start.startswith(b"PK\x03\x04") and source.suffix == ".sfm":
        raise DataError(f"{source} is a mechanism file, not a table of visits.", "give the visits.")
    if source.start.startswith(b"PK\x03\x04"):
        raise DataError(f"{source} is a ZIP archive or a spreadsheet.", f"unpack it, or save it as CSV: {_KNOWN}")
    for magic, noun in _LAYERS.items():
        if source.start.startswith(magic):
            raise DataError(
                f"{source} is {noun}.",
                "save its points as GeoParquet or GeoJSON: with Export in QGIS, with to_parquet in geopandas.",
            )
    if source.suffix in (".parquet", ".geoparquet", ".pq"):
        raise DataError(f"{source} is named like a Parquet file, but does not begin like one.", "write it again.")


def _check_text(source: Source) -> None:
    if not source.is_text:
        raise DataError(f"{source} is neither text nor Parquet.", f"{_KNOWN} Text must be in UTF-8 or Latin-1.")
