"""Sources of every kind are released alike, and nothing of rows left out is in what is written."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.releases import prepare

CITY = sf.Grid.covering("8 km x 6 km around 48.85,2.35", shape=(8, 6))
KEEP = sf.Mechanism(np.eye(len(CITY)), CITY)
N = 500
RNG = np.random.default_rng(11)
CELLS = RNG.integers(0, len(CITY), N)
TABLE = pa.table(
    {
        "lat": CITY.latlon[CELLS, 0],
        "lon": CITY.latlon[CELLS, 1],
        "user": [f"u{k % 7}" for k in range(N)],
        "id": np.arange(N),
    }
)
EXPECTED = [CITY.labels[cell] for cell in CELLS]


def wkb(table):
    rows = zip(table["lon"].to_pylist(), table["lat"].to_pylist(), strict=True)
    return [b"\x01\x01\x00\x00\x00" + np.array(row, "<f8").tobytes() for row in rows]


def written(kind, folder):
    path = folder / f"in.{kind}"
    if kind == "csv":
        pc.write_csv(TABLE, path)
    elif kind == "csv.gz":
        pc.write_csv(TABLE, folder / "plain.csv")
        path.write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
        (folder / "plain.csv").unlink()
    elif kind == "semicolons.csv":
        lines = [
            f"{lat};{lon};{user};{number}".replace(".", ",")
            for lat, lon, user, number in zip(
                *(TABLE[name].to_pylist() for name in TABLE.column_names), strict=True
            )
        ]
        path.write_text("\n".join(["lat;lon;user;id", *lines]))
    elif kind == "parquet":
        pq.write_table(TABLE, path, row_group_size=37)
    elif kind == "geoparquet":
        geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
        table = TABLE.drop(["lat", "lon"]).append_column("geometry", [wkb(TABLE)])
        pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    elif kind in ("arrow", "stream.arrow"):
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(path, TABLE.schema) as writer:
            writer.write_table(TABLE, max_chunksize=41)
    elif kind == "partitioned":
        path.mkdir()
        for day in range(5):
            (path / f"day=2024-05-0{day + 1}").mkdir()
            pq.write_table(TABLE.slice(day * 100, 100), path / f"day=2024-05-0{day + 1}" / "part.parquet")
    else:
        path.mkdir()
        for k in range(3):
            part = TABLE.slice(k * 200, 200)
            if kind == "folder of csv":
                pc.write_csv(part, path / f"{k}.csv")
            else:
                with pa.ipc.new_file(path / f"{k}.arrow", part.schema) as writer:
                    writer.write_table(part)
    return path


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "kind",
    [
        "csv",
        "csv.gz",
        "semicolons.csv",
        "parquet",
        "geoparquet",
        "arrow",
        "stream.arrow",
        "partitioned",
        "folder of csv",
        "folder of arrow",
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_rows_keep_their_number_and_order(tmp_path, kind, ending):
    source, target = written(kind, tmp_path), tmp_path / f"out.{ending}"
    done = prepare(KEEP, source, target, keep=["id"], batch_rows=70).run()
    assert done.rows == N
    found = {"csv": pc.read_csv, "parquet": pq.read_table, "arrow": lambda path: pa.ipc.open_file(path).read_all()}
    table = found[ending](target)
    assert [int(value) for value in table["id"].to_pylist()] == list(range(N))
    assert table["label"].to_pylist() == EXPECTED
    assert "72 reports of one person" in " ".join(done.promises)
    assert "(7 users)" in " ".join(done.promises)


class Frame:
    """A table of some other library: all that is known is that it speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("frame", [TABLE, Frame()], ids=["arrow", "other"])
def test_tables_in_memory(tmp_path, frame):
    done = prepare(KEEP, frame, tmp_path / "out.parquet", keep=["id"], batch_rows=64).run()
    assert done.rows == N
    assert pq.read_table(tmp_path / "out.parquet")["label"].to_pylist() == EXPECTED


def test_rows_that_repeat_are_all_released(tmp_path):
    (tmp_path / "in.csv").write_text("lat,lon,time\n" + "48.85,2.35,2024-01-01T00:00:00Z\n" * 9)
    assert sf.release(KEEP, tmp_path / "in.csv", tmp_path / "out.csv").rows == 9


def test_partitions_can_be_kept(tmp_path):
    source = written("partitioned", tmp_path)
    sf.release(KEEP, source, tmp_path / "out.parquet", keep=["day"])
    days = pq.read_table(tmp_path / "out.parquet")["day"].to_pylist()
    assert [str(day) for day in days[::100]] == [f"2024-05-0{day}" for day in range(1, 6)]


