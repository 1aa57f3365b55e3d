"""The block of the guide to Spark: it runs as it stands, after the first step of the guide to pipelines."""

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sfumato.releases import read_mark

from .cases import ignored

GUIDES = Path(__file__).parents[3] / "docs" / "how-to"


def blocks(name):
    text = (GUIDES / name).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


@ignored
def test_the_block_of_the_page_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (of_spark,) = blocks("spark.md")
    of_spark = re.sub(r'(parquet\(|phones, )"', rf'\1"{tmp_path}/', of_spark)  # Java stays where it was started
    known: dict[str, Any] = {}
    for block in (blocks("pipeline.md")[0], of_spark):
        exec(compile(block, str(GUIDES), "exec"), known)
    visits = known["visits"]
    private = pq.read_table(tmp_path / "private-spark")
    assert sorted(private["visit"].to_pylist()) == list(range(1000))
    assert {"latitude", "longitude", "label"} <= set(private.column_names)
    phones = pq.read_table(tmp_path / "private-phones")
    assert phones.num_rows == (visits["device"] == "phone").sum()
    assert read_mark(tmp_path / "private-phones") is not None
