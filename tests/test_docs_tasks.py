"""The pages by task: each runs from top to bottom in an empty folder, and prints what it shows."""

from pathlib import Path

import pytest

from .clock import avoid_midnight
from .pages import run_page

TASKS = Path(__file__).parents[1] / "docs" / "tasks"

QUICK = ("mechanisms", "sensitive-question")
SLOW = ("app", "pipeline", "survey-points")  # processes, or the report of a board


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_the_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in ("app", "pipeline"):  # whose budgets are per day
        avoid_midnight(300)
    run_page(TASKS / f"{name}.md", without="pyspark")  # tests/releases/spark/test_task_page.py runs that block


@pytest.mark.parametrize(
    "name", ["choosing-an-attacker", pytest.param("choosing-epsilon", marks=pytest.mark.slow)]
)
def test_the_page_about_a_choice_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(TASKS.parent / f"{name}.md")


def test_every_page_is_run():
    assert {path.stem for path in TASKS.glob("*.md")} == {*QUICK, *SLOW}
