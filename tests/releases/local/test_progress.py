"""Progress of a release: rows done, their rate, and the time that is left."""

import io
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import sfumato as sf
from sfumato.cli.messages import rows_line
from sfumato.releases import RowsDone, prepare

COIN = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])


@pytest.fixture
def source(tmp_path):
    pq.write_table(pa.table({"bit": np.arange(1_000) % 2}), tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def test_rates_count_what_this_run_has_drawn():
    done = RowsDone(rows=900, total=1_200, seconds=2.0, new_rows=100)
    assert (done.rate, done.seconds_left) == (50.0, 6.0)
    assert RowsDone(0, 100, 0.0, 0).seconds_left is None
    assert RowsDone(50, None, 1.0, 50).seconds_left is None
    assert RowsDone(100, 100, 1.0, 100).seconds_left == 0


def test_progress_is_told_after_each_batch(tmp_path, source):
    told: list[RowsDone] = []
    prepare(COIN, source, tmp_path / "out.parquet", column="bit", batch_rows=300).run(told.append)
    assert [done.rows for done in told] == [300, 600, 900, 1000]
    assert {done.total for done in told} == {1000}
    assert all(done.rate > 0 and done.seconds_left is not None for done in told)
    assert [done.seconds for done in told] == sorted(done.seconds for done in told)
    assert told[-1].seconds_left == 0


def test_rows_that_were_drawn_before_are_no_part_of_the_rate(tmp_path, source, monkeypatch):
    monkeypatch.setattr("sfumato.releases.engine.cores", lambda: 1)  # more would draw ahead until the end

    def stop(done):
        if done.rows >= 600:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(COIN, source, tmp_path / "out.csv", column="bit", batch_rows=100).run(stop)
    told: list[RowsDone] = []
    prepare(COIN, source, tmp_path / "out.csv", column="bit", batch_rows=100, resume=True).run(told.append)
    assert (told[0].rows, told[0].new_rows) == (100, 0)
    assert told[-1].rows == 1000
    assert 0 < told[-1].new_rows <= 400


def test_the_line_on_the_screen(monkeypatch):
    screen = io.StringIO()
    start = Console.__init__

    def terminal(self, **options):
        start(self, **{**options, "file": screen, "force_terminal": True, "width": 120})

    monkeypatch.setattr(Console, "__init__", terminal)
    with rows_line() as report:
        for rows in (1_000, 2_000_000):
            report(RowsDone(rows, 3_000_000, 4.0, rows))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert "2,000,000 of 3,000,000 rows, 500,000 a second, 2 s left" in text
