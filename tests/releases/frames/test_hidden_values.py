"""Values that no row shows: of rows beside a slice, below missing values, of rows that were dropped."""

from contextlib import suppress

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.releases.kept_columns.private_schema import copy_rows
from tests.releases.random_columns import MARKER, random_column, random_type

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
IDENTITY = sf.Mechanism(np.eye(8), GRID)
LAT, LON = GRID.latlon[:3].T
SECRET = "secret"
FIRST_MISSING = pa.py_buffer(bytes([0b110]))

SHAPES = {
    "text": pa.array,
    "large text": lambda names: pa.array(names, pa.large_string()),
    "view": lambda names: pa.array([4 * name for name in names], pa.string_view()),
    "dictionary": lambda names: pa.array(names).dictionary_encode(),
    "bytes": lambda names: pa.array([name.encode() for name in names]),
    "list": lambda names: pa.array([[name] for name in names]),
    "fixed list": lambda names: pa.array([[name] for name in names], pa.list_(pa.string(), 1)),
    "structure": lambda names: pa.array([{"x": name} for name in names]),
    "map": lambda names: pa.array([[(name, name)] for name in names], pa.map_(pa.string(), pa.string())),
    "list of structures of dictionaries": lambda names: pa.array(
        [[{"x": name}] for name in names],
        pa.list_(pa.struct([("x", pa.dictionary(pa.int32(), pa.string()))])),
    ),
    "structure of views": lambda names: pa.array(
        [{"x": 4 * name} for name in names], pa.struct([("x", pa.string_view())])
    ),
}


def written(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def without_it(table):
    return SECRET.encode() not in written(table)


@pytest.mark.parametrize("shape", SHAPES)
def test_of_rows_beside_a_slice(shape):
    names = SHAPES[shape]([SECRET + "0", "a", "b", "c", SECRET + "9"])
    table = pa.table({"lat": [1.0, *LAT, 2.0], "lon": [1.0, *LON, 2.0], "kept": names}).slice(1, 3)
    whole = sf.release(IDENTITY, table, keep=["kept"])
    batch = sf.release(IDENTITY, table.to_batches()[0], keep=["kept"])
    assert whole["kept"].to_pylist() == batch["kept"].to_pylist() == table["kept"].to_pylist()
    assert without_it(whole)
    assert without_it(pa.Table.from_batches([batch]))
    held = sum(part.size for part in batch["kept"].buffers() if part is not None)
    assert held < 250  # bytes: those of three rows


def test_of_run_end_encoded_rows_beside_a_slice():
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 2, 3, 5], pa.int32()), pa.array([SECRET, "a", None, "b"])
    )
    table = pa.table({"lat": np.resize(LAT, 5), "lon": np.resize(LON, 5), "kept": runs}).slice(1, 3)
    found = sf.release(IDENTITY, table, keep=["kept"])
    assert found["kept"].to_pylist() == ["a", None, "b"]
    assert without_it(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_of_rows_that_are_dropped(shape):
    names = SHAPES[shape](["a", SECRET, "b"])
    table = pa.table({"lat": [LAT[0], 10.0, LAT[2]], "lon": LON, "kept": names})
    found = sf.release(IDENTITY, table, keep=["kept"], outside="drop", allow=1)
    assert found["kept"].to_pylist() == [names[0].as_py(), names[2].as_py()]
    assert without_it(found)


def _missing(kind, *children, values=None):
    buffers = [FIRST_MISSING, *(values.buffers()[1:] if values is not None else [])]
    return pa.Array.from_buffers(kind, 3, buffers, children=list(children))


NAMES = pa.array([SECRET, "a", "b"])
TEXT = _missing(pa.string(), values=NAMES)
ENDS = pa.array([0, 1, 2, 3], pa.int32())
BELOW = {
    "text": TEXT,
    "field": pa.StructArray.from_arrays([TEXT], ["x"]),
    "structure": _missing(pa.struct([("x", pa.string())]), NAMES),
    "structure in a structure": pa.StructArray.from_arrays(
        [_missing(pa.struct([("x", pa.string())]), NAMES)], ["y"]
    ),
    "element": pa.ListArray.from_arrays(ENDS, TEXT),
    "list": pa.ListArray.from_arrays(ENDS, NAMES, mask=pa.array([True, False, False])),
    "fixed list": _missing(pa.list_(pa.string(), 1), NAMES),
    "item": pa.MapArray.from_arrays(ENDS, pa.array(["k", "k", "k"]), TEXT),
}


@pytest.mark.parametrize("place", BELOW)
def test_below_missing_values(place, tmp_path):
    column = BELOW[place]
    column.validate(full=True)
    assert SECRET not in str(column.to_pylist())
    table = pa.table({"lat": LAT, "lon": LON, "kept": column})
    assert not without_it(table)
    found = sf.release(IDENTITY, table, keep=["kept"])
    assert found["kept"].to_pylist() == column.to_pylist()
    found.validate(full=True)
    assert without_it(found)
    sf.release(IDENTITY, table, tmp_path / "private.arrow", keep=["kept"])
    assert SECRET.encode() not in (tmp_path / "private.arrow").read_bytes()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("first", range(0, 1500, 250))
def test_below_missing_values_of_random_types(first):
    for seed in range(first, first + 250):
        rng = np.random.default_rng(seed)
        column = random_column(random_type(rng), np.zeros(12, dtype=bool), rng)
        column.validate(full=True)
        part, rows = column.slice(2, 8), np.flatnonzero(rng.random(8) < 0.7)
        assert MARKER[:8] not in str(column.to_pylist()).encode()
        for chosen in (None, rows):
            found = copy_rows(part, "kept", chosen)
            found.validate(full=True)
            values = part.to_pylist()
            assert found.to_pylist() == [values[row] for row in (range(8) if chosen is None else chosen)], (
                column.type
            )
            assert MARKER[:8] not in written(pa.table({"kept": found})), column.type


@pytest.mark.thinned(2)
@pytest.mark.parametrize("columns", [66, 165])
@pytest.mark.parametrize("ending", ["arrow", "parquet", "csv"])
def test_below_missing_values_in_files(ending, columns, tmp_path):
    table, passed = pa.table({"lat": np.resize(LAT, 12), "lon": np.resize(LON, 12)}), 0
    for seed in range(columns):
        rng, target = np.random.default_rng(seed), tmp_path / f"{seed}.{ending}"
        column = random_column(random_type(rng), ~np.isin(np.arange(12), np.arange(1, 9)), rng)
        part = table.append_column("kept", column).slice(1, 8)
        with suppress(DataError, InputError):  # of types that Arrow cannot slice, or that the format does not hold
            sf.release(IDENTITY, part, target, keep=["kept"])
            assert MARKER[:8] not in target.read_bytes(), column.type
            passed += 1
    assert passed > columns * (30 if ending == "csv" else 120) / 165


@pytest.mark.parametrize("mode", ["sparse", "dense"])
def test_unions_are_refused(mode):
    kinds = pa.array([0, 0, 0], pa.int8())
    column = (
        pa.UnionArray.from_sparse(kinds, [NAMES])
        if mode == "sparse"
        else pa.UnionArray.from_dense(kinds, pa.array([0, 1, 2], pa.int32()), [NAMES])
    )
    table = pa.table({"lat": LAT, "lon": LON, "kept": column})
    with pytest.raises(DataError, match="cannot be kept"):
        sf.release(IDENTITY, table, keep=["kept"])
    assert len(sf.release(IDENTITY, table)) == 3


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([{"x": "a"}, {"x": "b" * 30}, None]),
        pl.Series([[{"x": "a"}], None, []]),
        pl.Series([["a", "b"]] * 3, dtype=pl.Array(pl.String, 2)),
        pl.Series([{"x": "a"}, {"x": "b"}, None], dtype=pl.Struct({"x": pl.Categorical})),
        pl.Series(["a", None, "b"], dtype=pl.Categorical),
        pl.Series([None] * 3),
    ],
    ids=["structures", "lists of structures", "arrays", "structures of categories", "categories", "nothing"],
)
def test_columns_of_polars_that_are_kept(column):
    found = sf.release(IDENTITY, pl.DataFrame({"lat": LAT, "lon": LON, "kept": column}), keep=["kept"])
    assert found["kept"].to_list() == column.to_list()


