"""Sentences on the subject of a report, with the amounts and nouns that other sentences use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ....audits import Outcome
from ....core.units import canonical
from ....escaping import plain
from ....files import DistanceSource
from ....rounding import (
    amount,
    amount_at_least,
    amount_at_most,
    counted,
    exactly,
)
from ...attack_summary import how_often
from ..facts import PromiseFacts, Quantity, ReportFacts, SubjectFacts

_NOUNS: Final = {
    "points": ("point", "points"),
    "noise": ("point", "points"),
    "cells": ("cell", "cells"),
    "ranges": ("range", "ranges"),
}
_OUTCOMES: Final = {Outcome.FAILS: "NOT KEPT", Outcome.UNDECIDED: "NOT DECIDED", Outcome.HOLDS: "Kept"}
_WORDS: Final = ("day", "week", "month", "year")  # units that are words; the others are signs
ALL: Final = "100 %"
"""A limit of a share that limits nothing."""


def nouns_of(subject: SubjectFacts) -> tuple[str, str]:
    """Return what one secret is called, and several."""
    return _NOUNS.get(subject.kind, ("value", "values"))


def lead_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return the state of requirements and promises in sentences, for the head of the report."""
    return framed(facts.outcomes, (*_promised(facts), *_constrained(facts), *_left_out(facts)))


def framed(outcomes: Iterable[tuple[str, Outcome]], promised: Iterable[str]) -> tuple[str, ...]:
    """Return sentences on promises after the requirements that fail, and before all others."""
    required = {
        each: [f"{word}: {plain(text)}." for text, outcome in outcomes if outcome is each]
        for each, word in _OUTCOMES.items()
    }
    return (*required[Outcome.FAILS], *promised, *required[Outcome.UNDECIDED], *required[Outcome.HOLDS])


def _left_out(facts: ReportFacts) -> tuple[str, ...]:
    """Return how many of the visits that were given count nowhere."""
    if not facts.outside:
        return ()
    count, lie = f"{facts.outside:,} of {counted(facts.visits, 'visit')}", "lies" if facts.outside == 1 else "lie"
    return (f"{count} {lie} outside of the region. What is said of visits here is about the others alone.",)


def _constrained(facts: ReportFacts) -> tuple[str, ...]:
    """Return which linear constraints are not proved."""
    broken, total = sum(not each.holds for each in facts.constraints), len(facts.constraints)
    of = "the linear constraint" if total == 1 else f"{broken} of {total} linear constraints"
    return (f"NOT PROVED: {of} of this file. Do not rely on what is not proved.",) if broken else ()


def _promised(facts: ReportFacts) -> tuple[str, ...]:
    if not facts.promises:
        what = "no privacy" if facts.constraints else "nothing"
        return (f"This file promises {what}. What follows is what was found all the same.",)
    several = nouns_of(facts.subject)[1]
    empty = sum(each.kind == "nothing" for each in facts.promises)
    if empty == len(facts.promises):
        return (
            f"This file promises nothing about any two {several}: it counts all of them as infinitely far apart.",
        )
    kept = sum(each.holds for each in facts.promises)
    if kept == len(facts.promises):
        by = ", for the distances that the file states" if any(map(_of_labels, facts.promises)) else ""
        begin = _of_this_file(kept, kept)
        return (f"{begin} proved anew when this report was written{by}.",)
    return tuple(_unproved(facts, several, empty))


def _unproved(facts: ReportFacts, several: str, empty: int) -> Iterator[str]:
    """Yield what is not proved, and what is so only for distances that nothing confirms."""
    total = len(facts.promises)
    stated = sum(each.for_stated for each in facts.promises)
    broken = total - stated - empty - sum(each.holds for each in facts.promises)
    if broken:
        yield (f"NOT PROVED: {_of_all(broken, total)} of this file. Do not rely on what is not proved.")
    if stated:
        yield (
            f"{_of_this_file(stated, total)} proved for distances that the file states. Nothing confirms these "
            "distances: do not rely on them."
        )
    if empty:
        yield (
            f"{empty} of {counted(total, 'promise')} of this file {_be(empty)} about no two {several} at all: it "
            "counts all of them as infinitely far apart."
        )


def _of_all(count: int, total: int) -> str:
    """Return some promises among all: 1 of 2 promises, the promise."""
    return "the promise" if count == total == 1 else f"{count} of {counted(total, 'promise')}"


