"""The page of distribution privacy: its claims and numbers are those of the run that is kept beside it."""

import csv
from pathlib import Path
from statistics import mean

from sfumato.rounding import at_most
from sfumato_papers import rows_of
from sfumato_papers.distribution_privacy.claims import _dominates, _response
from sfumato_papers.distribution_privacy.measurements import TUPLED, DistributionRow
from sfumato_papers.distribution_privacy.optimum import (
    PARTNER,
    REPORT,
    REPORT_AMONG,
    TRUTH,
    OptimumRow,
    TransferRow,
)
from sfumato_papers.reproduction import Judgement, paper_of
from sfumato_papers.results import where

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS.parent / "papers" / "docs" / "distribution-privacy.md").read_text(encoding="utf-8")
LEVELS = (0.25, 0.5, 1.0, 1.5)


def texts(name):
    with (DOCS / "data" / f"distribution-privacy{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measured(name):
    return rows_of(DOCS / "data" / f"distribution-privacy{name}.csv", DistributionRow)


def claim_of(says):
    (row,) = (row for row in texts("-claims") if row["says"].startswith(says))
    return row


def test_every_claim_of_the_run_is_on_the_page():
    claims = texts("-claims")
    for row in claims:
        where = f"{row['where']} (ours)" if row["ours"] == "True" else row["where"]
        words = f" In its words: \u201c{row['quote']}\u201d." if row["quote"] else ""
        verdict = row["verdict"].capitalize()
        assert f"- **{where}.** {row['says']}{words} *{verdict}.* {row['found']}\n" in PAGE
    assert len({(row["where"], row["says"]) for row in claims}) == len(claims)
    assert "refuted" not in {row["verdict"] for row in claims}
    assert PAGE.count("\n- **") - PAGE.count("\n- **Groups") - 3 == len(claims)


def test_the_least_epsilons_are_those_of_the_rows():
    rows = measured("")
    first = [row for row in rows if row.groups == rows[0].groups]
    told = 0
    for name, k, source in dict.fromkeys((row.mechanism, row.dummies, row.source) for row in first):
        own = where(first, mechanism=name, dummies=k, source=source)
        within = [[row.epsilon.upper for row in own if row.loss_km <= level] for level in LEVELS]
        cells = [at_most(min(epsilons), 3) if epsilons else "-" for epsilons in within]
        told += f"| {name}{f', {k} {source} dummies' if k else ''} | {' | '.join(cells)} |\n" in PAGE
    assert told == PAGE.partition("| mechanism |")[2].partition("\n\n")[0].count("\n") - 1


def test_the_groups_are_those_of_the_run():
    for row in texts("-groups"):
        line = f"| {row['groups']} | {row['name']} | {int(row['users']):,} | {int(row['visits']):,} | "
        assert f"{line}{row['visited']} | {float(row['total_variation']):.3f} |\n" in PAGE
        assert row["cells"] == "400"


def lines(head):
    """The lines of a table of the page, below its head and rule."""
    return PAGE.partition(f"| {head} |")[2].partition("\n\n")[0].splitlines()[2:]


def test_the_tables_of_the_optimum_are_those_of_the_rows():
    """Right guesses are rounded to one digit, and the loss upwards."""
    rows = rows_of(DOCS / "data" / "distribution-privacy-optimum.csv", OptimumRow)
    moves = rows_of(DOCS / "data" / "distribution-privacy-transfer.csv", TransferRow)
    known, unknown = [], []
    for name in dict.fromkeys(row.groups for row in rows):
        cases = where(rows, groups=name)
        without_loss = [row for row in cases if row.parameter == 1 and row.mechanism in (REPORT, REPORT_AMONG)]
        shares = [row.group_success.upper for row in [*without_loss, *where(cases, mechanism=PARTNER)]]
        (hiding,) = where(cases, mechanism=REPORT, parameter=0.0)
        others = [
            mean(row.other_half for row in where(moves, groups=name, mechanism=mechanism, dummies=k))
            for mechanism, k in ((TRUTH, 0), (PARTNER, 1), (TRUTH, 1), (TRUTH, 10), (TRUTH, 100))
        ]
        first, second = (" | ".join(f"{100 * share:.1f}" for share in part) for part in (shares, others))
        known.append(f"| {name} | {first} | {at_most(hiding.loss_km.upper, 3)} |")
        unknown.append(f"| {name} | {second} |")
    assert lines("right guesses (%), without loss") == known
    assert lines("right guesses on other users (%)") == unknown


def test_losses_at_each_epsilon_are_those_of_the_claim():
    """The claim has them by epsilon, the page by mechanism."""
    text = claim_of("At equal epsilon and delta")["found"].partition("the least measured: ")[2]
    columns = [part.partition(" at epsilon ")[0].split(", ") for part in text.split("; ")]
    cells = [line.strip("| ").split(" | ")[1:] for line in lines("least loss in km at delta 0.001")]
    assert cells == [list(row) for row in zip(*columns, strict=True)]


def test_enough_dummies_need_less_epsilon_at_equal_loss():
    """100 dummies leave two cases open, which 3,000 close: a limit of ours decides nothing."""
    rows, many = measured(""), measured("-many-dummies")
    claim = _dominates(rows, many)
    assert (claim.verdict, claim.ours) == (Judgement.CONFIRMED, False)
    assert claim.quote in claim_of("At equal loss")["quote"]
    assert claim.found == claim_of("At equal loss")["found"]
    tupled = [row for row in rows if (row.mechanism, row.source) == (TUPLED, "mixture")]
    few = _dominates(rows, tupled)
    assert few.verdict is Judgement.OPEN
    assert "141 of 143 cases" in few.found
    # The noisiest randomised response, by hand: 3,000 dummies over noise of 0.25/km.
    alone = [row for row in rows if (row.mechanism, row.source) == ("randomised response", "none")]
    response = min(alone, key=lambda row: row.epsilon.upper)
    (tuples,) = (row for row in many if row.groups == response.groups and row.parameter == 0.25)
    assert tuples.dummies == 3000
    assert tuples.epsilon.upper < 0.005 < 0.01 < response.epsilon.lower
    assert tuples.loss_km < response.loss_km


def test_by_far_is_no_number():
    claim = _response(measured(""))
    assert (claim.verdict, claim.ours) == (Judgement.OPEN, False)
    assert "at epsilon 4 it loses 0.977 km, the others 0.35 to 0.637 km" in claim.found
    assert claim.found == claim_of("Randomised response")["found"]


def test_equations_lead_to_the_calls_that_compute_them():
    """Definitions 3 and 6, 9 and 10, and 14 to 17 are notions of their own; so are close and worst beliefs."""
    calls = {(each.number, each.topic): each.call for each in paper_of("distribution-privacy").equations}
    definitions = {number.removeprefix("Definition "): call for (number, _), call in calls.items()}
    assert definitions["3"] == "sf.privacy.DifferentialPrivacy"
    assert definitions["6"] == "sf.privacy.MetricDifferentialPrivacy"
    assert definitions["9"] == "sf.transport.lifting"
    assert definitions["10"] == "sf.transport.optimal_lifting"
    assert [definitions[str(k)] for k in range(14, 18)] == [
        "sf.privacy.DivergencePrivacy",
        "sf.privacy.DivergenceMetricPrivacy",
        "sf.privacy.DivergenceDistributionPrivacy",
        "sf.privacy.DivergenceMetricDistributionPrivacy",
    ]
    assert calls["Section III-F", "close beliefs"] == "sf.privacy.close_beliefs"
    assert definitions["Ours, on section III-F"] == "sf.privacy.worst_beliefs"
