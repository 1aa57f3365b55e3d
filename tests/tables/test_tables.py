"""Tables come back as they were written, in the order of their rows, from every kind of source."""

import csv
import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from sfumato.core import Space
from sfumato.errors import DataError, FileError, InputError
from sfumato.tables import (
    FrameTable,
    OpenTable,
    ParquetTable,
    Source,
    TextTable,
    find,
    read_columns,
    read_rows,
    write_rows,
    write_table,
)

HOSTILE = ["=1+1", "'=1", "@x", "-3 km", "+", "a,b", 'say "no"', "two\nlines", "\uff1dx", "plain", ""]
TABLE = pa.table({"=name": HOSTILE, "n": list(range(len(HOSTILE)))})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_hostile_texts_and_names_come_back_in_order(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(TABLE, path)
    found = read_columns(path, ["n", "=name"], as_text=["=name"])
    assert found.column_names == ["n", "=name"]
    assert found["n"].to_pylist() == list(range(len(HOSTILE)))
    assert find(Space(HOSTILE), found["=name"]).tolist() == list(range(len(HOSTILE)))
    if suffix == "csv":
        assert [row[0] for row in read_rows(path)[1:]] == HOSTILE
        with path.open(newline="") as stream:
            for row in csv.reader(stream):
                assert not row[0].startswith(("=", "@", "+", "\uff1d"))


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2), min_size=1))
def test_rows_come_back(tmp_path: Path, rows: list[list[str]]) -> None:
    write_rows(["a", "=b"], rows, tmp_path / "t.csv")
    assert read_rows(tmp_path / "t.csv") == [["a", "=b"], *rows]


def test_numbers_stay_numbers_and_the_file_is_whole_or_not_there(tmp_path: Path) -> None:
    write_rows(["x", "y"], [[-1.5, "-1.5"], [2, "-x"]], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"x,y\n-1.5,-1.5\n2,'-x\n"

    def broken():
        yield [1, 2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(["x", "y"], broken(), tmp_path / "u.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.fixture(params=["text", "gzip", "parquet", "memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> OpenTable:
    text = b"a\tb\tc\n1\tx\t0.5\n2\ty\t\n"
    table = pa.table({"a": [1, 2], "b": ["x", "y"], "c": [0.5, None]})
    if request.param == "memory":
        return FrameTable(table)
    path = tmp_path / "t"
    if request.param == "parquet":
        parquet.write_table(table, path)
        return ParquetTable(Source.of(path))
    path.write_bytes(gzip.compress(text) if request.param == "gzip" else text)
    return TextTable.of(Source.of(path))


def test_columns_are_known_before_the_rows_and_only_those_asked_for_are_loaded(opened: OpenTable) -> None:
    assert opened.columns == ("a", "b", "c")
    assert opened.load().to_pydict() == {"a": [1, 2], "b": ["x", "y"], "c": [0.5, None]}
    assert opened.load(["c", "a"]).column_names == ["c", "a"]
    assert opened.load(["a"], as_text=["a"]).column_names == ["a"]


def test_a_text_of_numbers_stays_a_text_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code\n007\n")
    assert TextTable.of(Source.of(tmp_path / "t.csv")).load(as_text=["code"])["code"].to_pylist() == ["007"]
    assert read_columns(tmp_path / "t.csv", ["code"], as_text=["code"])["code"].to_pylist() == ["007"]
    assert read_columns(tmp_path / "t.csv", [])["code"].to_pylist() == [7]


def test_refusals_name_what_was_given(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"t.csv' has no column 'c'. Its columns are: a, b"):
        read_columns(tmp_path / "t.csv", ["c"])
    with pytest.raises(DataError, match="the table has no column 'c'"):
        read_columns(pa.table({"a": [1]}), ["c"])
    with pytest.raises(DataError, match="there is no file"):
        read_columns(tmp_path / "none.parquet", ["c"])
    with pytest.raises(DataError, match="there is no file"):
        read_rows(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read from 'int'"):
        read_columns(3, ["c"])  # type: ignore[arg-type]


def test_folders_without_what_is_hidden_in_them(tmp_path):
    with pytest.raises(DataError, match="holds no CSV, Parquet or Arrow files"):
        read_columns(tmp_path, ["n"])
    for name in ("b", "_day=2/a", "_temporary/0/task_1/c", ".out.release-1/rows/d", "_e", ".f"):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"n": [len(name)], "m": [0]}), path)
    assert read_columns(tmp_path, ["n"]).to_pydict() == {"n": [len("_day=2/a"), len("b")]}
    assert read_columns(tmp_path, []).num_rows == 2
    with pytest.raises(DataError, match="has no column 'x'"):
        read_columns(tmp_path, ["x"])
    with pytest.raises(FileError, match="names no kind of table"):
        write_table(TABLE, tmp_path / "t.xlsx")


def test_a_blank_line_is_an_empty_value_in_a_table_of_one_column(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("answer\nnever\n\nonce\n")
    (tmp_path / "two.csv").write_text("answer,n\nnever,1\n\nonce,2\n")
    assert read_columns(tmp_path / "one.csv", ["answer"])["answer"].to_pylist() == ["never", "", "once"]
    assert read_columns(tmp_path / "two.csv", ["answer"])["answer"].to_pylist() == ["never", "once"]
    loaded = TextTable.of(Source.of(tmp_path / "one.csv")).load(as_text=["answer"])
    assert loaded["answer"].to_pylist() == ["never", None, "once"]
    mechanism = sf.mechanisms.randomised_response(Space(["never", "once"]), 1.0)
    with pytest.raises(DataError, match=r"1 of 3 rows is not at any of the mechanism's 2 labels"):
        sf.release(mechanism, tmp_path / "one.csv", tmp_path / "out.csv", column="answer")
