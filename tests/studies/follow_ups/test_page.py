"""The page of the follow-ups: its tables, claims and numbers are those of the run whose tables are kept."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from sfumato.studies.follow_ups import (
    AnchorRow,
    Measure,
    SpannerRow,
    anchor_table,
    board_table,
    means,
    spanner_table,
)
from sfumato.studies.reproduction import Judgement, RunTables, claim_words, paper_of
from sfumato.studies.results import columns_of

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "follow-ups.md").read_text(encoding="utf-8")
KEPT = ROOT / "docs" / "data" / "follow-ups"
TABLES = RunTables(KEPT)
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


def judged(where, says, tables=TABLES):
    """Return the claim at a place, by how it begins."""
    (claim,) = (
        each
        for each in paper_of("follow-ups").claims(tables)
        if each.where == where and each.says.startswith(says)
    )
    return claim


@pytest.fixture
def changed(tmp_path):
    """Return a function from a table and a change of its rows to all tables, with that change."""
    folder = tmp_path / "tables"
    shutil.copytree(KEPT, folder)

    def change(name, alter):
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if alter(row) is not False]
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return RunTables(folder)

    return change


def test_every_claim_is_known_by_its_place_and_words():
    claims = paper_of("follow-ups").claims(TABLES)
    assert len({(claim.where, claim.says) for claim in claims}) == len(claims)


def test_words_without_a_number_are_not_judged_by_thresholds():
    for where, says, number in (
        ("Bordenabe et al. (2014), abstract", "The loss does not grow", "14 % with 1.1"),
        ("PRIVIC, abstract", "The statistical utility of the rounds", "0.22 km (0.2 to 0.25) after round 15"),
        ("AIPO, README of the artifact", "AIPO loses about 60 %", "Here, in straight distances, it is 15 %"),
        ("AIPO, README of the artifact", "AIPO is near", "12 % to 103 % more than a proved bound"),
    ):
        claim = judged(where, says)
        assert claim.verdict is Judgement.OPEN
        assert number in claim.found
    remap = judged("Oya et al. (2017), results of the code", "The part of the loss")
    assert (remap.ours, remap.verdict) == (True, Judgement.CONFIRMED)  # "a quarter" is not in the paper
    assert "from 21 % at 0.5 km (gowalla_paris) to 73 % at 0.05 km (foursquare_nyc)" in remap.found


def test_claims_on_a_city_need_visits_there():
    paris = judged("PRIVIC, code, Paris", "In Paris 2 b is a loose epsilon")
    assert paris.verdict is Judgement.CONFIRMED
    assert "b 2: listed 3.9462, here 3.925 (8 steps), 3.931 (10 steps), 3.946 (converged)" in paris.found
    noise = judged("PRIVIC, abstract, Paris", "In Paris, for strong promises")
    assert noise.verdict is Judgement.UNCONFIRMED  # these are not the authors' check-ins
    assert noise.quote == "better than LAP for high privacy levels"
    assert "b 0.2: 0.78 km (0.77 to 0.79) with Blahut and Arimoto, 0.31 km (0.3 to 0.32) with noise" in noise.found
    for where, says in (
        ("PRIVIC, code, San Francisco", "In San Francisco 2 b"),
        ("PRIVIC, abstract, San Francisco", "In San Francisco, for strong"),
        ("Oya et al. (2017), San Francisco", "ExPost has"),
    ):
        claim = judged(where, says)
        assert claim.verdict is Judgement.OPEN
        assert "1,000 visits or more in San Francisco" in claim.found
        assert "`sfumato reproduce follow-ups visits.csv`" in claim.found


def test_with_visits_in_san_francisco_its_claims_are_judged(changed):
    """The box decides, whatever the file is called."""

    def move(row):
        row["box"] = row["box"].replace("Paris", "San Francisco")

    changed("board-cities", move)
    tables = changed("privic-slopes", move)
    assert judged("Oya et al. (2017), San Francisco", "ExPost has", tables).verdict is Judgement.CONFIRMED
    listed = judged("PRIVIC, code, San Francisco", "In San Francisco 2 b", tables)
    assert listed.verdict is Judgement.CONFIRMED
    assert "b 1: listed 1.9816, here 1.929 (8 steps)" in listed.found
    assert judged("PRIVIC, abstract, San Francisco", "In San Fr", tables).verdict is Judgement.UNCONFIRMED
    assert judged("PRIVIC, abstract, Paris", "In Paris", tables).verdict is Judgement.OPEN


def test_a_tie_of_tight_and_loose_epsilon_refutes_nothing(changed):
    tables = changed("privic-slopes", lambda row: row.update(epsilon=str(2 * float(row["slope"]))))
    assert judged("PRIVIC, code, Paris", "In Paris 2 b", tables).verdict is Judgement.OPEN


def test_strong_promises_are_judged_at_the_strongest_published(changed):
    other = {"Blahut-Arimoto": "Laplace", "Laplace": "Blahut-Arimoto"}
    tables = changed("privic-estimates", lambda row: row.update(mechanism=other[row["mechanism"]]))
    assert judged("PRIVIC, abstract, Paris", "In Paris", tables).verdict is Judgement.CONFIRMED
    tables = changed("privic-estimates", lambda row: float(row["slope"]) > 0.2)
    assert judged("PRIVIC, abstract, Paris", "In Paris", tables).verdict is Judgement.OPEN


@pytest.mark.parametrize(("error", "verdict"), [("least", Judgement.CONFIRMED), ("less", Judgement.REFUTED)])
def test_the_attackers_error_is_judged_by_the_proved_bracket(changed, error, verdict):
    def alter(row):
        row["error_best"] = str(float(row["least"]) * (1 if error == "least" else 0.999))

    claim = judged("Bordenabe et al. (2014), abstract", "Where loss and error", changed("spanners", alter))
    assert claim.verdict is verdict


def test_more_entropy_than_that_of_spots_refutes_nothing(changed):
    tables = changed(
        "board",
        lambda row: (
            row.update(entropy_bits=str(float(row["entropy_bits"]) + 1)) if row["mechanism"] != "ExPost" else 0
        ),
    )
    claim = judged("Oya et al. (2017), abstract", "ExPost has", tables)
    assert claim.verdict is Judgement.OPEN
    assert "are spots, so this decides nothing" in claim.found
