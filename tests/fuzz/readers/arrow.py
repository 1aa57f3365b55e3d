"""Tables with types: Parquet, GeoParquet, Arrow files and streams."""

from __future__ import annotations

import datetime
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.geo import Grid, read_visits
from sfumato.tables import Source, read_columns, stream_of

from ..guard import check_words
from ..mutations import TEXTS, changed_bytes, changed_json, dumped, scalar, times
from ..reader import Case, Reader

GRID = Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
BLUR = sf.Mechanism(0.5 * np.eye(8) + np.full((8, 8), 1 / 16), GRID)
ANSWERS = sf.mechanisms.randomised_response(sf.Space("abc"), 1.0)
_ROWS = 8


def honest_table() -> pa.Table:
    """A table of visits with a column of each common kind."""
    lat, lon = GRID.latlon.T
    return pa.table(
        {
            "lat": lat,
            "lon": lon,
            "user": ["ada", "bob", None, "ada", "", "cy", "dee", "é"],
            "time": pa.array(
                [datetime.datetime(2024, 3, 1, 18, k) for k in range(_ROWS)], pa.timestamp("us", "UTC")
            ),
            "answer": pa.array(list("abcabcab")).dictionary_encode(),
            "age": pa.array([1, 2, None, 4, 5, 6, 7, 8], pa.int16()),
        }
    )


def geo_table() -> pa.Table:
    """The same places as points, with the metadata of GeoParquet."""
    lat, lon = GRID.latlon.T
    points = [struct.pack("<BIdd", 1, 1, x, y) for x, y in zip(lon, lat, strict=True)]
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"], "crs": "EPSG:4326"}},
    }
    table = pa.table({"geometry": points, "user": [f"u{k}" for k in range(_ROWS)]})
    return table.replace_schema_metadata({"geo": json.dumps(geo)})


class _Tables(Reader):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.tables = [honest_table(), geo_table()]
        self.raw = [data for table in self.tables for data in self.written(table)]

    def written(self, table: pa.Table) -> list[bytes]:
        """Return a table in each form of the format."""
        raise NotImplementedError

    def named(self, data: bytes) -> Case:
        """Return the file of some content."""
        raise NotImplementedError

    def case(self, rng: Random) -> Case:
        if rng.randrange(2):
            try:
                data = rng.choice(self.written(changed_arrow(rng, rng.choice(self.tables))))
            except (pa.ArrowException, OSError):  # of a type that the format does not have
                data = rng.choice(self.raw)
            if rng.randrange(4):
                return self.named(data)
        else:
            data = rng.choice(self.raw)
        return self.named(changed_bytes(rng, data, self.raw))

    def read(self, folder: Path) -> None:
        path = next(folder.glob("t.*"))
        every(
            lambda: _visits(path),
            lambda: _rows(path),
            lambda: _released(folder, path),
            lambda: _answers(folder, path),
        )


class ParquetTables(_Tables):
    """Parquet and GeoParquet."""

    def written(self, table: pa.Table) -> list[bytes]:
        found = []
        for options in ({}, {"compression": "none", "use_dictionary": False}, {"data_page_version": "2.0"}):
            sink = io.BytesIO()
            parquet.write_table(table, sink, row_group_size=5, **options)
            found.append(sink.getvalue())
        return found

    def named(self, data: bytes) -> Case:
        return {"t.parquet": data}

    def read(self, folder: Path) -> None:
        super_read = super().read
        every(lambda: super_read(folder), lambda: read_columns(folder / "t.parquet", ()))


class ArrowTables(_Tables):
    """Arrow's files and streams."""

    def written(self, table: pa.Table) -> list[bytes]:
        found = []
        for make in (pa.ipc.new_file, pa.ipc.new_stream):
            for compression in (None, "lz4"):
                sink = io.BytesIO()
                options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
                with make(sink, table.schema, options=options) as writer:
                    writer.write_table(table)
                found.append(sink.getvalue())
        return found

    def named(self, data: bytes) -> Case:
        return {"t.arrow": data}


def every(*reads: Callable[[], object]) -> None:
    """Read in several ways; each may refuse, and where all do the last refusal is raised."""
    refusals = []
    for read in reads:
        try:
            read()
        except SfumatoError as error:
            check_words(error)
            refusals.append(error)
    if len(refusals) == len(reads):
        raise refusals[-1]


def check_visits(found: sf.Visits) -> None:
    """Fail where visits are not places of the globe, or their columns not of one length."""
    assert np.isfinite(found.lat).all()
    assert np.isfinite(found.lon).all()
    assert (np.abs(found.lat) <= 90).all()
    assert (np.abs(found.lon) <= 180).all()
    assert len(found)
    columns = [found.lon, found.user, found.time, *found.attributes.values()]
    assert all(column is None or len(column) == len(found) for column in columns)
    repr(found)


def _visits(path: Path) -> None:
    check_visits(read_visits(path))