SECRET = "the only visitor of the far clinic"
KINDS_OF_NAMES = {
    "dictionary": lambda names: pa.array(names).dictionary_encode(),
    "text": pa.array,
    "view": lambda names: pa.array(names, pa.string_view()),
    "list": lambda names: pa.array([[name, name] for name in names]),
    "struct": lambda names: pa.array([{"name": name} for name in names]),
}


def with_a_secret(kind, folder, ending):
    """Write a table in which the one row that lies outside has a name that no other has."""
    names = KINDS_OF_NAMES[kind]([SECRET if k == 3 else f"name {k % 4}" for k in range(N)])
    table = TABLE.drop(["user"]).append_column(
        pa.field("who", names.type, metadata={"note": "a secret note"}), names
    )
    table = table.set_column(0, "lat", pa.array(np.where(np.arange(N) == 3, 10.0, np.array(TABLE["lat"]))))
    table = table.replace_schema_metadata({"pandas": "a secret index", "geo": "{}"})
    path = folder / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(table, path, write_statistics=True, compression="none")
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table.combine_chunks())
    assert SECRET.encode() in path.read_bytes()
    return path


@pytest.mark.thinned(3)
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        *((kind, "arrow") for kind in KINDS_OF_NAMES),
        *((kind, "parquet") for kind in KINDS_OF_NAMES if kind != "view"),
    ],
)
def test_nothing_of_dropped_rows_is_in_the_bytes(tmp_path, monkeypatch, kind, given, ending):
    """The table is written without compression, so that its bytes hide nothing."""
    parquet, arrow = pq.ParquetWriter, pa.ipc.new_file
    bare = pa.ipc.IpcWriteOptions(unify_dictionaries=True)
    source = with_a_secret(kind, tmp_path, given)
    monkeypatch.setattr(pq, "ParquetWriter", lambda *rest: parquet(*rest, compression="none"))
    monkeypatch.setattr(pa.ipc, "new_file", lambda sink, schema, **_: arrow(sink, schema, options=bare))
    target = tmp_path / f"out.{ending}"
    if ending == "csv" and kind in ("list", "struct"):
        with pytest.raises(InputError, match="cannot be kept in a table of text"):
            sf.release(KEEP, source, target, outside="drop", keep=["who"])
        return
    done = sf.release(KEEP, source, target, outside="drop", keep=["who"])
    assert (done.rows, done.dropped) == (N - 1, 1)
    content = target.read_bytes()
    assert b"name 2" in content
    if ending == "parquet":
        content += str(pq.read_metadata(target).to_dict()).encode()
        assert set(pq.read_metadata(target).metadata) == {b"sfumato", b"ARROW:schema"}
        assert all(field.metadata is None for field in pq.read_schema(target))
    for word in (SECRET, "clinic", "a secret note", "a secret index"):
        assert word.encode() not in content


def test_positions_of_the_source_are_not_in_the_bytes(tmp_path):
    beside = TABLE.set_column(0, "lat", pa.array(np.array(TABLE["lat"]) + 1e-4))
    pq.write_table(beside, tmp_path / "in.parquet")
    sf.release(KEEP, tmp_path / "in.parquet", tmp_path / "out.parquet")
    content = (tmp_path / "out.parquet").read_bytes()
    assert not any(value.tobytes() in content for value in np.array(beside["lat"]))


