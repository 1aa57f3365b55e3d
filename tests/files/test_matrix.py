"""Matrices and tables for other programs, and read from them; the long table recomputed entry by entry."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.core import Mechanism, Space
from sfumato.errors import DataError, FileError, InputError
from sfumato.files import export_table, read_matrix

from ..catalogue import CASES
from ..sampling.mechanisms import random_mechanism

COIN = [[0.75, 0.25], [0.25, 0.75]]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_exported_table_comes_back_with_the_same_integers(case, suffix, tmp_path):
    path = tmp_path / f"table{suffix}"
    export_table(case.mechanism, path)
    found = read_matrix(path)
    assert found.bits == case.mechanism.bits
    assert (found.weights == case.mechanism.weights).all()


def test_an_array(tmp_path):
    np.save(tmp_path / "coin.npy", np.array(COIN))
    assert read_matrix(tmp_path / "coin.npy") == Mechanism(COIN)


@pytest.mark.parametrize(
    ("text", "secrets", "observables"),
    [
        ("0.75,0.25\n0.25,0.75\n", [0, 1], [0, 1]),
        (",heads,tails\na,0.75,0.25\nb,0.25,0.75\n", ["a", "b"], ["heads", "tails"]),
        ("secret,7,8\n3,0.75,0.25\n4,0.25,0.75\n", [3, 4], [7, 8]),
        ("heads,tails\n0.75,0.25\n0.25,0.75\n", [0, 1], ["heads", "tails"]),
        (
            "secret,observable,probability\na,x,0.75\nb,x,0.25\nb,y,0.75\na,y,0.25\n",
            ["a", "b"],
            ["x", "y"],
        ),
    ],
)
def test_tables_of_text(text, secrets, observables, tmp_path):
    (tmp_path / "coin.csv").write_text(text)
    found = read_matrix(tmp_path / "coin.csv")
    assert list(found.secrets.labels) == secrets
    assert list(found.observables.labels) == observables
    assert found.matrix.tolist() == COIN


def test_a_wide_parquet(tmp_path):
    parquet.write_table(
        pa.table({"secret": ["a", "b"], "x": [0.75, 0.25], "y": [0.25, 0.75]}), tmp_path / "coin.parquet"
    )
    found = read_matrix(tmp_path / "coin.parquet")
    assert found == Mechanism(COIN, Space(["a", "b"]), Space(["x", "y"]))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "x,y\n", "names but no rows"),
        ("a.csv", "0.5,0.5\n1\n", "row 2 .* has 1 fields"),
        ("a.csv", "secret,x,y\na,0.5,half\n", "is not a number"),
        ("a.csv", "secret,observable\na,x\n", "neither a column"),
        ("a.csv", "secret,observable,probability\na,x,1\na,x,1\n", "two rows"),
        ("a.csv", "secret,observable,weight\na,x,5\n", "sum to 5"),
        ("a.csv", "secret,observable,weight\na,x,0.5\n", "is not an integer"),
        ("a.txt", "1", "names no kind of matrix"),
        ("a.mat", "1", "loadmat"),
        ("a.npy", "1", "not an array|cannot be read"),
        ("a.parquet", "1", "not a valid Parquet file"),
    ],
)
def test_what_is_no_matrix(name, text, problem, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=problem):
        read_matrix(tmp_path / name)


def test_arrays_of_other_things(tmp_path):
    np.save(tmp_path / "a.npy", np.array(COIN, dtype=complex))
    with pytest.raises(DataError, match="no real numbers"):
        read_matrix(tmp_path / "a.npy")
    with pytest.raises(DataError, match="cannot be read"):
        read_matrix(tmp_path / "none.npy")
    with pytest.raises(DataError, match="there is no file"):
        read_matrix(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [("0.5,0.49985\n0.5,0.5\n", "0.99985"), ("1.00000001,-0.00000001\n0.5,0.5\n", "negative|-1e-08")],
)
def test_known_bad_rows_are_refused(rows, problem, tmp_path):
    (tmp_path / "a.csv").write_text(rows)
    with pytest.raises(InputError, match=problem):
        read_matrix(tmp_path / "a.csv")


@pytest.mark.parametrize("tiny", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_entry_is_exact(tmp_path: Path, tiny: bool, suffix: str) -> None:
    drawn = random_mechanism(4, 3, 4, tiny=tiny)
    mechanism = sf.Mechanism.from_weights(
        drawn.weights, drawn.bits, sf.Space(["a", "b", "c"]), sf.Space([10, 20, 30, 40])
    )
    path = tmp_path / f"table.{suffix}"
    export_table(mechanism, path)
    if suffix == "csv":
        with path.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
    else:
        table = parquet.read_table(path)
        assert [str(kind) for kind in table.schema.types] == ["string", "int64", "decimal128(38, 0)", "double"]
        rows = table.to_pylist()
    assert len(rows) == 12
    for place, row in enumerate(rows):
        s, o = divmod(place, 4)
        assert row["secret"] == "abc"[s]
        assert int(row["observable"]) == 10 * (o + 1)
        weight = int(row["weight"])
        assert weight == mechanism.weights[s, o]
        assert float(row["probability"]) == float(Fraction(weight, 2**mechanism.bits))


def test_the_largest_weights(tmp_path: Path) -> None:
    weights = np.array([[2**126 - 1, 1], [0, 2**126]], dtype=object)
    export_table(sf.Mechanism.from_weights(weights, 126), tmp_path / "t.parquet")
    found = parquet.read_table(tmp_path / "t.parquet")["weight"].to_pylist()
    assert [int(weight) for weight in found] == [2**126 - 1, 1, 0, 2**126]


def test_other_suffixes(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"\.csv or \.parquet"):
        export_table(sf.Mechanism([[1.0]]), tmp_path / "t.json")
