"""Tables written batch by batch, as CSV, Parquet or Arrow."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from ..errors import FileError
from .source import is_pipe
from .writing import cells

STREAMED: Final = (".csv", ".parquet", ".arrow")
"""The suffixes of tables that are written batch by batch."""


def check_streamed(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a table to write, or refuse another.

    Raises:
        FileError: If it is none of `STREAMED`.
    """
    suffix = Path(path).suffix.lower()
    if is_pipe(path):
        raise FileError("reports are not written to a pipe.", f"name a file that ends in {', '.join(STREAMED)}.")
    if suffix not in STREAMED:
        raise FileError(
            f"{os.fspath(path)!r} names no kind of table.", f"let the name end in {', '.join(STREAMED)}."
        )
    return suffix


class BatchWriter:
    """Writes Arrow record batches one after the other; each batch becomes a group of rows of its own.

    Args:
        path: The file; one that exists is written over.
        schema: The Arrow schema of the batches; its metadata are kept, but in CSV.
        suffix: The kind of table: one of `STREAMED`.
    """

    __slots__ = ("_csv", "_stream", "_writer", "schema")

    def __init__(self, path: Path, schema: Any, suffix: str) -> None:
        import pyarrow as pa
        from pyarrow import csv, parquet

        self.schema = schema
        self._csv = suffix == ".csv"
        self._stream = path.open("wb")
        try:
            if suffix == ".parquet":
                self._writer: Any = parquet.ParquetWriter(self._stream, schema)
            elif suffix == ".arrow":
                self._writer = pa.ipc.new_file(
                    self._stream,
                    schema,
                    options=pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True),
                )
            else:
                self._writer = csv.CSVWriter(self._stream, cells(_dense(schema.empty_table())).schema)
        except BaseException:  # such as columns of a type that the format does not have
            self._stream.close()
            raise

    def write(self, batch: Any) -> None:
        """Write one batch."""
        import pyarrow as pa

        if self._csv:
            self._writer.write_table(cells(_dense(pa.Table.from_batches([batch]))))
        else:
            self._writer.write_batch(batch)

    def close(self) -> None:
        """Write what belongs to the end of the table, and bring the file to the disk."""
        if self._stream.closed:
            return
        try:
            self._writer.close()
            self._stream.flush()
            os.fsync(self._stream.fileno())
        finally:
            self._stream.close()

    def abandon(self) -> None:
        """Close the file, whatever state it is in."""
        try:
            with suppress(Exception):
                self._writer.close()
            if hasattr(self._writer, "is_open"):
                self._writer.is_open = False  # or pyarrow tries again when it is collected
        finally:
            with suppress(OSError):
                self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def _dense(table: Any) -> Any:
    """Return a table without dictionaries, as text needs it."""
    import pyarrow as pa

    plain = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(plain))
