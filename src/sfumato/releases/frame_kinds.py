"""Kinds of tables in memory: what is read of each, and how private rows become a table of its kind."""

from __future__ import annotations

import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from .._system import pa
from ..errors import DataError, InputError, argument, python
from ..escaping import plain
from ..tables import ArrowBatch, ArrowStream, FrameTable, LazyTable, is_frame
from .kernel import Kernel

Rows = NDArray[np.intp]
_MOST_ROWS: Final = 2**31  # larger whole numbers are keys, not row numbers
_KINDS: Final = 4  # types of values in messages
_TIMES: Final = ("datetime", "date", "time", "period")  # what the names of types of times begin with
_UNKNOWN: Final = ("Object", "Int128", "UInt128")  # to Arrow: older versions of Polars end the process over them


class FrameKind(ABC):
    """A table in memory; ``unreadable`` maps columns that Arrow cannot read to their types."""

    shapes: frozenset[str] = frozenset()
    unreadable: Mapping[str, str] = {}

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def arrow(self) -> Any:
        """Return what its columns are read from, an `ArrowStream`; with empty columns in place of `unreadable`."""
        return self._frame

    def check_columns(self, used: Collection[str | None], keep: Collection[str]) -> None:
        """Refuse used or kept columns that cannot be read, and kept geometries."""
        for name in sorted(self.shapes.intersection(keep)):
            raise InputError(
                f"the column {name!r} holds positions, so it is never kept.",
                f"leave it out of {argument('keep')}.",
            )
        for name in sorted(self.unreadable.keys() & set(used)):
            raise DataError(
                f"the column {name!r} of type {self.unreadable[name]} cannot be read.",
                "write all its values as texts, or all as numbers",
                "make the frame one of geopandas." if self.unreadable[name] == "geometry" else "",
            )

    def check_rest(self, kernel: Kernel) -> None:  # noqa: B027
        """Refuse an index that would be carried over without being in ``keep``, or has a column's name."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on the parts of the table that stay next to its columns."""
        return ()

    @abstractmethod
    def back(self, table: Any, rows: Rows, sources: Mapping[str, str], mark: str) -> Any:
        """Return private rows, of true ``rows`` (k,), as a table of this kind; ``sources`` maps to columns."""


