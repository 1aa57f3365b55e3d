"""The extra spark: a release of Parquet files by tasks of Spark."""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import sfumato as sf
from sfumato.releases.spark import release_on_spark

os.environ["PYSPARK_PYTHON"] = sys.executable
city = sf.Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
mechanism = sf.Mechanism(np.random.default_rng(6).dirichlet(np.ones(len(city)), len(city)), city)
spread = 0.01 * np.random.default_rng(7).standard_normal((50, 2))
pq.write_table(pa.table({"lat": 48.85 + spread[:, 0], "lon": 2.35 + spread[:, 1]}), "visits.parquet")

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
session = (
    session.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "localhost").getOrCreate()
)
release_on_spark(mechanism, os.path.abspath("visits.parquet"), os.path.abspath("private"), spark=session)
session.stop()
assert pq.read_table("private").num_rows == 50  # noqa: S101