def _of_this_file(count: int, total: int) -> str:
    """Return the subject of a sentence on some promises, with its verb."""
    if count < total:
        return f"{count} of {counted(total, 'promise')} of this file {'was' if count == 1 else 'were'}"
    what = {1: "The promise", 2: "Both promises"}.get(count, f"All {count} promises")
    return f"{what} of this file {'was' if count == 1 else 'were'}"


def _of_labels(promise: PromiseFacts) -> bool:
    return promise.distances == DistanceSource.LABELS.value


def subject_words(subject: SubjectFacts) -> tuple[str, ...]:
    """Return what is protected, for whom, where and from whom."""
    found = [
        _what(subject),
        f"It is meant for the person whose {'position' if subject.region else 'answer'} goes in, for one "
        f"report of "
        "one person at a time.",
        "It is meant against everyone who sees the report: those who collect it, those who get it from them, and "
        "those who steal it.",
    ]
    if subject.region:
        south, west, north, east = subject.region
        width, height = (amount(each, "m", 2) for each in subject.size)
        found.append(
            f"The positions that it takes lie in the box from {_degrees(south, 'N', 'S')}, "
            f"{_degrees(west, 'E', 'W')} to {_degrees(north, 'N', 'S')}, {_degrees(east, 'E', 'W')}, about "
            f"{width} "
            f"wide and {height} high."
        )
    return (*found, *_never(subject))


def _what(subject: SubjectFacts) -> str:
    if subject.kind == "noise":
        return (
            "This mechanism blurs a position before anyone else sees it: it takes a position on the map and gives "
            "out another one, moved by random noise."
        )
    if subject.kind == "points":
        return (
            "This mechanism blurs a position before anyone else sees it: it takes a position on the map and gives "
            f"out a place drawn at random from a list of {counted(subject.reports, 'place')}."
        )
    if subject.kind == "cells":
        return (
            "This mechanism blurs a place before anyone else sees it: it takes the cell of the map that "
            "somebody is "
            f"in, one of {subject.secrets:,}, and gives out a place drawn at random from a list of "
            f"{counted(subject.reports, 'place')}."
        )
    one, several = nouns_of(subject)
    between = f", from {subject.first} to {subject.last}" if subject.kind != "categories" else ""
    if subject.circle is not None:
        circle = f"{exactly(subject.circle.value)} {subject.circle.unit}".rstrip()
        between = f"{between}, numbers on a circle of {circle}"
    return (
        f"This mechanism blurs an answer before anyone else sees it: it takes the true {one}, one of "
        f"{counted(subject.secrets, one, several)}{between}, and gives out an answer drawn at random from a "
        f"list of "
        f"{counted(subject.reports, 'answer')}."
    )


def _never(subject: SubjectFacts) -> tuple[str, ...]:
    found = []
    if subject.impossible and subject.secrets:
        of = f"the {subject.secrets:,} {nouns_of(subject)[1]}"
        if subject.kind == "points":
            found.append(
                f"A position is first rounded to one of {subject.secrets:,} points of a lattice, at random."
            )
            of = "these"
        found.append(
            f"The prior, a table of how common each of {of} is, counts {subject.impossible:,} of them as "
            f"impossible."
        )
    if subject.unused:
        listed = counted(subject.reports, "answer" if not subject.region else "place")
        found.append(f"Of the list of {listed}, {subject.unused:,} {_be(subject.unused)} never given out.")
    return tuple(found)


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _degrees(value: float, positive: str, negative: str) -> str:
    return f"{abs(value):.4f}° {positive if value >= 0 else negative}"


def about_amount(value: float, unit: str) -> str:
    """Write a quantity, rounded to nearest."""
    return _several(amount(value, _unit(unit)))


def most_amount(value: float, unit: str, digits: int = 3) -> str:
    """Write an upper bound of a quantity, never below it."""
    return _several(amount_at_most(value, _unit(unit), digits))


def least_amount(value: float, unit: str, digits: int = 3) -> str:
    """Write a lower bound of a quantity, never above it."""
    return _several(amount_at_least(value, _unit(unit), digits))


def often(found: Quantity) -> str:
    """Write at most how often something happens: ``at most 12 % of the time``, or ``every time``."""
    if found.lower == 1:
        return "every time"
    return how_often(found.value if found.upper is None else found.upper)


def _unit(unit: str) -> str:
    return canonical(plain(unit))


def _several(text: str) -> str:
    number, _, unit = text.rpartition(" ")
    return f"{text}s" if unit in _WORDS and number != "1" else text
