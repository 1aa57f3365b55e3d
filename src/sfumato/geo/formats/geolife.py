"""GeoLife: trajectories of people in Beijing, one folder per user."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final

import numpy as np

from ...errors import DataError
from ...tables import Source, cause, misfit, names, parsed, times
from .crs import ReferenceSystem, row_statements
from .format import Format, Wanted
from .people import each_file, person_of
from .points import degrees
from .rows import RawVisits

_START: Final = b"Geolife"
_HEADER_LINES: Final = 6
_COLUMNS: Final = ("lat", "lon", "zero", "altitude_ft", "days", "date", "clock")


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
    "GeoLife",
    read,
    lambda source: source.start.startswith(_START),
    text=False,  # a damaged file is refused by its reader
    suffix=".plt",
    read_folder=read_folder,
)


def _points(source: Source, user: str | None) -> RawVisits | None:
    """Return the points of one file, or None if it has a header alone.

    The second line names the datum, as in all tracks of OziExplorer. A row that is no place on Earth, as in one of
    the published files, has no position; a note says so.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = source.read().split(b"\n", _HEADER_LINES)
    if not lines[0].startswith(_START):
        raise DataError(f"{source} does not begin with 'Geolife trajectory'.", "keep only GeoLife's .plt files.")
    if len(lines) <= _HEADER_LINES or not lines[_HEADER_LINES].strip():
        return None
    try:
        table = parsed(
            io.BytesIO(lines[_HEADER_LINES]),
            names=_COLUMNS,
            columns=["lat", "lon", "date", "clock"],
            types=dict.fromkeys(_COLUMNS, pa.string()),
        )
    except pa.ArrowInvalid as error:
        place = misfit(io.BytesIO(lines[_HEADER_LINES]), ",", len(_COLUMNS), _HEADER_LINES)
        raise DataError(f"{source} is damaged: {place or cause(error)}.", "unpack or download it again.") from None
    moments = times(pc.binary_join_element_wise(table["date"], table["clock"], " "))
    if moments is None:
        raise DataError(f"the dates of {source} are not like 2008-10-23, 02:53:04.", "download it again.")
    lat = degrees(table["lat"], f"the latitudes of {source}")
    lon = degrees(table["lon"], f"the longitudes of {source}")
    datum = row_statements([lines[1].decode("utf-8", "replace").strip()])
    system = ReferenceSystem.of([("its second line", datum[0])], str(source))
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