@pytest.mark.parametrize("kind", [pl.Object, pl.Int128])
def test_columns_of_polars_that_arrow_does_not_know(kind):
    values = [object()] * 3 if kind == pl.Object else [1, 2, 3]
    frame = pl.DataFrame({"lat": LAT, "lon": LON, "odd": pl.Series(values, dtype=kind)})
    assert sf.release(IDENTITY, frame).columns == ["latitude", "longitude", "label"]
    with pytest.raises(DataError, match=r"the column 'odd' of type .* cannot be read"):
        sf.release(IDENTITY, frame, keep=["odd"])


class OnlyBatches:
    """A batch of a library that speaks of arrays alone."""

    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


class OnlyStreams(OnlyBatches):
    __arrow_c_array__ = None  # type: ignore[assignment]

    def __arrow_c_stream__(self, requested_schema=None):
        return self._batch.__arrow_c_stream__(requested_schema)


def test_any_library_that_speaks_of_arrays_or_of_streams(tmp_path):
    batch = pa.record_batch({"lat": LAT, "lon": LON})
    assert type(sf.release(IDENTITY, OnlyBatches(batch))) is pa.RecordBatch
    assert type(sf.release(IDENTITY, OnlyStreams(batch))) is pa.Table
    assert sf.release(IDENTITY, OnlyBatches(batch), tmp_path / "private.csv").rows == 3
    for column in (pa.array([1.0]), pa.chunked_array([[1.0]]), pl.Series([1.0])):
        with pytest.raises(DataError, match="could not be read as an Arrow table"):
            sf.release(IDENTITY, column)


def test_a_connection_of_duckdb_that_takes_no_tables_is_refused_before_anything_is_drawn():
    for option in ("python_enable_replacements", "enable_external_access"):
        with duckdb.connect(config={option: False}) as con:
            con.execute("CREATE TABLE visits AS SELECT 48.85 AS lat, 2.35 AS lon")
            with pytest.raises(DataError, match=r"takes no tables from Python[\s\S]*to_arrow_table"):
                sf.release(IDENTITY, con.table("visits"))
            assert con.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone() == (0,)
            assert con.execute("SHOW TABLES").fetchall() == [("visits",)]


def test_relations_read_only_within_a_transaction_and_beside_views_of_any_name(tmp_path):
    where = str(tmp_path / "visits.db")
    with duckdb.connect(where) as con:
        con.execute("CREATE TABLE visits AS SELECT 48.85 AS lat, 2.35 AS lon FROM range(3)")
        con.execute("CREATE VIEW sfumato_true_rows AS SELECT 1")
        con.execute("BEGIN")
        assert sf.release(IDENTITY, con.table("visits")).shape == (3, 3)
        con.execute("COMMIT")
        assert con.execute("FROM sfumato_true_rows").fetchall() == [(1,)]
    with duckdb.connect(where, read_only=True) as con:
        with suppress(DataError):  # of versions whose queries over relations need a view in the database
            assert sf.release(IDENTITY, con.table("visits")).shape == (3, 3)
        assert con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == [
            ("sfumato_true_rows",)
        ]
