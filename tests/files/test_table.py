"""The long table, recomputed from the mechanism entry by entry."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import FileError
from sfumato.files import export_table
from tests.sampling.mechanisms import random_mechanism


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
