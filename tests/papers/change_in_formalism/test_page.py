"""The page of the thesis: its tables are those of the kept files, which the quick run makes again."""

import re
from pathlib import Path

import pytest

from sfumato_papers.change_in_formalism import (
    PropertyRow,
    RelationSummary,
    errata,
    erratum_words,
    property_table,
    relation_table,
    summaries,
)
from sfumato_papers.change_in_formalism.relations import KnownRow, RelationRow
from sfumato_papers.reproduction import Judgement, RunTables
from sfumato_papers.results import columns_of, rows_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS.parent / "papers" / "docs" / "change-in-formalism.md").read_text(encoding="utf-8")
RELATIONS = rows_of(DOCS / "data" / "change-in-formalism-relations.csv", RelationSummary)
PROPERTIES = rows_of(DOCS / "data" / "change-in-formalism-properties.csv", PropertyRow)


def test_the_page_has_the_tables_of_the_kept_files():
    assert relation_table(RELATIONS) in PAGE
    assert property_table(PROPERTIES) in PAGE
    assert erratum_words(errata()) in PAGE


def test_numbers_in_sentences_of_the_page_are_in_the_files():
    channels = max(row.instances for row in RELATIONS)
    assert f"{channels} random channels" in PAGE
    assert f"{len(RELATIONS)} relations" in PAGE
    assert f"{sum(row.fails for row in RELATIONS)} fail" in PAGE
    assert f"{sum(row.table == '?' for row in PROPERTIES)} question marks" in PAGE


def agree(found, kept):
    for row, old in zip(found, kept, strict=True):
        for name, value in columns_of(row).items():
            other = columns_of(old)[name]
            assert value == (pytest.approx(other, rel=1e-6) if isinstance(other, float) else other), (row, name)


def test_the_quick_run_makes_the_kept_files_again(quick_run):
    done = quick_run("change-in-formalism")
    tables = RunTables(done.folder)
    found = summaries(tables.rows("relations", RelationRow), tables.rows("known-channels", KnownRow))
    agree(found, RELATIONS)
    agree(tables.rows("properties", PropertyRow), PROPERTIES)
    verdicts = [claim.verdict for claim in done.claims]
    told = re.search(r"(\d+) confirmed, (\d+) refuted, (\d+) not checkable", PAGE)
    assert told
    kinds = (Judgement.CONFIRMED, Judgement.REFUTED, Judgement.OPEN)
    assert [int(each) for each in told.groups()] == [verdicts.count(kind) for kind in kinds]
    assert sum(map(verdicts.count, kinds)) == len(verdicts)
    assert len({(claim.where, claim.says) for claim in done.claims}) == len(verdicts)
    (advpr,) = (claim for claim in done.claims if claim.says == "AdvPr generalises (epsilon, delta)-DP.")
    assert (advpr.verdict, advpr.quote) == (Judgement.REFUTED, "(ε, δ)-DP ⊂ (Θ, ε, δ)-AdvPr")