def test_tables_that_cannot_be_read(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(DataError, match="holds no tables"):
        sf.release(KEEP, folder, tmp_path / "out.csv")
    (folder / "a.csv").write_text("lat,lon\n48.85,2.35\n")
    (folder / "b.csv").write_text("north,east\n48.85,2.35\n")
    with pytest.raises(DataError, match="has other columns"):
        sf.release(KEEP, folder, tmp_path / "out.csv")
    (folder / "b.csv").unlink()
    pq.write_table(TABLE, folder / "b.parquet")
    with pytest.raises(DataError, match="tables of several kinds"):
        sf.release(KEEP, folder, tmp_path / "out.csv")
    short = tmp_path / "short.parquet"
    short.write_bytes((folder / "b.parquet").read_bytes()[:-20])
    with pytest.raises(DataError, match="not a valid table"):
        sf.release(KEEP, short, tmp_path / "out.csv")
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("lat,lon\n48.85,2.35\n48.85\n")
    with pytest.raises(DataError, match="not a valid table"):
        sf.release(KEEP, ragged, tmp_path / "out.csv")
    empty = tmp_path / "empty.csv"
    empty.write_text("lat,lon\n")
    with pytest.raises(DataError, match="holds no rows"):
        sf.release(KEEP, empty, tmp_path / "out.csv")
    for name in ("out.csv", ".out.csv.release", ".out.csv.released.json"):
        assert not (tmp_path / name).exists()


def test_compressed_text_in_a_folder_is_read_too(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    pc.write_csv(TABLE.slice(0, 200), folder / "a.csv")
    with gzip.open(folder / "b.csv.gz", "wb") as stream:
        pc.write_csv(TABLE.slice(200), stream)
    assert sf.release(KEEP, folder, tmp_path / "out.csv").rows == N
    (folder / "a.csv").unlink()
    assert sf.release(KEEP, folder, tmp_path / "rest.csv").rows == N - 200


@pytest.mark.parametrize("name", ["b.parquet.tmp", "b.csv.zip", "b.parquet.gz", "b.CSV.zst"])
def test_what_is_called_like_a_table_is_never_left_out_in_silence(tmp_path, name):
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(TABLE, folder / "a.parquet")
    (folder / name).write_bytes(b"not finished")
    with pytest.raises(DataError, match="is called like a table, but ends in") as refused:
        sf.release(KEEP, folder, tmp_path / "out.parquet")
    assert name in str(refused.value)
    (folder / name).rename(folder / f".{name}")
    for other in ("read.me", "a.parquet.sha256", "a.csv.bak"):
        (folder / other).write_text("what lies here")
    assert sf.release(KEEP, folder, tmp_path / "out.parquet").rows == N


def test_words_beside_tables_are_no_table(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    pc.write_csv(TABLE, folder / "a.csv")
    (folder / "README.txt").write_text("columns: lat, lon\n")
    assert sf.release(KEEP, folder, tmp_path / "out.csv").rows == N
    (folder / "a.csv").rename(folder / "a.txt")
    (folder / "README.txt").unlink()
    assert sf.release(KEEP, folder, tmp_path / "out.csv", again=True).rows == N


def test_a_file_of_a_folder_that_lacks_a_column_is_named(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(TABLE, folder / "a.parquet")
    pq.write_table(TABLE.rename_columns(["north", "east", "user", "id"]), folder / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet' has no column 'lat', which 'a.parquet' has"):
        sf.release(KEEP, folder, tmp_path / "out.parquet")
    pq.write_table(TABLE.drop_columns(["user"]), folder / "b.parquet")
    with pytest.raises(DataError, match=r"has no column 'user'"):
        sf.release(KEEP, folder, tmp_path / "out.parquet", user="user")


def test_columns_that_do_not_fit(tmp_path):
    odd = TABLE.append_column("list", [[[k] for k in range(N)]]).append_column("raw", [[b"\xff"] * N])
    for name in ("list", "raw"):
        with pytest.raises(InputError, match="cannot be kept in a table of text"):
            sf.release(KEEP, odd, tmp_path / "out.csv", keep=[name])
        assert sf.release(KEEP, odd, tmp_path / f"{name}.parquet", keep=[name]).rows == N
    with pytest.raises(DataError, match="holds no names"):
        sf.release(KEEP, odd, tmp_path / "out.csv", user="list")
    with pytest.raises(DataError, match="holds no names"):
        sf.release({"a": KEEP}, odd, tmp_path / "out.csv", by="list")
    folder = written("folder of csv", tmp_path)
    with pytest.raises(InputError, match="lies in the folder that is read"):
        sf.release(KEEP, folder, folder / "out.csv")
    assert not list(tmp_path.glob(".*"))


def test_wishes_that_make_no_sense(tmp_path):
    for options, words in (
        ({"allow": 1.5}, "not a share"),
        ({"within": "-1 m"}, "negative"),
        ({"batch_rows": 0}, "batches of 0 rows"),
        ({"by": "user"}, "with one mechanism"),
    ):
        with pytest.raises(InputError, match=words):
            prepare(KEEP, TABLE, tmp_path / "out.csv", **options)
    with pytest.raises(InputError, match="no mechanism"):
        prepare({}, TABLE, tmp_path / "out.csv", by="user")


def test_texts_may_hold_line_breaks_at_every_place_of_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.tables.streams._TEXT_BLOCK", 64)
    notes = ["two\nlines", "a, b", "bell\x07", "plain"]
    identity = sf.Mechanism(np.eye(4), sf.Space(["a", "b", "c", "d"]))
    pc.write_csv(pa.table({"label": list("abcd") * 25, "note": notes * 25}), tmp_path / "in.csv")
    sf.release(identity, tmp_path / "in.csv", tmp_path / "out.parquet", column="label", keep=["note"])
    released = pq.read_table(tmp_path / "out.parquet")
    assert (released["label"].to_pylist(), released["note"].to_pylist()) == (list("abcd") * 25, notes * 25)
