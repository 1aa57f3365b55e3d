"""Visits in a table (text, Parquet, GeoParquet, Arrow or in memory), and check-ins as lines without a header."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import DataError, argument, row_value
from ...tables import (
    PARQUET_TYPE,
    ArrowFile,
    ArrowStream,
    Clocks,
    FrameTable,
    Layout,
    OpenTable,
    ParquetTable,
    Source,
    TextTable,
    TimeColumn,
    Times,
    ambiguous_dates,
    are_dotted_clocks,
    column_list,
    names,
    plain_values,
    python_values,
    times,
)
from ..visits import LAT_LON
from .columns import Roles, find_roles
from .format import ColumnChoice, Format, RawVisits
from .points import WGS84, ReferenceSystem, Statement, degrees, points, row_statements

_DAYS_ZERO: Final = 2000
"""The last year that programs write in front of times without a day."""

IN_DEGREES: Final = {b"sfumato.crs": b"EPSG:4326"}
"""Metadata of a table whose latitudes and longitudes are on WGS84; a column of systems is then not used."""

Stated = tuple[str, Statement | None]  # where a coordinate system is stated, and the system
_OFFSET: Final = re.compile(r"(?i)\b(?:utc|gmt)\s*[+-]\s*0*[1-9]|[+-](?!00:?00)[01]\d:?[0-5]\d\b")
_SNAP_COLUMNS: Final = ("user", "time", "lat", "lon", "location")
_SNAP_LINE: Final = re.compile(r"[^\t]+\t(\d{4}-\d\d-\d\dT[\d:]+Z)?\t[-+\d.]*\t[-+\d.]*\t[^\t]*")
_FOURSQUARE_COLUMNS: Final = (
    *("user", "venue_id", "category_id", "category", "lat", "lon", "utc_offset_min", "time"),
)
_FOURSQUARE_LINE: Final = re.compile(
    r"[^\t]+\t[^\t]*\t[^\t]*\t[^\t]*\t[-+\d.]+\t[-+\d.]+\t-?\d+\t[A-Z][a-z]{2} [A-Z][a-z]{2} .*"
)


def read_text(source: Source, request: ColumnChoice) -> RawVisits:
    """Read a table of text whose first line names its columns; without one they are ``f0``, ``f1``, ..."""
    table = TextTable.of(source)
    subject = f"{source} (its first line is taken for data, not for names)" if table.headless else str(source)
    roles = find_roles(table.columns, subject, request.by_role)
    text = [] if roles.geometry is None else [roles.geometry]  # hexadecimal may look like a number
    content = table.load(_columns(table, roles, request), as_text=text)
    again = [roles.user] if roles.user is not None and _is_rounded(content[roles.user]) else []
    again += _without_zone(content, roles)
    if again:
        content = table.load(_columns(table, roles, request), as_text=[*text, *again])
    visits = visits_of(content, roles, str(source), decimal_comma=True)
    return replace(visits, notes=(*roles.notes(str(source)), *visits.notes))


def _is_rounded(column: Any) -> bool:
    """Return whether a column of integers was read as floats that cannot hold all digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return bool(pa.types.is_floating(column.type) and (pc.max(pc.abs(column)).as_py() or 0) >= 2**53)


