"""Writing of tables as CSV, Parquet or Arrow, in batches or whole."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self, TextIO

from .._system import arrow_csv, atomically, pa, parquet, pc
from ..errors import FileError
from ..escaping import csv_cell, csv_row
from .source import is_pipe

STREAMED: Final = (".csv", ".parquet", ".arrow")
"""The suffixes of tables that are written batch by batch."""

SUFFIXES: Final = (".csv", ".parquet")


def check_streamed(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a table to write; raise a `FileError` if it is none of `STREAMED`."""
    suffix = Path(path).suffix.lower()
    if is_pipe(path):
        raise FileError("reports are not written to a pipe.", f"name a file that ends in {', '.join(STREAMED)}.")
    if suffix not in STREAMED:
        raise FileError(
            f"{os.fspath(path)!r} names no kind of table.", f"let the name end in {', '.join(STREAMED)}."
        )
    return suffix


class BatchWriter:
    """Writes Arrow record batches, each as a row group, over a file of one of the suffixes `STREAMED`."""

    __slots__ = ("_csv", "_stream", "_writer", "schema")

    def __init__(self, path: Path, schema: Any, suffix: str) -> None:
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
                self._writer = arrow_csv.CSVWriter(self._stream, cells(_dense(schema.empty_table())).schema)
        except BaseException:  # such as columns of a type that the format does not have
            self._stream.close()
            raise

    def write(self, batch: Any) -> None:
        """Write one batch."""
        if self._csv:
            self._writer.write_table(cells(_dense(pa.Table.from_batches([batch]))))
        else:
            self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the end of the table, and bring the file to the disk."""
        if self._stream.closed:
            return
        try:
            self._writer.close()
            self._stream.flush()
            os.fsync(self._stream.fileno())
        finally:
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
            return
        try:  # to let go of an incomplete file
            with suppress(Exception):
                self._writer.close()
            if hasattr(self._writer, "is_open"):
                self._writer.is_open = False  # or pyarrow tries again when it is collected
        finally:
            with suppress(OSError):
                self._stream.close()


def _dense(table: Any) -> Any:
    """Return a table without dictionaries, as text needs it."""
    plain = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(plain))


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return ``.csv`` or ``.parquet``; raise a `FileError` for another suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(f"{os.fspath(path)!r} names no kind of table.", "let the name end in .csv or .parquet.")
    return suffix


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table as CSV or Parquet, by the suffix; replace a file, or raise a `FileError`.

    In CSV texts that a spreadsheet would run get an apostrophe (`sfumato.escaping.csv_cell`); readers remove it
    again.
    """
    suffix = check_suffix(path)
    with atomically(path) as temporary:
        if suffix == ".csv":
            arrow_csv.write_csv(cells(table), temporary)
        else:
            parquet.write_table(table, temporary)


def write_rows(names: Sequence[str], rows: Iterable[Iterable[object]], path: str | os.PathLike[str]) -> None:
    """Write rows as CSV without formulas, for any suffix; replace a file, or raise a `FileError`."""
    with atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(_Lines(file))
        writer.writerow(csv_row(names))
        writer.writerows(map(csv_row, rows))


class _Lines:
    r"""Lines that end in ``\n``; csv must write ``\r\n``, since it quotes only the characters of its line end."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + "\n")


def cells(table: Any) -> Any:
    """Return an Arrow table whose texts, and names of columns, are not formulas in a CSV file."""
    for k, column in enumerate(table.columns):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        safe_texts = {text: csv_cell(text) for text in pc.unique(column).to_pylist() if text is not None}
        if any(text != cell for text, cell in safe_texts.items()):
            safe = pa.array([None if text is None else safe_texts[text] for text in column.to_pylist()], kind)
            table = table.set_column(k, table.column_names[k], safe)
    return table.rename_columns([csv_cell(name) for name in table.column_names])
