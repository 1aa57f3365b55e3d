"""Sentences on promises and constraints, what is proved of them, and what they mean for beliefs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ....core.naming import name_phrase, quote
from ....core.units import per_unit
from ....escaping import plain
from ....files import DistanceSource
from ....rounding import at_most_against, counted, exactly, percent_at_most
from ..facts import BeliefFacts, ConstraintFacts, PromiseFacts, SubjectFacts
from .subject import least_amount, nouns_of

_CENTRES: Final = (
    "Distances are between the centres of cells: two people a metre apart, on the two sides of a border, count as "
    "far apart as the centres of their cells."
)
_BY: Final = {
    DistanceSource.LABELS.value: "distances that the file states",
    DistanceSource.UNCONFIRMED.value: "distances that the file states and nothing confirms",
}
_USELESS: Final = 0.999  # a limit of belief that limits nothing
_DIGITS: Final = 6  # of the distance that a promise is about


def promise_words(promise: PromiseFacts, subject: SubjectFacts) -> tuple[str, ...]:
    """Return a promise, whether it is proved, and what it means in odds."""
    if promise.kind == "error":
        return _error(promise, subject)
    _, several = nouns_of(subject)
    if promise.kind == "nothing":
        return (f"No two {several} are at a finite distance, so nothing is promised of any pair.",)
    kept = promise.holds or promise.for_stated
    found = [_likeness(promise, several) if kept else _broken(promise)]
    if promise.distances in _BY:
        found.append(f"Distances are {_BY[promise.distances]}: {quote(promise.metric)}.")
    example = next((each for each in reversed(promise.beliefs) if each.reports == 1), None)
    if example is not None:
        found.append(_odds(example, promise, several))
    elif not math.isfinite(promise.proved.value):
        found.append("No limit is proved, so one report may give the truth away.")
    if promise.kind == "cells" and promise.distances == DistanceSource.CONFIRMED.value:
        found.append(_CENTRES)
    if promise.unprotected and promise.kind != "near":
        found.append(f"Nothing is promised of {several} that the promise counts as infinitely far apart.")
    if kept:
        by = ", for the distances that the file states" if promise.distances in _BY else ""
        drawn = "the recipe of the noise" if subject.kind == "noise" else "the numbers that reports are drawn with"
        found += [
            f"The strength of the promise is a number called epsilon, {_claimed(promise)} here. The smaller it "
            f"is, "
            "the less a report tells.",
            f"This was proved when this report was written, from {drawn}{by}. It does not depend on what somebody "
            f"knew "
            "before.",
        ]
    return tuple(found)


def belief_rows(promise: PromiseFacts) -> tuple[tuple[str, ...], ...]:
    """Return a row for each distance: how far apart, and the most that is believed after numbers of reports."""

    def limit(belief: BeliefFacts) -> str:
        useless = _upper(belief) >= _USELESS
        return "no useful limit" if useless else f"at most {_likely(belief)}"

    distances = list(dict.fromkeys(each.distance.value for each in promise.beliefs))
    found = []
    for distance in distances:
        mine = [each for each in promise.beliefs if each.distance.value == distance]
        found.append((_apart(mine[0], promise), *map(limit, mine)))
    return tuple(found)


def belief_caption(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return what this table shows."""
    _, several = nouns_of(subject)
    useless = any(_upper(each) >= _USELESS for each in promise.beliefs)
    many = any(each.reports > 1 for each in promise.beliefs)
    fresh = " Fresh reports are drawn anew each time; to show the same report again tells nothing more."
    by = f" Distances are {_BY[promise.distances]}." if promise.distances in _BY else ""
    none = " No useful limit means that nothing below 99.9 % is proved."
    return (
        f"Somebody knows that the truth is one of two {several}, and thinks both equally likely. "
        f"The table says how likely they can think either of them "
        f"afterwards.{by}{fresh if many else ''}{none if useless else ''}"
    )


def _likeness(promise: PromiseFacts, several: str) -> str:
    begin = f"A report tells only so much about which of two {several} is the true one"
    if promise.kind == "near" and promise.near is not None:
        near = least_amount(promise.near.value, promise.near.unit, _DIGITS)
        return f"{begin}, if the two are at most {near} apart."
    distances = {each.distance.value for each in promise.beliefs}
    if promise.kind == "values" and len(distances) == 1 and not promise.unprotected:
        return f"{begin}."
    return f"{begin}: the nearer the two are, the less it can tell."


def _claimed(promise: PromiseFacts) -> str:
    return f"{exactly(promise.claimed.value)}{per_unit(promise.unit)}"


def _broken(promise: PromiseFacts) -> str:
    distance = f" ({name_phrase(promise.metric, 'distance')})" if promise.metric else ""
    begin = f"NOT PROVED: the file claims a limit on what a report tells, epsilon {_claimed(promise)}{distance}"
    if math.isfinite(promise.proved.value):
        by = ", for the distances that the file states," if promise.distances in _BY else ""
        proved = f"{at_most_against(promise.proved.value, promise.claimed.value)}{per_unit(promise.unit)}"
        return f"{begin}; what is proved{by} is epsilon at most {proved}, which is weaker."
    return f"{begin}, and no epsilon is proved."


