"""The mark of a mechanism on what was released with it: `estimate` refuses another one."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.estimation import read_reports, reports_fit
from sfumato.mechanisms import DiscreteLaplace, UnaryEncoding
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import Mark, read_mark

LETTERS = sf.Space("abcdef")
TABLE = sf.mechanisms.randomised_response(LETTERS, 1.0)
OTHER = sf.mechanisms.randomised_response(LETTERS, 1.1)


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("\n".join(["answer", *np.random.default_rng(2).choice(list("aab"), 3000)]) + "\n")
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_reports_of_another_mechanism_are_refused(tmp_path, answers, ending):
    target = tmp_path / f"out.{ending}"
    done = sf.release(TABLE, answers, target, column="answer")
    mark = read_mark(target)
    assert mark is not None
    assert mark.mechanisms == done.mark
    assert len(read_reports(TABLE, target)) == 3000
    with pytest.raises(DataError, match="drawn from another mechanism") as caught:
        read_reports(OTHER, target)
    assert "the mechanism file that the table was released with" in caught.value.hint


def test_marks_tell_mechanisms_apart():
    lattice = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km")
    elsewhere = sf.Lattice.covering("4 km x 4 km around 45.85,2.35", "1 km")
    even = np.full((len(lattice), len(lattice)), 1 / len(lattice))
    plane = lattice.projection
    drawables = [
        TABLE,
        OTHER,
        sf.Mechanism(even, lattice),
        sf.Mechanism(even, elsewhere),
        Tupling(TABLE, 2, np.full(6, 1 / 6)),
        Tupling(TABLE, 3, np.full(6, 1 / 6)),
        CoordinateNoise("1/km", "2 m", plane),
        CoordinateNoise("2/km", "2 m", plane),
        UnaryEncoding(LETTERS, 1.0, "optimised"),
        UnaryEncoding(LETTERS, 1.1, "optimised"),
        DiscreteLaplace(1),
        DiscreteLaplace("1/2"),
    ]
    marks = [Mark.of({"": each}) for each in drawables]
    assert len(set(marks)) == len(marks)
    again = sf.mechanisms.randomised_response(sf.Space("abcdef"), 1.0)
    assert Mark.of({"": again}) == Mark.of({"": TABLE})
    assert Mark.of({"x": TABLE.promising(())}) == Mark.of({"y": TABLE})


def test_a_table_of_several_mechanisms(tmp_path):
    (tmp_path / "in.csv").write_text("answer,who\na,one\nb,two\n")
    sf.release(
        {"one": TABLE, "two": OTHER}, tmp_path / "in.csv", tmp_path / "out.parquet", column="answer", by="who"
    )
    text = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"sfumato"])
    assert len(text["mechanisms"]) == 2
    assert "who" not in str(text)
    assert "one" not in json.dumps(text["mechanisms"])
    with pytest.raises(DataError, match="drawn from 2 mechanisms"):
        read_reports(TABLE, tmp_path / "out.parquet")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"mechanisms": 3}', '{"mechanisms": [3]}', "[" * 100_000])
def test_damaged_marks(tmp_path, answers, text):
    sf.release(TABLE, answers, tmp_path / "out.csv", column="answer")
    (tmp_path / "out.csv.sfumato.json").write_text(text)
    with pytest.raises(DataError, match=r"mark of the mechanism on 'out.csv' is damaged"):
        read_reports(TABLE, tmp_path / "out.csv")


def test_reports_without_a_mark_are_taken_where_the_caller_answers_for_them_and_they_fit(tmp_path, answers):
    strong = sf.mechanisms.randomised_response(LETTERS, 4.0)
    sf.release(strong, answers, tmp_path / "out.csv", column="answer")
    (tmp_path / "out.csv.sfumato.json").unlink()
    for each in (strong, TABLE):
        with pytest.raises(DataError, match=r"'out.csv' has no mark"):
            read_reports(each, tmp_path / "out.csv")
    # By chance: 2e-11 (chi-square of five degrees); the bound, which reading checks, is below 1e-6 then.
    assert reports_fit(read_reports(strong, tmp_path / "out.csv", unmarked=True)).failure > 1e-7
    with pytest.raises(DataError, match="do not fit the mechanism"):
        read_reports(TABLE, tmp_path / "out.csv", unmarked=True)
    wrong = reports_fit(read_reports(TABLE, tmp_path / "out.csv", unmarked=True, check_fit=False))
    assert wrong.failure < 1e-12
    with pytest.raises(DataError, match="do not fit the mechanism"):
        wrong.check()
