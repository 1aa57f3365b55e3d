"""A driver that is killed while reports are written: nobody can take what it leaves for a table."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet

from sfumato.releases import read_mark
from sfumato.releases.spark import release_on_spark
from sfumato.tables import folder_stream
from tests.releases.forks import PATIENCE_S
from tests.releases.spark.cases import BLUR, JAVA_OPTIONS, answers, ignored, written

pytestmark = ignored
ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_a_killed_driver_leaves_nothing_that_others_can_read(spark, tmp_path):
    command = [sys.executable, "-W", "ignore", "-m", "tests.releases.spark.stopping", str(tmp_path)]
    environment = {
        **os.environ,
        "JAVA_TOOL_OPTIONS": JAVA_OPTIONS,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (tmp_path / "said").open("wb") as said:
        driver = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=said, stderr=said, start_new_session=True
        )
    try:
        parts: list[Path] = []
        until = time.monotonic() + PATIENCE_S
        while not parts and time.monotonic() < until and driver.poll() is None:
            time.sleep(0.1)
            parts = list(tmp_path.glob(".out.release-*/rows/_temporary/0/task_*/part-*.parquet"))
        assert parts, (tmp_path / "said").read_text()[-3000:]
    finally:
        os.killpg(driver.pid, signal.SIGKILL)  # Java and Python alike
        driver.wait()
    assert sum(parquet.read_metadata(part).num_rows for part in parts) > 100
    (left,) = tmp_path.glob(".out.release-*")
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    assert not (tmp_path / "out").exists()
    assert folder_stream(tmp_path) is None

    source = written(tmp_path / "in", answers(400))
    done = release_on_spark(BLUR, source, tmp_path / "out", spark=spark, column="answer", tell=None)
    assert "the files of 1 interrupted release were removed unread" in done.notes
    assert parquet.read_table(tmp_path / "out").num_rows == 400
    assert read_mark(tmp_path / "out") is not None
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "said"}