class _PandasFrame(FrameKind):
    """A data frame of pandas."""

    def __init__(self, frame: Any) -> None:
        import pandas

        if frame.ndim != 2:
            raise DataError(
                f"a {type(frame).__name__} has no columns.",
                python("pass a data frame, such as that of its to_frame()."),
            )
        super().__init__(pandas.DataFrame(frame))  # shares the values, but neither attributes nor later columns
        self._frame.columns = [str(name) for name in frame.columns]
        twice = self._frame.columns[self._frame.columns.duplicated()]
        if len(twice):
            raise DataError(
                f"the table has more than one column {twice[0]!r}.", "give its columns distinct names."
            )
        self._index_names = tuple(str(name) for name in frame.index.names if name is not None)

    def arrow(self) -> Any:
        return self._table([])

    def check_rest(self, kernel: Kernel) -> None:
        sources, index = kernel.kept_columns.sources, self._frame.index
        for name in self._index_names:
            if name in kernel.schema.names and name not in sources:
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
                    "the index has no name, and would stay next to the reports.",
                    python("leave it out with frame.reset_index(drop=True)"),
                    python("if it reveals nothing, name it with frame.rename_axis('row'), and pass keep=['row']."),
                )
            if str(name) not in sources.values():
                raise InputError(
                    f"the index {plain(repr(name))} would stay next to the reports.",
                    python("leave it out with frame.reset_index(drop=True)"),
                    python("make it a column with frame.reset_index()"),
                    f"if it reveals nothing, name it with {argument('keep')}.",
                )

    @property
    def sentences(self) -> tuple[str, ...]:
        numbers = ", which numbers the rows,"
        names = f" ({', '.join(map(plain, self._index_names))})" if self._index_names else numbers
        return (
            f"The index{names} is carried over, and shows which report is of which row. The guarantee does "
            "not cover it.",
        )

    def back(self, table: Any, rows: Rows, sources: Mapping[str, str], mark: str) -> Any:
        import pandas

        series = {
            name: self._column(table[name], rows, sources.get(name))
            for name in table.column_names
            if not (name in self._index_names and name in sources)
        }
        frame = pandas.DataFrame(series, index=self._index(rows))
        frame.attrs["sfumato"] = mark
        return frame

    def _table(self, left_out: list[str]) -> Any:
        bare = self._frame.drop(columns=left_out)
        for name in bare.columns:
            if type(getattr(bare[name].dtype, "categories", None)).__name__ in ("IntervalIndex", "PeriodIndex"):
                bare[name] = bare[name].cat.rename_categories(str)  # Arrow has no dictionaries of them
        names = [*map(str, bare.columns), *self._index_names]
        keeps_index = bool(self._index_names) and len(set(names)) == len(names)  # then it can be kept
        bare.index = bare.index.set_names([None if name is None else str(name) for name in bare.index.names])
        try:
            return _arrow(bare, index=keeps_index)
        except (pa.ArrowException, TypeError, ValueError):
            odd = {name: _kind(bare[name]) for name in bare.columns if not _arrow_takes(bare[[name]])}
            rest = bare.drop(columns=list(odd))
            if keeps_index and not _arrow_takes(rest[[]], index=True):
                keeps_index = False
                odd |= {name: _kind(rest.index) for name in self._index_names if name not in bare}
            self.unreadable = odd
            table = _arrow(rest, index=keeps_index)
            for name in self.unreadable:
                table = table.append_column(name, pa.nulls(len(bare)))
            return table

    def _column(self, values: Any, rows: Rows, source: str | None) -> Any:
        """Return the values of a column; of one that is kept in its own type."""
        if source is None or source not in self._frame.columns:
            return _values(values, None)
        column = self._frame[source]
        if not hasattr(column, "cat"):
            return _values(values, column.dtype)
        codes = column.cat.codes.to_numpy()[rows]  # other categories are those of other rows
        used = np.unique(codes[codes >= 0])
        if not column.cat.ordered:
            used = codes[np.sort(np.unique(codes, return_index=True)[1])]
            used = used[used >= 0]
        new = np.full(len(column.cat.categories) + 1, -1)
        new[used] = np.arange(len(used))
        kind = type(column.dtype)(column.cat.categories.take(used), ordered=column.cat.ordered)
        return type(column.array).from_codes(new[codes], dtype=kind)

    def _index(self, rows: Rows) -> Any:
        index = self._frame.index
        if type(index).__name__ == "RangeIndex" and len(rows) == len(index):
            return index
        subset = index.take(rows)
        if subset.nlevels > 1:  # its levels hold values of all rows
            arrays = [_prune_categories(subset.get_level_values(level)) for level in range(subset.nlevels)]
            return type(subset).from_arrays(arrays, names=subset.names)
        return _prune_categories(subset)


def _values(column: Any, dtype: Any) -> Any:
    """Return an Arrow column as values of pandas, in a column's own type where it takes them."""
    convert = getattr(dtype, "__from_arrow__", None)
    if convert is not None:
        with suppress(NotImplementedError, TypeError, ValueError):
            return convert(column)
    values = column.to_pandas()
    if dtype is not None and getattr(dtype, "kind", "O") in "biufmM" and values.dtype != dtype:
        with suppress(TypeError, ValueError):
            return values.astype(dtype).array
    return values.array


def _arrow(frame: Any, *, index: bool) -> Any:
    """Return an Arrow table of a frame, with its index as columns or without; it may have rows and no column."""
    return pa.Table.from_pandas(frame if index else frame.reset_index(drop=True), preserve_index=index or None)


