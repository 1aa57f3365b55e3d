"""Releases on Apache Spark (extra ``spark``): the kernel in tasks that may run twice, one report for each row."""

from .release import PreparedSparkRelease, prepare_on_spark, release_on_spark
from .tasks import PrivateColumn

__all__ = ["PreparedSparkRelease", "PrivateColumn", "prepare_on_spark", "release_on_spark"]
