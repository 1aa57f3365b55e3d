"""The page on data frames: its blocks run, one after the other."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "frames.md"


@pytest.mark.slow
def test_the_blocks_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 11
    known: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), known)
    said = capsys.readouterr().out
    assert "Proved from the integers" in said
    assert "200 reports released" in said
