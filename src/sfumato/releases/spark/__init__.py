"""Releases on Apache Spark (extra ``spark``): the kernel in tasks that may run twice, one report for each row."""

from .release import PrivateColumn, SparkPrepared, prepare_on_spark, release_on_spark

__all__ = ["PrivateColumn", "SparkPrepared", "prepare_on_spark", "release_on_spark"]
