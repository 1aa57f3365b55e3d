"""The page of learned mechanisms: its tables and claims are those of the run that lies next to it."""

import shutil
from pathlib import Path

import pytest

from sfumato_papers.mipan import ContestRow, GridRow, people_table, square_table
from sfumato_papers.reproduction import Judgement, RunTables, claim_words, counts, paper_of
from sfumato_papers.results import columns_of, rows_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS.parent / "papers" / "docs" / "learned-mechanisms.md").read_text(encoding="utf-8")
SHOWN = ("no noise", "planar geometric + remap", "learned table", "certified optimum")
TABLES = {"learned-square": "square", "learned-mechanisms": "people", "learned-swapping": "swapping"}


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    """The claims of the run, judged again, by place and sentence."""
    folder = tmp_path_factory.mktemp("mipan")
    shutil.copytree(DOCS / "data" / "mipan", folder, dirs_exist_ok=True)
    for name, table in TABLES.items():
        shutil.copy(DOCS / "data" / f"{name}.csv", folder / f"{table}.csv")
    return {(claim.where, claim.says): claim for claim in paper_of("mipan").claims(RunTables(folder))}


def test_the_page_has_the_tables_of_the_run():
    square = rows_of(DOCS / "data" / "learned-square.csv", GridRow)
    people = rows_of(DOCS / "data" / "learned-mechanisms.csv", ContestRow)
    assert square_table(square, max(row.hits for row in square)) in PAGE
    assert people_table(people, SHOWN) in PAGE


def test_claims_are_those_of_the_run_and_are_judged_so_again(claims):
    stored = RunTables(DOCS / "data" / "mipan").texts("claims")
    assert claim_words(stored, brief=True) in PAGE
    assert stored == [{name: str(value) for name, value in columns_of(each).items()} for each in claims.values()]
    assert counts([(claim.ours, claim.verdict) for claim in claims.values()]) in PAGE


def test_the_best_table_is_compared_with_the_optimum_and_that_is_ours(claims):
    """Against the stored errors: a finite order of the target is ours, and refutes nothing."""
    (claim,) = (claim for (where, _), claim in claims.items() if where == "Title, Experiment 2")
    assert claim.ours
    assert claim.verdict is Judgement.CONFIRMED
    assert "annealed on these records has 99.8 to 99.9 % of that" in claim.found
    designs = [
        row
        for row in RunTables(DOCS / "data" / "mipan").texts("square-designs")
        if row["experiment"] == "Experiment 2"
    ]
    largest = {row["seed"]: float(row["largest_error"]) for row in designs if row["largest_error"]}
    shares = [
        float(row["error"]) / largest[row["seed"]] for row in designs if row["generator"] == "annealed table"
    ]
    assert len(shares) == 3
    assert 0.998 < min(shares) <= max(shares) < 1


def test_thresholds_are_ours_and_nothing_is_refuted(claims):
    assert not any(claim.verdict is Judgement.REFUTED for claim in claims.values())
    ours = {where for (where, _), claim in claims.items() if claim.ours}
    assert {"(14)", "(8), learned table", "Experiment 1", "Title, Experiment 1", "Title, users of a city"} <= ours
    for (where, _), claim in claims.items():
        assert bool(claim.quote) == where.startswith("Abstract")


def test_equations_lead_to_the_calls_that_compute_them():
    calls = {each.number: each.call for each in paper_of("mipan").equations}
    assert calls["(18) to (22)"] == "sfumato.attacks.classifiers.Confusion"
    assert calls["(15) to (17)"] == "sf.learning.Softplus"
    assert calls["(28) to (30)"] == "sfumato_papers.mipan.EXPERIMENT_1"
    assert not any(number.startswith("Figure 3") or number == "Figure 13" for number in calls)
