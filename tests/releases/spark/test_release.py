"""Releases on Spark: the law of the integers, one report for a row in all tasks, and no trace of the secret."""

import base64
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import DataError, FileError, InputError
from sfumato.estimation import check_mark, read_reports
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.proofs import error_radius, posterior_radii
from sfumato.releases import Mark, read_mark
from sfumato.releases.spark import prepare_on_spark, release_on_spark
from tests.releases.spark.cases import (
    BLUR,
    CITY,
    SPACE,
    TOWN,
    answers,
    draws,
    failing_at_first,
    ignored,
    p_value_of_places,
    places,
    stopped_once,
    written,
)
from tests.sampling.test_sampler import FALSE_ALARM, p_value

pytestmark = ignored
SECRET = b"The secret that is never written"


def reports(folder):
    return parquet.read_table(folder).sort_by("id").to_pylist()


def test_reports_follow_the_integers(spark, tmp_path):
    source = written(tmp_path / "in", answers(20_000, "s5"))
    done = release_on_spark(BLUR, source, tmp_path / "out", spark=spark, column="answer", tell=None)
    assert done.rows == 20_000
    labels = parquet.read_table(tmp_path / "out")["label"].to_pylist()
    assert (
        p_value(BLUR, 5, np.bincount([SPACE.labels.index(label) for label in labels], minlength=8)) > FALSE_ALARM
    )


def test_what_is_told_and_written(spark, tmp_path):
    source = written(tmp_path / "in", answers(70))
    told = []

    def tell(sentence):
        told.append((sentence, (tmp_path / "out").exists()))

    options: Any = {"column": "answer", "user": "who", "keep": ["id"]}
    done = release_on_spark(BLUR, source, tmp_path / "out", spark=spark, tell=tell, **options)
    assert any("10 reports of one person" in sentence for sentence in done.promises)
    assert told[:-1] == [(sentence, False) for sentence in done.promises]
    assert told[-1][0].startswith("70 reports released (label, id)")
    assert told[-1][0].endswith(" rows a second.")
    assert [row["id"] for row in reports(tmp_path / "out")] == list(range(70))
    assert "Carried over unchanged, because you named it: id. " in told[-1][0]
    assert told[-2][0] == "Left out: answer, who."
    assert parquet.read_table(tmp_path / "out").column_names == ["label", "id"]
    with pytest.raises(FileError, match="exists already"):
        release_on_spark(BLUR, source, tmp_path / "out", spark=spark, tell=None, **options)
    with pytest.raises(InputError, match="'answer' holds what the reports hide"):
        prepare_on_spark(BLUR, source, spark=spark, column="answer", keep=["answer"])
    with pytest.raises(InputError, match=r"keep= is of type str[\s\S]*keep=\['id'\]"):
        prepare_on_spark(BLUR, source, spark=spark, column="answer", keep="id")


def test_error_radii(spark, tmp_path):
    """Tasks have the radii and the prior of the driver."""
    source, prior = written(tmp_path / "in", places(40)), ("even", sf.Prior.uniform(CITY))
    options: Any = {"people": "one", "uncertainty": True, "prior": prior, "keep": ["id"]}
    release_on_spark(TOWN, source, tmp_path / "out", spark=spark, tell=None, **options)
    radii = dict(zip(CITY.labels, np.ceil(posterior_radii(TOWN, prior[1])), strict=True))
    for row in reports(tmp_path / "out"):
        assert row["uncertainty_m"] == np.ceil(error_radius(TOWN))
        assert row["posterior_uncertainty_m"] == radii[row["label"]]


def test_estimates_check_the_mark(spark, tmp_path):
    source = written(tmp_path / "in", answers(400))
    release_on_spark(BLUR, source, tmp_path / "out", spark=spark, column="answer", tell=None)
    assert read_mark(tmp_path / "out") == Mark.of({"": BLUR})
    assert check_mark(BLUR, tmp_path / "out")
    assert read_reports(BLUR, tmp_path / "out").counts.sum() == 400
    other = sf.Mechanism(np.full((8, 8), 1 / 8), SPACE)
    with pytest.raises(DataError, match="was drawn from another mechanism"):
        read_reports(other, tmp_path / "out")


