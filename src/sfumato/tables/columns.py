"""Columns of a CSV, Parquet or Arrow file or of a table in memory, by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .._system import pa
from ..errors import DataError
from ..escaping import csv_cell, from_csv_cell
from .arrow import IN_MEMORY, ArrowStream, FrameTable, ParquetTable, is_frame
from .batch_writer import SUFFIXES
from .delimited import Layout, misfit, parsed
from .source import OpenTable, Source, as_path, cause, check_distinct, is_pipe, no_column
from .streams import ARROW, ArrowFile, folder_stream


def check_kind(table: object) -> None:
    """Refuse the path of a file that is no table by its name (`DataError`); all else passes."""
    if not isinstance(table, str | os.PathLike) or os.path.isdir(table):
        return
    if is_pipe(table):
        raise DataError("a table of reports is not read from a pipe.", "write it to a file first, and name that.")
    if Path(os.fsdecode(table)).suffix.lower() not in (*SUFFIXES, *ARROW):
        raise DataError(
            f"{os.fspath(table)!r} is neither a CSV nor a Parquet nor an Arrow file by its name.",
            "convert it to one of them.",
        )


def read_columns(
    path: str | os.PathLike[str] | ArrowStream,
    columns: Sequence[str],
    *,
    as_text: Iterable[str] = (),
    option: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Return columns (all if none are named) of a CSV, Parquet or Arrow file, folder or table in memory.

    Columns in ``as_text`` stay as written in a CSV, so that ``007`` is not 7. ``option`` is the argument that
    names a column. A value that is neither path nor table is an `InputError`, other faults are a `DataError`.
    """
    if is_frame(path):
        return _loaded(FrameTable(path), columns, IN_MEMORY, option)
    path = as_path(path, "a table")
    if path.is_dir():
        return _folder(path, columns, option)
    check_kind(path)
    source, name = Source.of(path), repr(os.fspath(path))
    if path.suffix.lower() in ARROW:
        return _loaded(ArrowFile(source), columns, name, option)
    if path.suffix.lower() == ".parquet":
        return _loaded(ParquetTable(source), columns, name, option)
    table = _text(source, tuple(as_text))
    _check(table.column_names, columns, name, option)
    check_distinct(table.column_names, name)
    return table.select(list(dict.fromkeys(columns))) if columns else table


def _folder(path: Path, columns: Sequence[str], option: Mapping[str, str]) -> Any:
    """Return the tables below a folder, in the order of their paths; those of text as they are written."""
    name, stream = repr(os.fspath(path)), folder_stream(path)
    if stream is None:
        raise DataError(
            f"the folder {name} holds no CSV, Parquet or Arrow files.", "check that it is the right folder."
        )
    _check(stream.schema.names, columns, name, option)
    wanted = list(dict.fromkeys(columns)) or stream.schema.names
    fields = [stream.schema.field(column) for column in wanted]
    return pa.Table.from_batches(stream.batches(wanted), pa.schema(fields))


def _text(source: Source, as_text: Sequence[str]) -> Any:
    """Return a CSV file as it stands: an empty value is a text, and one that does not fit its column an error."""
    layout = Layout.of(source)
    fields = layout.fields(source)
    types = dict.fromkeys([*as_text, *map(csv_cell, as_text)], pa.string())
    try:
        layout.check_quotes(source)
        with layout.open(source) as stream:
            # In a table of one column a blank line is an empty value.
            single = len(fields) == 1 and bool(source.head.splitlines()[layout.before].strip())
            table = parsed(stream, delimiter=layout.delimiter, types=types, blank_lines=single)
        return table.rename_columns([from_csv_cell(name) for name in table.column_names])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        where = None
        if isinstance(error, pa.ArrowInvalid):
            where = misfit(layout.open(source), layout.delimiter, len(fields), layout.before)
        raise DataError(
            f"{os.fspath(source.path)!r} cannot be read as a table ({where or cause(error)}).",
            "check that it is what its suffix says.",
        ) from None


def _loaded(table: OpenTable, columns: Sequence[str], name: str, option: Mapping[str, str]) -> Any:
    _check(table.columns, columns, name, option)
    check_distinct(table.columns, name)
    return table.load(list(dict.fromkeys(columns)) or None)


def _check(known: Sequence[str], columns: Sequence[str], name: str, option: Mapping[str, str]) -> None:
    for column in columns:
        if column not in known:
            raise no_column(known, column, option.get(column, "column"), name)