def _arrow_takes(frame: Any, *, index: bool = False) -> bool:
    """Return whether Arrow takes the columns of a frame, and its index."""
    try:
        _arrow(frame, index=index)
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def _numbering(index: Any) -> bool:
    """Return whether an unnamed index numbers rows: a range, or distinct whole numbers as left by a selection."""
    if index.nlevels > 1 or index.name is not None:
        return False
    if type(index).__name__ == "RangeIndex":
        return True
    whole = index.dtype.kind in "iu" and index.is_unique
    return bool(whole and (len(index) == 0 or (index.min() >= 0 and index.max() < _MOST_ROWS)))


def _prune_categories(index: Any) -> Any:
    """Return an index without the categories of other rows."""
    return index.remove_unused_categories() if hasattr(index, "remove_unused_categories") else index


def _kind(values: Any) -> str:
    """Return the type of a column or an index in words: of Python's objects also those of its values."""
    if str(values.dtype) != "object":
        return str(values.dtype)
    kinds = sorted({type(value).__name__ for value in values.dropna()})
    listed = ", ".join(kinds[:_KINDS]) + (", ..." if len(kinds) > _KINDS else "")
    return f"object, with values of {listed}," if kinds else "object"


class _GeoFrame(_PandasFrame):
    """A data frame of geopandas."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        self._geometry = getattr(frame, "active_geometry_name", None)
        self.shapes = frozenset(str(name) for name, kind in frame.dtypes.items() if str(kind) == "geometry")
        self._crs = None if self._geometry is None else frame.crs

    def arrow(self) -> Any:
        """Return an Arrow table with the points as in a GeoParquet file."""
        import shapely

        table = self._table(sorted(self.shapes))
        for name in sorted(self.shapes):
            points = shapely.to_wkb(np.asarray(self._frame[name], dtype=object))
            table = table.append_column(name, pa.array(points, pa.large_binary()))
        geo = {}
        if self._geometry is not None:
            column = {"encoding": "WKB", "crs": None if self._crs is None else self._crs.to_json_dict()}
            geo = {b"geo": json.dumps({"primary_column": self._geometry, "columns": {self._geometry: column}})}
        return table.replace_schema_metadata(geo)

    def check_columns(self, used: Collection[str | None], keep: Collection[str]) -> None:
        super().check_columns(used, keep)
        if self._geometry in used and self._geometry is not None and self._crs is None:
            raise DataError(
                f"the points in {self._geometry!r} have no CRS: they may be degrees, or metres of any kind.",
                python(
                    "set the one that they are in: frame.set_crs('EPSG:4326') for longitudes and latitudes, "
                    "that of the national grid for metres, such as 'EPSG:27700' or 'EPSG:2154'."
                ),
            )

    def check_rest(self, kernel: Kernel) -> None:
        super().check_rest(kernel)
        if self._geometry in kernel.schema.names:
            raise InputError(
                f"the geometry {self._geometry!r} has the name of a released column.",
                python("rename it with frame.rename_geometry('geometry')."),
            )

    def back(self, table: Any, rows: Rows, sources: Mapping[str, str], mark: str) -> Any:
        """Return the points of the reports as geometries; a frame without points is one of pandas."""
        import geopandas
        import shapely

        frame = super().back(table, rows, sources, mark)
        if self._geometry is None or not {"latitude", "longitude"} <= set(table.column_names):
            return frame
        lat, lon = table["latitude"].combine_chunks(), table["longitude"].combine_chunks()
        if pa.types.is_floating(lat.type):
            shapes = shapely.points(np.asarray(lon), np.asarray(lat))
        else:
            sizes = lat.value_lengths().to_numpy(zero_copy_only=False)
            of_row = np.repeat(np.arange(len(sizes)), sizes)
            points = shapely.points(np.asarray(lon.flatten()), np.asarray(lat.flatten()))
            shapes = shapely.multipoints(points, indices=of_row) if len(sizes) else []
        bare = frame.drop(columns=["latitude", "longitude"])
        bare[self._geometry] = geopandas.GeoSeries(shapes, index=bare.index, crs="EPSG:4326")
        geo_frame = geopandas.GeoDataFrame(bare, geometry=self._geometry)
        geo_frame.attrs["sfumato"] = mark
        return geo_frame


@final
class _ArrowKind(FrameKind):
    """A table of pyarrow, a record batch, a reader of them, or a table of a kind that is not known here."""

    def back(self, table: Any, rows: Rows, sources: Mapping[str, str], mark: str) -> Any:  # noqa: ARG002
        if isinstance(self._frame, pa.RecordBatch):
            whole = table.combine_chunks()
            return (whole.to_batches() or [pa.RecordBatch.from_pylist([], schema=whole.schema)])[0]
        return table.to_reader() if isinstance(self._frame, pa.RecordBatchReader) else table


@final
class _PolarsKind(FrameKind):
    """A `DataFrame` or a `LazyFrame` of Polars; a lazy one is collected once, so that every row is drawn once."""

    def __init__(self, frame: Any) -> None:
        self._lazy = isinstance(frame, LazyTable)
        super().__init__(frame.collect() if self._lazy else frame)

    def arrow(self) -> Any:
        import polars

        frame = self._frame
        if isinstance(frame, polars.DataFrame):
            self.unreadable = {
                name: str(kind)
                for name, kind in frame.schema.items()
                if not _is_readable(frame.select(name).head(0), kind)
            }
            frame = frame.with_columns(polars.lit(None).alias(name) for name in self.unreadable)
        return frame

    def back(self, table: Any, rows: Rows, sources: Mapping[str, str], mark: str) -> Any:  # noqa: ARG002
        import polars

        frame = polars.from_arrow(table)
        return frame.lazy() if self._lazy and isinstance(frame, polars.DataFrame) else frame


@final
class _DuckRelation(FrameKind):
    """A relation of DuckDB; what comes back lives on the same connection."""

    def arrow(self) -> Any:
        """Return the relation, run once; `DataError` if its connection could not take the private rows."""
        import duckdb

        try:
            self._import_rows(pa.table({"nothing": pa.array([], pa.int64())}))
        except duckdb.Error as error:
            raise DataError(
                f"the relation's connection takes no tables from Python: {str(error).splitlines()[0]}.",
                "pass relation.to_arrow_table(), and register what comes back.",
            ) from None
        return self._frame.project("*")  # older versions read the result of one only once

    def back(self, table: Any, rows: Rows, sources: Mapping[str, str], mark: str) -> Any:  # noqa: ARG002
        return self._import_rows(table)

    def _import_rows(self, sfumato_private_rows: Any) -> Any:
        # A view of the true rows: a relation runs a query only next to one.
        view = f"sfumato_{secrets.token_hex(8)}"
        try:
            return self._frame.query(view, "SELECT * FROM sfumato_private_rows")
        finally:
            del sfumato_private_rows
            self._frame.query(view, f"DROP VIEW {view}")


_OF_LIBRARY: Final[Mapping[str, type[FrameKind]]] = {
    "geopandas": _GeoFrame,
    "pandas": _PandasFrame,
    "polars": _PolarsKind,
    "duckdb": _DuckRelation,
    "_duckdb": _DuckRelation,
}


def kind_of(frame: ArrowStream | ArrowBatch | LazyTable) -> FrameKind:
    """Return the kind of a table; `DataError` if it is lazy and of an unknown library."""
    roots = {base.__module__.partition(".")[0] for base in type(frame).__mro__}
    for root, kind in _OF_LIBRARY.items():
        if root in roots:
            return kind(frame)
    if isinstance(frame, ArrowBatch) and not isinstance(frame, ArrowStream):
        return _ArrowKind(FrameTable(frame).batch())
    if not is_frame(frame):
        raise DataError(
            f"a {type(frame).__name__} cannot be read as a table.", "collect it first, or pass a table of pyarrow."
        )
    return _ArrowKind(frame)


def _is_readable(column: Any, kind: Any) -> bool:
    """Return whether Arrow takes a column of Polars by value; Python objects would become their addresses."""
    import polars

    if type(kind).__name__ in _UNKNOWN:
        return False
    try:
        pa.RecordBatchReader.from_stream(column)
    except (pa.ArrowException, polars.exceptions.PolarsError):
        return False
    return True
