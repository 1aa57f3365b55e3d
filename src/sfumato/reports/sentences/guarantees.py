"""Sentences on guarantees and linear constraints, their proofs and their meaning for beliefs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ...core import CoordinatePrivacy
from ...core.naming import BORDER, DIRECTION, name_phrase, quote
from ...core.units import per_unit
from ...escaping import plain
from ...files import DistanceSource
from ...proofs import NoiseProof
from ...rounding import at_most, at_most_against, exactly, factor_at_most, percent, percent_at_most, plural
from ..facts import BeliefFacts, ConstraintFacts, FamilyFacts, PromiseFacts, SubjectFacts
from .scope import error_distance, least_amount, nouns_of, secret_nouns

_VERTICES: Final = (
    "This is about the lattice points that positions are rounded to at random. It gives no guarantee per distance "
    "for two positions."
)
_SOURCES: Final = {
    DistanceSource.LABELS.value: "distances that the file states",
    DistanceSource.UNCONFIRMED.value: "distances that the file states and nothing confirms",
}
KIND_MAPS: Final = {
    DistanceSource.MAP.value: "the map of kinds used here",
    DistanceSource.STATED_MAP.value: "the map of kinds that the file states and nothing confirms",
}
_USELESS: Final = 0.999  # from here a limit of belief is useless
_DIGITS: Final = 6  # of the distance of near secrets
_NAME: Final = 80  # characters of the name of a distance between distributions


def formal_words(promise: PromiseFacts, subject: SubjectFacts) -> tuple[str, ...]:
    """Return a guarantee as a bound, its conditions and its proof; nothing for a guarantee about no pair."""
    if promise.kind == "nothing":
        return ()
    if promise.kind == "error":
        return (_error_bound(promise, subject),)
    if promise.family is not None:
        return (*_family_bound(promise, promise.family), _proof(promise, subject))
    by = _SOURCES.get(promise.distances)
    sentence = _ratio(promise, subject)
    begin = "" if promise.is_proved else "The file claims this: "
    begin += f"By {by}, " if by else ""
    sentences = [f"{begin}{sentence[0].lower()}{sentence[1:]}" if begin else sentence]
    if promise.kind == "cells" and not by:
        sentences.append(BORDER)
    if promise.formal.circle:
        sentences.append(circle_words(promise.formal.circle))
    if not promise.symmetric:
        sentences.append(DIRECTION)
    if subject.kind == "points" and promise.kind != "points":
        sentences.append(_VERTICES)
    return (*sentences, _proof(promise, subject))


def circle_words(circle: str) -> str:
    """Return that distances are counted around a circle, ``on a circle of 24 h``."""
    return f"Distances are counted {circle}, the shorter way around."


def nothing_words(subject: SubjectFacts) -> str:
    """Return that a guarantee is about no pair."""
    return f"No two {nouns_of(subject)[1]} are at a finite distance, so no pair has a guarantee."


def _ratio(promise: PromiseFacts, subject: SubjectFacts) -> str:
    epsilon, unit = promise.claimed.value, promise.unit
    noun, several = secret_nouns(subject)
    times, exponent = factor_at_most(epsilon), f"{at_most(epsilon, 6)} x distance"
    if promise.kind == "near":
        return (
            f"Of two near {several} ({name_phrase(promise.metric)}), no report is more than {times} times as "
            "likely from one as from the other. Farther apart, this factor counts once per hop."
        )
    if promise.kind == "points":
        formal = promise.formal
        guarantee = CoordinatePrivacy(epsilon, unit, formal.claimed_slack_m)
        if subject.kind == "noise":
            return guarantee.noise_sentence(formal.reach_m)
        return guarantee.lattice_sentence(formal.slack_m)
    begin = (
        f"No report is more than e^({exponent}{unit and f' in {unit}'}) times as likely from one {noun} as from"
    )
    if not unit:
        return f"{begin} another ({name_phrase(promise.metric)}): {times} times at distance 1."
    return (
        f"{begin} another: {times} times for {several} 1 {unit} apart ({name_phrase(promise.metric, 'distance')})."
    )


def _proof(promise: PromiseFacts, subject: SubjectFacts) -> str:
    formal, unit = promise.formal, per_unit(promise.unit)
    if not promise.is_proved:
        if not math.isfinite(promise.proved.value):
            return "NOT PROVED for any epsilon."
        return (
            f"NOT PROVED: epsilon is up to {at_most_against(promise.proved.value, promise.claimed.value)}{unit}."
        )
    if subject.kind == "noise":
        claim = CoordinatePrivacy(promise.claimed.value, promise.unit, formal.claimed_slack_m)
        return NoiseProof(claim, promise.proved.value, formal.slack_m, formal.reach_m, promise.holds).proof
    if promise.family is not None:
        pairs = plural(promise.family.pairs, "ordered pair")
        return (
            f"Proved on the integers that are sampled, for {pairs} of distributions and "
            f"{plural(formal.reports, 'report')}: epsilon is at most "
            f"{at_most_against(promise.proved.value, promise.claimed.value)}{unit}."
        )
    every = formal.secrets * (formal.secrets - 1)
    pairs = f"all {formal.pairs:,} ordered pairs"
    if formal.pairs != every:
        pairs = f"the {plural(formal.pairs, 'ordered pair')} at a finite distance (of {every:,})"
    of = " of lattice points" if promise.kind == "points" else ""
    condition = " at these distances" if promise.distances in _SOURCES else ""
    return (
        f"Proved on the integers that are sampled, for {pairs}{of}{condition} and "
        f"{plural(formal.reports, 'report')}: epsilon is at most "
        f"{at_most_against(promise.proved.value, promise.claimed.value)}{unit}."
    )


def _family_bound(promise: PromiseFacts, family: FamilyFacts) -> tuple[str, ...]:
    """Return distribution privacy as a bound, and the success of the best guess of a distribution."""
    times, subjects = f"{factor_at_most(promise.claimed.value)} times", "The distributions"
    if promise.metric:
        subjects += f" and their distances ({quote(promise.metric, _NAME)})"
        distance = f"distance{promise.unit and f' in {promise.unit}'}"
        times = f"e^({at_most(promise.claimed.value, 6)} x {distance}) times"
    plus = f", plus {at_most(family.delta)}" if family.delta else ""
    (first, second), far = family.sides, family.far and f" {family.far}"
    begin = "" if promise.is_proved else "The file claims this. "
    return (
        f"{begin}The true value is drawn from a distribution: between {family.text}, the probability of any set "
        f"of reports under {first} is at most {times} that under {second}{plus}. {subjects} are as the file "
        f"states them.{far}",
        guess_words(family),
    )


def guess_words(family: FamilyFacts) -> str:
    """Return how often the best guess of a distribution is right, before and after one report."""
    before, after = percent(1 / family.members), percent_at_most(family.success.high)
    return (
        f"Best guess of which of the {family.members} distributions, all equally likely: right with probability "
        f"{before} without the report, and at most {after} with it."
    )


def _error_bound(promise: PromiseFacts, subject: SubjectFacts) -> str:
    claimed = least_amount(promise.claimed.value, promise.unit)
    bound = least_amount(promise.proved.value, promise.unit)
    if kinds := KIND_MAPS.get(promise.distances):
        wrong = f"wrong with probability at least {claimed}, by {kinds}"
        if promise.is_proved:
            return f"Best attacker of the kind of place, with this prior: {wrong} (proved: at least {bound})."
        return f"NOT PROVED: that the best attacker of the kind of place is {wrong}. At least {bound} is proved."
    of_what, by = _of_what(promise, subject), _SOURCES.get(promise.distances)
    counted_in = f", counted in {by}" if by else ""
    if not promise.is_proved:
        return (
            f"NOT PROVED: an average error of at least {claimed} for the best attacker{of_what}{counted_in}. At "
            f"least {bound} is proved."
        )
    knowing = "this prior"
    if promise.visits:
        places = promise.formal.places
        where = "the one place" if places == 1 else f"which of {places:,} places"
        knowing = f"knowledge of {where} the {promise.visits:,} visits were at, and nothing more"
    return (
        f"Best attacker with {knowing}: average error at least {claimed}{of_what}{counted_in} (proved: at least "
        f"{bound})."
    )


def _of_what(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return the reference point of an error, and its guesses."""
    if promise.distances == DistanceSource.REPORTS.value:
        return ", for guesses among the reports (other guesses may have a smaller error)"
    if promise.visits:
        return f" from the true point{error_distance(promise.error)}, for any guess"
    if promise.formal.guesses:
        return (
            f" from the true point, for guesses among {promise.formal.guesses:,} points (other guesses may have a "
            "smaller error)"
        )
    if subject.kind == "points":
        return " from the lattice point that a position is rounded to (not from the position)"
    if promise.distances in _SOURCES:
        return ""
    if promise.formal.circle:
        return f", counted {promise.formal.circle}"
    return ", counted between centres of cells" if subject.kind == "cells" and promise.unit else ""


