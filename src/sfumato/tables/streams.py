"""Tables read in batches, with memory independent of the table's size, and columns of tables by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from .._system import arrow_csv, dataset, pa, parquet
from ..core.immutable import CompactRepr
from ..errors import DataError
from ..escaping import csv_cell, from_csv_cell
from .arrow import (
    IN_MEMORY,
    ArrowStream,
    FrameTable,
    ParquetTable,
    cast_views,
    check_same_systems,
    is_frame,
    parquet_schema,
    without_views,
)
from .batch_writer import SUFFIXES
from .delimited import Layout, TextTable, parse_rows
from .source import OpenTable, Source, as_path, cause, check_distinct, is_pipe, no_column, others_note, readable

BATCH_ROWS: Final = 1 << 20
"""Rows of a batch, unless fewer are asked for."""

ARROW: Final = (".arrow", ".feather", ".ipc")
"""Endings of files in Arrow's own format."""

_CONTINUED: Final = b"\xff\xff\xff\xff"  # the beginning of each message of an Arrow stream
_TEXT_BLOCK: Final = 1 << 23  # bytes of text that are parsed at a time
_PARQUET: Final = (".parquet", ".pq", ".geoparquet")
_TEXT: Final = (".csv", ".tsv", ".txt")
_UNFINISHED: Final = (
    *(".tmp", ".temp", ".part", ".partial", ".filepart", ".inprogress", "._copying_"),
    *(".crdownload", ".download"),
)
_PACKED: Final = (
    *(".gz", ".zip", ".bz2", ".xz", ".zst", ".lz4", ".br", ".7z", ".lzma", ".z", ".tar", ".tgz", ".rar"),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableStream(CompactRepr):
    """A table whose rows can be read in batches repeatedly, as texts if they are text.

    ``rows`` is None if unknown, ``files`` empty for a table in memory, and with ``comma`` numbers may be written
    ``48,85``.
    """

    name: str
    schema: Any
    rows: int | None
    files: tuple[Path, ...]
    read: Callable[[Sequence[str]], Iterator[Any]] = field(repr=False)
    comma: bool = False
    headless: bool = False
    notes: tuple[str, ...] = ()

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield Arrow record batches of ``size`` rows in order, the last one shorter; `DataError` if damaged."""
        waiting: list[Any] = []
        rows = 0
        with readable(self.name):
            for whole in self.read(list(dict.fromkeys(columns))):
                batch = whole
                while rows + batch.num_rows >= size:
                    pieces = [*waiting, batch.slice(0, size - rows)]
                    yield _merge(pieces)
                    batch, waiting, rows = batch.slice(size - rows), [], 0
                if batch.num_rows:
                    waiting.append(batch)
                    rows += batch.num_rows
            if rows:
                yield _merge(waiting)


def stream_of(source: Source) -> TableStream | None:
    """Return the stream of a Parquet or Arrow file; None for a file that begins like neither."""
    if source.head.startswith(b"PAR1"):
        return _parquet(source)
    if source.head.startswith(b"ARROW1") or source.suffix in ARROW:
        return _ipc(source)
    return None


def text_stream(source: Source) -> TableStream:
    """Return the stream of a text file with a row per line; all its columns are texts."""
    table = TextTable.of(source)
    names = table.columns if table.headless else [from_csv_cell(name) for name in table.columns]
    check_distinct(names, str(source))
    originals = dict(zip(names, table.columns, strict=True))
    plain = table.layout == Layout(table.layout.delimiter)  # then Arrow reads and unpacks the file itself

    def read(columns: Sequence[str]) -> Iterator[Any]:
        raw = [originals[name] for name in columns]
        table.check_quotes()
        with source.open() if plain else pa.PythonFile(table.layout.open(source), mode="r") as stream:
            try:
                encoding = "utf8" if source.is_utf8 else "latin-1"
                names = table.fields if table.headless else None
                delimiter, blank = table.layout.delimiter, table.blank_lines
                reader = arrow_csv.open_csv(
                    stream,
                    arrow_csv.ReadOptions(column_names=names, block_size=_TEXT_BLOCK, encoding=encoding),
                    arrow_csv.ParseOptions(
                        delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not blank
                    ),
                    arrow_csv.ConvertOptions(
                        include_columns=raw,
                        column_types=dict.fromkeys(raw, pa.string()),
                        strings_can_be_null=False,
                    ),
                )
                for batch in reader:
                    yield pa.RecordBatch.from_arrays(batch.columns, names=list(columns))
            except pa.ArrowInvalid:
                if (where := table.misfit()) is None:
                    raise
                raise DataError(
                    f"{source} is not a valid table: {where}.", "every line needs the same number of values."
                ) from None

    schema = pa.schema([(name, pa.string()) for name in originals])
    files = () if source.content is not None else (source.path,)
    return TableStream(str(source), schema, None, files, read, comma=True, headless=table.headless)


def frame_stream(frame: ArrowStream, name: str = IN_MEMORY) -> TableStream:
    """Return a table's stream; `DataError` if it cannot be handed over or has two columns of one name."""
    table = FrameTable(frame).load()

    def read(columns: Sequence[str]) -> Iterator[Any]:
        yield from table.select(columns).to_batches(max_chunksize=BATCH_ROWS)

    return TableStream(name, table.schema, table.num_rows, (), read)


def folder_stream(folder: Path) -> TableStream | None:
    """Return the stream of all tables below a folder, in the order of their paths; None without any.

    Names of partitions (``day=2024-05-01/part.parquet``) become columns. Names that begin with a dot or ``_`` are
    left out, as unfinished output of engines, and so are files of other kinds, also ``.txt`` next to other tables.
    Tables of several kinds, with different columns, unfinished (``.parquet.tmp``) or packed (``.csv.zip``) are a
    `DataError`.
    """
    kinds = (_PARQUET, ARROW, _TEXT)
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix and not _is_hidden(path.relative_to(folder))
    )
    for path in paths:
        # The rows of an unfinished or packed table would be missing unnoticed.
        is_wrapped = _ending(path) in (*_UNFINISHED, *_PACKED)
        if is_wrapped and any(suffix.lower() in (*_PARQUET, *ARROW, *_TEXT) for suffix in path.suffixes[:-1]):
            raise DataError(
                f"{str(path)!r} is called like a table, but ends in {path.suffix!r}.",
                "finish or unpack it, move it out of the folder, or begin its name with a dot to leave it out.",
            )
    files = [[path for path in paths if _ending(path) in kind] for kind in kinds]
    if files[0] or files[1] or any(_ending(path) != ".txt" for path in files[2]):
        files[2] = [path for path in files[2] if _ending(path) != ".txt"]  # words on the tables next to them
    present = [group for group in files if group]
    if not present:
        return None
    if len(present) > 1:
        raise DataError(
            f"the folder {str(folder)!r} holds tables of several kinds, such as {present[0][0].name!r} and "
            f"{present[1][0].name!r}.",
            "keep one kind of file in a folder.",
        )
    stream = (
        _texts(folder, files[2]) if files[2] else _dataset(folder, present[0], "parquet" if files[0] else "ipc")
    )
    return replace(stream, notes=others_note(folder, present[0], paths))