def _odds(belief: BeliefFacts, promise: PromiseFacts, several: str) -> str:
    apart = "" if _any_two(belief, promise) else f" {_apart(belief, promise)} apart"
    if promise.distances in _BY:
        apart = f"{apart} (as the file states it)" if apart else apart
    begin = (
        f"Suppose that somebody knows that the truth is one of two {several}{apart}, and thinks both equally "
        f"likely, "
        "50 % each."
    )
    if _upper(belief) >= _USELESS:
        return f"{begin} No useful limit is proved of how likely they think either of them after one report."
    return f"{begin} After one report they can think either of them at most {_likely(belief)} likely."


def _any_two(belief: BeliefFacts, promise: PromiseFacts) -> bool:
    return (
        promise.kind == "values"
        and not promise.unprotected
        and all(each.distance == belief.distance for each in promise.beliefs)
    )


def _apart(belief: BeliefFacts, promise: PromiseFacts) -> str:
    if promise.kind == "near" and promise.near is not None:
        return f"at most {least_amount(promise.near.value, promise.near.unit, _DIGITS)}"
    if _any_two(belief, promise):
        return "any two"
    # The nearest distance of two secrets may be a long number: rounded down, the belief still is a bound of it.
    unit = plain(belief.distance.unit)
    return least_amount(belief.distance.value, unit) if unit else exactly(belief.distance.value)


def _likely(belief: BeliefFacts) -> str:
    return percent_at_most(_upper(belief))


def _upper(belief: BeliefFacts) -> float:
    return 1.0 if belief.belief.upper is None else belief.belief.upper


def _error(promise: PromiseFacts, subject: SubjectFacts) -> tuple[str, ...]:
    claimed = least_amount(promise.claimed.value, promise.unit)
    proved = least_amount(promise.proved.value, promise.unit)
    what, by = _of_what(promise, subject), _BY.get(promise.distances, "")
    if not (promise.holds or promise.for_stated):
        stated = " for the distances that it states" if by else ""
        return (
            "NOT PROVED: the file claims that the best attacker's guess is off by at least "
            f"{claimed} on average{what}; what is proved{stated} is at least {proved}.",
        )
    if promise.claimed.value <= 0:
        return (
            "The file promises that the best attacker's guess is off by at least 0 on average. That is true of "
            f"every mechanism, and limits nothing. At least {proved} is proved{what}.",
        )
    common = "point of the lattice" if subject.kind == "points" else nouns_of(subject)[0]
    knowing = f"how common each {common} is (the prior)"
    if promise.visits:
        knowing = f"where the {counted(promise.visits, 'visit')} of the file were"
    if by:
        return (
            f"An attacker who knows {knowing} and how the mechanism works, and nothing more, sees one report. "
            f"Counted in {by}, their best guess is off by at least {claimed} on average. For these distances, at "
            f"least {proved} is proved.",
            f"The file calls them {quote(promise.metric)}. This was proved when this report was written, for "
            "them alone. An attacker who knows more may come nearer.",
        )
    return (
        f"An attacker who knows {knowing} and how the mechanism works, and nothing more, sees one report. "
        f"Their best "
        f"guess is off by at least {claimed} on average{what}. In fact, at least {proved} is proved.",
        "This was proved from the file when this report was written. An attacker who knows more may come nearer.",
    )


def _of_what(promise: PromiseFacts, subject: SubjectFacts) -> str:
    if promise.distances == DistanceSource.REPORTS.value:
        return ", if they guess one of the reports; elsewhere they may be off by less"
    if promise.visits:
        return ", counted from where people truly are"
    if promise.distances in _BY:
        return ""
    if subject.kind == "points":
        return ", counted from the point of the lattice that a position is rounded to"
    return ", counted between centres of cells" if subject.kind == "cells" else ""


def constraint_words(constraints: Sequence[ConstraintFacts]) -> tuple[str, ...]:
    """Return what linear constraints are, and whether these were proved."""
    several = len(constraints) > 1
    what = f"{len(constraints)} linear constraints" if several else "a linear constraint"
    kept = all(each.holds for each in constraints)
    proved = f"{'They were' if several else 'It was'} proved anew when this report was written."
    return (
        f"The file states {what}. Each is a table of numbers, one for every pair of a true value and a report: "
        "every number counts as often as this report is made of this value, and the sum has a limit.",
        *((proved,) if kept else ()),
        "What a table means is for its writer to say: its numbers are as the file states them.",
    )


def constraint_item(constraint: ConstraintFacts) -> str:
    """Return a linear constraint, and whether it is proved."""
    claimed, unit = constraint.claimed, constraint.claimed.unit
    limit = f"{exactly(claimed.value)}{unit and f' {unit}'}"
    proved = f"{at_most_against(constraint.proved.value, claimed.value)}{unit and f' {unit}'}"
    name = f"The sum that the file calls {quote(constraint.name)}"
    if constraint.holds:
        return f"{name} is at most {limit}. In fact, at most {proved} is proved."
    return f"NOT PROVED: {name[:1].lower()}{name[1:]} is to be at most {limit}; at most {proved} is proved."
