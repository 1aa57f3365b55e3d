"""The page of learned mechanisms: its tables are those of the run that lies beside it."""

from pathlib import Path

from sfumato.studies.mipan import ContestRow, GridRow, people_table, square_table
from sfumato.studies.results import rows_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "learned-mechanisms.md").read_text(encoding="utf-8")
SHOWN = ("no noise", "planar geometric + remap", "learned table", "certified optimum")


def test_the_page_has_the_tables_of_the_run():
    square = rows_of(DOCS / "data" / "learned-square.csv", GridRow)
    people = rows_of(DOCS / "data" / "learned-mechanisms.csv", ContestRow)
    assert square_table(square, max(row.hits for row in square)) in PAGE
    assert people_table(people, SHOWN) in PAGE
