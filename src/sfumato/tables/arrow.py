"""Tables that have types already: Parquet files, and tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeGuard, runtime_checkable

from ..errors import DataError
from .opened import OpenTable
from .source import Source

IN_MEMORY: Final = "the table"
"""What messages call a table in memory."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table of pandas, Polars, pyarrow, DuckDB, ...: it speaks Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self) -> object:
        """Return a capsule that holds a stream of record batches."""


def is_frame(given: object) -> TypeGuard[ArrowStream]:
    """Tell whether a value is a table in memory."""
    return isinstance(given, ArrowStream) and not isinstance(given, type)


class ParquetTable(OpenTable):
    """A Parquet file.

    Args:
        source: The file.

    Attributes:
        metadata: What the file says about itself, such as ``b"geo"`` for GeoParquet.

    Raises:
        DataError: If it is not a valid Parquet file.
    """

    __slots__ = ("_source", "metadata")

    def __init__(self, source: Source) -> None:
        self._source = source
        with self._opened() as file:
            super().__init__(str(source), file.schema_arrow.names)
            self.metadata: Mapping[bytes, bytes] = file.schema_arrow.metadata or {}

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:  # noqa: ARG002
        """Return the rows; see `OpenTable.load`."""
        with self._opened() as file:
            return file.read(columns=None if columns is None else list(columns))

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        source = self._source
        try:
            with parquet.ParquetFile(
                str(source.path) if source.content is None else pa.BufferReader(source.content)
            ) as file:
                yield file
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"{source} is not a valid Parquet file: {str(error).splitlines()[0]}.",
                "check that it was written or downloaded completely.",
            ) from None


class FrameTable(OpenTable):
    """A table in memory, without the index that pandas adds.

    Args:
        frame: The table.

    Raises:
        DataError: If it cannot be handed over, or has two columns of one name.
    """

    __slots__ = ("_table",)

    def __init__(self, frame: ArrowStream) -> None:
        import pyarrow as pa

        try:
            table = pa.RecordBatchReader.from_stream(frame).read_all()
            views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
            plain = [field.with_type(views.get(field.type, field.type)) for field in table.schema]
            table = table.cast(pa.schema(plain, metadata=table.schema.metadata))
        except Exception as error:  # whatever the other library raises on its way
            raise DataError(
                f"a {type(frame).__name__} could not be read as an Arrow table: {str(error).splitlines()[0]}.",
                "give it flat columns of numbers, texts and times.",
            ) from error
        twice = {name for name in table.column_names if table.column_names.count(name) > 1}
        if twice:
            raise DataError(
                f"{IN_MEMORY} has more than one column {min(twice)!r}.", "give its columns distinct names."
            )
        super().__init__(IN_MEMORY, [name for name in table.column_names if not name.startswith("__index_level_")])
        self._table = table

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:  # noqa: ARG002
        """Return the rows; see `OpenTable.load`."""
        return self._table.select(list(self.columns if columns is None else columns))
