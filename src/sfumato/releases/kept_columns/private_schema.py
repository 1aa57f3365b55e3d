"""Columns of a private table: reports, and copies of the columns that are carried over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..._system import pa
from ...core.immutable import CompactRepr
from ...errors import DataError, InputError, argument
from ...escaping import plain
from ...sampling import SystemWords
from ...tables import cause
from ..reporters import NoiseReporter, Reporter
from ..uncertainty import POSTERIOR, RADIUS
from .text_parts import is_binary

_MOST_NAMES = 12  # names of columns in a sentence
_PIECES: Final = 1000  # runs of rows that are copied piece by piece


@dataclass(frozen=True, slots=True, repr=False)
class KeptColumns(CompactRepr):
    """Columns that are carried over (released name to column of the source), and those that are left out."""

    sources: Mapping[str, str]
    left_out: tuple[str, ...]

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        keep: Iterable[str],
        secret: Iterable[str | None],
        roles: Mapping[str, str | None],
    ) -> KeptColumns:
        """Return the columns named by ``keep`` (or roles, where no column has the name), and the others."""
        sources: dict[str, str] = {}
        secret_names = {name for name in secret if name is not None}
        for name in keep:
            column = name if name in columns else roles.get(name)
            if column is None:
                known = [column for column in columns if column not in secret_names]
                raise DataError(
                    f"there is no column {name!r} to keep.",
                    f"next to its secrets the source has {', '.join(known)}."
                    if known
                    else f"the source has only its secrets: leave out {argument('keep')}.",
                )
            if column in secret_names:
                raise InputError(
                    f"the column {column!r} holds what the reports hide, so it is never kept.",
                    f"leave it out of {argument('keep')}.",
                )
            sources[name] = column
        return cls(sources, tuple(name for name in columns if name not in sources.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on the columns that are left out; `Release` names those that are carried over."""
        left = f"Left out: {list_names(self.left_out)}." if self.left_out else ""
        return tuple(text for text in ("" if self.sources else "No other column is carried over.", left) if text)


def list_names(names: Iterable[str]) -> str:
    """Return names of columns for a sentence, at most twelve."""
    texts = [plain(name) for name in names]
    return ", ".join(
        texts
        if len(texts) <= _MOST_NAMES
        else [*texts[: _MOST_NAMES - 1], f"and {len(texts) - _MOST_NAMES + 1} more"]
    )


def plain_type(kind: Any) -> Any:
    """Return an Arrow type without dictionaries, views, runs and extensions, at any depth; unions are refused."""
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


def copy_rows(column: Any, name: str, rows: NDArray[Any] | None = None) -> Any:
    """Return some rows (default: all) of a column as a new Arrow array that shares no memory or dictionary."""
    row_index = np.arange(len(column)) if rows is None else rows
    try:
        plain = plain_type(column.type)
        if column.type != plain or pa.types.is_nested(plain) or column.null_count:
            return _copy(column, pa.array(row_index, pa.int64()))
        ends = np.flatnonzero(np.diff(row_index) != 1) + 1
        if len(ends) > _PIECES:
            return column.take(pa.array(row_index))
        starts = [int(part[0]) for part in np.split(row_index, ends) if len(part)]
        sizes = [len(part) for part in np.split(row_index, ends) if len(part)]
        pieces = [column.slice(start, size) for start, size in zip(starts, sizes, strict=True)]
        return pa.concat_arrays([*pieces, column.slice(0, 0)])  # several: one alone would not be copied
    except pa.ArrowException as error:
        raise DataError(
            f"the column {name!r} of {column.type} cannot be kept ({cause(error)}).",
            "leave it out, or give it a plain type such as text first.",
        ) from None


