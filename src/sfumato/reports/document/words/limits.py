"""Sentences on what is not protected, where the prior comes from, and what was not used."""

from __future__ import annotations

from ....core.naming import quote
from ....escaping import plain
from ....rounding import about, counted
from ..facts import FileFacts, ReportFacts
from .subject import nouns_of


def limit_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return what is not protected; only what is true of this file."""
    subject, kinds = facts.subject, {each.kind for each in facts.promises}
    adds = kinds & {"points", "cells", "values", "near"}
    _, several = nouns_of(subject)
    found = [
        "Repetition: the promise is for one report. Each fresh report of the same person tells more: for ten of "
        "them, epsilon is ten times as large."
        if adds
        else "Repetition: unless it says otherwise, all of this is for one report. Several of one person tell "
        "more.",
        "Other data: when a report is made, under which name, how often, and that it was made at all. What is "
        "published beside the report, or known from elsewhere, adds to what it tells.",
        "People who move or belong together: what is known of one place or one person can tell something of "
        "another.",
        "The true value: the program that draws the report has it, and so has anyone who runs that program. The "
        "promise is about those who see the report alone.",
        "Time: how long a draw takes may depend on the true value. The promise is about those who cannot measure "
        "it.",
        "Columns that a release keeps: they are published as they are.",
        "Limits on reports: the file sets none. A ledger of budgets can limit what each person spends.",
    ]
    if subject.chosen_reports:
        found.append(
            "Places of the data: reports are made at places chosen for a set of visits. Some may be exactly where "
            "a visit was, and whoever sees reports or the file sees them. If the visits are the protected "
            "person's own, that is a second release, which no promise here covers."
        )
    if subject.region:
        found.append(
            "Positions outside of the region above: nothing is promised of them, unless they are moved into it "
            "first."
        )
    if subject.kind == "cells":
        found.append(
            "Borders of cells: two people a metre apart may be in two cells, and can then be told apart as "
            "well as "
            "the centres of these cells."
        )
    if subject.kind == "points" and "points" not in kinds:
        found.append("Exact points: no promise of this file is about any two points that somebody may be at.")
    if "near" in kinds:
        found.append(
            f"{several.capitalize()} that are farther apart: a report can tell them apart better. Epsilon "
            f"counts once "
            "for each step of at most that distance from one to the other."
        )
    if any(each.unprotected for each in facts.promises):
        found.append(
            f"Pairs of {several} that a promise counts as infinitely far apart: nothing is promised of them."
        )
    if "error" in kinds:
        found.append(
            "Attackers who know more: how far a guess is off is promised only for an attacker who knows what is "
            "named above, and nothing more."
        )
    if any(each.for_stated for each in facts.promises):
        found.append("Distances that only the file states: what is proved for them says nothing of true ones.")
    unproved = any(not (each.holds or each.for_stated) and each.kind != "nothing" for each in facts.promises)
    if unproved or not all(each.holds for each in facts.constraints):
        found.append("What was NOT PROVED above: do not rely on it.")
    if facts.prior.held and facts.prior.even:
        one = _counted_by(facts)
        found.append(f"The prior: whoever has the mechanism file can read from it that every {one} counts alike.")
    elif facts.prior.held:
        found.append(
            f"The prior: whoever has the mechanism file can read from it how common each {_counted_by(facts)} is."
        )
    if facts.prior.places:
        found.append(
            f"The visits: the mechanism file holds the exact {counted(facts.prior.places, 'place')} of "
            f"{counted(facts.prior.visits, 'visit')}. Keep it as secret as these."
        )
    if facts.prior.table:
        found.append(
            "The places of the table: the mechanism file and the reports show where the places are that the table "
            "was made of, some of them exactly."
        )
    return tuple(found)


def prior_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return where the prior comes from, and that it is in the file."""
    prior = facts.prior
    if not prior.held:
        return ("The file holds no prior: nothing in it says how common each one is.",)
    source = (
        f"It comes from {plain(prior.source)}." if prior.source else "The file does not say where it comes from."
    )
    alike = " It counts all of them alike." if prior.even else ""
    return (
        f"The prior is a table of how common each {_counted_by(facts)} is. It is in the mechanism file.{alike} "
        f"{source}",
    )


def prior_formal(facts: ReportFacts) -> tuple[str, ...]:
    """Return the prior in the words of mathematics."""
    entropy = facts.prior.entropy
    return () if entropy is None else (f"Its entropy is about {about(entropy.value)} bits.",)


def file_words(file: FileFacts) -> tuple[str, ...]:
    """Return what was not used, and what nothing confirms."""
    unchecked = (plain(note).replace(", not checked", "", 1) for note in file.stated)
    found = [f"Taken from the file, and not checked: {note}." for note in unchecked]
    if file.claims:
        names = ", ".join(map(quote, file.claims))
        found.append(f"The file also holds what its writer says about it ({names}). None of that was used here.")
    return tuple(found)


def _counted_by(facts: ReportFacts) -> str:
    """Return what the prior counts, in the singular."""
    return "point of the lattice" if facts.subject.kind == "points" else nouns_of(facts.subject)[0]