def _without_zone(table: Any, roles: Roles) -> list[str]:
    """Return the columns of days and clocks that had a zone and were read as UTC: they may lie on another day."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if roles.date is None or roles.time is None:
        return []
    days, clocks = table[roles.date], table[roles.time]
    columns = []
    if pa.types.is_timestamp(clocks.type) and clocks.type.tz and pc.min(pc.year(clocks)).as_py() <= _DAYS_ZERO:
        columns.append(roles.time)
    if pa.types.is_timestamp(days.type) and days.type.tz and (columns or Clocks.of(clocks) is not None):
        columns.append(roles.date)
    return columns


@dataclass(frozen=True, slots=True, repr=False)
class PlaceColumns(CompactRepr):
    """The columns of a table that hold places, users and times, and the conversion of positions to degrees.

    ``comma`` is whether numbers may be written ``48,85``, and ``system`` that of the geometry column. For
    messages, ``source`` is a name, and ``hint`` the caller's arguments for the columns of latitude and longitude.
    """

    roles: Roles
    source: str
    comma: bool
    system: ReferenceSystem = WGS84
    hint: str = LAT_LON

    @classmethod
    def of(cls, schema: Any, source: str, by_role: Mapping[str, str | None], *, comma: bool = False) -> Self:
        """Return the columns of a table from its Arrow schema, with its metadata on geometries.

        ``by_role`` is the column that the caller named for each role, or None. Raises `DataError` if a column is
        missing, or the metadata are damaged or contradict each other.
        """
        geometries = geometry_columns(schema, source)
        roles = find_roles(schema.names, source, by_role, geometry=next(iter(geometries), None))
        if IN_DEGREES.items() <= (schema.metadata or {}).items():
            roles = replace(roles, datum=None)
        geometry = None if roles.geometry is None else geometries.get(roles.geometry)
        if geometry is None:
            return cls(roles, source, comma)
        encodings, statements = geometry
        for encoding in encodings:
            if encoding.lower() not in ("wkb", "point"):
                raise DataError(
                    f"the geometries of {source} are encoded as {encoding}.",
                    "store points, encoded as WKB or as 'point'.",
                )
        system = ReferenceSystem.of(statements, source)
        if system.explicit:  # a column of systems is about earlier coordinates
            roles = replace(roles, datum=None)
        return cls(roles, source, comma, system)

    @property
    def notes(self) -> tuple[str, ...]:
        """The assumptions about the source, in sentences."""
        of_rows = (f"Rows without a value in {self.roles.datum!r} are taken for WGS84.",)
        return (*self.roles.notes(self.source), *(self.system.notes if self.roles.datum is None else of_rows))

    @property
    def position(self) -> tuple[str, ...]:
        """The columns that positions are read from."""
        places = (self.roles.geometry,) if self.roles.geometry is not None else (self.roles.lat, self.roles.lon)
        return tuple(name for name in (*places, self.roles.datum) if name is not None)

    def degrees(self, table: Any, *, start: int = 0) -> tuple[Floats, Floats]:
        """Return latitudes and longitudes, arrays (n,), of an Arrow table or batch; NaN where a row has none.

        ``start`` is the number of rows before this table, for messages. Raises `DataError` if a value is no
        position, or its coordinate system has no known way to WGS84.
        """
        import pyarrow as pa

        crses = None if self.roles.datum is None else row_statements(names(table[self.roles.datum]).tolist())
        if self.roles.geometry is not None:
            geometry = table[self.roles.geometry]
            whole = pa.chunked_array([geometry]) if isinstance(geometry, pa.Array) else geometry
            return points(whole, self.source, self.system, crses, start=start)
        lat, lon = (
            degrees(table[name], f"the {role} column {name!r} of {self.source}", self.hint, comma=self.comma)
            for role, name in (("latitude", self.roles.lat), ("longitude", self.roles.lon))
        )
        if crses is not None:
            rows = np.flatnonzero(np.isfinite(lat) & np.isfinite(lon))
            xy, crses = np.column_stack([lon[rows], lat[rows]]), [crses[row] for row in rows]
            lon[rows], lat[rows] = self.system.degrees(xy, rows + start + 1, self.source, crses, geographic=True).T
        return lat, lon


def read_frame(frame: ArrowStream, request: ColumnChoice) -> RawVisits:
    """Read a table in memory; one that cannot be exported or holds no visits is a `DataError`."""
    return _read_typed(FrameTable(frame), request)


def _read_typed(table: ParquetTable | ArrowFile | FrameTable, request: ColumnChoice) -> RawVisits:
    places = PlaceColumns.of(table.schema, table.name, request.by_role)
    content = table.load(_columns(table, places.roles, request))
    return visits_of(content, places.roles, table.name, system=places.system)


TEXT: Final = Format("csv", "CSV and TSV (also .gz)", read_text, None, columns=True)
PARQUET: Final = Format(
    "parquet",
    "Parquet and GeoParquet",
    lambda source, request: _read_typed(ParquetTable(source), request),
    lambda source: source.head.startswith(b"PAR1"),
    text=False,
    columns=True,
)
ARROW: Final = Format(
    "arrow",
    "Arrow (IPC)",
    lambda source, request: _read_typed(ArrowFile(source), request),
    ArrowFile.matches,
    text=False,
    columns=True,
)


def visits_of(
    table: Any, roles: Roles, source: str, *, system: ReferenceSystem = WGS84, decimal_comma: bool = False
) -> RawVisits:
    """Return the visits of a pyarrow Table; ``system`` is that of the geometry column."""
    places = PlaceColumns(roles, source, decimal_comma, system)
    lat, lon = places.degrees(table)
    notes = list(system.notes)
    if roles.datum is not None and (bare := row_statements(names(table[roles.datum]).tolist()).count(None)):
        notes.append(f"{bare:,} of {len(lat):,} rows have no value in {roles.datum!r} and were taken for WGS84.")
    moments, date = _moments(table, roles)
    if moments is not None:
        notes += moments.notes(f"the column {roles.time!r} of {source}")
        notes += [] if date is not None else _other_days(table, roles, moments.values)
        if _OFFSET.search(roles.time or ""):
            notes.append(f"The offset in the name {roles.time!r} is not applied: times without one count as UTC.")
    elif roles.time is not None:
        noun, unclear, example = _unclear(table, roles)
        if unclear and roles.time_named:
            raise DataError(
                f"the {noun} in the column {roles.time!r} of {source} {unclear}.", f"write them as {example}."
            )
        if roles.time_named:
            first = next((value for value in python_values(table[roles.time]) if value is not None), None)
            raise DataError(
                f"the column {roles.time!r} of {source} holds no readable times"
                f"{row_value(f', but values such as {first!r}', '')}.",
                "write times like 2024-03-01T18:30:00Z, or as seconds since 1970.",
            )
        why = f": its {noun} {unclear}. Write them as {example}" if unclear else ""
        notes.append(f"The column {roles.time!r} could not be read as times and is kept as it is{why}.")
    attributes = {}
    unused = {roles.time if moments is None else None, roles.date if date is None else None}
    used = set(roles.columns) - unused
    for name in table.column_names:
        if name not in used:
            column = plain_values(table[name])
            if column is None:
                notes.append(f"The column {name!r} ({table[name].type}) was left out.")
            else:
                attributes[name] = column
    user = None if roles.user is None else names(table[roles.user])
    return RawVisits(lat, lon, user, None if moments is None else moments.values, attributes, tuple(notes))


def _moments(table: Any, roles: Roles) -> tuple[TimeColumn | None, str | None]:
    """Return the times of a table, None without any, and the column of days where clocks have their own."""
    if roles.time is None:
        return None, None
    clocks, days = Clocks.of(table[roles.time], days=roles.date is not None), roles.date
    if clocks is None and roles.date is not None:  # the two may have each other's names
        clocks, days = Clocks.of(table[roles.date]), roles.time
        clocks = None if clocks is None or clocks.on(table[days]) is None else clocks
    if clocks is None:
        moments = times(table[roles.time])
        return None if moments is None else moments.without_days_zero(), None
    moments = None if days is None else clocks.on(table[days])
    moments = None if moments is None else moments.without_days_zero()
    return (None, None) if moments is None or np.isnat(moments.values).all() else (moments, roles.date)


def _other_days(table: Any, roles: Roles, moments: Times) -> list[str]:
    """Return the note on times whose day differs from that in the column of days, if there are some."""
    days = None if roles.date is None else times(table[roles.date])
    if days is None:
        return []
    both = ~np.isnat(days.values) & ~np.isnat(moments)
    since = moments[both] - days.values[both]
    count = int(np.count_nonzero((since < np.timedelta64(0, "D")) | (since >= np.timedelta64(1, "D"))))
    if not count:
        return []
    return [
        f"{count:,} of {len(since):,} times in the column {roles.time!r} are on another day than the one in the "
        f"column {roles.date!r}, which is kept as it is."
    ]


def _unclear(table: Any, roles: Roles) -> tuple[str, str, str]:
    """Return the ambiguous values, their two readings, and how to write them; three "" if nothing is ambiguous."""
    columns = [name for name in (roles.time, roles.date) if name is not None]
    if any(ambiguous_dates(table[name]) for name in columns):
        return "dates", "can begin with the month or with the day", "2024-02-01"
    if any(are_dotted_clocks(table[name]) for name in columns):
        return "numbers", "can be hours and minutes, or fractions of a day", "13:05"
    return "", "", ""


def _columns(table: OpenTable, roles: Roles, request: ColumnChoice) -> Sequence[str]:
    """Return the columns to load, in the order of the table; a wanted one that is missing is a `DataError`."""
    if request.attributes is None:
        return table.columns
    missing = [name for name in request.attributes if name not in table.columns]
    if missing:
        raise DataError(
            f"there is no column {missing[0]!r}. {column_list(table.columns)}",
            f"correct {argument('attributes')}.",
        )
    return [name for name in table.columns if name in roles.columns or name in request.attributes]


def geometry_columns(schema: Any, source: str) -> dict[str, tuple[list[str], list[Stated]]]:
    """Return the columns that an Arrow schema declares to hold geometries, by name; the primary one is first.

    Each has its encodings, such as ``"WKB"``, and statements for `ReferenceSystem.of`. Damaged metadata are a
    `DataError`.

    Source:
        GeoParquet 1.1, Parquet's types GEOMETRY and GEOGRAPHY, GeoArrow 0.2. Without a CRS the first two mean
        WGS84, and GeoArrow an unknown one.
    """
    metadata: Mapping[bytes, bytes] = schema.metadata or {}
    geometries: dict[str, tuple[list[str], list[Stated]]] = {}
    geo = _object(metadata.get(b"geo", b"{}"), "'geo' metadata", source)
    columns = geo.get("columns", {})
    primary = geo.get("primary_column")
    if not (isinstance(columns, dict) and isinstance(primary, str | None)) or not all(
        isinstance(column, dict) for column in columns.values()
    ):
        raise _damage_error("'geo' metadata", source)
    if primary is not None:
        geometries[primary] = [], []
    for name, entry in columns.items():
        systems: list[Stated] = [("its 'geo' metadata", entry["crs"])] if "crs" in entry else []
        geometries[name] = [str(entry.get("encoding", "WKB"))], systems
    for field in schema:
        tags: Mapping[bytes, bytes] = field.metadata or {}
        encodings, statements = geometries.get(field.name, ([], []))
        family, _, encoding = tags.get(b"ARROW:extension:name", b"").decode(errors="replace").partition(".")
        if family in ("geoarrow", "ogc") and encoding:
            place = f"GeoArrow metadata of the column {field.name!r}"
            details = _object(tags.get(b"ARROW:extension:metadata") or b"{}", place, source)
            encodings.append("WKB" if encoding in ("wkb", "wkt") else encoding)
            statements.append(("its GeoArrow metadata", details.get("crs")))
        if PARQUET_TYPE in tags:
            kind = json.loads(tags[PARQUET_TYPE])
            encodings.append("WKB")
            if kind.get("crs"):
                text = str(kind["crs"])
                scheme, _, key = text.partition(":")  # after ``projjson:`` a key of the file's metadata
                crs = metadata.get(key.encode(), text.encode()).decode() if scheme == "projjson" else text
                statements.append(("its Parquet type", crs))
        if encodings:
            geometries[field.name] = encodings, statements
    return geometries


def _object(text: bytes, subject: str, source: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _damage_error(subject, source)
    return value


def _damage_error(subject: str, source: str) -> DataError:
    return DataError(
        f"the {subject} of {source} are damaged.",
        "write the file again",
        f"name columns of numbers with {LAT_LON}.",
    )


def _check_ins(
    key: str, title: str, line: re.Pattern[str], columns: Sequence[str], as_text: Sequence[str]
) -> Format:
    """Return a format of lines without a header, with values between tabs."""

    def read(source: Source, _: ColumnChoice) -> RawVisits:
        table = TextTable(source, Layout("\t"), columns, headless=True, quotes=False)
        roles = Roles("lat", "lon", None, "user", "time", time_named=True)
        return visits_of(table.load(columns, as_text=as_text), roles, str(source))

    return Format(key, title, read, lambda source: any(map(line.fullmatch, source.first_lines[:1])))


# Cho, Myers, Leskovec, KDD 2011; https://snap.stanford.edu/data/loc-gowalla.html.
SNAP: Final = _check_ins(
    "snap", "the text files of SNAP (Gowalla, Brightkite)", _SNAP_LINE, _SNAP_COLUMNS, ("location",)
)
# Yang, Zhang, Zheng, Yu, IEEE Transactions on Systems, Man, and Cybernetics 45(1), 2015.
FOURSQUARE: Final = _check_ins(
    "foursquare",
    "the text files of Foursquare TSMC2014",
    _FOURSQUARE_LINE,
    _FOURSQUARE_COLUMNS,
    ("venue_id", "category_id"),
)
