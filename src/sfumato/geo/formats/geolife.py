"""Tracks of OziExplorer (.plt), and GeoLife, whose trajectories of people in Beijing are such files."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Final

import numpy as np

from ...errors import DataError
from ...tables import Source, TimeColumn, cause, day_numbers, misfit, names, parsed, times
from .crs import ReferenceSystem, row_statements
from .format import Format, Wanted
from .people import each_file, person_of
from .points import degrees
from .rows import RawVisits

_GEOLIFE: Final = b"Geolife"
_OZI: Final = b"OziExplorer Track Point File"
_HEADER_LINES: Final = 6
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d*)?")
_COLUMNS: Final = ("lat", "lon", "code", "altitude_ft", "days", "date", "clock")
_OZI_COLUMNS: Final = 5  # the date and time behind them, in the spelling of the device, do not count


def read_folder(folder: Path, people: str | None, *, skip_damaged: bool) -> RawVisits:
    """Read all ``*.plt`` files below a folder, such as ``Data`` or one user's; times are UTC.

    The caller states who is a person: each folder that holds ``Trajectory`` where folders are.

    Source:
        Zheng et al., GeoLife GPS Trajectories 1.3, user guide.
    """
    rows = each_file(folder, GEOLIFE.suffix, people, _points, skip_damaged=skip_damaged)
    if rows is None:
        raise DataError(
            f"the trajectories in {folder.name!r} hold no points.", "check that it is the right folder."
        )
    return rows


def read(source: Source, wanted: Wanted) -> RawVisits:
    """Read one ``*.plt`` file; the caller states whose it is."""
    found = _points(source, person_of(source.path, source.path, wanted.people))
    if found is None:
        raise DataError(f"{source} holds no points.", "check that it is the right file.")
    return found


GEOLIFE: Final = Format(
    "geolife",
    "GeoLife and OziExplorer",
    read,
    lambda source: source.start.startswith((_GEOLIFE, _OZI)),
    text=False,  # a damaged file is refused by its reader
    suffix=".plt",
    read_folder=read_folder,
)


def _points(source: Source, user: str | None) -> RawVisits | None:
    """Return the points of one file, or None if it has a header alone.

    The second line names the datum. A row that is no place on Earth, as in one of the published files, has no
    position; a note says so.

    Source:
        The help of OziExplorer, "File formats": the date and time are the days since 1899-12-30.
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
        rows, columns = _first_values(rows, source), columns[:_OZI_COLUMNS]
    try:
        table = parsed(io.BytesIO(rows), names=columns, types=dict.fromkeys(columns, pa.string()))
    except pa.ArrowInvalid as error:
        place = misfit(io.BytesIO(rows), ",", len(columns), _HEADER_LINES)
        raise DataError(f"{source} is damaged: {place or cause(error)}.", "unpack or download it again.") from None
    if of_ozi:
        moments: TimeColumn | None = day_numbers(table["days"])
    else:
        moments = times(pc.binary_join_element_wise(table["date"], table["clock"], " "))
    if moments is None:
        raise DataError(f"the dates of {source} are not like 2008-10-23, 02:53:04.", "download it again.")
    lat = degrees(table["lat"], f"the latitudes of {source}")
    lon = degrees(table["lon"], f"the longitudes of {source}")
    datum = row_statements([lines[1].decode("utf-8", "replace").strip()])
    system = ReferenceSystem.of([("the datum in its second line", datum[0])], str(source))
    if system.crs is not None and not system.crs.is_geographic:
        raise DataError(
            f"the datum in the second line of {source} is a system without latitudes and longitudes.",
            "name the datum of the positions there, such as WGS 84.",
        )
    notes = (*system.notes, *moments.notes(str(source)))
    beyond = (np.abs(lat) > 90) | (np.abs(lon) > 180)
    if beyond.any():
        line = _HEADER_LINES + 1 + int(np.argmax(beyond))
        where = f"of {source} beyond 90 degrees of latitude or 180 of longitude (the first in line {line})"
        if beyond.all():
            raise DataError(f"there are only rows {where}.", "download it again.")
        notes += (f"{int(beyond.sum()):,} of {len(lat):,} rows {where} are read as rows without a position.",)
        lat[beyond] = lon[beyond] = np.nan
    lon, lat = system.degrees(np.column_stack([lon, lat]), np.arange(1, len(lat) + 1), str(source)).T
    return RawVisits(
        lat, lon, None if user is None else names(pa.array([user] * len(lat))), moments.values, notes=notes
    )


def _first_values(rows: bytes, source: Source) -> bytes:
    """Return rows of OziExplorer cut after the days: the values behind them may be left out.

    Raises:
        DataError: If a row has more than seven values, as with commas in numbers.
    """
    lines = [line.split(b",") for line in rows.splitlines()]
    for number, line in enumerate(lines, start=_HEADER_LINES + 1):
        if len(line) > len(_COLUMNS) and any(_NUMBER.fullmatch(each.strip()) for each in line[_OZI_COLUMNS:]):
            raise DataError(
                f"{source} is damaged: line {number:,} has {len(line)} values, but {len(_COLUMNS)} are needed.",
                "write its numbers with decimal points.",
            )
    return b"\n".join(b",".join(line[:_OZI_COLUMNS]) for line in lines)
