"""The page of Privacy Games: its tables, claims and numbers are those of the run whose tables are kept."""

from pathlib import Path

from sfumato.studies.privacy_games import (
    GameRow,
    InformedRow,
    PairRow,
    SlopeRow,
    informed_table,
    pair_table,
    scenario_table,
    slope_table,
)
from sfumato.studies.reproduction import RunTables, claim_words, paper_of
from sfumato.studies.results import columns_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "privacy-games.md").read_text(encoding="utf-8")
TABLES = RunTables(DOCS / "data" / "privacy-games")


def test_tables_are_those_of_the_run():
    assert scenario_table(TABLES.rows("privacy_games", GameRow)) in PAGE
    assert informed_table(TABLES.rows("privacy_games_informed", InformedRow)) in PAGE
    assert slope_table(TABLES.rows("slopes", SlopeRow)) in PAGE
    assert pair_table(TABLES.rows("pruned-pairs", PairRow)) in PAGE


def test_claims_are_those_of_the_run_and_are_judged_so_again():
    kept = TABLES.texts("claims")
    assert claim_words(kept) in PAGE
    again = [
        {name: str(value) for name, value in columns_of(each).items()}
        for each in paper_of("privacy-games").claims(TABLES)
    ]
    assert again == kept


def test_the_users_are_those_of_the_run():
    users = {row.user: row for row in TABLES.rows("privacy_games", GameRow)}.values()
    visits, cells = [row.visits for row in users], [row.possible_cells for row in users]
    assert len(users) == 10
    told = f"({min(visits)} to {max(visits)} check-ins in {min(cells)} to {max(cells)} of the 300 cells;"
    assert told in PAGE
