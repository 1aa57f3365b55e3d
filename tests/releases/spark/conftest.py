"""A session of Spark in this process, with two tries for each task and a log of its events."""

import importlib.util
import itertools
import os
import shutil
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.releases.spark.cases import JAVA_OPTIONS

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def known_secrets(monkeypatch):
    """Give each run a secret that is known, and another than the one before: reports are the same each time."""
    numbers = itertools.count(1)
    known = SimpleNamespace(urandom=lambda size: next(numbers).to_bytes(size, "big"))
    monkeypatch.setattr("sfumato.releases.spark.tasks.os", known)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("pyspark or Java is not installed (extra spark)")
    from pyspark.sql import SparkSession

    events = tmp_path_factory.mktemp("events")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.python.daemon.module": "tests.releases.spark.daemon",
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of pandas
        builder = SparkSession.builder.master("local[2,2]")
        for name, value in options.items():
            builder = builder.config(name, value)
        with pytest.MonkeyPatch.context() as patch:  # Java and Spark's daemon keep them; other tests do not
            patch.setenv("PYSPARK_PYTHON", sys.executable)
            patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        session.events = events
        yield session
        session.stop()