def test_rows_outside(spark, tmp_path):
    table = answers(200)
    labels = ["nowhere" if row in (3, 150) else label for row, label in enumerate(table["answer"].to_pylist())]
    source = written(tmp_path / "in", table.set_column(1, "answer", pa.array(labels)))

    def released(name, **options):
        return release_on_spark(
            BLUR, source, tmp_path / name, spark=spark, column="answer", keep=["id"], tell=None, **options
        )

    with pytest.raises(DataError, match=r"in a batch of Spark, \d of \d+ rows (is|are) not at any"):
        released("error")
    done = released("drop", outside="drop")
    assert (done.rows, done.dropped) == (198, 2)
    assert [row["id"] for row in reports(tmp_path / "drop")] == [row for row in range(200) if row not in (3, 150)]
    with pytest.raises(DataError, match=r"2 of 200 rows are outside, which is more than 0\.900% of them"):
        released("few", outside="drop", allow=0.009)
    for name in ("error", "few"):
        assert not (tmp_path / name).exists()
    assert {path.name for path in tmp_path.iterdir()} == {"in", "drop"}


def test_reports_of_places_follow_the_integers(spark, tmp_path):
    table = places(20_000)
    source = written(tmp_path / "in", table)
    done = release_on_spark(TOWN, source, tmp_path / "out", spark=spark, outside="drop", keep=["id"], tell=None)
    found = parquet.read_table(tmp_path / "out")
    assert done.rows == found.num_rows
    true = table.take(found["id"])
    lat, lon = (true[name].to_numpy() for name in ("lat", "lon"))
    labels = found["label"].to_pylist()
    assert p_value_of_places(lat, lon, labels) > FALSE_ALARM
    southward = np.argsort(lat)
    others = np.array(labels, dtype=object)
    others[southward] = others[southward[::-1]]  # in the north the reports of the south
    assert p_value_of_places(lat, lon, others.tolist()) < FALSE_ALARM  # the test can tell


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawable", "columns"),
    [
        (TOWN, ["latitude", "longitude", "label"]),
        (Tupling(TOWN, 2, np.full(len(CITY), 1 / len(CITY))), ["latitude", "longitude", "label"]),
        (CoordinateNoise("1/km", "5 m", CITY.projection), ["latitude", "longitude"]),
    ],
)
def test_places(spark, tmp_path, drawable, columns):
    source = written(tmp_path / "in", places(60, 0.02))
    done = release_on_spark(drawable, source, tmp_path / "out", spark=spark, outside="drop", allow=0.5, tell=None)
    found = parquet.read_table(tmp_path / "out")
    assert found.column_names == columns
    assert found.num_rows == done.rows == 60 - done.dropped
    moved = release_on_spark(
        drawable, source, tmp_path / "moved", spark=spark, outside="nearest", within="9 km", allow=1.0, tell=None
    )
    assert moved.rows == 60
    if drawable is TOWN:
        assert moved.moved == done.dropped > 0
        with pytest.raises(DataError, match=r"of 60 rows are outside, which is more than 1\.000% of them"):
            release_on_spark(drawable, source, tmp_path / "few", spark=spark, outside="drop", tell=None)
    far = spark.read.parquet(source).selectExpr("id", "lat + 9 as lat", "lon")
    with pytest.raises(DataError, match=r"in a batch of Spark, (\d+) of \1 rows"):
        release_on_spark(drawable, far, tmp_path / "far", spark=spark, key="id", tell=None)
    assert not (tmp_path / "far").exists()


