"""Readers of tracks: OziExplorer and GeoLife (.plt), and GPX."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, NamedTuple
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import DataError, row_value
from ...rounding import plural
from ...tables import (
    Source,
    TimeColumn,
    Times,
    can_be_day,
    cause,
    day_numbers,
    misfit,
    names,
    numbers,
    parse_rows,
    times,
)
from .format import ColumnChoice, Format, PointReader, RawVisits, person_of
from .points import ReferenceSystem, UnknownSystemError, degrees, row_statements

_GEOLIFE: Final = b"Geolife"
_OZI: Final = b"OziExplorer Track Point File"
_HEADER_LINES: Final = 6
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d*)?")
_COLUMNS: Final = ("lat", "lon", "code", "altitude_ft", "days", "date", "clock")
_OZI_COLUMNS: Final = 5  # the date and time behind them may be left out
_ONE_DAY: Final = timedelta(days=1)
_ONE_DAY_US: Final = 86_400_000_000
_FINE: Final = 5  # decimals of days that are seconds
_POINT_TAGS: Final = ("trkpt", "rtept", "wpt")


def _points_of_plt(source: Source, user: str | None) -> RawVisits | None:
    """Return the points of one file, None if it has only a header; a note counts rows that are no place on Earth.

    Source:
        The help of OziExplorer, "File formats": the date and time are the days since 1899-12-30. Zheng et al.,
        GeoLife GPS Trajectories 1.3, user guide.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = source.read().removeprefix(b"\xef\xbb\xbf").split(b"\n", _HEADER_LINES)
    of_ozi = lines[0].startswith(_OZI)
    if not of_ozi and not lines[0].startswith(_GEOLIFE):
        raise DataError(
            f"{source} does not begin with '{_GEOLIFE.decode()} trajectory' or '{_OZI.decode()}'.",
            "leave only GeoLife's and OziExplorer's .plt files in the folder.",
        )
    if any(line.count(b",") >= _OZI_COLUMNS - 1 for line in lines[_HEADER_LINES - 1 : _HEADER_LINES]):
        raise DataError(
            f"{source} is damaged: its points begin before line {_HEADER_LINES + 1}.",
            f"give it the {_HEADER_LINES} lines of its header again.",
        )
    if len(lines) <= _HEADER_LINES or not lines[_HEADER_LINES].strip():
        return None
    rows, columns = lines[_HEADER_LINES], list(_COLUMNS)
    if of_ozi:
        rows = _seven_values(rows, source)
    try:
        table = parse_rows(
            io.BytesIO(rows),
            names=columns,
            types=dict.fromkeys(columns, pa.string()),
            quotes=not of_ozi,
            encoding="latin-1" if of_ozi else "utf8",
        )
    except pa.ArrowInvalid as error:
        place = misfit(io.BytesIO(rows), ",", len(columns), _HEADER_LINES)
        raise DataError(f"{source} is damaged: {place or cause(error)}.", "unpack or download it again.") from None
    texts = pc.binary_join_element_wise(table["date"], table["clock"], " ")
    moments, remarks = _of_days(table, source) if of_ozi else (times(texts), ())
    if moments is None:
        raise DataError(f"the dates of {source} are not like 2008-10-23, 02:53:04.", "download it again.")
    lat = degrees(table["lat"], f"the latitudes of {source}")
    lon = degrees(table["lon"], f"the longitudes of {source}")
    datum = row_statements([lines[1].decode("utf-8", "replace").strip()])
    system = ReferenceSystem.of([("the datum in its second line", datum[0])], str(source))
    if system.crs is not None and not system.crs.is_geographic:
        raise UnknownSystemError(
            f"the datum in the second line of {source} is a system without latitudes and longitudes.",
            "name the datum of the positions there, such as WGS 84.",
        )
    notes = (*system.notes, *moments.notes(str(source)), *remarks)
    beyond = (np.abs(lat) > 90) | (np.abs(lon) > 180)
    if beyond.any():
        line = _HEADER_LINES + 1 + int(np.argmax(beyond))
        where = f"of {source} beyond 90 degrees of latitude or 180 of longitude (the first in line {line})"
        if beyond.all():
            raise DataError(f"there are only rows {where}.", "download it again.")
        notes += (f"{int(beyond.sum()):,} of {len(lat):,} rows {where} are read as rows without a position.",)
        lat[beyond] = lon[beyond] = np.nan
    lon, lat = system.degrees(np.column_stack([lon, lat]), np.arange(1, len(lat) + 1), str(source)).T
    users = None if user is None else names(pa.array([user] * len(lat)))
    return RawVisits(lat, lon, users, moments.values, notes=notes)


