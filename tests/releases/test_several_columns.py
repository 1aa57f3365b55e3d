"""Several columns in one release: a joint mechanism, or one for each, with what they promise together."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.mechanisms import DiscreteGaussian, DiscreteLaplace, UnaryEncoding, randomised_response
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import read_mark
from tests.sampling.test_sampler import BY_CHANCE, chance

DIAGNOSES, AGES = sf.Space(["flu", "cold", "none"]), sf.NumberBins(18, 40, 2)
JOINT = sf.JointSpace({"diagnosis": DIAGNOSES, "age": AGES})
LABELS = [(diagnosis, age) for diagnosis in ("flu", "cold", "none") for age in ("18-57", "58-97")]
TOGETHER = randomised_response(JOINT, 1)
EACH = {"diagnosis": randomised_response(DIAGNOSES, 0.5), "age": randomised_response(AGES, 0.7)}


def answers(rows):
    random = np.random.default_rng(3)
    return pa.table(
        {
            "who": np.arange(rows) // 2,
            "diagnosis": random.choice(["flu", "cold", "none"], rows, p=[0.5, 0.3, 0.2]),
            "age": random.integers(18, 98, rows),
        }
    )


@pytest.mark.slow
def test_a_joint_report_has_the_law_of_the_joint_mechanism():
    table = pa.table({"diagnosis": ["cold"] * 75_000, "age": [60] * 75_000})
    found = sf.release(TOGETHER, table)
    assert found.column_names == ["diagnosis", "age"]
    pairs = list(zip(found["diagnosis"].to_pylist(), found["age"].to_pylist(), strict=True))
    counts = np.array([pairs.count(label) for label in LABELS])
    law = TOGETHER.matrix[JOINT.position(("cold", "58-97"))]
    assert counts.sum() == 75_000
    assert chance(counts, law) > BY_CHANCE


def test_columns_of_their_own_are_drawn_independently():
    table = pa.table({"diagnosis": ["cold"] * 75_000, "age": [60] * 75_000})
    found = sf.release(EACH, table, column=["diagnosis", "age"])
    pairs = list(zip(found["diagnosis"].to_pylist(), found["age"].to_pylist(), strict=True))
    counts = np.array([pairs.count(label) for label in LABELS])
    law = np.kron(EACH["diagnosis"].matrix[1], EACH["age"].matrix[1])
    assert counts.sum() == 75_000
    assert chance(counts, law) > BY_CHANCE


def test_the_names_in_the_source_may_be_others(tmp_path):
    table = answers(10).rename_columns(["who", "d", "a"])
    found = sf.release(TOGETHER, table, column=["d", "a"])
    assert found.column_names == ["diagnosis", "age"]
    csv.write_csv(table, tmp_path / "in.csv")
    sf.release(TOGETHER, tmp_path / "in.csv", tmp_path / "out.parquet", column=["d", "a"])
    assert parquet.read_schema(tmp_path / "out.parquet").names == ["diagnosis", "age"]


def test_the_promises_of_columns_add_up(tmp_path):
    csv.write_csv(answers(10), tmp_path / "in.csv")
    columns = ["age", "diagnosis"]
    done = sf.release(EACH, tmp_path / "in.csv", tmp_path / "out.csv", column=columns, user="who")
    said = " ".join(done.promises)
    total = Fraction(0.5) + Fraction(0.7)
    assert "epsilon 0.7 + 0.5, at most 1.2 for any two people" in said
    assert float(total) <= 1.2
    assert "2 reports of one person: 2 times epsilon, 2.4 (5 users)" in said
    mark = read_mark(tmp_path / "out.csv")
    assert mark is not None
    assert [name for name, _ in mark.columns] == ["age", "diagnosis"]
    mark.check(EACH["age"], "it", "age")
    with pytest.raises(DataError, match="'diagnosis' of it was drawn from another"):
        mark.check(EACH["age"], "it", "diagnosis")
    with pytest.raises(DataError, match="each drawn from a separate mechanism"):
        mark.check(EACH["age"], "it")


def test_promises_of_different_kinds_are_not_added():
    table = answers(4)
    noisy: dict[str, Any] = {"diagnosis": EACH["diagnosis"], "age": DiscreteLaplace(1, 10)}
    prepared = sf.releases.prepare_frame(noisy, table, column=["diagnosis", "age"])
    said = " ".join(prepared.promises)
    assert "no single number says it" in said
    assert "epsilon 1 for true numbers that differ by at most 10" in said
    assert "Proved from the exact recipe of 'age'" in said
    found = prepared.run().frame
    assert found["age"].type == pa.int64()
    bare = {**EACH, "age": sf.Mechanism(EACH["age"].matrix, AGES)}
    said = " ".join(sf.releases.prepare_frame(bare, table, column=["diagnosis", "age"]).promises)
    assert "The mechanism of 'age' states no guarantee" in said


def test_reports_of_several_numbers(tmp_path):
    wide: dict[str, Any] = {
        "diagnosis": Tupling(EACH["diagnosis"], 1, np.full(3, 1 / 3)),
        "age": UnaryEncoding(AGES, 1, "symmetric"),
    }
    found = sf.release(wide, answers(5), column=["diagnosis", "age"])
    assert [len(each) for each in found["diagnosis"].to_pylist()] == [2] * 5
    assert [len(each) for each in found["age"].to_pylist()] == [2] * 5
    csv.write_csv(answers(5), tmp_path / "in.csv")
    sf.release(wide, tmp_path / "in.csv", tmp_path / "out.csv", column=["diagnosis", "age"])
    assert csv.read_csv(tmp_path / "out.csv").column_names == ["diagnosis_1", "diagnosis_2", "age_1", "age_2"]


def test_a_row_outside_in_one_column_is_outside():
    table = pa.table({"diagnosis": ["flu", "pox", "flu"], "age": [20, 20, 17]})
    for mechanism in (TOGETHER, EACH):
        with pytest.raises(DataError, match=r"2 of 3 rows .*number 2"):
            sf.release(mechanism, table, column=["diagnosis", "age"])
        dropped = sf.release(mechanism, table, column=["diagnosis", "age"], outside="drop", allow=1)
        assert len(dropped) == 1


def test_each_column_of_a_source_is_released_once(tmp_path):
    csv.write_csv(answers(10), tmp_path / "in.csv")
    sf.release(EACH["age"], tmp_path / "in.csv", tmp_path / "a.csv", column="age")
    sf.release(EACH["diagnosis"], tmp_path / "in.csv", tmp_path / "d.csv", column="diagnosis")
    with pytest.raises(InputError, match="released before"):
        sf.release(TOGETHER, tmp_path / "in.csv", tmp_path / "b.csv")
    done = sf.release(TOGETHER, tmp_path / "in.csv", tmp_path / "b.csv", again=True)
    assert "released 2 times before: 3 releases add up" in str(done)
    with pytest.raises(InputError, match="released before"):
        sf.release(EACH, tmp_path / "in.csv", tmp_path / "c.csv", column=["diagnosis", "age"])


def test_noise_that_has_rho_only():
    done = sf.releases.prepare_frame(DiscreteGaussian(8), answers(3), column="age", user="who")
    said = " ".join(done.promises)
    assert "rho 0.0625 for true numbers that differ by at most 1" in said
    assert "2 times rho, 0.125 for true numbers" in said
    clamped = sf.releases.prepare_frame(DiscreteGaussian(8).clamp(18, 99), answers(3), column="age")
    assert "no guarantee" in " ".join(clamped.promises)


@pytest.mark.parametrize(
    ("mechanism", "column", "told"),
    [
        (EACH, None, "no column that says"),
        (EACH, "age", "no column that says"),
        (EACH, ["age"], "mechanisms for 'diagnosis', 'age', but the columns 'age'"),
        (EACH, ["age", "who"], "but the columns"),
        (TOGETHER, "age", "2 columns of true values must be named"),
        (TOGETHER, ["age", "age"], "once"),
        (TOGETHER, [], "does not name"),
        (EACH["age"], ["age", "diagnosis"], "1 column of true values"),
        ({**EACH, "both": TOGETHER}, ["age", "diagnosis", "both"], "is of several columns"),
    ],
)
def test_columns_that_do_not_fit(mechanism, column, told):
    with pytest.raises((InputError, DataError), match=told):
        sf.release(mechanism, answers(3), column=column)


def test_a_mark_with_odd_columns_is_damaged(tmp_path):
    path = tmp_path / "out.csv"
    sf.release(EACH["age"], pa.table({"age": [20]}), path, column="age")
    beside = path.with_name("out.csv.sfumato.json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), "columns": ["age"]}))
    with pytest.raises(DataError, match="damaged"):
        read_mark(path)
