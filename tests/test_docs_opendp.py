"""The page on OpenDP and diffprivlib: its block runs, and prints what the page says."""

from pathlib import Path

from .pages import names_on, shown_below

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "opendp.md"


def test_the_block_of_the_page_prints_what_it_says(capsys, monkeypatch):
    monkeypatch.setattr("opendp.mod.GLOBAL_FEATURES", set())
    block, said = shown_below(PAGE)
    exec(compile(block, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.splitlines() == said


def test_every_name_of_the_page_is_there():
    assert names_on(PAGE)
