"""A program: a release on Spark one of whose tasks never ends, once reports have been written."""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from sfumato.releases.spark import release_on_spark
from tests.releases.spark.cases import BLUR, answers


def endless(folder):
    """Return a function that gives rows, and stops the second part of them when a release writes."""

    def waiting(batches):
        from pyspark import TaskContext

        for batch in batches:
            while TaskContext.get().partitionId() and list(Path(folder).glob(".out.release-*/rows")):
                time.sleep(1)
            yield batch

    return waiting


def main(folder: str) -> None:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "localhost").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.createDataFrame(answers(400)).repartition(2, "id")
    frame = frame.mapInArrow(endless(folder), frame.schema)
    release_on_spark(BLUR, frame, Path(folder, "out"), spark=spark, key="id", column="answer", keep=["id"])


if __name__ == "__main__":
    main(*sys.argv[1:])
