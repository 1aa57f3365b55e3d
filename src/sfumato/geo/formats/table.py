"""From an Arrow table to rows: which column becomes what."""

from __future__ import annotations

from typing import Any

from ...errors import DataError
from .columns import Roles
from .points import points
from .rows import Rows
from .values import names, numbers, plain, times


def rows_of(table: Any, roles: Roles, source: str, *, crs: Any = None, decimal_comma: bool = False) -> Rows:
    """Return the rows of an Arrow table.

    Args:
        table: A pyarrow Table.
        roles: Which column is which.
        source: The file, for error messages.
        crs: The CRS of the geometry column, a pyproj CRS; None for WGS84.
        decimal_comma: Whether numbers may be written ``48,85``.
    """
    notes: list[str] = []
    if roles.geometry is not None:
        lat, lon = points(table[roles.geometry], source, crs)
    else:
        lat = numbers(table[roles.lat], f"the latitude column {roles.lat!r} of {source}", comma=decimal_comma)
        lon = numbers(table[roles.lon], f"the longitude column {roles.lon!r} of {source}", comma=decimal_comma)
    time = None if roles.time is None else times(table[roles.time])
    if roles.time is not None and time is None:
        if roles.time_named:
            raise DataError(
                f"the column {roles.time!r} of {source} holds no times that I can read, such as "
                f"{_example(table[roles.time])!r}.",
                "write times like 2024-03-01T18:30:00Z, or as seconds since 1970.",
            )
        notes.append(f"The column {roles.time!r} could not be read as times and is kept as it is.")
    attributes = {}
    for name in table.column_names:
        if name not in roles.used or (name == roles.time and time is None):
            column = plain(table[name])
            if column is None:
                notes.append(f"The column {name!r} ({table[name].type}) was left out.")
            else:
                attributes[name] = column
    user = None if roles.user is None else names(table[roles.user])
    return Rows(lat, lon, user, time, attributes, tuple(notes))


def _example(column: Any) -> Any:
    return next((value for value in column.to_pylist() if value is not None), None)
