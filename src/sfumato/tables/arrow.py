"""Tables with types: Parquet files, and tables in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeGuard, runtime_checkable

from .._system import pa, parquet
from ..errors import DataError
from .source import MOST_RATIO, MOST_UNPACKED, OpenTable, Source, cause, check_distinct

IN_MEMORY: Final = "the table"
"""What messages call a table in memory."""

PARQUET_TYPE: Final = b"PARQUET:logical_type"
"""The key, among the metadata of a field, of what Parquet's own type says about geometries."""

_EXTENSION_NAME: Final = b"ARROW:extension:name"
_EXTENSION_FACTS: Final = b"ARROW:extension:metadata"
_SYSTEM_KEYS: Final = (PARQUET_TYPE, _EXTENSION_NAME, _EXTENSION_FACTS)
_LEAST_BYTES: Final = 8  # that a value takes in memory
_GEOMETRIES: Final = ("geoarrow.", "ogc.")


@runtime_checkable
class ArrowStream(Protocol):
    """A table of pandas, Polars, pyarrow, DuckDB, ...: it speaks Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self) -> object:
        """Return a capsule that holds a stream of record batches."""


@runtime_checkable
class ArrowBatch(Protocol):
    """A record batch of a library that hands over arrays, but no streams, by Arrow's PyCapsule interface."""

    def __arrow_c_array__(self) -> object:
        """Return capsules that hold a schema and an array."""


@runtime_checkable
class LazyTable(Protocol):
    """A table that is computed when it is collected, such as a lazy frame of Polars."""

    def collect(self) -> Any:
        """Return the table with its rows."""


def is_frame(value: object) -> TypeGuard[ArrowStream]:
    """Return whether a value is a table in memory."""
    return isinstance(value, ArrowStream) and not isinstance(value, type)


class ParquetTable(OpenTable):
    """A Parquet file with its `parquet_schema`; `DataError` if it is not valid or has two columns of one name."""

    __slots__ = ("_source", "schema")

    def __init__(self, source: Source) -> None:
        self._source = source
        with self._open() as file:
            super().__init__(str(source), file.schema_arrow.names)
            self.schema = parquet_schema(file)
        check_distinct(self.columns, str(source))

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:  # noqa: ARG002
        """Return the rows; see `OpenTable.load`."""
        with self._open() as file:
            self._check_size(file, len(self.columns if columns is None else columns))
            table = file.read(columns=None if columns is None else list(columns))
            table.validate(full=True)  # a text may be none
            return cast_views(table)

    def _check_size(self, file: Any, columns: int) -> None:
        """Refuse a file of equal values that are far more than tables of its size hold."""
        path, content = self._source.path, self._source.content
        size = path.stat().st_size if content is None else len(content)
        least_bytes = _LEAST_BYTES * columns * file.metadata.num_rows
        if least_bytes > max(MOST_UNPACKED, MOST_RATIO * size):
            raise DataError(
                f"{self._source} holds {file.metadata.num_rows:,} rows, which are over {MOST_RATIO} times larger "
                "in memory than in the file and could fill it.",
                "if that is right, divide the rows among several files.",
            )

    @contextmanager
    def _open(self) -> Iterator[Any]:
        source = self._source
        try:
            with parquet.ParquetFile(
                str(source.path) if source.content is None else pa.BufferReader(source.content)
            ) as file:
                yield file
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"{source} is not a valid Parquet file: {cause(error)}.",
                "check that it was written or downloaded completely.",
            ) from None


class FrameTable(OpenTable):
    """A table in memory, without pandas' index; GeoArrow's types are in the metadata of fields."""

    __slots__ = ("_table", "schema")

    def __init__(self, frame: ArrowStream | ArrowBatch) -> None:
        try:
            if type(frame).__module__.partition(".")[0] == "geopandas":
                points: Any = frame
                table = pa.table(points.to_arrow(index=False))
                active = points.active_geometry_name  # before other geometries
                table = table.select(sorted(table.column_names, key=lambda name: name != active))
            elif isinstance(frame, ArrowStream):
                table = pa.RecordBatchReader.from_stream(frame).read_all()
            else:
                table = pa.Table.from_batches([pa.record_batch(frame)])
            table = cast_views(table)
        except Exception as error:  # noqa: BLE001, the other library may raise anything
            raise DataError(
                f"a {type(frame).__name__} could not be read as an Arrow table: {cause(error)}.",
                "give it flat columns of numbers, texts and times.",
            ) from None
        check_distinct(table.column_names, IN_MEMORY)
        super().__init__(IN_MEMORY, [name for name in table.column_names if not name.startswith("__index_level_")])
        self._table = table
        self.schema = table.select(self.columns).schema

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:  # noqa: ARG002
        """Return the rows; see `OpenTable.load`."""
        return self._table.select(list(self.columns if columns is None else columns))

    def batch(self) -> Any:
        """Return the rows as one record batch."""
        return self._table.combine_chunks().to_batches()[0]