def _copy(column: Any, rows: Any) -> Any:
    """Return some rows (Arrow int64, missing for none) in the array's `plain_type`, of visible values alone."""
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
    indices = pa.array(rows.fill_null(0).to_numpy(), mask=missing)
    if types.is_struct(kind):
        parts = [_copy(column.field(number), indices) for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(plain), mask=pa.array(missing))
    starts, sizes = _extents(column, indices)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    members = pa.array(np.arange(ends[-1]) + np.repeat(starts - ends[:-1], sizes), pa.int64())
    offsets = pa.array(ends, pa.int64() if types.is_large_list(plain) else pa.int32())
    mask = pa.array(missing)
    if types.is_map(kind):
        keys, items = _copy(column.keys, members), _copy(column.items, members)
        return pa.MapArray.from_arrays(offsets, keys, items, type=plain, mask=mask)
    array_type = pa.LargeListArray if types.is_large_list(plain) else pa.ListArray
    return array_type.from_arrays(offsets, _copy(column.values, members), type=plain, mask=mask)


def _extents(column: Any, rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the members of lists begin among all members, and how many there are; none of missing rows."""
    indices, mask = rows.fill_null(0).to_numpy(), ~_missing(rows)
    if pa.types.is_fixed_size_list(column.type):
        size = column.type.list_size
        return (indices + column.offset) * size, np.where(mask, size, 0)
    if not len(column):
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    offsets = column.offsets.to_numpy().astype(np.int64)
    if pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):
        return offsets[indices], np.where(mask, column.sizes.to_numpy()[indices], 0)
    return offsets[indices], np.where(mask, offsets[indices + 1] - offsets[indices], 0)


def _missing(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.is_null().to_numpy(zero_copy_only=False))


def private_schema(
    reporters: Sequence[Reporter],
    carried: KeptColumns,
    source: Any,
    also: Sequence[Sequence[str]] = (),
    *,
    lists: bool,
) -> Any:
    """Return the Arrow schema of private rows; with noise and mechanisms on places, reports have no label."""
    shapes = []
    for reporter in reporters:
        empty = np.zeros((0, 2)) if isinstance(reporter, NoiseReporter) else np.zeros(0, dtype=np.intp)
        reports = reporter.draw(empty, SystemWords())
        columns = reporter.all_columns(reports, lists=lists, dictionaries=len(reporters) == 1)
        shapes.append([(name, column.type) for name, column in columns.items()])
    fields = [column for column in shapes[0] if all(column in shape for shape in shapes)]
    have_places = not {"latitude", "decimalLatitude"}.isdisjoint(name for name, _ in fields)
    if any({name for name, _ in set(shape) - set(fields)} - {"label"} for shape in shapes) or (
        not have_places and any(shape != fields for shape in shapes)
    ):
        raise InputError(
            "the mechanisms give reports of different kinds, which do not fit into one table.",
            "release each kind by itself.",
        )
    first = list(fields)
    for pair in also:
        place_fields = [(name_for_place(name, pair), kind) for name, kind in first]
        twice = sorted({name for name, _ in place_fields} & {name for name, _ in fields})
        if twice:
            raise InputError(
                f"two released columns would have the name {twice[0]!r}.", "rename it in the source first."
            )
        fields += place_fields
    clash = sorted({name for name, _ in fields} & set(carried.sources))
    if clash:
        raise InputError(
            f"the column {clash[0]!r} cannot be kept: the released column has this name.",
            "rename it in the source first.",
        )
    source_fields = [(name, plain_type(source.field(column).type)) for name, column in carried.sources.items()]
    for name, kind in source_fields:
        if not lists and (pa.types.is_nested(kind) or is_binary(kind)):
            raise InputError(
                f"the column {name!r} of {kind} cannot be kept in a table of text.",
                "write a Parquet or Arrow file",
                f"leave it out of {argument('keep')}.",
            )
    return pa.schema([*fields, *source_fields])


def name_for_place(name: str, pair: Sequence[str]) -> str:
    """Return the name that a column of reports has for another place of a row."""
    lat, lon = pair
    if name in (RADIUS, POSTERIOR):
        return f"{lat}_{name}"
    names = {"latitude": lat, "longitude": lon, "label": f"{lat}_label"}
    kind, sign, number = name.partition("_")
    return names[kind] + sign + number
