"""Sentences on the subject, limits, prior and origin of a file; nouns and amounts of all sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ...core.naming import quote
from ...core.units import canonical
from ...escaping import plain
from ...rounding import (
    about,
    amount,
    amount_at_least,
    amount_at_most,
    exactly,
    percent,
    percent_at_least,
    percent_at_most,
    plural,
)
from ..facts import BudgetFacts, ErrorFacts, FileFacts, Quantity, ReportFacts, SubjectFacts, all_hold

_NOUNS: Final = {
    "points": ("point", "points"),
    "noise": ("point", "points"),
    "cells": ("cell", "cells"),
    "ranges": ("range", "ranges"),
}
_SECOND: Final = "If {} are the protected person's own, that is a second release, which no guarantee here covers."
_AT_VISITS: Final = (
    "Some may be exactly at a visit, and everyone with reports or the file sees them. "
    f"{_SECOND.format('the visits')}"
)
_BORDERS: Final = (
    "Borders of cells: two people a metre apart may be in two cells. They can then be distinguished like the "
    "centres of these cells."
)
_SOURCE_LENGTH: Final = 120  # characters of a source
_REASON: Final = 400  # characters of a reason
_WORDS: Final = ("day", "week", "month", "year")  # units that are words; the others are signs
NO_RADIUS: Final = "No error radius is proved: no distance holds most reports from every point."
"""That no error radius is known."""
PRIOR_OF_AVERAGE: Final = "The average is under the prior of the file."
"""That a report's average cost is under a prior."""
MOST_SENTENCES: Final = 3
"""The most sentences of one kind on the first sheet."""
CEILING: Final = "100 %"  # a useless limit of a share


def error_distance(kind: str) -> str:
    """Return the distance of the attacker's error from the true point, where it is not the Euclidean one."""
    return " (manhattan distance)" if kind == "manhattan" else ""


def nouns_of(subject: SubjectFacts) -> tuple[str, str]:
    """Return the noun for a secret, and its plural."""
    return _NOUNS.get(subject.kind, ("value", "values"))


def secret_nouns(subject: SubjectFacts) -> tuple[str, str]:
    """Return the noun for a secret of the channel, and its plural; on a lattice its points."""
    return ("lattice point", "lattice points") if subject.kind == "points" else nouns_of(subject)


def report_noun(subject: SubjectFacts) -> str:
    """Return the noun for a report."""
    return "place" if subject.region else nouns_of(subject)[0]


def loss_text(loss: float, subject: SubjectFacts) -> str:
    """Return a loss or an error, rounded to nearest, as text: a share where secrets are categories."""
    return percent(min(loss, 1.0)) if subject.kind == "categories" else about_amount(loss, subject.unit)


def way_words(subject: SubjectFacts) -> str:
    """Return how differences of numbers on a circle are counted, to end a clause; empty for a line."""
    return ", the shorter way around the circle" if subject.circle is not None else ""