def parquet_schema(file: Any) -> Any:
    """Return the schema of a pyarrow ParquetFile without views, with types GEOMETRY under `PARQUET_TYPE`."""
    schema = without_views(file.schema_arrow)
    for number in range(len(file.schema)):
        column = file.schema.column(number)
        text = column.logical_type.to_json()
        if column.path in schema.names and json.loads(text).get("Type") in ("Geometry", "Geography"):
            place = schema.names.index(column.path)
            field = schema.field(place)
            schema = schema.set(
                place, field.with_metadata({**(field.metadata or {}), PARQUET_TYPE: text.encode()})
            )
    return schema


def check_same_systems(first: Any, other: Any, name: str) -> None:
    """Refuse an Arrow schema of a table that states other coordinate systems than the first one (`DataError`)."""
    if _systems(first, other.names) != _systems(other, first.names):
        raise DataError(
            f"{name} states another coordinate system than the first table of its folder.",
            "write the tables again in one coordinate system.",
        )


def _systems(schema: Any, columns: Sequence[str]) -> tuple[Any, ...]:
    """Return all that a schema says about the coordinate systems of some columns, to be compared."""
    fields = {
        field.name: [(key, text) for key, text in sorted((field.metadata or {}).items()) if key in _SYSTEM_KEYS]
        for field in schema
        if field.name in columns
    }
    geo = (schema.metadata or {}).get(b"geo", b"{}")
    try:
        described = {name: column.get("crs", "") for name, column in json.loads(geo).get("columns", {}).items()}
    except (ValueError, AttributeError, RecursionError):
        return fields, geo  # damaged: the reader says so
    return fields, described


def cast_views(table: Any) -> Any:
    """Return an Arrow table or record batch with whole texts in place of views of texts; its metadata are kept."""
    schema = without_views(table.schema)
    pairs = zip(table.columns, schema.types, strict=True)
    columns = [column if column.type == kind else column.cast(kind) for column, kind in pairs]
    return type(table).from_arrays(columns, schema=schema)


def without_views(schema: Any) -> Any:
    """Return an Arrow schema with whole texts for views, and with GeoArrow's types as metadata of their fields."""
    fields = []
    for field in schema:
        plain = field.with_type(_without_views(field.type))
        if isinstance(field.type, pa.ExtensionType) and field.type.extension_name.startswith(_GEOMETRIES):
            facts = {
                _EXTENSION_NAME: field.type.extension_name.encode(),
                _EXTENSION_FACTS: field.type.__arrow_ext_serialize__(),
            }
            plain = plain.with_metadata({**(field.metadata or {}), **facts})
        fields.append(plain)
    return pa.schema(fields, metadata=schema.metadata)


def _without_views(kind: Any) -> Any:
    """Return an Arrow type with whole texts in place of views of texts, which few functions take."""
    types = pa.types
    if isinstance(kind, pa.ExtensionType) and kind.extension_name.startswith(_GEOMETRIES):
        return _without_views(kind.storage_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.large_string() if types.is_string_view(kind) else pa.large_binary()
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    if types.is_list(kind) or types.is_large_list(kind):
        inner = _without_views(kind.value_type)
        return kind if inner == kind.value_type else (pa.list_ if types.is_list(kind) else pa.large_list)(inner)
    if types.is_fixed_size_list(kind):
        return pa.list_(_without_views(kind.value_type), kind.list_size)
    if types.is_struct(kind):
        return pa.struct([part.with_type(_without_views(part.type)) for part in kind])
    if types.is_map(kind):
        return pa.map_(_without_views(kind.key_type), _without_views(kind.item_type))
    return kind