def _parquet(source: Source) -> TableStream:
    where = _opener(source)
    with readable(str(source)), where() as stream, parquet.ParquetFile(stream) as file:
        schema, rows = parquet_schema(file), file.metadata.num_rows
        total = sum(file.metadata.row_group(place).num_rows for place in range(file.metadata.num_row_groups))
        if total != rows:
            raise DataError(
                f"{source} claims to hold {rows:,} rows, but its parts hold {total:,}.",
                "check that it was written or downloaded completely.",
            )
        check_distinct(schema.names, str(source))

    def read(columns: Sequence[str]) -> Iterator[Any]:
        with where() as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
            yield from map(_sound, file.iter_batches(BATCH_ROWS, columns=list(columns)))

    return TableStream(str(source), schema, rows, () if source.content is not None else (source.path,), read)


def _ipc(source: Source) -> TableStream:
    where = _opener(source)
    single = source.head.startswith(b"ARROW1")
    if not single and not source.head.startswith(_CONTINUED):
        raise DataError(f"{source} is named like an Arrow table, but does not begin like one.", "write it again.")

    @contextmanager
    def open_reader() -> Iterator[Any]:
        with where() as stream, (pa.ipc.open_file if single else pa.ipc.open_stream)(stream) as reader:
            yield reader

    with readable(str(source)), open_reader() as reader:
        schema = without_views(reader.schema)
        check_distinct(schema.names, str(source))

    def read(columns: Sequence[str]) -> Iterator[Any]:
        with open_reader() as reader:
            if single:
                for number in range(reader.num_record_batches):
                    yield _sound(reader.get_batch(number).select(list(columns)))
            else:
                for batch in reader:
                    yield _sound(batch.select(list(columns)))

    return TableStream(str(source), schema, None, () if source.content is not None else (source.path,), read)


