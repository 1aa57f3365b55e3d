"""Columns of a released table: the reports, and what is kept beside them, in arrays of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import WGS84, Space
from ..core.arrays import Floats
from ..core.degrees import released
from ..errors import DataError, InputError
from ..geo import Places, Projection

WIDEST: Final = 1000
"""The largest number of reports in a tuple that become columns."""

_PIECES: Final = 1000  # runs of rows that are copied piece by piece

Column = Callable[[NDArray[Any]], Any]


def report_columns(
    labels: Any, latlon: Floats | None, reports: NDArray[Any], *, lists: bool, dictionaries: bool
) -> dict[str, Any]:
    """Return the columns of reports, by name.

    Args:
        labels: The labels of all observables, an Arrow array (m,).
        latlon: Where they are, degrees, array (m, 2), or None.
        reports: Positions of observables, array (rows,), of tuples (rows, k + 1).
        lists: Whether a tuple becomes a list, or as many columns.
        dictionaries: Whether labels may refer to a dictionary of all of them.
    """
    import pyarrow as pa

    def label(positions: NDArray[Any]) -> Any:
        indices = pa.array(positions.astype(np.int32))
        if dictionaries and pa.types.is_string(labels.type):
            return pa.DictionaryArray.from_arrays(indices, labels)
        return labels.take(indices)

    columns: dict[str, Column] = {}
    if latlon is not None:
        columns["latitude"] = lambda positions: pa.array(latlon[:, 0][positions])
        columns["longitude"] = lambda positions: pa.array(latlon[:, 1][positions])
    return listed({**columns, "label": label}, reports, lists=lists)


def listed(columns: Mapping[str, Column], reports: NDArray[Any], *, lists: bool) -> dict[str, Any]:
    """Return the columns of reports: of several numbers each a column of lists, or as many columns.

    Args:
        columns: From an array (n,) of numbers to an Arrow column, by name.
        reports: Array (rows,) or (rows, k).
        lists: Whether a report of several numbers becomes a list.

    Raises:
        InputError: If there would be too many columns.
    """
    import pyarrow as pa

    if reports.ndim == 1:
        return {name: column(reports) for name, column in columns.items()}
    rows, width = reports.shape
    if lists:
        ends = pa.array(np.arange(rows + 1, dtype=np.int64) * width)
        return {
            name: pa.LargeListArray.from_arrays(ends, column(reports.reshape(-1)))
            for name, column in columns.items()
        }
    if width > WIDEST:
        raise InputError(
            f"a report of {width:,} numbers would need as many columns.",
            "write a Parquet or Arrow file, in which it is a list.",
        )
    return {
        f"{name}_{number}": column(np.ascontiguousarray(values))
        for number, values in enumerate(reports.T, 1)
        for name, column in columns.items()
    }


def latlon_of(space: Space) -> Floats | None:
    """Return latitudes and longitudes (n, 2), as they are released, where the labels have any."""
    if isinstance(space, Places) or (space.crs == WGS84 and space.coordinates is not None):
        return released(space.latlon)
    if space.crs is None or space.coordinates is None:
        return None
    try:
        return released(Projection.from_crs(space.crs).inverse(space.coordinates))
    except InputError:  # a coordinate system of the user's own
        return None


def plain_type(kind: Any) -> Any:
    """Return an Arrow type without dictionaries, views, runs and extensions, at any depth."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.large_string() if types.is_string_view(kind) else pa.large_binary()
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = plain_type(kind.value_type)
        return pa.large_list(inner) if types.is_large_list(kind) else pa.list_(inner)
    if types.is_struct(kind):
        return pa.struct([pa.field(part.name, plain_type(part.type)) for part in kind])
    if types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    return kind


def fresh(column: Any, name: str, rows: NDArray[Any] | None = None) -> Any:
    """Return some rows of a column as a new Arrow array, which shares neither memory nor dictionary with it.

    Args:
        column: An Arrow array.
        name: Its name, for messages.
        rows: The rows, array (k,); all of them where it is None.

    Raises:
        DataError: If the column is of a type that cannot be copied so.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = np.arange(len(column)) if rows is None else rows
    try:
        if pa.types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        plain = plain_type(column.type)
        if column.type != plain and not pa.types.is_nested(plain):
            column = column.cast(plain)
        if column.null_count or column.type != plain:
            return column.take(pa.array(chosen)).cast(plain)  # also clears what is hidden below missing values
        ends = np.flatnonzero(np.diff(chosen) != 1) + 1
        if len(ends) > _PIECES:
            return column.take(pa.array(chosen))
        starts = [int(part[0]) for part in np.split(chosen, ends) if len(part)]
        sizes = [len(part) for part in np.split(chosen, ends) if len(part)]
        pieces = [column.slice(start, size) for start, size in zip(starts, sizes, strict=True)]
        return pa.concat_arrays([*pieces, column.slice(0, 0)])  # several: one alone would not be copied
    except pa.ArrowException as error:
        raise DataError(
            f"the column {name!r} of {column.type} cannot be kept ({str(error).splitlines()[0]}).",
            "leave it out, or give it a plain type such as text first.",
        ) from None
