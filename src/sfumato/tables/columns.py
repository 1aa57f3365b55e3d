"""Some columns of a CSV or Parquet file or of a table in memory, by their names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import DataError, argument
from ..escaping import csv_cell, from_csv_cell
from .arrow import IN_MEMORY, ArrowStream, FrameTable, ParquetTable, is_frame
from .delimited import parsed
from .opened import OpenTable
from .source import Source, as_path
from .writing import SUFFIXES


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
    if is_frame(path):
        return _loaded(FrameTable(path), columns, IN_MEMORY)
    path = as_path(path, "a table")
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{os.fspath(path)!r} is neither a CSV nor a Parquet file.", "convert it to one of them.")
    source, name = Source.of(path), repr(os.fspath(path))
    if path.suffix.lower() == ".parquet":
        return _loaded(ParquetTable(source), columns, name)
    table = _text(source, tuple(as_text))
    _check(table.column_names, columns, name)
    return table.select(list(dict.fromkeys(columns))) if columns else table


def _text(source: Source, as_text: Sequence[str]) -> Any:
    """Return a CSV file as it stands: an empty value is a text, and one that does not fit its column an error."""
    import pyarrow as pa

    try:
        with source.open() as stream:
            table = parsed(stream, types=dict.fromkeys([*as_text, *map(csv_cell, as_text)], pa.string()))
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{os.fspath(source.path)!r} cannot be read as a table ({error}).",
            "check that it is what its suffix says.",
        ) from error
    return table.rename_columns([from_csv_cell(name) for name in table.column_names])


def _loaded(table: OpenTable, columns: Sequence[str], name: str) -> Any:
    _check(table.columns, columns, name)
    return table.load(list(dict.fromkeys(columns)) or None)


def _check(known: Sequence[str], columns: Sequence[str], name: str) -> None:
    for column in columns:
        if column not in known:
            raise DataError(
                f"{name} has no column {column!r}. Its columns are: {', '.join(known)}.",
                "check that it is the right file",
                f"name the column with {argument('column', known[0])}.",
            )
