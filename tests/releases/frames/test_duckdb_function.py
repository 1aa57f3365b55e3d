"""A column function for DuckDB: drawn in its threads, by the same law, whatever is in the columns."""

import subprocess
import sys

import duckdb
import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.mechanisms import DiscreteLaplace, LocalHashing
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import create_duckdb_function
from tests.sampling.test_sampler import BY_CHANCE, chance

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
BLUR = sf.Mechanism(0.5 * np.eye(8) + np.full((8, 8), 1 / 16), GRID)
LETTERS = sf.Mechanism(np.eye(3), sf.Space("abc"))

THREADS = """
import duckdb, numpy as np, sfumato as sf
from sfumato.releases import create_duckdb_function
city = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "500 m")
with duckdb.connect() as con:  # closing it joins its threads: one that outlives the interpreter aborts the process
    con.execute("SET threads = 4")
    create_duckdb_function(con, "blur", sf.Mechanism(np.eye(len(city)), city), outside="nearest", within="9 km")
    con.execute("CREATE TABLE t AS SELECT 48.85 + random() / 50 lat, 2.35 + random() / 50 lon FROM range(600000)")
    print(con.execute("SELECT count(r.label) FROM (SELECT blur(lat, lon) AS r FROM t)").fetchone()[0])
"""


@pytest.fixture
def connection():
    with duckdb.connect() as found:
        found.execute("SET threads = 4")
        yield found


@pytest.mark.slow
def test_it_runs_in_the_threads_of_duckdb_without_a_crash():
    """In a process of its own: pyproj, called from these threads, ends a process by a segmentation fault."""
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[-1:]) == (0, ["600000"]), done.stderr


def test_reports_follow_the_mechanism_also_for_a_constant(connection):
    create_duckdb_function(connection, "blur", BLUR)
    lat, lon = GRID.latlon[5]
    query = f"SELECT r.label, count(*) FROM (SELECT blur({lat}, {lon}) AS r FROM range(50000)) GROUP BY ALL"
    found = dict(connection.execute(query).fetchall())
    counts = np.array([found.get(label, 0) for label in GRID.labels])
    assert counts.sum() == 50_000
    assert chance(counts, BLUR.matrix[5]) > BY_CHANCE


def test_duckdb_keeps_no_draw_for_the_next_row_nor_for_another_place(connection):
    """Two uniform reports of eight are equal one time in eight: 250 of 2,000, with a standard deviation of 15."""
    create_duckdb_function(connection, "blur", sf.Mechanism(np.full((8, 8), 1 / 8), GRID))
    found = connection.execute("SELECT DISTINCT stability FROM duckdb_functions() WHERE function_name = 'blur'")
    assert found.fetchall() == [("VOLATILE",)]
    lat, lon = GRID.latlon[5]
    one = f"blur({lat}, {lon}).label"
    equal = f"SELECT count(*) FROM (SELECT {one} AS a, {one} AS b FROM range(2000)) WHERE a = b"
    assert 140 < connection.execute(equal).fetchone()[0] < 360
    where = f"SELECT count(*) FROM range(2000) WHERE {one} = '{GRID.labels[0]}'"
    assert 140 < connection.execute(where).fetchone()[0] < 360
    prepared = "SELECT count(DISTINCT blur(?, ?).label) FROM range(2000)"
    for _ in range(2):
        assert connection.execute(prepared, [lat, lon]).fetchall() == [(8,)]


def test_views_draw_each_time_that_they_are_read_and_tables_do_not(connection):
    create_duckdb_function(connection, "blur", BLUR)
    lat, lon = GRID.latlon[5]
    query = f"AS SELECT i, blur({lat}, {lon}).label AS label FROM range(500) AS t(i)"
    connection.execute(f"CREATE VIEW again {query}")
    connection.execute(f"CREATE TABLE once {query}")
    both = "SELECT count(*) FROM {0} AS a JOIN {0} AS b USING (i) WHERE a.label != b.label"
    assert connection.execute(both.format("again")).fetchone()[0] > 100
    assert connection.execute(both.format("once")).fetchone() == (0,)
    connection.execute(f"CREATE TABLE stored {query}")
    differs = "SELECT count(*) FROM stored JOIN once USING (i) WHERE stored.label != once.label"
    assert connection.execute(differs).fetchone()[0] > 100  # a query that runs twice


def test_rows_without_a_position_in_many_threads(connection):
    create_duckdb_function(connection, "blur", BLUR, outside="drop")
    lat, lon = GRID.latlon[5]
    connection.execute(
        f"CREATE TABLE visits AS SELECT CASE WHEN i % 3 = 0 THEN NULL WHEN i % 3 = 1 THEN {lat} "
        f"ELSE 'nan'::DOUBLE END AS lat, {lon} AS lon, i FROM range(300000) AS t(i)"
    )
    query = (
        "SELECT i % 3, count(r), count(*) FROM (SELECT i, blur(lat, lon) AS r FROM visits) GROUP BY 1 ORDER BY 1"
    )
    assert connection.execute(query).fetchall() == [(0, 0, 100_000), (1, 100_000, 100_000), (2, 0, 100_000)]
    assert connection.execute("SELECT blur(lat, lon) FROM visits LIMIT 0").fetchall() == []


