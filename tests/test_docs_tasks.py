"""The pages by task: each runs from top to bottom in an empty folder, and prints what it shows."""

from pathlib import Path

import pytest

from .pages import run_page

TASKS = Path(__file__).parents[1] / "docs" / "tasks"

QUICK = ("survey-points", "mechanisms", "sensitive-question")
SLOW = ("app", "pipeline")  # a dozen processes each


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_the_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(TASKS / f"{name}.md", without="pyspark")  # tests/releases/spark/test_task_page.py runs that block


@pytest.mark.parametrize("name", ["choosing-epsilon", "choosing-an-attacker"])
def test_the_page_about_a_choice_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(TASKS.parent / f"{name}.md")


def test_every_page_is_run():
    assert {path.stem for path in TASKS.glob("*.md")} == {*QUICK, *SLOW}