def _of_days(table: Any, source: Source) -> tuple[TimeColumn, tuple[str, ...]]:
    """Return the times of OziExplorer's rows, and remarks on them.

    The number of days counts. Where it is whole or too rough for seconds, the clock behind it is read, and there
    is no time where that or the date contradicts it. Where it is 0, date and clock are read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    days, dates, clocks = (pc.utf8_trim_whitespace(table[name]) for name in ("days", "date", "clock"))
    dated, timed = (np.asarray(pc.not_equal(column, "")) for column in (dates, clocks))
    numbers = day_numbers(days)
    moments = numbers.values
    midnights = moments.astype("datetime64[D]")
    known, whole = ~np.isnat(moments), moments == midnights
    decimals = np.asarray(pc.utf8_length(pc.replace_substring_regex(days, r"^\d*\.?", "")))
    rough, unit = known & (whole | (decimals < _FINE)), np.where(whole, 1.0, 10.0**-decimals)
    same, near = _agreement(dates.to_pylist(), midnights.tolist())
    exact = _read(pa.array(midnights).cast(pa.string()), clocks)
    fits = same & (~timed | (np.abs(exact - moments) <= (unit * _ONE_DAY_US).astype("timedelta64[us]")))
    absent = np.asarray(pc.match_substring_regex(days, r"^0*(\.0*)?$"))
    read = np.where(absent, _read(dates, clocks), np.where(rough & timed, exact, moments))
    read[rough & ~fits] = np.datetime64("NaT", "us")
    bad = numbers.bad + int(np.count_nonzero((rough | absent & (dated | timed)) & np.isnat(read)))
    remarks, known = [], ~np.isnat(read)
    if not known.any() and not bad:
        remarks.append(f"{source} has no times.")
    if known.any() and not (timed | (read != read.astype("datetime64[D]")))[known].any():
        remarks.append(f"The times of {source} are days without a time of day.")
    if count := int(np.count_nonzero(known & ~rough & ~absent & ~near)):
        many = int(np.count_nonzero(known))
        remarks.append(f"{count:,} of {many:,} times in {source} are on another day than the date behind them.")
    return TimeColumn(read, bad), tuple(remarks)


def _read(dates: Any, clocks: Any) -> Times:
    """Return days and clocks, Arrow columns of texts, as times, NaT for those that are none."""
    import pyarrow.compute as pc

    texts = pc.binary_join_element_wise(dates, pc.if_else(pc.equal(clocks, ""), None, clocks), " ")
    moments = times(texts, most_bad=1)
    return np.full(len(clocks), "NaT", "datetime64[us]") if moments is None else moments.values


def _agreement(dates: Sequence[str], days: Sequence[date | None]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which dates, as devices write them, can be a day, and which this day or one next to it."""
    verdicts = {
        pair: [can_be_day(pair[0], pair[1] + k * _ONE_DAY) for k in (0, -1, 1)]
        for pair in set(zip(dates, days, strict=True))
        if pair[1]
    }
    rows = [verdicts.get(pair, [True]) for pair in zip(dates, days, strict=True)]
    return np.array([row[0] for row in rows], dtype=bool), np.array([any(row) for row in rows], dtype=bool)


def _seven_values(rows: bytes, source: Source) -> bytes:
    """Return rows of OziExplorer filled up to seven values; rows of fewer than five or more are a `DataError`."""
    lines = [line.split(b",") for line in rows.splitlines()]
    for number, line in enumerate(lines, start=_HEADER_LINES + 1):
        many = len(line) > len(_COLUMNS) and any(_NUMBER.fullmatch(cell.strip()) for cell in line[_OZI_COLUMNS:])
        if many or (line != [b""] and len(line) < _OZI_COLUMNS):
            raise DataError(
                f"{source} is damaged: line {number:,} has {plural(len(line), 'value')}, but "
                f"{len(_COLUMNS) if many else _OZI_COLUMNS} are needed.",
                "write its numbers with decimal points." if many else "unpack or download it again.",
            )
    missing = [b""] * (len(_COLUMNS) - _OZI_COLUMNS)
    return b"\n".join(b",".join((line + missing)[: len(_COLUMNS)]) if len(line) > 1 else b"" for line in lines)


class TrackPoints(NamedTuple):
    """The points of tracks in the order of their file.

    ``latlon`` is in degrees (n, 2), ``elevation`` in metres (NaN for none), ``time`` in UTC (NaT for none).
    ``parts`` has the numbers of the track and of the segment (n, 2), both from 1 in the whole file. ``others`` is
    the number of points of waypoints and routes, which are left out.
    """

    latlon: Floats
    elevation: Floats
    time: Times
    parts: NDArray[np.intp]
    others: int


def read_gpx(source: Source) -> TrackPoints:
    """Return the points of the tracks of a GPX file, version 1.0 or 1.1; `DataError` if it is damaged."""
    import pyarrow as pa

    points, lat, lon = _parse_gpx(source)
    moments = times(pa.chunked_array([points.time], pa.string()), most_bad=1)
    values = np.full(len(lat), "NaT", "datetime64[us]") if moments is None else moments.without_days_zero().values
    elevation = numbers(
        pa.array(points.elevation, pa.string()),
        f"the elevations of {source}",
        "write metres as 35.5",
        "export the track again.",
    )
    parts = np.array(points.part, dtype=np.intp).reshape(-1, 2)
    of_tracks = parts[:, 0] > 0
    latlon = np.column_stack([lat, lon])
    return TrackPoints(
        latlon[of_tracks], elevation[of_tracks], values[of_tracks], parts[of_tracks], int((~of_tracks).sum())
    )


