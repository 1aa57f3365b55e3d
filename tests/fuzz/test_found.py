"""Findings of fuzzing, each in its smallest form."""

import json
import sqlite3
from contextlib import closing, suppress
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError, FileError, InputError
from sfumato.files import read_matrix, read_npy
from sfumato.geo import read_visits
from sfumato.ledgers import Charge, Ledger, migrate
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.tables import BatchWriter, Source, read_columns, stream_of, text_stream

from .readers.arrow import ANSWERS, BLUR, GRID


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not an array"),
        (b"\x93NUMPY\x01\x00\x04\x00{(}\n", "is not an array"),
        (b"\x93NUMPY\x01\x00\x03\x00{'\n", "is not an array"),
        (b"\x93NUMPY\x03\x00\x03\x00{}\n", "is not an array"),
        (b"\x93NUMPY\x01\x00", "is not an array"),
        (b"PK\x03\x04", "is not an array"),
    ],
)
def test_a_cut_or_foreign_array_is_refused(tmp_path, data, words):
    (tmp_path / "m.npy").write_bytes(data)
    with pytest.raises(DataError, match=words):
        read_matrix(tmp_path / "m.npy")


def test_an_array_takes_no_more_memory_than_its_file(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(9))
    data = (tmp_path / "m.npy").read_bytes().replace(b"(9, 9), }            ", b"(9999999999, 9999), }", 1)
    assert len(data) == (tmp_path / "m.npy").stat().st_size
    (tmp_path / "m.npy").write_bytes(data)
    with pytest.raises(DataError, match="do not fit its shape"):
        read_npy(tmp_path / "m.npy")
    np.save(tmp_path / "f.npy", np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert read_npy(tmp_path / "f.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"secret": ["a"], "observable": ["x"], "weight": [float("inf")]}, "not an integer"),
        ({"secret": ["a"], "observable": ["x"], "weight": [1.5]}, "not an integer"),
        ({"secret": [["a"]], "observable": ["x"], "probability": [1.0]}, "lists or mappings"),
        ({"secret": pa.array([1], pa.timestamp("s", "Nowhere/Land")), "x": [1.0]}, "not a valid table"),
    ],
)
def test_odd_columns_of_a_matrix_are_refused(tmp_path, columns, words):
    parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
    with pytest.raises(DataError, match=words):
        read_matrix(tmp_path / "m.parquet")