def _rows(path: Path) -> None:
    stream = stream_of(Source.of(path))
    if stream is None:
        return
    rows = 0
    for batch in stream.batches(stream.schema.names):
        batch.validate(full=True)
        rows += batch.num_rows
        for column in batch.columns:
            _values(column)
    assert stream.rows in (None, rows)


def _released(folder: Path, path: Path) -> None:
    target = folder / "out.parquet"
    done = sf.release(BLUR, path, target, keep=["user"], outside="drop", again=True)
    table = parquet.read_table(target)
    assert table.num_rows == done.rows
    assert set(table.column_names) <= {"latitude", "longitude", "label", "user"}
    assert set(table["label"].to_pylist()) <= set(GRID.labels)


def _answers(folder: Path, path: Path) -> None:
    target = folder / "answers.csv"
    done = sf.release(ANSWERS, path, target, column="answer", outside="drop", again=True)
    lines = target.read_text().replace('"', "").splitlines()
    assert len(lines) - 1 == done.rows
    assert set(lines[1:]) <= set("abc")


def _values(column: pa.Array) -> None:
    try:
        column.to_pylist()
    except (ValueError, OverflowError, NotImplementedError, pa.ArrowException):
        return  # Python has no such time, or no such zone


def changed_arrow(rng: Random, table: pa.Table) -> pa.Table:
    """Return a table with other columns, types, values or metadata."""
    for _ in times(rng, 3):
        place = rng.randrange(max(1, table.num_columns))
        kind = rng.randrange(9)
        if kind < 3 and table.num_columns:
            name, column = table.column_names[place], table.columns[place]
            try:
                table = table.set_column(place, name, _column(rng, column))
            except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
                continue
        elif kind == 3 and table.num_columns:
            table = table.remove_column(place)
        elif kind == 4 and table.num_columns:
            table = table.append_column(
                rng.choice((table.column_names[place], "x", "y", "", "geometry")), table.columns[place]
            )
        elif kind == 5 and table.num_columns:
            names = list(table.column_names)
            names[place] = rng.choice((*TEXTS[:-6], "lat", "geometry", "time", "x"))
            names[place] = names[place].encode("utf-8", "replace").decode()
            table = table.rename_columns(names)
        elif kind == 6:
            table = table.slice(0, rng.choice((0, 1, 3)))
        else:
            metadata = dict(table.schema.metadata or {})
            if b"geo" in metadata:
                metadata[b"geo"] = dumped(rng, _geo(rng, metadata[b"geo"]))
            else:
                metadata[rng.choice((b"geo", b"sfumato", b"pandas", b"ARROW:schema"))] = dumped(rng, scalar(rng))
            table = table.replace_schema_metadata(metadata)
    return table


def _geo(rng: Random, text: bytes) -> Any:
    try:
        return changed_json(rng, json.loads(text))
    except (ValueError, RecursionError):
        return {"primary_column": rng.choice(TEXTS), "columns": {}}


def _column(rng: Random, column: pa.ChunkedArray) -> Any:
    size = len(column)
    kind = rng.randrange(10)
    if kind == 0:
        return column.cast(rng.choice(_TYPES), safe=False)
    if kind == 1:
        return pa.nulls(size, rng.choice(_TYPES))
    if kind == 2:
        return column.combine_chunks().dictionary_encode()
    if kind == 3:
        return pa.array([[value] for value in column.to_pylist()])
    if kind == 4:
        return pa.array([{"x": 2.35, "y": rng.choice((48.85, None, float("nan")))}] * size)
    if kind == 5:
        return pa.array([rng.choice(TEXTS).encode("utf-8", "replace").decode() for _ in range(size)])
    if kind == 6:
        return pa.array(
            [rng.choice((float("nan"), float("inf"), 1e308, 0.0, 48.85, 91.0, -0.0, None)) for _ in range(size)]
        )
    if kind == 7:
        return pa.array(
            [rng.choice((0, -1, 2**63 - 1, -(2**63), 1700000000, None)) for _ in range(size)], pa.int64()
        )
    values = [changed_bytes(rng, value) if isinstance(value, bytes) else value for value in column.to_pylist()]
    return pa.array(values, column.type)


_TYPES = (
    *(pa.float32(), pa.float16(), pa.int8(), pa.uint64(), pa.string(), pa.large_string(), pa.binary(), pa.bool_()),
    *(
        pa.timestamp("s"),
        pa.timestamp("ns", "Europe/Paris"),
        pa.timestamp("ms", "Nowhere/Land"),
        pa.date32(),
        pa.date64(),
    ),
    *(pa.time32("s"), pa.time64("ns"), pa.duration("us"), pa.decimal128(38, 10), pa.decimal256(76, 3), pa.null()),
    *(pa.string_view(), pa.binary(3), pa.list_(pa.float64()), pa.dictionary(pa.int8(), pa.string())),
    *(
        pa.dictionary(pa.uint64(), pa.large_string()),
        pa.map_(pa.string(), pa.int8()),
        pa.month_day_nano_interval(),
    ),
    *(pa.struct([("x", pa.float64())]), pa.struct([("x", pa.string()), ("y", pa.string())])),
)
