"""The page on data frames: its blocks run, one after the other."""

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "frames.md"


@pytest.mark.slow
def test_the_blocks_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 11
    known: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), known)
    said = capsys.readouterr().out
    assert "Proved from the integers" in said
    assert "600 reports released" in said
    rows = {path.name: pq.read_table(path).num_rows for path in tmp_path.glob("private-*.parquet")}
    assert rows["private-pandas.parquet"] == 600
    con = known["con"]
    watches = con.execute("SELECT count(*), count(DISTINCT visit) FROM private_watches").fetchone()
    assert watches == (600 - rows["private-polars.parquet"],) * 2
    assert con.execute("SELECT count(*) FROM private_visits").fetchone() == (600,)
    con.close()
    assert len(known["estimate"].probabilities) == len(known["mech"].secrets)
    assert known["model"][-1].labels_.shape == (600,)
