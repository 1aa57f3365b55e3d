"""Private columns in pipelines of Spark."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.releases.spark import PrivateColumn, release_on_spark
from tests.files.test_unconfirmed_distances import REFUSED, forged
from tests.proofs.liars import LIARS
from tests.releases.spark.cases import BLUR, SPACE, TOWN, answers, draws, ignored, places, stopped_once
from tests.sampling.test_sampler import FALSE_ALARM, p_value

pytestmark = ignored


def test_a_row_has_one_report_in_all_plans(spark):
    private = PrivateColumn(BLUR, spark=spark)
    assert private.promises
    frame = spark.createDataFrame(answers(20_000, "s5"))
    found = frame.select("id", private("id", "answer").alias("private")).cache()
    once = found.orderBy("id").collect()
    found.unpersist()
    assert once == found.orderBy("id").collect()
    assert once == found.repartition(5).orderBy("id").collect()
    again = frame.select("id", private("id", "answer").alias("private"), private("id", "answer").alias("second"))
    assert [(*row, row[1]) for row in once] == [tuple(row) for row in again.orderBy("id").collect()]
    counts = np.bincount([SPACE.labels.index(row["private"]["label"]) for row in once], minlength=8)
    assert p_value(BLUR, 5, counts) > FALSE_ALARM
    other = PrivateColumn(BLUR, spark=spark)
    assert frame.select("id", other("id", "answer").alias("private")).orderBy("id").collect() != once
    other.forget()
    private.forget()
    with pytest.raises(Exception, match=r"destroy|serializable"):
        found.collect()
    for late in (lambda: private("id", "answer"), lambda: private.register("late")):
        with pytest.raises(InputError, match="destroyed"):
            late()


def test_a_function_of_sql(spark):
    private = PrivateColumn(TOWN, outside="nearest", within="5 km", spark=spark)
    private.register("blur")
    frame = spark.createDataFrame(places(300))
    frame.createOrReplaceTempView("visits")
    query = "SELECT id, p.* FROM (SELECT id, blur(id, lat, lon) AS p FROM visits) ORDER BY id"
    once = spark.sql(query).collect()
    assert list(once[0].asDict()) == ["id", "latitude", "longitude", "label"]
    assert once == spark.sql(query).collect()
    column = frame.select("id", private("id", "lat", "lon").alias("p")).select("id", "p.*")
    assert once == column.orderBy("id").collect()
    assert spark.sql("SELECT blur(7, 48.85, 2.35)").count() == 1  # decimals, as they stand in queries
    refused = {
        "blur(1)": "0 columns of true values were given, but 2 are needed",
        "blur(cast(null AS int), 48.85, 2.35)": "a row has no key",
        "blur(1.5D, 48.85, 2.35)": "a key of double names no rows",
        "blur(1, 48.85, null)": "leave such rows out of the query",
    }
    for call, problem in refused.items():
        with pytest.raises(Exception, match=problem):
            spark.sql(f"SELECT {call}").collect()
    private.forget()


def test_a_column_of_places(spark):
    from pyspark.sql import functions

    private = PrivateColumn(TOWN, outside="nearest", within="5 km", spark=spark)
    frame = spark.createDataFrame(places(50, 0.02))
    (first, *_) = frame.select(private(functions.col("id"), "lat", "lon").alias("p")).collect()
    assert list(first["p"].asDict()) == ["latitude", "longitude", "label"]
    with pytest.raises(InputError, match="1 columns of true values were given, but 2 are needed"):
        private("id", "lat")
    private.forget()


def test_a_column_of_several_answers(spark):
    joint = sf.JointSpace({"key": sf.Space(["a", "b"]), "answer": sf.Space(["c", "d"])})
    private = PrivateColumn(sf.Mechanism(np.eye(4), joint), spark=spark)
    frame = spark.createDataFrame(pa.table({"id": [1, 2, 3], "key": ["a", "b", "a"], "answer": ["c", "c", "d"]}))
    rows = (
        frame.select("id", private("id", "key", "answer").alias("p")).select("id", "p.*").orderBy("id").collect()
    )
    assert [tuple(row) for row in rows] == [(1, "a", "c"), (2, "b", "c"), (3, "a", "d")]
    private.forget()


def test_a_task_that_is_tried_again_draws_no_second_report(spark, tmp_path):
    private = PrivateColumn(BLUR, spark=spark)
    frame = spark.createDataFrame(answers(2000)).repartition(3).select("id", private("id", "answer").alias("p"))
    frame = frame.select("id", "p.label")
    seen = frame.mapInArrow(stopped_once(tmp_path, "killed"), frame.schema)
    final = {row["id"]: {row["label"]} for row in seen.collect()}
    assert draws(tmp_path).items() <= final.items()
    private.forget()


def test_rows_with_one_key_are_refused(spark):
    private = PrivateColumn(BLUR, spark=spark)
    twice = spark.createDataFrame(pa.concat_tables([answers(20)] * 2)).coalesce(1)
    with pytest.raises(Exception, match="two rows have the same key"):
        twice.select(private("id", "answer")).collect()
    private.forget()
    with pytest.raises(InputError, match="no nearest label"):
        PrivateColumn(BLUR, outside="nearest", spark=spark)
    with pytest.raises(InputError, match="outside='drop' is unknown"):
        PrivateColumn(BLUR, outside="drop", spark=spark)  # type: ignore[arg-type]


def test_distances_that_only_a_file_states_are_refused(spark, tmp_path):
    mechanism = sf.load(forged(tmp_path / "forged.sfm"))
    with pytest.raises(InputError, match=REFUSED):
        PrivateColumn(mechanism, spark=spark)
    with pytest.raises(InputError, match=REFUSED):
        release_on_spark(mechanism, spark.createDataFrame(places(10)), tmp_path / "private", key="id", spark=spark)
    assert not (tmp_path / "private").exists()


@pytest.mark.parametrize("name", LIARS)
def test_a_mechanism_of_an_unknown_kind_is_refused(name, spark):
    with pytest.raises(InputError, match=r"no kind of mechanism|cannot be proved of mechanisms of its kind"):
        PrivateColumn(LIARS[name], spark=spark)