def short_words(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return a guarantee in one line: its number, its pairs, whether it is proved, and its meaning."""
    return f"{epsilon_words(promise, subject)} {belief_words(promise, subject)}".rstrip()


def epsilon_words(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return a guarantee in one line: its number, its pairs, and whether it is proved."""
    if promise.kind == "nothing":
        return nothing_words(subject)
    if promise.kind == "error" or not promise.is_proved:
        return formal_words(promise, subject)[-1]
    if promise.family is not None:
        delta = f" with delta {at_most(promise.family.delta)}" if promise.family.delta else ""
        epsilon = f"Epsilon {at_most(promise.claimed.value, 6)}{per_unit(promise.unit)}"
        far = promise.family.far and f" {promise.family.far}"
        return f"{epsilon}{delta} between {promise.family.text} (proved).{far}"
    unit, by = per_unit(promise.unit), _SOURCES.get(promise.distances)
    several = _plural_noun(promise, subject)
    pairs = f"any two {several}"
    if promise.kind == "near" and promise.near is not None:
        near = least_amount(promise.near.value, promise.near.unit, _DIGITS)
        pairs = f"any two {several} at most {near} apart{'' if promise.symmetric else ' (the longer way)'}"
    elif promise.unprotected:
        pairs = f"any two {several} at a finite distance"
    by_distance = (
        promise.kind == "values" and not unit and len({belief.distance for belief in promise.beliefs}) > 1
    )
    times = " x distance" if by_distance else ""
    claimed = f"epsilon {at_most(promise.claimed.value, 6)}{unit}{times} for {pairs}"
    per = "" if not by else f", by {by}"
    return f"{claimed[0].upper()}{claimed[1:]}{per} (proved)."


def belief_words(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return the meaning of a proved guarantee for a belief; empty where it has none."""
    example = _example(promise)
    if promise.family is not None and promise.is_proved:
        return guess_words(promise.family)
    if promise.kind in ("nothing", "error") or not promise.is_proved or example is None:
        return ""
    return _odds(example, promise, _plural_noun(promise, subject))


def factor_words(promise: PromiseFacts) -> str:
    """Return the factor by which a report changes odds; empty where no useful one is proved."""
    example = _example(promise)
    if not promise.is_proved or example is None or example.belief.high >= _USELESS:
        return ""
    return f"The odds between the two change by at most a factor of {at_most(example.factor.high)}."


def odds_words(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return a guarantee in one line, with the factor by which a report changes odds."""
    return f"{short_words(promise, subject)} {factor_words(promise)}".rstrip()


def _plural_noun(promise: PromiseFacts, subject: SubjectFacts) -> str:
    if promise.kind == "points":
        return "points"
    return secret_nouns(subject)[1]


def _example(promise: PromiseFacts) -> BeliefFacts | None:
    """Return the meaning of one report at the largest distance."""
    return next((belief for belief in reversed(promise.beliefs) if belief.reports == 1), None)


def promise_words(promise: PromiseFacts, subject: SubjectFacts) -> tuple[str, ...]:
    """Return a guarantee, whether it is proved, and its meaning for beliefs."""
    if promise.kind == "error":
        return _error(promise, subject)
    if promise.family is not None:
        reveals = (
            "One report reveals only a limited amount about which distribution the true value is drawn from. "
            "About the value itself this guarantee says nothing."
        )
        verified = "Verified when this report was written, from the numbers that reports are drawn with."
        words = formal_words(promise, subject)
        return (reveals, *words[:-1], verified) if promise.is_proved else (words[-1], *words[:-1])
    _, several = nouns_of(subject)
    if promise.kind == "nothing":
        return (nothing_words(subject),)
    sentences = [reveal_words(promise, subject)]
    if not promise.is_proved:
        sentences = [_proof(promise, subject), formal_words(promise, subject)[0]]
    if promise.distances in _SOURCES:
        sentences.append(f"Distances are {_SOURCES[promise.distances]}: {quote(promise.metric)}.")
    if not promise.symmetric:
        sentences.append(DIRECTION)
    example = _example(promise)
    if example is not None:
        sentences.append(_odds(example, promise, several))
    elif not math.isfinite(promise.proved.value):
        sentences.append("No limit is proved: one report may reveal the truth.")
    if promise.kind == "cells" and promise.distances == DistanceSource.CONFIRMED.value:
        sentences.append(BORDER)
    if promise.unprotected and promise.kind != "near":
        sentences.append(
            f"Pairs of {several} that the guarantee counts as infinitely far apart have no guarantee."
        )
    if promise.is_proved:
        claimed = f"{exactly(promise.claimed.value)}{per_unit(promise.unit)}"
        by = ", for the distances that the file states" if promise.distances in _SOURCES else ""
        basis = "the recipe of the noise" if subject.kind == "noise" else "the numbers that reports are drawn with"
        sentences += [
            f"The strength of the guarantee is a number, epsilon: {claimed} here. A smaller epsilon means that a "
            "report reveals less.",
            f"Verified when this report was written, from {basis}{by}. It does not depend on what an attacker "
            "knew before.",
        ]
    return tuple(sentences)


def reveal_words(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return what a report reveals of two secrets."""
    several = _plural_noun(promise, subject)
    begin = f"One report reveals only a limited amount about which of two {several} is the true one"
    if promise.kind == "near" and promise.near is not None:
        near = least_amount(promise.near.value, promise.near.unit, _DIGITS)
        return f"{begin}, if they are at most {near} apart{'' if promise.symmetric else ' (the longer way)'}."
    distances = {belief.distance.value for belief in promise.beliefs}
    if promise.kind == "values" and len(distances) == 1 and not promise.unprotected:
        return f"{begin}."
    return f"{begin}: the closer they are, the less."


def _odds(belief: BeliefFacts, promise: PromiseFacts, several: str) -> str:
    apart = f"two {several}" if _any_two(belief, promise) else f"two {several} {_distance(belief, promise)} apart"
    states = (
        "" if promise.symmetric else "the longer way",
        "as the file states it" * (promise.distances in _SOURCES),
    )
    source = "" if _any_two(belief, promise) or not any(states) else f" ({', '.join(filter(None, states))})"
    begin = f"After one report, someone who thought {apart}{source} equally likely"
    if belief.belief.high >= _USELESS:
        return f"{begin} may be almost certain of one of them: no useful limit is proved."
    return f"{begin} is at most {percent_at_most(belief.belief.high)} sure of either."


def _any_two(belief: BeliefFacts, promise: PromiseFacts) -> bool:
    same = all(example.distance == belief.distance for example in promise.beliefs)
    return promise.kind == "values" and not promise.unprotected and same


def _distance(belief: BeliefFacts, promise: PromiseFacts) -> str:
    if promise.kind == "near" and promise.near is not None:
        return f"at most {least_amount(promise.near.value, promise.near.unit, _DIGITS)}"
    if _any_two(belief, promise):
        return "any two"
    # The nearest distance of two secrets may be a long number: rounded down, the belief still is a bound of it.
    unit = plain(belief.distance.unit)
    return least_amount(belief.distance.value, unit) if unit else exactly(belief.distance.value)


def belief_rows(promise: PromiseFacts) -> tuple[tuple[str, ...], ...]:
    """Return a row for each distance: the distance, and the largest belief after each number of reports."""
    rows: dict[float, list[str]] = {}
    for belief in promise.beliefs:
        row, most = rows.setdefault(belief.distance.value, [_distance(belief, promise)]), belief.belief.high
        row.append("no useful limit" if most >= _USELESS else f"at most {percent_at_most(most)}")
    return tuple(map(tuple, rows.values()))


def belief_caption(promise: PromiseFacts, subject: SubjectFacts) -> str:
    """Return the caption of the table of beliefs."""
    _, several = nouns_of(subject)
    useless = any(belief.belief.high >= _USELESS for belief in promise.beliefs)
    many = any(belief.reports > 1 for belief in promise.beliefs)
    fresh = " Fresh reports are drawn independently; showing the same report again reveals nothing more."
    by = f" Distances are {_SOURCES[promise.distances]}." if promise.distances in _SOURCES else ""
    by += "" if promise.symmetric else " The longer direction counts."
    none = " No useful limit: nothing below 99.9 % is proved."
    return (
        f"An attacker knows that the truth is one of two {several}, and thinks both equally likely. The table "
        f"states how sure they can become of either.{by}{fresh if many else ''}{none if useless else ''}"
    )


def _error(promise: PromiseFacts, subject: SubjectFacts) -> tuple[str, ...]:
    bound = _error_bound(promise, subject)
    if not promise.is_proved:
        return (bound,)
    if promise.claimed.value <= 0:
        of_what = "" if promise.distances in KIND_MAPS else _of_what(promise, subject)
        least = f"{least_amount(promise.proved.value, promise.unit)} is proved{of_what}"
        return (f"An error of at least 0 is true of every mechanism, and limits nothing. At least {least}.",)
    knowing = f"how common each {secret_nouns(subject)[0]} is (the prior)"
    if promise.visits:
        knowing = f"where the {plural(promise.visits, 'visit')} of the file were"
    clause = f", for the distances that the file calls {quote(promise.metric)} alone"
    alone = clause if promise.distances in _SOURCES else ""
    if kinds := KIND_MAPS.get(promise.distances):
        alone = f", for {kinds}"
    return (
        f"An attacker who knows {knowing} and how the mechanism works, and nothing more, sees one report.",
        bound,
        f"Verified when this report was written{alone}. An attacker who knows more may come nearer.",
    )


def constraint_words(constraints: Sequence[ConstraintFacts]) -> tuple[str, ...]:
    """Return an explanation of linear constraints, and whether these were proved."""
    several = len(constraints) > 1
    subject = f"{len(constraints)} linear constraints" if several else "a linear constraint"
    proof = f"{'They were' if several else 'It was'} verified when this report was written."
    return (
        f"The file states {subject}. Each is a table with one number for every pair of a true value and a report. "
        "Every number is multiplied by the probability of this report from this value, and the sum has a limit.",
        *((proof,) if all(constraint.holds for constraint in constraints) else ()),
        "Only the writer of a table knows what its numbers mean.",
    )


def constraint_item(constraint: ConstraintFacts) -> str:
    """Return a linear constraint, its limit and its proof."""
    claimed, unit = constraint.claimed.value, constraint.claimed.unit
    limit = f"{exactly(claimed)}{unit and f' {unit}'}"
    bound = f"{at_most_against(constraint.proved.value, claimed)}{unit and f' {unit}'}"
    name = f"linear constraint called {quote(constraint.name)}"
    if constraint.holds:
        return f"The {name} holds: its sum is at most {limit} (proved: at most {bound})."
    return f"NOT PROVED: the {name} asks for a sum of at most {limit}. At most {bound} is proved."


def no_guarantee_words(*, constraints: bool) -> str:
    """Return that a file guarantees nothing, or nothing except linear constraints."""
    return f"The file guarantees {'no privacy' if constraints else 'nothing, so nothing was proved'}."


def witness_words(pair: tuple[str, str], report: str, holds: bool, symmetric: bool) -> str:
    """Return the pair and the report at which a guarantee is tightest, or violated most."""
    how = "comes closest to the bound" if holds else "breaks the guarantee most"
    ends = f"{pair[0]} and {pair[1]}" if symmetric else f"from {pair[0]} to {pair[1]}"
    return f"The pair {ends} {how}, at the report {report}."
