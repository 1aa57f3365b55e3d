"""Data frames of pandas: their numbering stays, and so do the types of the columns that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np

from ...errors import DataError, InputError, argument, python
from ...escaping import plain
from ...tables import ArrowStream
from ..kernel import Kernel
from .kind import FrameKind, Rows

_MOST_ROWS: Final = 2**31  # larger whole numbers are keys, not row numbers
_KINDS: Final = 4  # types of values in messages
_TIMES: Final = ("datetime", "date", "time", "period")  # what the names of types of times begin with


class PandasFrame(FrameKind):
    """A data frame of pandas."""

    def __init__(self, frame: Any) -> None:
        import pandas

        if frame.ndim != 2:
            raise DataError(
                f"a {type(frame).__name__} has no columns.",
                python("pass a data frame, such as that of its to_frame()."),
            )
        self._frame = pandas.DataFrame(frame)  # shares the values, but neither attributes nor later columns
        self._frame.columns = [str(name) for name in frame.columns]
        names = list(self._frame.columns)
        twice = [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
        if twice:
            raise DataError(
                f"the table has more than one column {twice[0]!r}.", "give its columns distinct names."
            )
        self._index_names = tuple(str(name) for name in frame.index.names if name is not None)

    def arrow(self) -> ArrowStream:
        """Return an Arrow table, with empty columns in place of those that are unreadable."""
        found: ArrowStream = self._table([])
        return found

    def check_rest(self, kernel: Kernel) -> None:
        """Refuse an index that is not named, unless it only numbers the rows; see `FrameKind.check_rest`."""
        kept, index = kernel.disclosed.kept, self._frame.index
        for name in self._index_names:
            if name in kernel.schema.names and name not in kept:
                raise InputError(
                    f"the index {name!r} has the name of a released column.",
                    python("rename it with frame.rename_axis('other')."),
                )
            if name in self._frame.columns or self._index_names.count(name) > 1:
                raise InputError(
                    f"the index {name!r} has the name of a column, or of another level.",
                    python("rename it with frame.rename_axis('other')"),
                    python("leave it out with frame.reset_index(drop=True)."),
                )
        if _numbering(index):
            return
        for name in index.names:
            if name is None:
                raise InputError(
                    "the index has no name, and would stay beside the reports.",
                    python("leave it out with frame.reset_index(drop=True)"),
                    python(
                        "if it gives nothing away, name it with frame.rename_axis('row'), and pass keep=['row']."
                    ),
                )
            if str(name) not in kept.values():
                raise InputError(
                    f"the index {plain(repr(name))} would stay beside the reports.",
                    python("leave it out with frame.reset_index(drop=True)"),
                    python("make it a column with frame.reset_index()"),
                    f"if it gives nothing away, name it with {argument('keep')}.",
                )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The index in words; see `FrameKind.sentences`."""
        numbers = ", which numbers the rows,"
        named = f" ({', '.join(map(plain, self._index_names))})" if self._index_names else numbers
        return (
            f"The index{named} is carried over, and tells which report is of which row. The promise does "
            "not cover it.",
        )

    def back(self, table: Any, rows: Rows, kept: Mapping[str, str], mark: str) -> Any:
        """Return a data frame with the index of the rows; see `FrameKind.back`."""
        import pandas

        series = {
            name: self._column(table[name], rows, kept.get(name))
            for name in table.column_names
            if not (name in self._index_names and name in kept)
        }
        found = pandas.DataFrame(series, index=self._index(rows))
        found.attrs["sfumato"] = mark
        return found

    def _table(self, left_out: list[str]) -> Any:
        """Return an Arrow table of all columns but some."""
        import pyarrow as pa

        bare = self._frame.drop(columns=left_out)
        for name in bare.columns:
            if type(getattr(bare[name].dtype, "categories", None)).__name__ in ("IntervalIndex", "PeriodIndex"):
                bare[name] = bare[name].cat.rename_categories(str)  # Arrow has no dictionaries of them
        names = [*map(str, bare.columns), *self._index_names]
        named = bool(self._index_names) and len(set(names)) == len(names)  # then it can be kept
        bare.index = bare.index.set_names([None if name is None else str(name) for name in bare.index.names])
        try:
            return _arrow(bare, index=named)
        except (pa.ArrowException, TypeError, ValueError):
            odd = {name: _kind(bare[name]) for name in bare.columns if not _readable(bare[[name]])}
            rest = bare.drop(columns=list(odd))
            if named and not _readable(rest[[]], index=True):
                named = False
                odd |= {name: _kind(rest.index) for name in self._index_names if name not in bare}
            self.unreadable = odd
            table = _arrow(rest, index=named)
            for name in self.unreadable:
                table = table.append_column(name, pa.nulls(len(bare)))
            return table

    def _column(self, values: Any, rows: Rows, source: str | None) -> Any:
        """Return the values of a column; of one that is kept in its own type."""
        if source is None or source not in self._frame.columns:
            return _values(values, None)
        own = self._frame[source]
        if not hasattr(own, "cat"):
            return _values(values, own.dtype)
        codes = own.cat.codes.to_numpy()[rows]  # other categories are those of other rows
        used = np.unique(codes[codes >= 0])
        if not own.cat.ordered:
            used = codes[np.sort(np.unique(codes, return_index=True)[1])]
            used = used[used >= 0]
        new = np.full(len(own.cat.categories) + 1, -1)
        new[used] = np.arange(len(used))
        kind = type(own.dtype)(own.cat.categories.take(used), ordered=own.cat.ordered)
        return type(own.array).from_codes(new[codes], dtype=kind)

    def _index(self, rows: Rows) -> Any:
        index = self._frame.index
        if type(index).__name__ == "RangeIndex" and len(rows) == len(index):
            return index
        taken = index.take(rows)
        if taken.nlevels > 1:  # its levels hold values of all rows
            arrays = [_pruned(taken.get_level_values(level)) for level in range(taken.nlevels)]
            return type(taken).from_arrays(arrays, names=taken.names)
        return _pruned(taken)