def _ending(path: Path) -> str:
    """Return the ending of a file by which its kind is known, without that of compressed text."""
    last = path.suffix.lower()
    before = Path(path.stem).suffix.lower()
    return before if last == ".gz" and before in _TEXT else last


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def _texts(folder: Path, files: Sequence[Path]) -> TableStream:
    parts = [text_stream(Source.of(path)) for path in files]
    first = parts[0]
    for part, path in zip(parts, files, strict=True):
        if part.schema.names != first.schema.names:
            raise DataError(
                f"{str(path)!r} has other columns than {str(files[0])!r}.", "keep tables of one kind in a folder."
            )

    def read(columns: Sequence[str]) -> Iterator[Any]:
        for part in parts:
            yield from part.read(columns)

    return TableStream(
        repr(folder.name),
        first.schema,
        None,
        tuple(files),
        read,
        comma=any(part.comma for part in parts),
        headless=first.headless,
    )


def _dataset(folder: Path, files: Sequence[Path], kind: str) -> TableStream:
    name = repr(folder.name)
    with readable(name):
        tables = dataset.dataset(
            [str(path) for path in files], format=kind, partitioning="hive", partition_base_dir=str(folder)
        )
        schema, rows = tables.schema, tables.count_rows() if kind == "parquet" else None
        check_distinct(schema.names, name)
        fragments = sorted(tables.get_fragments(), key=lambda part: part.path)
        inside = set(fragments[0].physical_schema.names)
        schemas = [
            _parquet_schema(part.path) if kind == "parquet" else without_views(part.physical_schema)
            for part in fragments
        ]
        described = schemas[0]
        for part, other in zip(fragments, schemas, strict=True):
            check_same_systems(described, other, repr(part.path))
    plain = without_views(schema)
    fields = [
        field.with_metadata(described.field(field.name).metadata) if field.name in described.names else field
        for field in plain
    ]
    plain = pa.schema(fields, metadata=plain.metadata)

    def read(columns: Sequence[str]) -> Iterator[Any]:
        for fragment in fragments:
            missing = inside.intersection(columns).difference(fragment.physical_schema.names)
            if missing:
                raise DataError(
                    f"{fragment.path!r} has no column {min(missing)!r}, which {files[0].name!r} has.",
                    "keep tables of one kind in a folder.",
                )
            batches = fragment.to_batches(
                schema=schema, columns=list(columns), batch_size=BATCH_ROWS, batch_readahead=2
            )
            yield from map(_sound, batches)

    return TableStream(name, plain, rows, tuple(files), read)


