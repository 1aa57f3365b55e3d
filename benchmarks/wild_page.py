"""The pages of schemes in the wild, from the folder of a full run: data, tables, statements and pictures.

Run it as ``python -m benchmarks.wild_page FOLDER``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

from sfumato.reports.theme import save_picture
from sfumato.tables import write_rows
from sfumato_papers.reproduction import RunTables, claim_words
from sfumato_papers.results import columns_of, rows_of
from sfumato_papers.wild.attack_errors import CloseRow, FoundRow, close_rows
from sfumato_papers.wild.claims import WildTables, claims_of
from sfumato_papers.wild.figures import figures
from sfumato_papers.wild.page import close_table, near_table, scheme_words

from .pages import replace_table

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PAGE: Final = DOCS.parent / "papers" / "docs" / "wild.md"
SCHEME_PAGE: Final = PAGE.with_name("wild-schemes.md")
KEPT: Final = ("averages", "walks", "borders", "zones", "distances")
_PICTURES: Final = {"how-close": "close", "week": "week", "borders": "borders", "zones": "zones"}


def tables_in(docs: Path) -> WildTables:
    """Return the tables that the page was made from."""
    return WildTables.of(RunTables(docs / "data" / "wild"), rows_of(docs / "data" / "wild.csv", CloseRow))


def statement_words(tables: WildTables) -> str:
    """Return the judged statements as Markdown."""
    return claim_words(
        [{name: str(value) for name, value in columns_of(each).items()} for each in claims_of(tables)]
    )


def write(folder: Path) -> None:
    """Write the page's data, pictures, tables and statements from the folder of a run."""
    tables = RunTables(folder)
    rows = [row.cells for row in close_rows(tables.rows("found", FoundRow))]
    write_rows(list(rows[0]), (row.values() for row in rows), DOCS / "data" / "wild.csv")
    kept = DOCS / "data" / "wild"
    kept.mkdir(exist_ok=True)
    for name in KEPT:
        shutil.copyfile(folder / f"{name}.csv", kept / f"{name}.csv")
    drawn = figures(tables)
    for name, short in _PICTURES.items():
        save_picture(drawn[name], DOCS / "images" / f"wild-{short}.png")
    found = tables_in(DOCS)
    for name, text in (
        ("how close", close_table(found.close)),
        ("how near", near_table(found.close)),
        ("statements", statement_words(found)),
    ):
        replace_table(name, text.strip("\n"), PAGE)
    replace_table("schemes", scheme_words().strip("\n"), SCHEME_PAGE)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
