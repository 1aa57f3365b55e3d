"""Tables and lists inside a page of the documentation, between two comments that name them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).with_name("places.md")


def table_in(text: str, name: str) -> str:
    """Return the table of this name in a page's text."""
    _, table, _ = _parts(text, name)
    return table.strip("\n")


def replace_table(name: str, table: str, page: Path = PAGE) -> None:
    """Write a table into a page."""
    before, _, after = _parts(page.read_text(encoding="utf-8"), name)
    page.write_text(f"{before}\n\n{table}\n\n{after}", encoding="utf-8")


def _parts(text: str, name: str) -> tuple[str, str, str]:
    """Return what stands before a table, the table, and what stands after it, with the comments outside."""
    begin, end = f"<!-- table: {name} -->", f"<!-- end of table: {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the page needs {begin} and {end}, each once.")
    before, rest = text.split(begin)
    table, after = rest.split(end)
    return before + begin, table, end + after
