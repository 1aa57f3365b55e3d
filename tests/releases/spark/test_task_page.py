"""The page for those who run a pipeline: with Spark it runs from top to bottom as well."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sfumato.releases import read_mark

from ...pages import run_page
from .cases import ignored

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "pipeline.md"


@ignored
@pytest.mark.slow
def test_the_page_runs_with_spark(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(PAGE)
    table = pq.read_table(tmp_path / "private-spark")
    assert sorted(table["visit"].to_pylist()) == list(range(1000))
    assert read_mark(tmp_path / "private-spark") is not None
