"""Guides: each runs from top to bottom in an empty folder, and prints what it shows."""

import html
import re
from pathlib import Path

import pytest

from .clock import avoid_midnight
from .pages import run_page

DOCS = Path(__file__).parents[1] / "docs"

QUICK = ("day", "mechanisms", "sensitive-question", "tracks")
SLOW = ("app", "observations", "pipeline", "survey-points")  # processes, or the report of a board


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_the_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in ("app", "pipeline"):  # whose budgets are per day
        avoid_midnight(300)
    run_page(DOCS / "how-to" / f"{name}.md")


@pytest.mark.parametrize(
    "page", ["how-to/attackers.md", pytest.param("explanation/epsilon.md", marks=pytest.mark.slow)]
)
def test_the_page_about_a_choice_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(DOCS / page)


@pytest.mark.slow
def test_the_page_about_assessments_quotes_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "how-to" / "assessment.md"
    run_page(page)
    source = Path("assessment.html").read_text(encoding="utf-8")
    report = " ".join(html.unescape(re.sub(r"<[^>]+>", "", source)).split())
    rows = "\n".join(re.findall(r"^\|.*\|$", page.read_text(encoding="utf-8"), flags=re.MULTILINE))
    quoted = [each for each in re.findall(r'"([^"]+)"', rows) if each != "very small"]
    assert len(quoted) == 8
    for each in quoted:
        assert each in report
    named = {*re.findall(r"\*(\w[^*|]+)\*", rows)} - {"first sheet"}
    assert named <= {*re.findall(r"<(?:h2|dt|th)[^>]*>\s*(.*?)\s*</", source)}
