"""Columns of a released table: the reports, and what is kept beside them, in arrays of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import WGS84, JointSpace, Space
from ..core.arrays import Floats, round_degrees
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError
from ..geo import Places, Projection
from ..tables import cause, check_seen, label_column

WIDEST: Final = 1000
"""The largest number of reports in a tuple that become columns."""

_PIECES: Final = 1000  # runs of rows that are copied piece by piece

Column = Callable[[NDArray[Any]], Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(CompactRepr):
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
            check_seen(space.names, "column")
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
        return round_degrees(space.latlon)
    if space.crs is None or space.coordinates is None:
        return None
    try:
        return round_degrees(Projection.from_crs(space.crs).inverse(space.coordinates))
    except InputError:  # a coordinate system of the user's own
        return None


def plain_type(kind: Any) -> Any:
    """Return an Arrow type without dictionaries, views, runs and extensions, at any depth.

    Raises:
        DataError: If it is a union, which holds values of other rows.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.large_string() if types.is_string_view(kind) else pa.large_binary()
    if types.is_union(kind):
        raise DataError(
            f"a column of {kind} cannot be kept.", "leave it out, or give it a plain type such as text first."
        )
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(plain_type(kind.value_type))
    if types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_list_view(kind):
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

    chosen = np.arange(len(column)) if rows is None else rows
    try:
        plain = plain_type(column.type)
        if column.type != plain or pa.types.is_nested(plain) or column.null_count:
            return _copy(column, pa.array(chosen, pa.int64()))
        ends = np.flatnonzero(np.diff(chosen) != 1) + 1
        if len(ends) > _PIECES:
            return column.take(pa.array(chosen))
        starts = [int(part[0]) for part in np.split(chosen, ends) if len(part)]
        sizes = [len(part) for part in np.split(chosen, ends) if len(part)]
        pieces = [column.slice(start, size) for start, size in zip(starts, sizes, strict=True)]
        return pa.concat_arrays([*pieces, column.slice(0, 0)])  # several: one alone would not be copied
    except pa.ArrowException as error:
        raise DataError(
            f"the column {name!r} of {column.type} cannot be kept ({cause(error)}).",
            "leave it out, or give it a plain type such as text first.",
        ) from None


def _copy(column: Any, rows: Any) -> Any:
    """Return some rows of an Arrow array, built of visible values alone at every depth, of its `plain_type`.

    Below a missing row nothing is copied, so that no value that it hides can be found in the bytes of the result.

    Args:
        column: An Arrow array of any type but a union.
        rows: The rows, an Arrow array of int64; missing where the result has no value.
    """
    import pyarrow as pa

    kind, types = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _copy(column.storage, rows)
    if types.is_dictionary(kind):
        return _copy(column.dictionary, column.indices.cast(pa.int64()).take(rows))
    if types.is_run_end_encoded(kind):
        numbers = rows.fill_null(0).to_numpy() + column.offset
        runs = np.searchsorted(column.run_ends.to_numpy(), numbers, side="right")
        return _copy(column.values, pa.array(runs, mask=_missing(rows)))
    plain = plain_type(kind)
    if not types.is_nested(kind):
        return column.cast(plain).take(rows)  # which also clears what is below missing values
    missing = _missing(rows)
    missing[~missing] = _missing(column)[rows.drop_null().to_numpy()]
    shown = pa.array(rows.fill_null(0).to_numpy(), mask=missing)
    if types.is_struct(kind):
        parts = [_copy(column.field(number), shown) for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(plain), mask=pa.array(missing))
    starts, sizes = _extents(column, shown)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    members = pa.array(np.arange(ends[-1]) + np.repeat(starts - ends[:-1], sizes), pa.int64())
    offsets = pa.array(ends, pa.int64() if types.is_large_list(plain) else pa.int32())
    mask = pa.array(missing)
    if types.is_map(kind):
        keys, items = _copy(column.keys, members), _copy(column.items, members)
        return pa.MapArray.from_arrays(offsets, keys, items, type=plain, mask=mask)
    made = pa.LargeListArray if types.is_large_list(plain) else pa.ListArray
    return made.from_arrays(offsets, _copy(column.values, members), type=plain, mask=mask)


def _extents(column: Any, rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the members of lists begin among all members, and how many there are; none of missing rows.

    Args:
        column: A list of any kind, or a map.
        rows: The rows, an Arrow array of int64, missing where there is none.
    """
    import pyarrow as pa

    chosen, shown = rows.fill_null(0).to_numpy(), ~_missing(rows)
    if pa.types.is_fixed_size_list(column.type):
        size = column.type.list_size
        return (chosen + column.offset) * size, np.where(shown, size, 0)
    if not len(column):
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    offsets = column.offsets.to_numpy().astype(np.int64)
    if pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):
        return offsets[chosen], np.where(shown, column.sizes.to_numpy()[chosen], 0)
    return offsets[chosen], np.where(shown, offsets[chosen + 1] - offsets[chosen], 0)


def _missing(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.is_null().to_numpy(zero_copy_only=False))
