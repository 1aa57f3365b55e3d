"""GeoLife: trajectories of people in Beijing, one folder per user."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...errors import DataError
from .rows import Rows, joined
from .values import names, numbers, times

_HEADER_LINES: Final = 6
_COLUMNS: Final = ("lat", "lon", "zero", "altitude_ft", "days", "date", "clock")


def read_folder(folder: Path) -> Rows:
    """Read all ``*.plt`` files below a folder, such as ``Data`` or one user's.

    The user is the name of the folder that holds ``Trajectory``; times are UTC.

    Source:
        Zheng et al., GeoLife GPS Trajectories 1.3, user guide.
    """
    parts = [part for path in sorted(folder.rglob("*.plt")) if (part := _rows(path, folder)) is not None]
    if not parts:
        raise DataError(
            f"the trajectories in {folder.name!r} hold no points.", "check that it is the right folder."
        )
    return joined(parts)


def read(path: Path) -> Rows:
    """Read one ``*.plt`` file."""
    found = _rows(path, path.parent)
    if found is None:
        raise DataError(f"{path.name!r} holds no points.", "check that it is the right file.")
    return found


def _rows(path: Path, folder: Path) -> Rows | None:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    try:
        lines = path.read_bytes().split(b"\n", _HEADER_LINES)
    except OSError as error:
        raise DataError(f"{path.name!r} cannot be read: {error.strerror}.", "check its permissions.") from None
    if not lines[0].startswith(b"Geolife"):
        raise DataError(
            f"{path.name!r} does not begin with 'Geolife trajectory'.", "keep only GeoLife's .plt files."
        )
    if len(lines) <= _HEADER_LINES or not lines[_HEADER_LINES].strip():
        return None
    try:
        table: Any = csv.read_csv(
            io.BytesIO(lines[_HEADER_LINES]),
            read_options=csv.ReadOptions(column_names=_COLUMNS),
            convert_options=csv.ConvertOptions(
                include_columns=["lat", "lon", "date", "clock"],
                column_types={name: pa.string() for name in _COLUMNS},
            ),
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"{path.name!r} is damaged: {error}.", "unpack or download it again.") from None
    moments = times(pc.binary_join_element_wise(table["date"], table["clock"], " "))
    if moments is None:
        raise DataError(f"the dates of {path.name!r} are not like 2008-10-23, 02:53:04.", "download it again.")
    home = path.parent.parent if path.parent.name.lower() == "trajectory" else path.parent
    user = home.name if home != folder.parent else path.stem
    return Rows(
        numbers(table["lat"], f"the latitudes of {path.name!r}"),
        numbers(table["lon"], f"the longitudes of {path.name!r}"),
        names(pa.array([user] * len(moments))),
        np.asarray(moments),
    )
