"""The benchmark of points: its page is that of its results, and one of its contenders runs."""

import json

from benchmarks import points
from benchmarks.results import FOLDER, Invocation


def test_the_page_is_that_of_the_newest_results(monkeypatch, tmp_path):
    page = points.TARGET.read_text(encoding="utf-8")
    newest = max(FOLDER.glob("*-points.json"))
    monkeypatch.setattr(points, "TARGET", tmp_path / "page.md")
    written = points.write(Invocation(**json.loads(newest.read_text(encoding="utf-8"))))
    assert written.read_text(encoding="utf-8") == page


def test_a_contender_is_measured(monkeypatch):
    monkeypatch.setattr(points, "MANY", 500)
    found = points.measured("square lattice, 1 km")
    assert min(found["many_us"], found["one_us"]) > 0
    assert len(points.contenders()) == 5
