"""Columns of a released table: the reports, and what is kept beside them, in arrays of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import WGS84, JointSpace, Space
from ..core.arrays import Floats
from ..core.degrees import released
from ..core.frozen import Short
from ..errors import DataError, InputError
from ..geo import Places, Projection
from ..tables import label_column

WIDEST: Final = 1000
"""The largest number of reports in a tuple that become columns."""

_PIECES: Final = 1000  # runs of rows that are copied piece by piece

Column = Callable[[NDArray[Any]], Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(Short):
    """The labels of observables, as a column of a table holds them.

    Attributes:
        values: The distinct labels, an Arrow array.
        places: Which of them each observable has, array (m,); None where each has its own.
    """

    values: Any
    places: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, space: Space) -> dict[str, Labels]:
        """Return the labels of a space, by the name of their column; of a joint space one column each."""
        if isinstance(space, JointSpace):
            named = zip(space.names, space.parts, strict=True)
            return {name: cls(label_column(part), space.of_part(name)) for name, part in named}
        return {"label": cls(label_column(space))}

    def column(self, positions: NDArray[Any], *, dictionaries: bool) -> Any:
        """Return the labels of observables as an Arrow array.

        Args:
            positions: The observables, array (n,).
            dictionaries: Whether it may refer to a dictionary of all labels.
        """
        import pyarrow as pa

        found = positions if self.places is None else self.places[positions]
        indices = pa.array(found.astype(np.int32))
        if dictionaries and pa.types.is_string(self.values.type):
            return pa.DictionaryArray.from_arrays(indices, self.values)
        return self.values.take(indices)


def report_columns(
    labels: Mapping[str, Labels],
    latlon: Floats | None,
    reports: NDArray[Any],
    *,
    lists: bool,
    dictionaries: bool,
) -> dict[str, Any]:
    """Return the columns of reports, by name.

    Args:
        labels: The labels of all observables, by the name of their column.
        latlon: Where they are, degrees, array (m, 2), or None.
        reports: Positions of observables, array (rows,), of tuples (rows, k + 1).
        lists: Whether a tuple becomes a list, or as many columns.
        dictionaries: Whether labels may refer to a dictionary of all of them.
    """
    import pyarrow as pa

    columns: dict[str, Column] = {}
    if latlon is not None:
        columns["latitude"] = lambda positions: pa.array(latlon[:, 0][positions])
        columns["longitude"] = lambda positions: pa.array(latlon[:, 1][positions])
    for name, each in labels.items():
        columns[name] = partial(each.column, dictionaries=dictionaries)
    return listed(columns, reports, lists=lists)


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
    """Return an Arrow type without dictionaries, views, runs and extensions, at any depth.

    Raises:
        DataError: If it is a union, which holds values of other rows, or a view of lists.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.large_string() if types.is_string_view(kind) else pa.large_binary()
    if types.is_union(kind) or types.is_list_view(kind) or types.is_large_list_view(kind):
        raise DataError(
            f"a column of {kind} cannot be kept.", "leave it out, or give it a plain type such as text first."
        )
    if types.is_large_list(kind):
        return pa.large_list(plain_type(kind.value_type))
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        return pa.list_(plain_type(kind.value_type))
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
        if pa.types.is_nested(plain):
            return _bare(column.take(pa.array(chosen)).cast(plain))
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


def _bare(column: Any) -> Any:
    """Return an Arrow array, just taken from another, without what is hidden below missing values at any depth."""
    import pyarrow as pa

    kind, missing = column.type, column.is_null()
    if pa.types.is_struct(kind):
        parts = [_bare(part) for part in column.flatten()]  # missing wherever the whole is
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=missing) if parts else column
    if pa.types.is_map(kind):
        keys, items = _bare(column.keys), _bare(column.items)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=kind, mask=missing)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return type(column).from_arrays(column.offsets, _bare(column.values), type=kind, mask=missing)
    return column.take(pa.array(np.arange(len(column)))) if column.null_count else column
