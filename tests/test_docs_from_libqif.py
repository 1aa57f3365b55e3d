"""The page for those who come from libqif: its block runs, and prints what the page says."""

import re
from pathlib import Path

import sfumato as sf

PAGE = Path(__file__).parents[1] / "docs" / "from-libqif.md"


def test_the_block_of_the_page_prints_what_it_says(capsys):
    text = PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    exec(compile(block, str(PAGE), "exec"), {})
    said = re.findall(r"^    (.*)$", text.partition("This prints")[2], flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said


def test_every_name_of_the_page_is_there():
    for path in set(re.findall(r"sf((?:\.[A-Za-z_]+)+)\(", PAGE.read_text(encoding="utf-8"))):
        found = sf
        for name in path[1:].split("."):
            found = getattr(found, name)
