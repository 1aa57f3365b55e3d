"""Speculative execution: two tasks draw the same rows at the same time, and draw the same reports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.releases.spark.cases import JAVA_OPTIONS, answers, draws, written

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_tasks_that_race_draw_one_report_for_a_row(spark, tmp_path):
    source = written(tmp_path / "in", answers(6000), files=3)
    seen, events = tmp_path / "seen", tmp_path / "events"
    seen.mkdir()
    events.mkdir()
    done = subprocess.run(
        [
            sys.executable,
            *("-W", "ignore", "-m", "tests.releases.spark.speculating"),
            *(source, str(tmp_path / "out"), str(seen), str(events)),
        ],
        cwd=ROOT,
        env={**os.environ, "JAVA_TOOL_OPTIONS": JAVA_OPTIONS, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line for path in events.rglob("events_*") for line in path.read_text().splitlines()]
    begun = [json.loads(line) for line in lines if '"SparkListenerTaskStart"' in line]
    assert any(event["Task Info"]["Speculative"] for event in begun)
    twice = list(seen.glob("0.0.*.parquet"))
    assert len(twice) == 2, "one task was to be run by two executors at once"
    assert parquet.read_table(twice[0]) == parquet.read_table(twice[1])
    rows = parquet.read_table(tmp_path / "out").to_pylist()
    assert len(rows) == 6000
    assert draws(seen) == {row["id"]: {row["label"]} for row in rows}
