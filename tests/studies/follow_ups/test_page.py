"""The page of the follow-ups: its tables, claims and numbers are those of the run whose tables are kept."""

import re
from pathlib import Path

from sfumato.studies.follow_ups import (
    AnchorRow,
    Measure,
    SpannerRow,
    anchor_table,
    board_table,
    means,
    spanner_table,
)
from sfumato.studies.reproduction import RunTables, claim_words, paper_of
from sfumato.studies.results import columns_of

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "follow-ups.md").read_text(encoding="utf-8")
TABLES = RunTables(ROOT / "docs" / "data" / "follow-ups")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
CITY = TABLES.texts("board-cities")[0]["city"]
LEVELS_KM = (0.1, 0.5, 1, 2, 5)
FIXED = {"2014", "2015", "2017", "2022", "2026", "2011", "5", "20"}  # years, 5 x 5 cells, and the reports of AIPO


def test_tables_are_those_of_the_run():
    assert spanner_table(TABLES.rows("spanners", SpannerRow)) in PAGE
    assert board_table(means(TABLES.rows("board", Measure)), CITY, LEVELS_KM) in PAGE
    assert anchor_table(TABLES.rows("anchors", AnchorRow)) in PAGE


def test_claims_are_those_of_the_run_and_are_judged_so_again():
    kept = TABLES.texts("claims")
    assert claim_words(kept) in PAGE
    again = [
        {name: str(value) for name, value in columns_of(each).items()}
        for each in paper_of("follow-ups").claims(TABLES)
    ]
    assert again == kept


def test_numbers_of_the_prose_are_those_of_the_claims():
    claims = claim_words(TABLES.texts("claims"))
    prose = re.sub(r"^\|.*$|<!--.*?-->|\(images/[^)]*\)|arXiv [\d.]+", "", PAGE.replace(claims, ""), flags=re.M)
    evidence = set(NUMBER.findall(claims))
    assert set(NUMBER.findall(prose)) <= evidence | FIXED
