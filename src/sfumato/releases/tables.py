"""Tables on disk: CSV or Parquet, by the suffix of the file's name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from ..core.atomic import atomically
from ..errors import DataError, FileError, argument
from ..escaping import csv_cell, from_csv_cell
from ..geo import ArrowStream
from ..geo.formats.arrow import NAME as TABLE
from ..geo.formats.arrow import arrow_table
from ..geo.read import as_path

SUFFIXES: Final = (".csv", ".parquet")


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return ``.csv`` or ``.parquet``, or say that the name ends otherwise.

    Raises:
        FileError: If the suffix is another one.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(f"{os.fspath(path)!r} names no kind of table.", "let the name end in .csv or .parquet.")
    return suffix


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table, whole or not at all.

    In a CSV file a text that a spreadsheet would run as a formula gets an apostrophe in
    front (`sfumato.escaping.csv_cell`); `labels.find` and `read_columns` know it again.

    Args:
        table: The table.
        path: The file; one that exists is replaced.

    Raises:
        FileError: If the suffix is unknown or the file cannot be written.
    """
    suffix = check_suffix(path)
    with atomically(path) as temporary:
        if suffix == ".csv":
            csv.write_csv(_cells(table), temporary)
        else:
            parquet.write_table(table, temporary)


def read_columns(
    path: str | os.PathLike[str] | ArrowStream, columns: Sequence[str], *, as_text: Iterable[str] = ()
) -> Any:
    """Return some columns of a CSV or Parquet file, or of a table in memory, as an Arrow table.

    Args:
        path: The file, or the table.
        columns: The names of the columns; all of them if it is empty.
        as_text: Those that stay as they are written where the file is a CSV, so that
            ``007`` is not read as 7.

    Raises:
        InputError: If it is neither a path nor a table.
        DataError: If there is no such file, it cannot be read as a table or lacks a column.
    """
    if isinstance(path, ArrowStream) and not isinstance(path, type):
        return _chosen(arrow_table(path), columns, TABLE)
    path = as_path(path, "a table")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{os.fspath(path)!r} is neither a CSV nor a Parquet file.", "convert it to one of them.")
    try:
        with Path(path).open("rb") as stream:
            if suffix == ".csv":
                types = dict.fromkeys([*as_text, *map(csv_cell, as_text)], pa.string())
                table = csv.read_csv(stream, convert_options=csv.ConvertOptions(column_types=types))
                table = table.rename_columns([from_csv_cell(name) for name in table.column_names])
            else:
                table = parquet.read_table(stream)
    except pa.ArrowException as error:
        raise DataError(
            f"{os.fspath(path)!r} cannot be read as a table ({error}).", "check that it is what its suffix says."
        ) from error
    except OSError as error:
        raise DataError(
            f"{os.fspath(path)!r} cannot be read ({error.strerror or error}).", "check the path."
        ) from error
    return _chosen(table, columns, repr(os.fspath(path)))


def _chosen(table: Any, columns: Sequence[str], source: str) -> Any:
    for column in columns:
        if column not in table.column_names:
            raise DataError(
                f"{source} has no column {column!r}. Its columns are: {', '.join(table.column_names)}.",
                "check that it is the right file",
                f"name the column with {argument('column', table.column_names[0])}.",
            )
    return table.select(list(dict.fromkeys(columns))) if columns else table


def _cells(table: Any) -> Any:
    """Return a table whose texts, and names of columns, are not formulas in a CSV file."""
    for k, column in enumerate(table.columns):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        cells = {text: csv_cell(text) for text in pc.unique(column).to_pylist() if text is not None}
        if any(text != cell for text, cell in cells.items()):
            safe = pa.array([None if text is None else cells[text] for text in column.to_pylist()], kind)
            table = table.set_column(k, table.column_names[k], safe)
    return table.rename_columns([csv_cell(name) for name in table.column_names])