def test_two_columns_of_one_name_are_refused_everywhere(tmp_path):
    doubled = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], ["lat", "lon", "lon"])
    parquet.write_table(doubled, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("lat,lon,lon\n1,2,3\n")
    for path in (tmp_path / "t.parquet", tmp_path / "t.csv"):
        for read in (read_visits, lambda path: read_columns(path, ["lat"])):
            with pytest.raises(DataError, match="more than one column 'lon'"):
                read(path)
    # A file holds both =a and '=a, the second of which is how the first is written.
    (tmp_path / "t.csv").write_text("=a,'=a\n1,2\n")
    with pytest.raises(DataError, match="more than one column '=a'"):
        text_stream(Source.of(tmp_path / "t.csv"))


def test_names_of_columns_that_are_not_utf_8(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\x9f,b\n1,2\n")
    with pytest.raises(DataError, match="cannot be read as a table"):
        read_columns(tmp_path / "t.csv", ())


@pytest.mark.parametrize(
    "geo",
    [
        {"primary_column": ["geometry"], "columns": {}},
        {"primary_column": "geometry", "columns": {"geometry": None}},
        {"primary_column": "geometry", "columns": {"geometry": "WKB"}},
        "[" * 100_000,
        3,
    ],
)
def test_damaged_metadata_of_geoparquet(tmp_path, geo):
    table = pa.table({"geometry": [b"\x01" + b"\x01\0\0\0" + bytes(16)]})
    text = geo if isinstance(geo, str) else json.dumps(geo)
    parquet.write_table(table.replace_schema_metadata({"geo": text}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"metadata of .* are damaged"):
        read_visits(tmp_path / "t.parquet")


def test_a_text_that_is_named_like_an_arrow_table(tmp_path):
    (tmp_path / "t.arrow").write_text("lat,lon\n48,2\n")  # its first letters would be a length of 746 MB
    with pytest.raises(DataError, match="does not begin like one"):
        stream_of(Source.of(tmp_path / "t.arrow"))


@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_text_that_would_end_behind_the_end_of_an_arrow_file(tmp_path, make):
    path = tmp_path / "t.arrow"
    table = pa.table({"answer": ["abcdefgh", "ij"]})
    with make(str(path), table.schema) as writer:
        writer.write_table(table)
    ends = np.array([0, 8, 10], "<i4").tobytes()
    data = path.read_bytes()
    assert data.count(ends) == 1
    path.write_bytes(data.replace(ends, np.array([0, 8, 2**30], "<i4").tobytes()))
    stream = stream_of(Source.of(path))
    assert stream is not None
    with pytest.raises(DataError, match="not a valid table"):
        list(stream.batches(["answer"]))
    with pytest.raises(DataError, match="not a valid table"):
        sf.release(ANSWERS, path, tmp_path / "out.csv", column="answer", outside="drop")


def test_a_parquet_file_that_claims_other_rows_than_it_has(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"answer": list("abcabcab")}), path)
    data, claim = path.read_bytes(), b"\x16\x10\x19"  # eight rows, and then the list of groups
    path.write_bytes(data.replace(claim, b"\x16\x12\x19", 1))
    with pytest.raises(DataError, match="claims to hold 9 rows, but its parts hold 8"):
        stream_of(Source.of(path))


def test_users_that_are_infinite(tmp_path):
    table = pa.table({"lat": [48.0, 48.1], "lon": [2.0, 2.1], "user": [float("inf"), None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_visits(tmp_path / "t.parquet").users() == {"inf": 1}


def test_a_table_without_columns(tmp_path):
    parquet.write_table(pa.table({}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="has no column 'answer'"):
        sf.release(ANSWERS, tmp_path / "t.parquet", tmp_path / "out.csv", column="answer")
    with pytest.raises(DataError, match="has no column 'answer'"):
        read_columns(tmp_path / "t.parquet", ["answer"])


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "l.db"
    with closing(Ledger.create(path, "20/km")) as made:
        made.charge_many([Charge("ada", 2), Charge("bob", 0.5)], run="r", batch=4)
        made.reports(["ada"], ["home"], 1, lambda visits: [7 for _ in visits], b"m")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


def changed(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_changed_contents_of_a_batch_are_found(ledger):
    """Another batch would pass for the one that was charged, and be drawn for nothing."""
    changed(ledger, "UPDATE sfumato_batches SET contents = 'other'")
    with closing(Ledger(ledger)) as opened:
        found = opened.check()
        assert not found.sound
        assert any("the batch 4 of the run" in problem for problem in found.problems)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("charges", "number"), ("charges", "time"), ("charges", "name"), ("charges", "amount")),
        *(("places", "charge"), ("places", "key"), ("places", "report")),
        *(("accounts", "name"), ("accounts", "spent"), ("accounts", "day"), ("accounts", "reports")),
        *(("batches", "contents"), ("batches", "first")),
        *(("ledger", "number"), ("ledger", "time"), ("ledger", "limits"), ("ledger", "created")),
    ],
)
@pytest.mark.parametrize("value", ["x'fffe'", "NULL", "1.5", "'text'"])
def test_values_of_other_types_are_found_and_crash_nothing(ledger, table, column, value):
    copied = f"CREATE TABLE copied AS SELECT * FROM sfumato_{table}"
    with closing(sqlite3.connect(ledger)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info(sfumato_{table})")]
    remade = f"CREATE TABLE sfumato_{table} ({', '.join(columns)})"  # without types and conditions
    filled = f"INSERT INTO sfumato_{table} SELECT * FROM copied"
    one = f"UPDATE sfumato_{table} SET {column} = {value} WHERE rowid = 1"
    changed(ledger, copied, f"DROP TABLE sfumato_{table}", remade, filled, "DROP TABLE copied", one)
    with suppress(FileError), closing(Ledger(ledger)) as opened:
        assert not opened.check().sound
        assert opened.balance("cy").spent == 0
        _ = opened.head, opened.users


def test_a_ledger_whose_own_texts_are_not_utf_8(ledger):
    data = ledger.read_bytes()
    assert data.count(b"CREATE TABLE sfumato_ledger") == 1
    for flipped in range(
        data.index(b"CREATE TABLE sfumato_ledger"), data.index(b"CREATE TABLE sfumato_ledger") + 40
    ):
        ledger.write_bytes(data[:flipped] + b"\x82" + data[flipped + 1 :])
        with suppress(FileError), closing(Ledger(ledger)) as opened:
            opened.check()


def test_a_head_that_names_no_charge(ledger):
    changed(ledger, "UPDATE sfumato_ledger SET number = -6")
    with pytest.raises(FileError, match="its head names no charge"):
        Ledger(ledger)


@pytest.mark.parametrize("blank", [b"\x85", b"\x1c\n", b"\xc2\x85"])
def test_a_file_of_nothing_but_blanks(tmp_path, blank):
    (tmp_path / "t.csv").write_bytes(blank)
    with pytest.raises(DataError):
        read_visits(tmp_path / "t.csv")
    with pytest.raises(DataError):
        text_stream(Source.of(tmp_path / "t.csv"))


@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_names_of_arrow_columns_that_are_not_utf_8(tmp_path, make):
    table = pa.table({"answer": ["a"]})
    with make(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    data = (tmp_path / "t.arrow").read_bytes()
    (tmp_path / "t.arrow").write_bytes(data.replace(b"answer", b"\xf5nswer"))
    with pytest.raises(DataError, match="not a valid table"):
        stream_of(Source.of(tmp_path / "t.arrow"))


def test_texts_of_parquet_that_are_not_utf_8(tmp_path):
    table = pa.table({"lat": [48.85], "lon": [2.35], "answer": ["abcabc"]})
    parquet.write_table(
        table, tmp_path / "t.parquet", compression="none", use_dictionary=False, write_statistics=False
    )
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data.replace(b"abcabc", b"\xf5bcabc"))
    with pytest.raises(DataError, match="not a valid"):
        read_visits(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="not a valid"):
        sf.release(ANSWERS, tmp_path / "t.parquet", tmp_path / "out.csv", column="answer", outside="drop")


def test_coordinates_whose_squares_are_no_numbers():
    """Their distances would be infinite, and nothing would be promised of them."""
    with pytest.raises(InputError, match="beyond 1e\\+150"):
        sf.Space("ab", [[1e300], [0.0]], "km")


def test_a_number_of_cells_that_python_refuses_to_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["sfumato", "design", "--cells", "1" * 5000 + "x2", "--epsilon", "1/km"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "write columns x rows" in " ".join(capsys.readouterr().err.split())


def test_a_table_of_no_rows_whose_columns_hold_no_numbers(tmp_path):
    nothing = pa.table({"lat": pa.array([], pa.list_(pa.float64())), "lon": pa.array([], pa.float64())})
    parquet.write_table(nothing, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="holds no rows"):
        read_visits(tmp_path / "t.parquet")


@pytest.mark.parametrize("limits", ['{"ever":\t"20"}', '{"ever": "1", "ever": "20"}', ' {"ever": "20"}'])
def test_limits_that_mean_the_same_but_were_written_otherwise(ledger, limits):
    changed(ledger, f"UPDATE sfumato_ledger SET limits = '{limits}'")
    with suppress(FileError), closing(Ledger(ledger)) as opened:
        assert not opened.check().sound


def test_the_number_of_the_row_of_terms(ledger):
    changed(ledger, "PRAGMA ignore_check_constraints = 1", "UPDATE sfumato_ledger SET id = 2")
    with pytest.raises(FileError, match="its row has another number"):
        Ledger(ledger)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_views_of_texts_in_files(tmp_path, ending):
    lat, lon = GRID.latlon[:2].T
    table = pa.table({"lat": lat, "lon": lon, "user": pa.array(["ada", "bob"], pa.string_view())})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path)
        assert read_visits(path).users() == {"ada": 1, "bob": 1}
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    assert sf.release(BLUR, path, tmp_path / "out.csv", keep=["user"]).rows == 2
    (tmp_path / "folder").mkdir()
    path.rename(tmp_path / "folder" / path.name)
    assert sf.release(BLUR, tmp_path / "folder", tmp_path / "again.csv", keep=["user"], again=True).rows == 2


def test_two_rows_of_terms(ledger):
    terms = "CREATE TABLE copied AS SELECT * FROM sfumato_ledger"
    twice = "INSERT INTO sfumato_ledger SELECT * FROM copied UNION ALL SELECT * FROM copied"
    loose = "CREATE TABLE sfumato_ledger AS SELECT * FROM copied WHERE 0"
    changed(ledger, terms, "DROP TABLE sfumato_ledger", loose, twice)
    with pytest.raises(FileError, match="cannot be used"):
        Ledger(ledger)


def test_an_array_of_python_2_is_read_without_a_warning(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(2))
    data = (tmp_path / "m.npy").read_bytes()
    (tmp_path / "m.npy").write_bytes(data.replace(b"(2, 2), }  ", b"(2L, 2L), }", 1))
    assert read_npy(tmp_path / "m.npy").tolist() == [[1, 0], [0, 1]]


def test_a_message_is_not_as_long_as_the_file(tmp_path):
    sf.save(ANSWERS, tmp_path / "m.sfm")
    data = bytearray((tmp_path / "m.sfm").read_bytes())
    data[26:28] = (len(data) - 40).to_bytes(2, "little")  # of the name of the first member
    (tmp_path / "m.sfm").write_bytes(data)
    with pytest.raises(FileError, match="cut off or damaged") as caught:
        sf.load(tmp_path / "m.sfm")
    assert len(caught.value.problem) < 500


def test_more_reports_than_a_database_counts(tmp_path):
    users = {"Zo\u00eb": {"spent": "1", "reports": 2**63 - 1}, "Zoe\u0308": {"spent": "1", "reports": 1}}
    content = {"format": "sfumato ledger", "version": 1, "limit": "3", "unit": "km", "users": users}
    (tmp_path / "old.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match="reports"):
        migrate(tmp_path / "old.json", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_file_is_closed_whose_columns_the_format_does_not_have(tmp_path):
    schema = pa.schema([("x", pa.month_day_nano_interval())])
    with pytest.raises(pa.ArrowNotImplementedError):
        BatchWriter(tmp_path / "t.parquet", schema, ".parquet")


def test_labels_that_are_not_a_number_are_one(tmp_path):
    with pytest.raises(InputError, match="stands at positions 0 and 1"):
        sf.Space([float("nan"), np.float64("nan")])
    once = sf.Mechanism([[0.5, 0.5]], observables=sf.Space([float("nan"), 1.0]))
    sf.save(once, tmp_path / "m.sfm")
    assert sf.load(tmp_path / "m.sfm") == once


def test_times_that_python_does_not_have_in_place_of_latitudes(tmp_path):
    times = pa.array([2**62], pa.timestamp("ms"))
    parquet.write_table(pa.table({"lat": times, "lon": [2.0]}), tmp_path / "t.parquet")
    with pytest.raises(DataError):
        read_visits(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="not a number"):
        sf.release(BLUR, tmp_path / "t.parquet", tmp_path / "out.csv")


@pytest.mark.parametrize("label", ["1\x1f", "\u00b2", "\u0663", "9" * 4500])
def test_labels_that_look_like_whole_numbers(tmp_path, label):
    text = f"secret,observable,probability\n{label},x,1\n"
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    (found,) = read_matrix(tmp_path / "m.csv").secrets.labels
    assert found == (1 if label == "1\x1f" else label)


@pytest.mark.parametrize("epsilon", [5e-324, 1e308])
def test_noise_whose_rate_is_no_number(epsilon):
    with pytest.raises(InputError, match=r"scale|cannot be used"):
        CoordinateNoise(epsilon, Fraction(1, 10**300) if epsilon < 1 else Fraction(10**7))