def _parse_gpx(source: Source) -> tuple[_GpxParser, Floats, Floats]:
    """Return the parsed points of a GPX file with their latitudes and longitudes.

    Entities are refused, as they can exhaust the memory of an XML reader.
    """
    import pyarrow as pa

    track = _GpxParser(source, expat.ParserCreate("utf-8" if source.utf16 else None))
    try:
        with source.open_binary() as file:
            track.parser.ParseFile(file)
    except expat.ExpatError as error:
        raise DataError(f"{source} is not valid XML: {error}.", "export the track again.") from None
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error}.", "export or compress the track again.") from None
    lat, lon = (
        degrees(pa.array(texts, pa.string()), f"the attribute {name} of {source}")
        for name, texts in (("lat", track.lat), ("lon", track.lon))
    )
    beyond = (np.abs(lat) > 90) | (np.abs(lon) > 180)
    if beyond.any():
        first = int(np.argmax(beyond))
        raise DataError(
            f"line {track.line[first]} of {source} has a point beyond 90 degrees of latitude or 180 of longitude"
            f"{row_value(f' ({lat[first]:g}, {lon[first]:g})', '')}.",
            "correct it, or take the point out.",
        )
    return track, lat, lon


def _points_of_gpx(source: Source, user: str | None) -> RawVisits:
    """Return the points of one GPX file."""
    import pyarrow as pa

    track, lat, lon = _parse_gpx(source)
    users = None if user is None else names(pa.array([user] * len(lat), pa.string()))
    moments = times(pa.chunked_array([track.time], pa.string()), most_bad=1)
    if moments is not None:
        moments = moments.without_days_zero()
        return RawVisits(lat, lon, users, moments.values, notes=moments.notes(str(source)))
    notes = (f"The times of {source} could not be read.",) if any(track.time) else ()
    return RawVisits(lat, lon, users, np.full(len(lat), "NaT", dtype="datetime64[us]"), notes=notes)


@dataclass(slots=True)
class _GpxParser:
    """Handlers of the XML parser, with the points so far."""

    source: Source
    parser: Any
    line: list[int] = field(default_factory=list)
    lat: list[str | None] = field(default_factory=list)
    lon: list[str | None] = field(default_factory=list)
    time: list[str | None] = field(default_factory=list)
    elevation: list[str | None] = field(default_factory=list)
    part: list[tuple[int, int]] = field(default_factory=list)  # track and segment; 0 outside of tracks
    path: list[str] = field(default_factory=list)
    tracks: int = 0
    segments: int = 0

    def __post_init__(self) -> None:
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if not self.path and name != "gpx":
            raise DataError(
                f"{self.source} is XML, but its root is not <gpx>{row_value(f', but <{tag}>', '')}.",
                "export the track as GPX.",
            )
        self.path.append(name)
        self.tracks += name == "trk"
        self.segments += name == "trkseg"
        if name in _POINT_TAGS:
            self.line.append(self.parser.CurrentLineNumber)
            self.lat.append(attributes.get("lat"))
            self.lon.append(attributes.get("lon"))
            self.time.append(None)
            self.elevation.append(None)
            self.part.append((self.tracks, self.segments) if name == "trkpt" else (0, 0))

    def text(self, text: str) -> None:
        values = {"time": self.time, "ele": self.elevation}.get(self.path[-1]) if self.path else None
        if values is not None and self.path[-2] in _POINT_TAGS:
            values[-1] = (values[-1] or "") + text

    def end(self, _tag: str) -> None:
        self.path.pop()

    def doctype(self, *_: object) -> None:
        raise DataError(
            f"{self.source} declares a document type, which no GPX needs and hostile files use.",
            "remove the <!DOCTYPE ...> part, if you trust the file.",
        )


def _reader(points: PointReader) -> Callable[[Source, ColumnChoice], RawVisits]:
    """Return a reader of one file; the caller states whose it is."""

    def read(source: Source, request: ColumnChoice) -> RawVisits:
        rows = points(source, person_of(source.path, source.path, request.people))
        if rows is None:
            raise DataError(f"{source} holds no points.", "check that it is the right file.")
        return rows

    return read


GEOLIFE: Final = Format(
    "geolife",
    "GeoLife and OziExplorer",
    _reader(_points_of_plt),
    lambda source: source.start.startswith((_GEOLIFE, _OZI)),
    text=False,  # a damaged file is refused by its reader
    suffix=".plt",
    points=_points_of_plt,
)
GPX: Final = Format(
    "gpx",
    "GPX",
    _reader(_points_of_gpx),
    lambda source: source.start.startswith(b"<"),
    text=False,  # XML may be in any encoding
    suffix=".gpx",
    points=_points_of_gpx,
)