def test_counts_are_right_though_every_task_is_tried_again(spark, tmp_path):
    table = answers(300)
    labels = ["nowhere" if row == 9 else label for row, label in enumerate(table["answer"].to_pylist())]
    frame = spark.createDataFrame(table.set_column(1, "answer", pa.array(labels)))
    frame = frame.mapInArrow(failing_at_first, frame.schema)
    options: Any = {"key": "id", "column": "answer", "user": "who", "keep": ["id"], "outside": "drop"}
    prepared = prepare_on_spark(BLUR, frame, spark=spark, **options)
    assert (prepared.people.rows, prepared.people.most, prepared.people.users) == (300, 43, 7)
    done = prepared.run(tmp_path / "out")
    assert (done.rows, done.dropped) == (299, 1)
    assert [row["id"] for row in reports(tmp_path / "out")] == [row for row in range(300) if row != 9]


def test_a_source_that_changes_meanwhile_is_not_published(spark, tmp_path):
    frame = spark.createDataFrame(answers(50))

    def growing(batches, later=str(tmp_path / "later")):
        for batch in batches:
            yield batch if os.path.exists(later) else batch.slice(1)

    frame = frame.mapInArrow(growing, frame.schema)
    prepared = prepare_on_spark(BLUR, frame, spark=spark, key="id", column="answer")
    (tmp_path / "later").touch()
    with pytest.raises(DataError, match="50 reports came from 48 rows: the source changed meanwhile"):
        prepared.run(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["later"]


@pytest.mark.parametrize("rows", [0, 3])
def test_partitions_without_rows(spark, tmp_path, rows):
    frame = spark.createDataFrame(answers(8)).where(f"id < {rows}").repartition(6)
    target = tmp_path / "out [a]*"
    done = release_on_spark(BLUR, frame, target, spark=spark, key="id", column="answer", keep=["id"], tell=None)
    assert done.rows == rows
    assert [row["id"] for row in reports(target)] == list(range(rows))


@pytest.mark.parametrize(
    ("target", "problem"),
    [("/", "names no folder"), ("", "cannot be written"), ("none://a/b", "cannot be written")],
)
def test_targets_that_are_none(spark, target, problem):
    prepared = prepare_on_spark(BLUR, spark.createDataFrame(answers(8)), spark=spark, key="id", column="answer")
    with pytest.raises(FileError, match=problem):
        prepared.run(target)
    prepared.forget()


def test_what_spark_does_not_serve_is_refused(spark, tmp_path):
    frame = spark.createDataFrame(answers(8))
    noise = CoordinateNoise("1/km", "5 m", CITY.projection)
    blur = sf.Blur(noise, sf.Ledger.create(tmp_path / "l.db", "900/km"))
    for refused in (blur, {"a": blur}):
        with pytest.raises(InputError, match="tasks of Spark charge no ledger"):
            prepare_on_spark(refused, frame, spark=spark, key="id")
    unserved = {
        "resume": "leaves nothing to continue",
        "again": "keeps no record",
        "place_column": "places are stored in a database",
        "progress": "shows its own progress",
        "colour": "has no argument 'colour'",
        "lists": "has no argument 'lists'",
    }
    wrong: list[tuple[dict[str, Any], str]] = [({name: "yes"}, problem) for name, problem in unserved.items()]
    wrong += [({"outside": "x"}, "is unknown"), ({"allow": 2}, "not a share of rows")]
    for options, problem in wrong:
        with pytest.raises(InputError, match=problem):
            prepare_on_spark(BLUR, frame, spark=spark, key="id", column="answer", **options)


def test_rows_have_one_report_however_they_are_partitioned(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.releases.spark.tasks.os.urandom", lambda size: SECRET[:size])
    frame = spark.createDataFrame(answers(400))
    found = []
    for parts in (1, 7):
        prepared = prepare_on_spark(
            BLUR, frame.repartition(parts), spark=spark, key="id", column="answer", keep=["id"]
        )
        once, again = (prepared.frame.orderBy("id").collect() for _ in range(2))
        assert once == again
        found.append(once)
        prepared.forget()
        with pytest.raises(Exception, match=r"destroy|serializable"):
            prepared.frame.collect()
        with pytest.raises(InputError, match="has been destroyed"):
            prepared.run(tmp_path / f"out{parts}")
    assert found[0] == found[1]
    monkeypatch.undo()
    other = prepare_on_spark(BLUR, frame, spark=spark, key="id", column="answer", keep=["id"])
    assert other.frame.orderBy("id").collect() != found[0]
    other.forget()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["raised", "killed"])
@pytest.mark.parametrize("key", [None, "id"])
def test_a_task_that_is_stopped_and_tried_again_draws_no_second_report(spark, tmp_path, way, key):
    source = written(tmp_path / "in", answers(3000))
    (tmp_path / "seen").mkdir()
    rows = source if key is None else spark.read.parquet(source)
    prepared = prepare_on_spark(BLUR, rows, spark=spark, key=key, column="answer", keep=["id"])
    frame = prepared.frame.mapInArrow(stopped_once(tmp_path / "seen", way), prepared.frame.schema)
    final = {row["id"]: {row["label"]} for row in frame.collect()}
    prepared.forget()
    assert len(final) == 3000
    seen = draws(tmp_path / "seen")
    assert seen == {row: final[row] for row in seen}


def test_the_secret_is_nowhere(spark, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("sfumato.releases.spark.tasks.os.urandom", lambda size: SECRET[:size])
    caplog.set_level(logging.DEBUG, logger="py4j")
    source = written(tmp_path / "in", answers(300))
    release_on_spark(BLUR, source, tmp_path / "out", spark=spark, column="answer", keep=["id"], tell=None)
    files = [path for folder in (tmp_path, spark.events) for path in folder.rglob("*") if path.is_file()]
    assert any("events" in path.name for path in files)
    logged = [record.getMessage().encode() for record in caplog.records]
    assert logged
    pieces = [SECRET, SECRET.hex().encode(), *(base64.b64encode(SECRET[at:])[:20] for at in range(3))]
    for content in [*logged, *(path.read_bytes() for path in files)]:
        assert not any(piece in content for piece in pieces)


def test_rows_without_lasting_names_are_refused(spark, tmp_path):
    from pyspark.sql import functions

    frame = spark.createDataFrame(answers(20))
    with pytest.raises(InputError, match="no lasting names"):
        prepare_on_spark(BLUR, frame, spark=spark, column="answer")
    for made in (functions.uuid(), functions.monotonically_increasing_id(), functions.rand()):
        with pytest.raises(InputError, match="gives other rows when a task runs again"):
            prepare_on_spark(BLUR, frame.withColumn("k", made), spark=spark, key="k", column="answer")
    with pytest.raises(DataError, match="the column 'who' does not name rows: 20 rows"):
        prepare_on_spark(BLUR, frame, spark=spark, key="who", column="answer")
    with pytest.raises(InputError, match="'f' is of double, which names no rows"):
        prepare_on_spark(BLUR, frame.selectExpr("answer", "id * 1D as f"), spark=spark, key="f", column="answer")
    missing = frame.selectExpr("answer", "nullif(id, 3) as k")
    with pytest.raises(DataError, match="1 rows of the data frame share a value with another, or have no value"):
        prepare_on_spark(BLUR, missing, spark=spark, key="k", column="answer")
    with pytest.raises(DataError, match="has no column 'x'"):
        prepare_on_spark(BLUR, frame, spark=spark, key="x", column="answer")


def test_sources(spark, tmp_path):
    source = written(tmp_path / "in", answers(30))
    spark.read.parquet(source).write.mode("overwrite").saveAsTable("answers")
    done = release_on_spark(BLUR, "answers", tmp_path / "out", spark=spark, column="answer", tell=None)
    assert done.rows == 30
    with pytest.raises(DataError, match="Spark cannot read 'nothing'"):
        release_on_spark(BLUR, "nothing", tmp_path / "no", spark=spark, column="answer")
    with pytest.raises(DataError, match=r"Spark cannot read '/nowhere/x.parquet'"):
        release_on_spark(BLUR, Path("/nowhere/x.parquet"), tmp_path / "no", spark=spark, column="answer")
    with pytest.raises(InputError, match="is no source for Spark"):
        release_on_spark(BLUR, pa.table({}), tmp_path / "no", spark=spark, column="answer")
    spark.createDataFrame(answers(5)).createOrReplaceTempView("view")
    with pytest.raises(InputError, match="does not say where in its files"):
        release_on_spark(BLUR, "view", tmp_path / "no", spark=spark, column="answer")


def test_a_view_that_repeats_rows_of_files_is_refused(spark, tmp_path):
    source = written(tmp_path / "in", answers(30))
    spark.read.parquet(source).createOrReplaceTempView("plain")
    spark.sql("select *, explode(array(1, 2)) as n from plain").createOrReplaceTempView("repeated")
    for view in ("plain", "repeated"):
        with pytest.raises(InputError, match="does not say where in its files"):
            release_on_spark(BLUR, view, tmp_path / "no", spark=spark, column="answer", tell=None)
    done = release_on_spark(BLUR, "plain", tmp_path / "out", spark=spark, column="answer", key="id", tell=None)
    assert done.rows == 30
    with pytest.raises(DataError, match="id"):
        release_on_spark(BLUR, "repeated", tmp_path / "no", spark=spark, column="answer", key="id", tell=None)


def test_several_mechanisms_by_column(spark, tmp_path):
    other = sf.Mechanism(np.eye(8), SPACE)
    table = answers(700).append_column("by", pa.array(["a", "b"] * 350))
    source = written(tmp_path / "in", table)
    mechanisms = {"a": BLUR, "b": other}
    release_on_spark(
        mechanisms, source, tmp_path / "out", spark=spark, column="answer", by="by", keep=["id"], tell=None
    )
    for row in reports(tmp_path / "out"):
        assert row["id"] % 2 == 0 or row["label"] == f"s{row['id'] % 8}"


def test_users_are_told_apart_as_elsewhere(spark, tmp_path):
    names = ["ada", "ada ", "\u00a0ada", "Zo\u00e9", "Zoe\u0301", "", None, " \t"]
    table = answers(len(names), "s1").set_column(2, "who", pa.array(names))
    table = table.append_column("number", pa.array([1.5, 1.5, 2, float("nan"), None, 3, 3, 3]))
    table = table.append_column("bytes", pa.array([b"\xff", b"\xfe", b"\xff", None, None, b"", b"a", b"b"]))
    source = written(tmp_path / "in", table)
    for user in ("who", "number", "bytes"):
        options: dict[str, Any] = {"column": "answer", "user": user}
        here = sf.releases.prepare(BLUR, source, tmp_path / "out.parquet", **options).people
        there = prepare_on_spark(BLUR, source, spark=spark, **options).people
        assert (there, there.counts) == (here, here.counts), user
        with pytest.raises(
            DataError, match=r"max_reports_per_person= cannot be checked, because [23] rows name no"
        ):
            prepare_on_spark(BLUR, source, spark=spark, **options, max_reports_per_person=9)
    named = written(tmp_path / "named", table.slice(0, 5))
    options = {"column": "answer", "user": "who", "spark": spark}
    with pytest.raises(DataError, match=r"1 of 2 people would exceed .* number is 3"):
        release_on_spark(BLUR, named, tmp_path / "out", **options, max_reports_per_person=2)
    with pytest.raises(InputError, match="max_epsilon_per_person=1 cannot be checked"):
        release_on_spark(BLUR, named, tmp_path / "out", **options, max_epsilon_per_person="1")
    assert not (tmp_path / "out").exists()
    prepare_on_spark(BLUR, named, **options, max_reports_per_person=3)
    options = {"column": "answer", "user": "who"}
    with pytest.raises(InputError, match="allow= is of type str"):
        prepare_on_spark(BLUR, source, spark=spark, **{**options, "allow": "5%"})
