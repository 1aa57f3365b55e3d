"""The block about Spark of the page for data teams: it runs as it stands."""

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sfumato.releases import read_mark

from .cases import ignored

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "data-teams.md"


@ignored
def test_the_block_of_the_page_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    (of_spark,) = [block for block in found if "pyspark" in block]
    of_spark = re.sub(r'(parquet\(|phones, )"', rf'\1"{tmp_path}/', of_spark)  # Java stays where it was started
    known: dict[str, Any] = {}
    for block in (*found[:2], of_spark):
        exec(compile(block, str(PAGE), "exec"), known)
    visits = known["visits"]
    private = pq.read_table(tmp_path / "private-spark")
    assert sorted(private["visit_id"].to_pylist()) == list(range(600))
    assert {"latitude", "longitude", "label"} <= set(private.column_names)
    phones = pq.read_table(tmp_path / "private-phones")
    assert phones.num_rows == (visits["device"] == "phone").sum()
    assert read_mark(tmp_path / "private-phones") is not None
