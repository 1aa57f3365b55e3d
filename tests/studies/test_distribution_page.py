"""The page of distribution privacy: its claims and numbers are those of the run that is kept beside it."""

import csv
from pathlib import Path

from sfumato.rounding import at_most
from sfumato.studies import distribution_privacy as study
from sfumato.studies import rows_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "distribution-privacy.md").read_text(encoding="utf-8")
LEVELS = (0.25, 0.5, 1.0, 1.5)


def texts(name):
    with (DOCS / "data" / f"distribution-privacy{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_claim_of_the_run_is_told_as_it_was_found():
    claims = texts("-claims")
    for row in claims:
        verdict = row["verdict"].capitalize()
        assert f"- **{row['where']}.** {row['says']} *{verdict}.* {row['found']}\n" in PAGE
    assert PAGE.count("\n- **") - PAGE.count("\n- **Groups") - 3 == len(claims)


def test_the_least_epsilons_are_those_of_the_rows():
    rows = rows_of(DOCS / "data" / "distribution-privacy.csv", study.DistributionRow)
    first = [row for row in rows if row.groups == rows[0].groups]
    told = 0
    for name, k, source in dict.fromkeys((row.mechanism, row.dummies, row.source) for row in first):
        best = [study.best_within(first, name, k, source, level) for level in LEVELS]
        cells = ["-" if row is None else at_most(row.epsilon.upper, 3) for row in best]
        told += f"| {name}{f', {k} {source} dummies' if k else ''} | {' | '.join(cells)} |\n" in PAGE
    assert told == PAGE.partition("| mechanism |")[2].partition("\n\n")[0].count("\n") - 1


def test_the_groups_are_those_of_the_run():
    for row in texts("-groups"):
        line = f"| {row['groups']} | {row['name']} | {int(row['users']):,} | {int(row['visits']):,} | "
        assert f"{line}{row['visited']} | {float(row['total_variation']):.3f} |\n" in PAGE
        assert row["cells"] == "400"
