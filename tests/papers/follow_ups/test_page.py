"""The page of the follow-ups: its tables, claims and numbers are those of the run whose tables are kept."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from sfumato_papers.follow_ups import (
    AnchorRow,
    Measure,
    RoundRow,
    SpannerRow,
    anchor_table,
    board_table,
    means,
    spanner_table,
)
from sfumato_papers.reproduction import Judgement, RunTables, claim_words, paper_of
from sfumato_papers.results import columns_of

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "papers" / "docs" / "follow-ups.md").read_text(encoding="utf-8")
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
    assert claim_words(kept, brief=True) in PAGE
    again = [
        {name: str(value) for name, value in columns_of(each).items()}
        for each in paper_of("follow-ups").claims(TABLES)
    ]
    assert again == kept


def test_numbers_of_the_prose_are_those_of_the_claims():
    kept = TABLES.texts("claims")
    page = PAGE.replace(claim_words(kept, brief=True), "")
    prose = re.sub(r"^\|.*$|<!--.*?-->|\(images/[^)]*\)|arXiv [\d.]+", "", page, flags=re.M)
    evidence = set(NUMBER.findall(claim_words(kept)))
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
    paris = judged("PRIVIC, code, Paris", "In Paris the authors list a tight epsilon")
    assert paris.verdict is Judgement.CONFIRMED
    assert "b 2: listed 3.9462, here 3.925 (8 steps), 3.931 (10 steps), 3.946 (converged)" in paris.found
    noise = judged("PRIVIC, abstract, Paris", "In Paris, for strong guarantees")
    assert noise.verdict is Judgement.UNCONFIRMED  # these are not the authors' check-ins
    assert noise.quote == "better than LAP for high privacy levels"
    assert "b 0.2: 0.78 km (0.77 to 0.79) with Blahut and Arimoto, 0.31 km (0.3 to 0.32) with noise" in noise.found
    for where, says in (
        ("PRIVIC, code, San Francisco", "In San Francisco the authors list"),
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
    listed = judged("PRIVIC, code, San Francisco", "In San Francisco the authors list", tables)
    assert listed.verdict is Judgement.CONFIRMED
    assert "b 1: listed 1.9816, here 1.929 (8 steps)" in listed.found
    assert judged("PRIVIC, abstract, San Francisco", "In San Fr", tables).verdict is Judgement.UNCONFIRMED
    assert judged("PRIVIC, abstract, Paris", "In Paris", tables).verdict is Judgement.OPEN


def test_a_tie_of_tight_and_loose_epsilon_refutes_nothing(changed):
    tables = changed("privic-slopes", lambda row: row.update(epsilon=str(2 * float(row["slope"]))))
    assert judged("PRIVIC, code, Paris", "In Paris the authors list", tables).verdict is Judgement.OPEN


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


def test_comparisons_within_the_intervals_decide_nothing(changed):
    """Seeds that differ much make wide intervals, in which no comparison has less entropy."""

    def alter(row):
        if row["mechanism"] == "Laplace" and row["seed"] in ("1", "2"):
            row["entropy_bits"] = str(float(row["entropy_bits"]) + (1 if row["seed"] == "1" else -1))

    claim = judged("Oya et al. (2017), abstract", "ExPost has", changed("board", alter))
    assert claim.verdict is Judgement.OPEN
    assert "and less in 0." in claim.found
    assert "The other comparisons lie within the intervals, which decides nothing." in claim.found


def test_rounds_are_compared_with_noise_of_their_promise():
    """The noise of the first round has epsilon 2, twice the slope of the rounds."""
    claim = judged("PRIVIC, abstract", "The statistical utility of the rounds")
    assert "of 6 cases whose rounds have the noise's epsilon" in claim.found
    assert "foursquare_nyc, b 1, converged: 0.35 km (0.27 to 0.43) after Laplace noise" in claim.found
    rows = TABLES.rows("privic-rounds", RoundRow)
    assert {row.slope for row in rows} == {1.0}
    last = max(row.number for row in rows)
    for city, steps in {(row.city, row.steps) for row in rows}:
        first, final = (
            [row.truth_km for row in rows if (row.city, row.steps, row.number) == (city, steps, number)]
            for number in (1, last)
        )
        assert sum(final) > sum(first)


def test_words_stand_on_what_they_say():
    """A claim about all baselines needs all of them, and the authors' own words on isolation are theirs."""
    every = judged("AIPO, abstract", "AIPO outperforms")
    assert (every.verdict, every.quote) == (Judgement.OPEN, "outperforming baseline mechanisms")
    assert judged("AIPO, README of the artifact", "AIPO loses less than the exp").verdict is Judgement.CONFIRMED
    isolation = judged("PRIVIC, abstract", "The mechanism of Blahut and Arimoto mitigates")
    assert (isolation.ours, isolation.verdict) == (False, Judgement.CONFIRMED)
    assert isolation.quote == "enforces an elastic metric that mitigates the problem of isolation"
    assert "README of AIPO's artifact" in paper_of("follow-ups").version
