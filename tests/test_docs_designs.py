"""The page on a mechanism for each person: its first block runs, and names of files are those it gives."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.files.many.folder import stem_of

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "designs-for-many.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_first_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    lat, lon = random.normal([48.85, 2.35], 0.01, (60, 2)).T
    users = ["ada"] * 30 + ["bob"] * 30
    pq.write_table(pa.table({"lat": lat, "lon": lon, "user": users}), "visits.parquet")
    exec(compile(BLOCKS[0], str(PAGE), "exec"), {"__name__": "__main__"})
    assert "2 {} True" in capsys.readouterr().out
    assert (tmp_path / "private.parquet").exists()


def test_the_names_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    assert f"`Ada/1` is `{stem_of('Ada/1')}.sfm`" in text
    assert stem_of("abc-_@+,= .z09") == "abc-_@+,= .z09"
    assert len(BLOCKS) == 2  # the second is run on Spark, with its tests
