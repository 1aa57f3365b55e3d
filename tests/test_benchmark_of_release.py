"""The benchmark of releases: a small one runs, and its page has a line for each."""

import pytest
from benchmarks import release
from benchmarks.results import Invocation

import sfumato as sf


@pytest.mark.slow
def test_a_small_table_is_measured(tmp_path, monkeypatch):
    release.generate(tmp_path / "in.parquet", 3000)
    sf.save(release.mechanism(), tmp_path / "m.sfm")
    found = [release.measured(run, tmp_path) for run in ("copy", "release", "keep", "charge", "noise")]
    assert [each["rows"] for each in found] == [3000] * 5
    monkeypatch.setattr(release, "TARGET", tmp_path / "page.md")
    invocation = Invocation.new("release")
    facts = {"rows": 3000, "bytes": 1, "vertices": 1, "rounds": 1, "pyarrow": "1", "load": 0.0}
    invocation.runs.extend([facts, *found])
    page = release.write(invocation).read_text(encoding="utf-8")
    assert page.count("| 3,000 |") == 5
    assert "| 1.00 |" in page