def _values(column: Any, own: Any) -> Any:
    """Return an Arrow column as values of pandas, in a column's own type where it takes them."""
    made = getattr(own, "__from_arrow__", None)
    if made is not None:
        with suppress(NotImplementedError, TypeError, ValueError):
            return made(column)
    values = column.to_pandas()
    if own is not None and getattr(own, "kind", "O") in "biufmM" and values.dtype != own:
        with suppress(TypeError, ValueError):
            return values.astype(own).array
    return values.array


def _arrow(frame: Any, *, index: bool) -> Any:
    """Return an Arrow table of a frame, with its index as columns or without; it may have rows and no column."""
    import pyarrow as pa

    return (
        pa.Table.from_pandas(frame, preserve_index=True)
        if index
        else pa.Table.from_pandas(frame.reset_index(drop=True))
    )


def _readable(frame: Any, *, index: bool = False) -> bool:
    """Tell whether Arrow takes the columns of a frame, and its index."""
    import pyarrow as pa

    try:
        _arrow(frame, index=index)
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def _numbering(index: Any) -> bool:
    """Return whether an index numbers rows: without a name, a range or distinct whole numbers that rows can have.

    The latter is what a selection of rows, or sorting, leaves of a range.
    """
    if index.nlevels > 1 or index.name is not None:
        return False
    if type(index).__name__ == "RangeIndex":
        return True
    whole = index.dtype.kind in "iu" and index.is_unique
    return bool(whole and (len(index) == 0 or (index.min() >= 0 and index.max() < _MOST_ROWS)))


def _pruned(index: Any) -> Any:
    """Return an index without the categories of other rows."""
    return index.remove_unused_categories() if hasattr(index, "remove_unused_categories") else index


def _kind(values: Any) -> str:
    """Return the type of a column or an index in words: of Python's objects also those of its values."""
    if str(values.dtype) != "object":
        return str(values.dtype)
    kinds = sorted({type(value).__name__ for value in values.dropna()})
    listed = ", ".join(kinds[:_KINDS]) + (", ..." if len(kinds) > _KINDS else "")
    return f"object, with values of {listed}," if kinds else "object"