def test_noise_for_coordinates(connection):
    noise = CoordinateNoise("5/km", "2 m", GRID.projection)
    create_duckdb_function(connection, "noisy", noise)
    lat, lon = GRID.latlon[5]
    found = connection.execute(f"SELECT r.* FROM (SELECT noisy({lat}, {lon}) AS r FROM range(300))").fetchall()
    assert len(set(found)) > 290
    assert np.hypot(*(np.array(found) - [lat, lon]).T).mean() < 0.02


def test_fields_of_an_inner_query_are_of_one_draw(connection):
    create_duckdb_function(connection, "blur", BLUR)
    lat, lon = GRID.latlon[5]
    connection.execute(f"CREATE TABLE visits AS SELECT {lat} AS lat, {lon} AS lon FROM range(5000)")
    rows = connection.execute(
        "SELECT r.label, r.latitude, r.longitude FROM (SELECT blur(lat, lon) AS r FROM visits)"
    ).fetchall()
    places = dict(zip(GRID.labels, np.round(GRID.latlon, 7).tolist(), strict=True))
    assert all(places[label] == [latitude, longitude] for label, latitude, longitude in rows)


def test_rows_outside(connection):
    create_duckdb_function(connection, "blur", BLUR)
    create_duckdb_function(connection, "blur_or_null", BLUR, outside="drop")
    create_duckdb_function(connection, "blur_near", BLUR, outside="nearest", within="20 km")
    rows = "FROM (VALUES (48.85), (48.9), (NULL)) AS t(lat)"
    for lat, told in (("48.9", "1 of 1 rows is not at any"), ("NULL", "1 of 1 rows has no position")):
        with pytest.raises(duckdb.InvalidInputException, match=told):
            connection.execute(f"SELECT blur({lat}, 2.35)")
    found = connection.execute(f"SELECT blur_or_null(lat, 2.35) IS NULL {rows}").fetchall()
    assert found == [(False,), (True,), (True,)]
    assert connection.execute("SELECT blur_near(48.9, 2.35).label").fetchone()[0] in GRID.labels


@pytest.mark.parametrize(
    ("drawable", "given", "fits"),
    [
        (LETTERS, "'b'", lambda found: found == "b"),
        (sf.Mechanism(np.eye(3), sf.Space(range(3))), "2", lambda found: found == 2),
        (DiscreteLaplace(50.0), "7", lambda found: found == 7),
        (Tupling(LETTERS, 2, [1 / 3] * 3), "'b'", lambda found: len(found) == 3 and "b" in found),
        (LocalHashing(sf.Space("abc"), 1.0), "'a'", lambda found: all(isinstance(each, int) for each in found)),
    ],
    ids=["labels", "numbers", "noise", "tuples", "oracle"],
)
def test_one_column_gives_one_column(connection, drawable, given, fits):
    create_duckdb_function(connection, "report", drawable)
    assert fits(connection.execute(f"SELECT report({given})").fetchone()[0])


def test_what_cannot_be_a_column_function_is_refused(connection, tmp_path):
    with pytest.raises(InputError, match="not the name of a function"):
        create_duckdb_function(connection, "a b", LETTERS)
    create_duckdb_function(connection, "twice", LETTERS)
    with pytest.raises(InputError, match=r"made no function 'twice'[\s\S]*remove_function"):
        create_duckdb_function(connection, "twice", LETTERS)
    with pytest.raises(InputError, match="a str is not a DuckDB connection"):
        create_duckdb_function("warehouse.duckdb", "a", LETTERS)
    with pytest.raises(InputError, match="unknown"):
        create_duckdb_function(connection, "a", BLUR, outside="maybe")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no nearest label"):
        create_duckdb_function(connection, "a", LETTERS, outside="nearest")
    lattice = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "2 km")
    promise = sf.CoordinatePrivacy("1/km")
    loss = lattice.metric("euclidean", "km")
    made = sf.design(sf.Prior.uniform(lattice), loss=loss, guarantees=promise, method="table").mechanism
    assert "Proved from the integers" in create_duckdb_function(connection, "proved", made)[0]
    with pytest.raises(InputError, match="cannot charge users"):
        create_duckdb_function(connection, "a", sf.Blur(made, sf.Ledger.create(tmp_path / "l.db", "3/km")))


def test_the_hint_about_rows_outside_says_what_the_function_gives(connection):
    labels = sf.Mechanism(np.eye(2), sf.Space(["a", "b"]))
    create_duckdb_function(connection, "bd", labels)
    with pytest.raises(duckdb.InvalidInputException, match="1 of 1 rows is not at any") as caught:
        connection.execute("SELECT bd('xx')")
    assert "outside='drop', which gives NULL in such rows" in str(caught.value)
    assert "leave them out" not in str(caught.value)
    create_duckdb_function(connection, "bd_or_null", labels, outside="drop")
    assert connection.execute("SELECT bd_or_null('xx')").fetchall() == [(None,)]
