"""Sentences on attackers, risks and requirements, and a table of attackers."""

from __future__ import annotations

from typing import Final

from ....audits import Outcome
from ....core import Side
from ....escaping import plain
from ....rounding import about_percent, counted, percent, percent_at_least, percent_at_most, percent_of_confidence
from ..facts import AttackFacts, Quantity, ReportFacts, RequirementFacts, RiskFacts, SubjectFacts
from .subject import ALL, about_amount, least_amount, most_amount, nouns_of, often

_LEFT_OUT: Final = {
    "prior": "the file holds no prior, so nobody knows how common each one is",
    "visits": "where people were is not said, and each report of one place starts from another point near it",
    "unsaid": "where people truly are was not given",
    "table": "that is done for noise whose reports are moved to the places of a table",
    "size": "there are too many places to simulate enough cases in a few seconds",
}
_VERTEX: Final = "point of the lattice that a position is rounded to"
_TINY: Final = 0.01  # of its upper bound: an estimate that is stated by the bound alone
_SAME: Final = 1e-9  # relative: bounds that only rounding parts
_WHY: Final = {
    "visits": "It is not known how often {}, because no visits were given (--visits)",
    "table": "It is not worked out how often {}, for noise whose reports are not moved to the places of a table",
    "size": "It is not worked out how often {}, for as many different places",
    "prior": "It is not known how often {}, because the file holds no prior",
}


