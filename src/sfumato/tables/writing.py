"""Writing tables: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from .._system import atomically
from ..errors import FileError
from ..escaping import csv_cell, csv_row

SUFFIXES: Final = (".csv", ".parquet")


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return ``.csv`` or ``.parquet``, or refuse another suffix.

    Raises:
        FileError: If the suffix is another one.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(f"{os.fspath(path)!r} names no kind of table.", "let the name end in .csv or .parquet.")
    return suffix


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table as CSV or Parquet, by the suffix of the file's name.

    In a CSV file a text that a spreadsheet would run as a formula gets an apostrophe in
    front (`sfumato.escaping.csv_cell`). `find` and `read_rows` take it away again, and
    `read_columns` does in the names of columns.

    Args:
        table: The table.
        path: The file; one that exists is replaced.

    Raises:
        FileError: If the suffix is unknown or the file cannot be written.
    """
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    suffix = check_suffix(path)
    with atomically(path) as temporary:
        if suffix == ".csv":
            arrow_csv.write_csv(cells(table), temporary)
        else:
            parquet.write_table(table, temporary)


def write_rows(names: Sequence[str], rows: Iterable[Iterable[object]], path: str | os.PathLike[str]) -> None:
    """Write rows of texts and numbers as CSV, whatever the suffix; texts are kept from being formulas.

    Args:
        names: The names of the columns.
        rows: The rows, each with a value for every column.
        path: The file; one that exists is replaced.

    Raises:
        FileError: If the file cannot be written.
    """
    with atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(_Lines(file))
        writer.writerow(csv_row(names))
        writer.writerows(map(csv_row, rows))


class _Lines:
    r"""Lines that end as Arrow ends them, in ``\n``.

    The writer itself ends them in ``\r\n``, because it quotes only the characters of its own line end.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + "\n")


def cells(table: Any) -> Any:
    """Return an Arrow table whose texts, and names of columns, are not formulas in a CSV file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for k, column in enumerate(table.columns):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        safe_texts = {text: csv_cell(text) for text in pc.unique(column).to_pylist() if text is not None}
        if any(text != cell for text, cell in safe_texts.items()):
            safe = pa.array([None if text is None else safe_texts[text] for text in column.to_pylist()], kind)
            table = table.set_column(k, table.column_names[k], safe)
    return table.rename_columns([csv_cell(name) for name in table.column_names])
