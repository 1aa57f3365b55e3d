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
from sfumato_papers.results import columns_of
from sfumato_papers.wild.attack_errors import CloseRow, close_of
from sfumato_papers.wild.claims import claims, close_table, near_table, scheme_words
from sfumato_papers.wild.figures import figures

from .pages import replace_table

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
DATA: Final = DOCS / "data" / "wild"
PAGE: Final = DOCS.parent / "papers" / "docs" / "wild.md"
SCHEME_PAGE: Final = PAGE.with_name("wild-schemes.md")
KEPT: Final = ("averages", "walks", "borders", "zones", "distances")
_PICTURES: Final = {"how-close": "close", "week": "week", "borders": "borders", "zones": "zones"}


def cells_of(row: CloseRow) -> dict[str, object]:
    """Return the columns of a row, with the middle of each interval."""
    return columns_of(row) | {"median_m": row.median_m.value, "within_100": row.within_100.value}


def statement_words(tables: RunTables) -> str:
    """Return the judged statements as Markdown."""
    rows = [columns_of(each) for each in claims(tables)]
    return claim_words([{name: str(value) for name, value in row.items()} for row in rows])


def write(folder: Path) -> None:
    """Write the page's data, pictures, tables and statements from the folder of a run."""
    tables = RunTables(folder)
    rows = [cells_of(row) for row in close_of(tables)]
    write_rows(list(rows[0]), (row.values() for row in rows), DATA / "close.csv")
    for name in KEPT:
        shutil.copyfile(folder / f"{name}.csv", DATA / f"{name}.csv")
    drawn = figures(tables)
    for name, short in _PICTURES.items():
        save_picture(drawn[name], DOCS / "images" / f"wild-{short}.png")
    for name, text in (
        ("how close", close_table(close_of(RunTables(DATA)))),
        ("how near", near_table(close_of(RunTables(DATA)))),
        ("statements", statement_words(RunTables(DATA))),
    ):
        replace_table(name, text.strip("\n"), PAGE)
    replace_table("schemes", scheme_words().strip("\n"), SCHEME_PAGE)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