def attack_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return what the best attacker finds, and what several reports add."""
    if not facts.attacks:
        why = (
            "Where people truly are was not given, so how near an attacker comes is not known."
            if facts.subject.kind == "noise"
            else "The file holds no prior, so how near an attacker comes is not known."
        )
        return (why, *_more(facts))
    informed = next(each for each in facts.attacks if each.who == "informed")
    blind = next(each for each in facts.attacks if each.who == "blind")
    found = []
    if informed.hit is not None and blind.hit is not None:
        found.append(_hits(facts, informed, informed.hit, blind.hit))
    if informed.error is not None and blind.error is not None:
        found.append(_errs(facts, informed, informed.error, blind.error))
    for each in facts.attacks:
        if each.who == "repeated":
            found += _repeated(facts, each)
    return (*found, *_more(facts))


def attack_rows(facts: ReportFacts) -> tuple[tuple[str, ...], ...]:
    """Return a row for each attacker: who, how often they find the secret, how far their guess is off."""
    found = []
    for each in facts.attacks:
        hit = "" if each.hit is None else _share(each.hit, Side.AT_MOST)
        error = "" if each.error is None else _length(each.error, Side.AT_LEAST)
        cells = ([hit] if _hitting(facts) else []) + ([error] if _erring(facts) else [])
        found.append((_name(facts, each), *cells))
    return tuple(found)


def attack_headings(facts: ReportFacts) -> tuple[str, ...]:
    """Return the headings of these rows."""
    what = "point of the lattice" if _of_vertices(facts) else nouns_of(facts.subject)[0]
    hits = (f"finds the {what}",) if _hitting(facts) else ()
    return ("attacker", *hits, *(("is off on average by",) if _erring(facts) else ()))


def _name(facts: ReportFacts, found: AttackFacts) -> str:
    """Return what an attacker sees and knows."""
    if found.who == "bare":
        return "sees the truth: there is no mechanism"
    knowing, several = _knowing(facts, found), nouns_of(facts.subject)[1]
    if found.who == "blind":
        return f"sees no report, knows {knowing}"
    if found.who == "misinformed":
        return f"sees one report, takes all {'places' if facts.subject.region else several} for equally likely"
    return f"sees {'one report' if found.reports == 1 else f'{found.reports:,} fresh reports'}, knows {knowing}"


def _knowing(facts: ReportFacts, found: AttackFacts) -> str:
    if found.what == "point":
        return "where the visits were"
    return f"how common each {'point of the lattice' if found.what == 'vertex' else nouns_of(facts.subject)[0]} is"


def _of_vertices(facts: ReportFacts) -> bool:
    return any(each.what == "vertex" for each in facts.attacks)


def _hitting(facts: ReportFacts) -> bool:
    return any(each.hit is not None for each in facts.attacks)


def _erring(facts: ReportFacts) -> bool:
    return any(each.error is not None for each in facts.attacks)


def _hits(facts: ReportFacts, informed: AttackFacts, hit: Quantity, blind: Quantity) -> str:
    what = _VERTEX if informed.what == "vertex" else f"true {nouns_of(facts.subject)[0]}"
    bare = "" if informed.what == "vertex" else ", and always without the mechanism"
    return (
        f"The best attacker, who knows {_knowing(facts, informed)} and how the mechanism works, finds the "
        f"{what} {often(hit)} with one report. They find it {about_percent(blind.value)} of the time without "
        f"seeing a report{bare}."
    )


def _errs(facts: ReportFacts, informed: AttackFacts, error: Quantity, blind: Quantity) -> str:
    kind = facts.subject.kind
    counted_so = ", counted from where the person truly is"
    if informed.what != "point":
        counted_so = {
            "cells": ", counted between centres of cells",
            "ranges": ", counted between the middles of ranges",
        }.get(kind, "")
    least = error.value if error.lower is None else error.lower
    begin = f"The best guess of an attacker who knows {_knowing(facts, informed)} and how the mechanism works"
    blindly = f"Without a report it is off by about {about_amount(blind.value, blind.unit)}"
    if least <= 0:
        return f"{begin} may be right every time with one report: no error is proved{counted_so}. {blindly}."
    return (
        f"{begin} is off by at least {least_amount(least, error.unit)} on average with one report{counted_so}. "
        f"{blindly}, without the mechanism by nothing."
    )


def _repeated(facts: ReportFacts, found: AttackFacts) -> list[str]:
    one = nouns_of(facts.subject)[0] if found.what == "value" else found.what
    begin = f"After {found.reports:,} fresh reports of the same {one}, an attacker who combines them"
    end = f"simulated in {counted(found.draws, 'case')}"
    said = []
    if found.hit is not None:
        said.append(f"{begin} finds it {_share(found.hit, Side.AT_MOST)} of the time ({end}).")
    if found.error is not None:
        said.append(f"{begin} is off by {_length(found.error, Side.AT_LEAST)} on average ({end}).")
    return said


def _more(facts: ReportFacts) -> tuple[str, ...]:
    if not facts.attacks_left_out:
        return ("What is simulated is an estimate: it proves nothing.",)
    return (f"What several reports tell an attacker was not simulated: {_LEFT_OUT[facts.attacks_left_out]}.",)


def _share(found: Quantity, side: Side) -> str:
    if found.confidence is not None:
        low, high = percent_at_least(found.lower or 0.0), percent_at_most(_upper(found))
        sure = f"with {percent_of_confidence(found.confidence)} confidence"
        return f"{about_percent(found.value)} ({sure} {low} to {high})"
    if found.lower == found.upper == found.value and found.value in (0.0, 1.0):
        return percent(found.value)
    if found.upper is None or found.lower == found.upper:
        return about_percent(found.value)
    limit = percent_at_most(_upper(found))
    return "no useful limit" if limit == ALL else f"{side.value} {limit}"


def _length(found: Quantity, side: Side) -> str:
    unit = found.unit
    if found.confidence is not None:
        sure, high = f"with {percent_of_confidence(found.confidence)} confidence", most_amount(_upper(found), unit)
        if not found.lower and found.value < _TINY * _upper(found):
            return f"at most {high} ({sure})"
        low = least_amount(found.lower or 0.0, unit)
        return f"about {about_amount(found.value, unit)} ({sure} {low} to {high})"
    if found.lower is None:
        return f"about {about_amount(found.value, unit)}"
    if found.lower == found.upper:
        return about_amount(found.value, unit)
    return f"{side.value} {least_amount(found.lower, unit)}" if found.lower > 0 else "no useful limit"


def _upper(found: Quantity) -> float:
    return found.value if found.upper is None else found.upper


def risk_words(risk: RiskFacts, subject: SubjectFacts) -> tuple[str, ...]:
    """Return how often the best attacker is near the secret, and whether a requirement on that holds."""
    found = [_chance(risk, subject)]
    if risk.outcome is not None:
        found.append(f"The requirement '{plain(risk.text)}' {risk.outcome.value.upper()}{_because(risk)}.")
        if _hopeless(risk):
            found.append("No mechanism keeps it: without any report a guess reaches more.")
    return tuple(found)


def _hopeless(risk: RiskFacts) -> bool:
    """Return whether a guess that sees nothing already breaks a limit."""
    blind, limit = risk.blind, risk.limit
    return limit is not None and blind is not None and blind.lower is not None and blind.lower > limit.value


def requirement_words(found: RequirementFacts) -> str:
    """Return whether what an audit found keeps a requirement."""
    return f"The requirement '{plain(found.text)}' {found.outcome.value.upper()}: {plain(found.reason)}"


def _chance(risk: RiskFacts, subject: SubjectFacts) -> str:
    near = _near(risk, subject)
    if risk.chance is None or risk.chance.upper is None or risk.chance.lower is None:
        return _WHY[risk.why].format(f"an attacker's guess is {near}") + "."
    knowing = {
        "visits": "where the visits in the region were",
        "file": "where the visits of the file were",
        "prior": f"how common each {nouns_of(subject)[0]} is",
    }[risk.of]
    guess = "any point" if subject.region else f"a {nouns_of(subject)[0]}"
    if subject.kind in ("ranges", "numbers") and risk.radius.value:
        guess = "any number"
    said = (
        f"The best attacker knows {knowing} and how the mechanism works, sees one report, and guesses {guess}. "
        f"The guess is {near} {often(risk.chance)}"
    )
    if risk.chance.upper - risk.chance.lower > _SAME * risk.chance.upper:
        said = f"{said}; some way of guessing reaches {percent_at_least(risk.chance.lower)}"
    so = "right" if not subject.region and not risk.radius.value else "so near"
    return f"{said}. {_without(risk.blind, so)}".rstrip()


def _without(blind: Quantity | None, so: str) -> str:
    """Return how often a guess without any report is as near."""
    if blind is None or blind.upper is None:
        return ""
    return f"A guess without any report is {so} {often(blind)}."


def _near(risk: RiskFacts, subject: SubjectFacts) -> str:
    if subject.region:
        shown = plain(risk.shown).strip()
        metric = shown.endswith((" m", " km"))
        same = "" if metric else f" ({least_amount(risk.radius.value, 'm', 5)})"
        return f"within {shown}{same} of where the person truly is"
    if risk.radius.value == 0:
        return "right"
    middle = "the middle of the true range" if subject.kind == "ranges" else f"the true {nouns_of(subject)[0]}"
    return f"within {least_amount(risk.radius.value, risk.radius.unit, 9)} of {middle}"


def _because(risk: RiskFacts) -> str:
    if risk.outcome is not Outcome.UNDECIDED:
        return ""
    return ", because it is not known" if risk.chance is None else ", because the limit lies between these bounds"