def first_words(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the first sentences, and how many more there are."""
    more = len(sentences) - MOST_SENTENCES
    return tuple(sentences) if more < 1 else (*sentences[:MOST_SENTENCES], f"{more:,} more: see the next pages.")


def about_amount(value: float, unit: str) -> str:
    """Return a quantity, rounded to nearest, as text."""
    return _write_amount(amount, value, unit, 3)


def most_amount(value: float, unit: str, digits: int = 3) -> str:
    """Return an upper bound of a quantity as text, never below it."""
    return _write_amount(amount_at_most, value, unit, digits)


def least_amount(value: float, unit: str, digits: int = 3) -> str:
    """Return a lower bound of a quantity as text, never above it."""
    return _write_amount(amount_at_least, value, unit, digits)


def _write_amount(write: Callable[[float, str, int], str], value: float, unit: str, digits: int) -> str:
    unit = canonical(plain(unit))
    if unit not in _WORDS:
        return write(value, unit, digits)
    number = write(value, "", digits)
    return f"{number} {unit}{'' if number == '1' else 's'}"


def frequency_text(share: Quantity) -> str:
    """Return an upper bound of a share: ``at most 12 % of the time``, or ``every time``."""
    if share.lower == 1:
        return "every time"
    limit = percent_at_most(share.high)
    return "perhaps every time (no useful limit is proved)" if limit == CEILING else f"at most {limit} of the time"


def title_words(subject: SubjectFacts, circle: str = "") -> str:
    """Return the title of a mechanism's report."""
    if subject.kind == "noise":
        return "Noise for coordinates"
    return f"A mechanism for {plural(subject.secrets, *secret_nouns(subject))} {circle}".strip()


def protected_words(subject: SubjectFacts) -> tuple[str, ...]:
    """Return what goes in and out, and the unit of privacy."""
    return (
        _description(subject),
        f"It protects the person whose {_datum(subject)} goes in, for one report of one person at a time.",
    )


def _datum(subject: SubjectFacts) -> str:
    return "position" if subject.region else "answer"


def subject_words(subject: SubjectFacts) -> tuple[str, ...]:
    """Return the adversaries, the region and the secrets and reports of probability 0."""
    sentences = [
        "It protects from everyone who sees the report: who collects it, who receives it later, and who steals it."
    ]
    if subject.region:
        sentences.append(region_words(subject))
    if subject.impossible and subject.secrets:
        of = f"the {subject.secrets:,} {nouns_of(subject)[1]}"
        if subject.kind == "points":
            sentences.append(
                f"A position is first rounded at random to one of {subject.secrets:,} lattice points."
            )
            of = "these"
        sentences.append(
            f"The prior (how common each of {of} is) gives {subject.impossible:,} of them no probability."
        )
    if subject.unused:
        listed = plural(subject.reports, "answer" if not subject.region else "place")
        sentences.append(
            f"Of the {listed}, {subject.unused:,} {'is' if subject.unused == 1 else 'are'} never reported."
        )
    return tuple(sentences)


def region_words(subject: SubjectFacts) -> str:
    """Return the box of positions that a mechanism serves."""
    south, west, north, east = subject.region
    width, height = (amount(length, "m", 2) for length in subject.size)
    return (
        f"It takes positions in the box from {_degrees(south, 'N', 'S')}, {_degrees(west, 'E', 'W')} to "
        f"{_degrees(north, 'N', 'S')}, {_degrees(east, 'E', 'W')}, about {width} wide and {height} high."
    )


def _description(subject: SubjectFacts) -> str:
    places = plural(subject.reports, "place")
    if subject.kind == "noise":
        return "This mechanism takes a position on the map and reports another one, moved by random noise."
    if subject.kind == "points":
        return f"This mechanism takes a position on the map and reports a place drawn at random from {places}."
    if subject.kind == "cells":
        return (
            f"This mechanism takes the cell of the map that a person is in, one of {subject.secrets:,}, and "
            f"reports a place drawn at random from {places}."
        )
    noun, several = nouns_of(subject)
    between = f", from {subject.first} to {subject.last}" if subject.kind != "categories" else ""
    if subject.circle is not None:
        circle = f"{exactly(subject.circle.value)} {subject.circle.unit}".rstrip()
        between = f"{between}, numbers on a circle of {circle}"
    return (
        f"This mechanism takes the true {noun}, one of {plural(subject.secrets, noun, several)}{between}, and "
        f"reports an answer drawn at random from {plural(subject.reports, 'answer')}."
    )


def _degrees(value: float, positive: str, negative: str) -> str:
    return f"{abs(value):.4f}° {positive if value >= 0 else negative}"


def limit_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return the limits of the protection that apply to this file."""
    subject, prior, kinds = facts.subject, facts.prior, {promise.kind for promise in facts.promises}
    _, several = nouns_of(subject)
    rated = bool(kinds & {"points", "cells", "values", "near"})
    unproved = not all(promise.is_proved or promise.kind == "nothing" for promise in facts.promises)
    listed = (
        (rated, "Repetition: k fresh reports of one person have k times the epsilon."),
        (not rated, "Repetition: unless stated otherwise, this is about one report. Several reports reveal more."),
        (True, "The true value: the program that draws reports has it, and so has anyone who runs that program."),
        (True, "Columns that a release keeps: they are published unchanged."),
        (True, "Post-processing with true values: only what is computed from reports alone stays protected."),
        (True, "Other data: the time, name and number of reports, and other published data, can reveal more."),
        (True, "Related people and places: facts about one place or person can reveal something of another."),
        (True, "Time: how long a draw takes may depend on the true value. No guarantee covers this."),
        (
            facts.budget is None,
            "Limits on reports: the file sets none. A ledger of budgets can limit what each person spends.",
        ),
        (
            subject.chosen_reports,
            f"Places of the data: reports are made at places chosen for a set of visits. {_AT_VISITS}",
        ),
        (
            bool(subject.region),
            "Positions outside of the region: they have no guarantee unless moved into it first.",
        ),
        (subject.kind == "cells", _BORDERS),
        (
            subject.kind == "points" and "points" not in kinds,
            "Exact points: no guarantee of this file is about two points that a person may be at.",
        ),
        (
            "near" in kinds,
            f"{several.capitalize()} farther apart: a report can distinguish them better. Epsilon counts once for "
            "each step of at most that distance from one to the other.",
        ),
        (
            any(promise.unprotected for promise in facts.promises),
            f"Pairs of {several} that a guarantee counts as infinitely far apart: they have no guarantee.",
        ),
        (
            "family" in kinds and not any(promise.rates_secrets for promise in facts.promises),
            "The true value itself: a report may reveal it. The guarantee hides which distribution it is from.",
        ),
        ("family" in kinds, "The distributions: anyone with the mechanism file can read them."),
        ("family" in kinds, FAMILY_REPETITION),
        ("error" in kinds, "Attackers who know more: the guaranteed error is only for the knowledge named above."),
        (
            any(promise.for_stated for promise in facts.promises),
            "Distances that only the file states: what is proved for them does not apply to true distances.",
        ),
        (unproved or not all_hold(facts.constraints), "What was NOT PROVED above: do not rely on it."),
        (prior.held, f"The prior: {secrecy_words(subject, even=prior.even)}"),
        (
            bool(prior.places),
            f"The visits: the mechanism file holds the exact {plural(prior.places, 'place')} of "
            f"{plural(prior.visits, 'visit')}. Keep it as secret as these.",
        ),
        (prior.table, "The places of the table: the mechanism file and the reports show them, some exactly."),
    )
    return tuple(sentence for applies, sentence in listed if applies)


def secrecy_words(subject: SubjectFacts, *, even: bool = False) -> str:
    """Return what anyone with the mechanism file learns of the data."""
    noun = secret_nouns(subject)[0]
    counting = f"that every {noun} counts alike" if even else f"how common each {noun} is"
    return f"anyone with the mechanism file can read {counting}."


def table_words(source: str) -> str:
    """Return the origin of the places that a table moves the reports of noise to."""
    origin = "It was made of places that the file does not name"
    if source:
        origin = f"Its writer says that it was made of {quote(source, _SOURCE_LENGTH)}"
    return (
        "After the noise, a table moves each report to the best place for what it reveals. "
        f"{origin}; anyone who sees reports or the file can see where these places are, some of them exactly. "
        f"{_SECOND.format('they')}"
    )


def chosen_words(reports: int, of: str) -> str:
    """Return that reports are made at places chosen for the visits or points of a design."""
    note = f" {_AT_VISITS}" if of == "visits" else ""
    return f"Reports are made at {plural(reports, 'place')}, chosen for these {of}.{note}"


def prior_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return the source of the prior, and whether it was learned from people."""
    prior = facts.prior
    if not prior.held:
        return ("The file holds no prior: it does not say how common each one is.",)
    source = (
        f"It comes from {plain(prior.source)}." if prior.source else "The file does not say where it comes from."
    )
    learned = (
        "It counts all of them alike, so it holds nothing of people's data."
        if prior.even
        else "If it was estimated from the protected people, that is another use of their data, which no "
        "guarantee here covers."
    )
    entropy = () if prior.entropy is None else (f"Its entropy is about {about(prior.entropy.value)} bits.",)
    return (
        f"The prior says how common each {secret_nouns(facts.subject)[0]} is. It is in the mechanism file.",
        source,
        learned,
        *entropy,
    )


def review_words(facts: ReportFacts) -> dict[str, str]:
    """Return what NIST SP 800-226 and the registry of deployments ask for, by its name."""
    subject, file = facts.subject, facts.file
    composition = "Nothing is guaranteed for several reports."
    if any(promise.rates_secrets for promise in facts.promises):
        composition = (
            "Sequential: k fresh reports of one person have k times the epsilon. The same report shown again "
            "reveals nothing more."
        )
    if any(promise.kind == "family" for promise in facts.promises):
        between = any(promise.rates_secrets for promise in facts.promises)
        composition = f"{composition} {FAMILY_REPETITION}" if between else FAMILY_REPETITION
    table = "Planar noise on a fine grid, drawn by a recipe."
    if subject.kind != "noise":
        table = (
            f"A table of integers: the probability of each of {plural(subject.reports, 'report')} from each of "
            f"{plural(subject.secrets, *secret_nouns(subject))}."
        )
    solver = f" Its writer states the solver {quote(file.solver)}." if file.solver else ""
    return {
        "Unit of privacy": f"One {_datum(subject)} of one person, reported once.",
        "Trust model": "Local: noise is added to each report before it is collected. People trust the program "
        "that draws the report and who runs it, not the collector.",
        "Composition": composition,
        "Budget": budget_words(facts.budget),
        "Why this epsilon": f"The author states {quote(file.why, _REASON)}." if file.why else "Not stated.",
        "Prior": " ".join(prior_words(facts)),
        "Mechanism and solver": f"{table}{solver}",
        "Random numbers": f"sfumato {file.version} draws whole numbers from the operating system's cryptographic "
        "generator. Floating-point error cannot change the probabilities.",
        "Largest error": _largest(facts),
    }


def budget_words(budget: BudgetFacts | None) -> str:
    """Return the limits of a ledger, and what was spent."""
    if budget is None:
        return "No ledger was given, so nothing is stated about limits and spending."
    charged = f"{plural(budget.users, 'user')} were charged for {plural(budget.reports, 'report')}"
    total = f"{charged}. The most by one user is {plain(budget.most)}." if budget.users else "No user was charged."
    sound = "is sound" if budget.sound else "is DAMAGED: do not rely on it"
    return f"Each user may spend {' and '.join(map(plain, budget.limits))}. {total} The record of charges {sound}."


def likely_words(error: ErrorFacts | None) -> tuple[str, ...]:
    """Return the error that most reports do not exceed."""
    if error is None or error.likely is None:
        return ()
    most = most_amount(error.likely.high, error.likely.unit)
    return (f"Loss of at least {percent_at_least(error.share)} of reports: at most {most}.",)


def _largest(facts: ReportFacts) -> str:
    error = facts.report_error
    if error is None or error.worst is None:
        return "Not known, because the file does not hold both a prior and a loss that is confirmed."
    secret = f"the {secret_nouns(facts.subject)[0]} {error.label}"
    if error.latlon:
        lat, lon = error.latlon
        secret = f"{secret} at {_degrees(lat, 'N', 'S')}, {_degrees(lon, 'E', 'W')}"
    unit = error.worst.unit
    most = most_amount(error.worst.high, unit) if unit else percent_at_most(error.worst.high)
    return f"At most {most} on average, for {secret}."


def verified_words(facts: ReportFacts) -> str:
    """Return when and how the guarantees were verified, and by which version."""
    how = (
        "the recipe of the noise" if facts.subject.kind == "noise" else "the integers that reports are drawn with"
    )
    day = facts.file.day
    when = f"on {day.day} {day:%b %Y} by sfumato {facts.file.version}, from {how}"
    if not (facts.promises or facts.constraints or facts.tuples):
        return f"Nothing is guaranteed. Measured {when}."
    return f"Verified {when}." if facts.holds else f"NOT PROVED. Checked {when}."


def file_words(file: FileFacts) -> tuple[str, ...]:
    """Return the unconfirmed content and the unused claims of a file."""
    sentences = [f"Taken from the file: {plain(note)}." for note in file.stated]
    if file.claims:
        names = ", ".join(map(quote, file.claims))
        sentences.append(f"The file also holds claims of its writer ({names}). They were not used here.")
    return tuple(sentences)


FAMILY_REPETITION: Final = (
    "Between distributions, k reports of values drawn independently have k times epsilon and k times delta. "
    "Several reports of one value are not covered."
)
REPETITION: Final = (
    "The guarantee is for one report. k reports of one person add up to k times epsilon. Other published data is "
    "not covered."
)
