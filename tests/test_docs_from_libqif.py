"""The page for those who come from libqif: its block runs, and prints what the page says."""

from pathlib import Path

from .pages import names_on, shown_below

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "from-libqif.md"


def test_the_block_of_the_page_prints_what_it_says(capsys):
    block, said = shown_below(PAGE)
    exec(compile(block, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.splitlines() == said


def test_every_name_of_the_page_is_there():
    assert names_on(PAGE)
