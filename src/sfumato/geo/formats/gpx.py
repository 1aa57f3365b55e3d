"""GPX: tracks, routes and way points of satellite receivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

import numpy as np

from ...errors import DataError, row_value
from ...tables import Source, names, times
from .format import Format, RawVisits, Wanted
from .people import each_file, person_of
from .points import degrees

_POINTS: Final = ("trkpt", "rtept", "wpt")


def read(source: Source, wanted: Wanted) -> RawVisits:
    """Read the points of one file, as `_points` does; the caller states whose they are."""
    return _points(source, person_of(source.path, source.path, wanted.people))


def _points(source: Source, user: str | None = None) -> RawVisits:
    """Return the points of one file; ``user`` is whose they are.

    What is not a GPX file is refused (`DataError`), and so is one that declares entities, a known way to make a
    reader of XML run out of memory.
    """
    import pyarrow as pa

    found = _Points(source, expat.ParserCreate("utf-8" if source.utf16 else None))
    try:
        with source.open_binary() as file:
            found.parser.ParseFile(file)
    except expat.ExpatError as error:
        raise DataError(f"{source} is not valid XML: {error}.", "export the track again.") from None
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error}.", "export or compress the track again.") from None
    lat, lon = (
        degrees(pa.array(texts, pa.string()), f"the attribute {name} of {source}")
        for name, texts in (("lat", found.lat), ("lon", found.lon))
    )
    beyond = (np.abs(lat) > 90) | (np.abs(lon) > 180)
    if beyond.any():
        first = int(np.argmax(beyond))
        raise DataError(
            f"line {found.line[first]} of {source} has a point beyond 90 degrees of latitude or 180 of longitude"
            f"{row_value(f' ({lat[first]:g}, {lon[first]:g})', '')}.",
            "correct it, or take the point out.",
        )
    moments = times(pa.chunked_array([found.time], pa.string()), most_bad=1)
    unread = moments is None and any(found.time)
    moments = None if moments is None else moments.without_days_zero()
    return RawVisits(
        lat,
        lon,
        None if user is None else names(pa.array([user] * len(lat), pa.string())),
        np.full(len(lat), "NaT", dtype="datetime64[us]") if moments is None else moments.values,
        notes=(f"The times of {source} could not be read.",)
        if unread
        else moments.notes(str(source))
        if moments
        else (),
    )


def read_folder(folder: Path, people: str | None, *, skip_damaged: bool) -> RawVisits:
    """Read all GPX files below a folder; the caller states who is a person.

    Refuse one without points, or with a damaged file that is not left out (`DataError`).
    """
    rows = each_file(folder, GPX.suffix, people, _points, skip_damaged=skip_damaged)
    if rows is None:
        raise DataError(f"the tracks in {folder.name!r} hold no points.", "check that it is the right folder.")
    return rows


GPX: Final = Format(
    "gpx",
    "GPX",
    read,
    lambda source: source.start.startswith(b"<"),
    text=False,  # XML may be in any encoding
    suffix=".gpx",
    read_folder=read_folder,
)


@dataclass(slots=True)
class _Points:
    """The points that the parser has seen so far."""

    source: Source
    parser: Any
    line: list[int] = field(default_factory=list)
    lat: list[str | None] = field(default_factory=list)
    lon: list[str | None] = field(default_factory=list)
    time: list[str | None] = field(default_factory=list)
    path: list[str] = field(default_factory=list)

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
        if name in _POINTS:
            self.line.append(self.parser.CurrentLineNumber)
            self.lat.append(attributes.get("lat"))
            self.lon.append(attributes.get("lon"))
            self.time.append(None)

    def text(self, text: str) -> None:
        if self.path[-1:] == ["time"] and self.path[-2] in _POINTS:
            self.time[-1] = (self.time[-1] or "") + text

    def end(self, _tag: str) -> None:
        self.path.pop()

    def doctype(self, *_: object) -> None:
        raise DataError(
            f"{self.source} declares a document type, which no GPX needs and hostile files use.",
            "remove the <!DOCTYPE ...> part, if you trust the file.",
        )