def _parquet_schema(path: str) -> Any:
    with parquet.ParquetFile(path) as file:
        return parquet_schema(file)


def _sound(batch: Any) -> Any:
    """Return a record batch of a file, validated: else a text could end behind the file, or be invalid UTF-8."""
    batch.validate(full=True)
    return cast_views(batch)


def _merge(batches: Sequence[Any]) -> Any:
    """Return several record batches of one schema as one."""
    if len(batches) == 1:
        return batches[0]
    columns = zip(*(batch.columns for batch in batches), strict=True)
    return pa.RecordBatch.from_arrays([pa.concat_arrays(parts) for parts in columns], schema=batches[0].schema)


def _opener(source: Source) -> Callable[[], Any]:
    if source.content is None and not source.compressed:
        return lambda: pa.OSFile(str(source.path), "rb")
    return lambda: pa.BufferReader(source.read())


class ArrowFile(OpenTable):
    """An Arrow file, indexed (Feather) or a stream; `DataError` for another file or two columns of one name."""

    __slots__ = ("_stream", "schema")

    def __init__(self, source: Source) -> None:
        stream = stream_of(source)
        if stream is None:
            raise DataError(
                f"{source} does not begin like an Arrow table.",
                "write it again, as Arrow IPC (Feather of version 2).",
            )
        super().__init__(str(source), stream.schema.names)
        self._stream = stream
        self.schema = stream.schema

    @staticmethod
    def matches(source: Source) -> bool:
        """Return whether a file begins like an Arrow file, or has its suffix."""
        return source.head.startswith(b"ARROW1") or source.suffix in ARROW

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:  # noqa: ARG002
        """Return the rows; see `OpenTable.load`."""
        names = list(self.columns if columns is None else columns)
        fields = pa.schema([self._stream.schema.field(name) for name in names], metadata=self.schema.metadata)
        return pa.Table.from_batches(self._stream.batches(names), fields)


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
        return _load_columns(FrameTable(path), columns, IN_MEMORY, option)
    path = as_path(path, "a table")
    if path.is_dir():
        return _folder(path, columns, option)
    check_kind(path)
    source, name = Source.of(path), repr(os.fspath(path))
    if path.suffix.lower() in ARROW:
        return _load_columns(ArrowFile(source), columns, name, option)
    if path.suffix.lower() == ".parquet":
        return _load_columns(ParquetTable(source), columns, name, option)
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
    names = list(dict.fromkeys(columns)) or stream.schema.names
    fields = [stream.schema.field(column) for column in names]
    return pa.Table.from_batches(stream.batches(names), pa.schema(fields))


def _text(source: Source, as_text: Sequence[str]) -> Any:
    """Return a CSV file as it stands: an empty value is a text, and one that does not fit its column an error."""
    layout = Layout.of(source)
    text = TextTable(source, layout, layout.fields(source), headless=False)
    types = dict.fromkeys([*as_text, *map(csv_cell, as_text)], pa.string())
    try:
        text.check_quotes()
        with layout.open(source) as stream:
            table = parse_rows(stream, delimiter=layout.delimiter, types=types, blank_lines=text.blank_lines)
        return table.rename_columns([from_csv_cell(name) for name in table.column_names])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        where = text.misfit() if isinstance(error, pa.ArrowInvalid) else None
        raise DataError(
            f"{os.fspath(source.path)!r} cannot be read as a table ({where or cause(error)}).",
            "check that it is what its suffix says.",
        ) from None


def _load_columns(table: OpenTable, columns: Sequence[str], name: str, option: Mapping[str, str]) -> Any:
    _check(table.columns, columns, name, option)
    check_distinct(table.columns, name)
    return table.load(list(dict.fromkeys(columns)) or None)


def _check(known: Sequence[str], columns: Sequence[str], name: str, option: Mapping[str, str]) -> None:
    for column in columns:
        if column not in known:
            raise no_column(known, column, option.get(column, "column"), name)
