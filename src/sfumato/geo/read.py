"""Reading visits from files as they occur."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..core.arguments import checked
from ..errors import DataError, InputError, argument
from .formats import arrow, delimited, foursquare, geolife, gpx, parquet, snap
from .formats.arrow import ArrowStream
from .formats.rows import Rows, cleaned
from .formats.source import Source
from .visits import Visits

FORMATS: Final = ("csv", "parquet", "gpx", "snap", "foursquare", "geolife")
_KNOWN: Final = (
    "readable are CSV and TSV (also .gz), Parquet and GeoParquet, GPX, the text files of SNAP (Gowalla, "
    "Brightkite) and Foursquare TSMC2014, and folders of GeoLife or GPX, "
    "whose kind is told from the content."
)


@checked
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
) -> Visits:
    """Read visits from a file, a folder, or a table in memory.

    Known are CSV and TSV (also compressed by gzip), Parquet, GeoParquet, GPX, the text
    files of SNAP's Gowalla and Brightkite and of Foursquare TSMC2014, and folders of
    GeoLife or GPX files. The format is told from the content. Columns are found by the
    names that occur in the wild (``lat``, ``Latitude``, ``lng``, ``user_id``,
    ``timestamp``, ...), or by the names given. Rows without a position, at (0, 0), and
    exact repetitions are dropped; `Visits.notes` says how many. A table in memory is
    anything that speaks Arrow's PyCapsule interface: a data frame of pandas or Polars, a
    pyarrow Table, a DuckDB relation, ...

    Args:
        path: The file or folder, or the table; ``-`` for what is piped in.
        lat: The column of latitudes, degrees WGS84; ``f0`` is the first of a table whose
            first line is data.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times; without a zone they are taken for UTC.
        attributes: The other columns to keep; by default all.
        format: ``csv``, ``parquet``, ``gpx``, ``snap``, ``foursquare`` or ``geolife``,
            where the content misleads.
        polar: Whether places in Antarctica are meant.

    Raises:
        DataError: If there is no such file, it is in no known format, holds no visit, or
            its columns or positions cannot be what they should.
        InputError: If it is neither a path nor a table, the format is unknown, or columns are
            named where there are none.
    """
    names = {"lat": lat, "lon": lon, "user": user, "time": time}
    if isinstance(path, ArrowStream) and not isinstance(path, type):
        if format is not None:
            raise InputError(f"the format {format!r} was given with a table.", f"leave out {argument('format')}.")
        return cleaned(arrow.read(path, names, attributes), arrow.NAME, polar=polar)
    place = Path("/dev/stdin") if str(path) == "-" else as_path(path, "visits").expanduser()
    if format is not None and format not in FORMATS:
        raise InputError(
            f"the format {format!r} is unknown.", f"use one of {', '.join(FORMATS)}, or leave it out."
        )
    rows = _folder(place, format) if place.is_dir() else _file(Source.of(place), format, names, attributes)
    return cleaned(rows, repr(place.name), polar=polar)


def as_path(given: object, what: str) -> Path:
    """Return a path, or say what was given in its place.

    Args:
        given: What the caller passed.
        what: What is read, such as ``"visits"``.

    Raises:
        InputError: If it is not a path.
    """
    if isinstance(given, str | os.PathLike):
        return Path(os.fsdecode(given))
    raise InputError(
        f"{what} cannot be read from {type(given).__name__!r}.",
        "pass a path, or a table that speaks Arrow's PyCapsule interface: a data frame of pandas 2.2 or Polars "
        "(collect a lazy one), a pyarrow Table, a DuckDB relation.",
    )


def _folder(folder: Path, format_: str | None) -> Rows:
    for name, pattern, reader in (("geolife", "*.plt", geolife.read_folder), ("gpx", "*.gpx", gpx.read_folder)):
        if format_ in (None, name) and next(folder.rglob(pattern), None) is not None:
            return reader(folder)
    found = sorted(entry.name for entry in folder.iterdir())[:5]
    raise DataError(
        f"the folder {str(folder)!r} holds no GeoLife (.plt) or GPX files"
        + (f", but {', '.join(found)}." if found else ": it is empty."),
        "pass the path of a file, or of a folder of such files.",
    )


def _file(
    source: Source, format_: str | None, names: dict[str, str | None], attributes: Sequence[str] | None
) -> Rows:
    chosen = format_ or _recognised(source)
    if chosen == "csv":
        _need_text(source)
        return delimited.read(source, names, attributes)
    if chosen == "parquet":
        return parquet.read(source, names, attributes)
    named = [role for role, name in names.items() if name is not None]
    if named:
        raise InputError(
            f"{argument(f'read_visits.{named[0]}')} names a column, but {source} is read as {chosen}, "
            "whose columns are fixed.",
            "leave it out",
            f"pass {argument('format', 'csv')} if the file is a table.",
        )
    if chosen == "gpx":
        return gpx.read(source)
    if chosen == "geolife":
        return geolife.read(source.path)
    _need_text(source)
    return snap.read(source) if chosen == "snap" else foursquare.read(source)


def _recognised(source: Source) -> str:
    start = source.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if source.head.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"<"):
        return "gpx"
    if start.startswith(b"Geolife"):
        return "geolife"
    if start.startswith((b"{", b"[")):
        raise DataError(
            f"{source} looks like JSON, which is not read.", f"convert it to CSV or GeoParquet: {_KNOWN}"
        )
    if start.startswith(b"PK\x03\x04"):
        raise DataError(f"{source} is a ZIP archive or a spreadsheet.", f"unpack it, or save it as CSV: {_KNOWN}")
    if source.suffix in (".parquet", ".geoparquet", ".pq"):
        raise DataError(f"{source} is named like a Parquet file, but does not begin like one.", "write it again.")
    _need_text(source)
    lines = source.first_lines
    if snap.matches(lines[0]):
        return "snap"
    return "foursquare" if foursquare.matches(lines[0]) else "csv"


def _need_text(source: Source) -> None:
    if not source.is_text:
        raise DataError(f"{source} is neither text nor Parquet.", f"{_KNOWN} Text must be in UTF-8 or Latin-1.")
