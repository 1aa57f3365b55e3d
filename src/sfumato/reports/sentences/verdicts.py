"""Sentences on whether the requirements, guarantees and linear constraints of a file hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ...audits import Outcome
from ...escaping import plain
from ...files import DistanceSource
from ...rounding import plural
from ..facts import ConstraintFacts, PromiseFacts, ReportFacts, SubjectFacts, TupleFacts
from .guarantees import KIND_MAPS
from .scope import nouns_of

_OUTCOMES: Final = {Outcome.FAILS: "NOT KEPT", Outcome.UNDECIDED: "NOT DECIDED", Outcome.HOLDS: "Kept"}


def lead_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return the state of requirements and guarantees, for the head of a report."""
    state = state_words(facts.subject, facts.promises, facts.constraints, facts.tuples)
    if facts.outside:
        count, lie = f"{facts.outside:,} of {plural(facts.visits, 'visit')}", "lie" + "s" * (facts.outside == 1)
        state = (
            *state,
            f"{count} {lie} outside of the region. Statements about visits are about the others alone.",
        )
    return verdict_words(facts.outcomes, state)


def state_words(
    subject: SubjectFacts,
    promises: Sequence[PromiseFacts],
    constraints: Sequence[ConstraintFacts],
    tuples: TupleFacts | None = None,
) -> tuple[str, ...]:
    """Return which guarantees and linear constraints of a file are proved."""
    state = _guarantee_state(subject, promises, tuples, constraints=bool(constraints))
    failures, total = sum(not constraint.holds for constraint in constraints), len(constraints)
    of = "the linear constraint" if total == 1 else f"{failures} of {total} linear constraints"
    return (*state, f"NOT PROVED: {of} of this file. Do not rely on what is not proved.") if failures else state


def verdict_words(outcomes: Iterable[tuple[str, Outcome]], guaranteed: Iterable[str]) -> tuple[str, ...]:
    """Return sentences on guarantees after the requirements that fail, and before all others."""
    verdicts = {
        kind: [f"{word}: {plain(text)}." for text, outcome in outcomes if outcome is kind]
        for kind, word in _OUTCOMES.items()
    }
    return (*verdicts[Outcome.FAILS], *guaranteed, *verdicts[Outcome.UNDECIDED], *verdicts[Outcome.HOLDS])


def requirement_words(text: str, outcome: Outcome, reason: str) -> str:
    """Return whether a requirement holds, and why."""
    return f"The requirement '{plain(text)}' {outcome.value.upper()}: {plain(reason)}"


def _guarantee_state(
    subject: SubjectFacts, promises: Sequence[PromiseFacts], tuples: TupleFacts | None, *, constraints: bool
) -> tuple[str, ...]:
    total, several = len(promises), nouns_of(subject)[1]
    if not total and tuples is not None:
        verdict = "was verified" if tuples.holds else "was NOT PROVED"
        claim = "What this file guarantees of a tuple" if tuples.proofs else "No guarantee of a tuple"
        return (f"{claim} {verdict} when this report was written. Of single reports it guarantees nothing.",)
    if not total:
        claim = "no privacy" if constraints else "nothing"
        return (f"This file guarantees {claim}. What follows was measured all the same.",)
    empty = sum(promise.kind == "nothing" for promise in promises)
    if empty == total:
        return (
            f"This file guarantees nothing about any two {several}: it counts all of them as infinitely far "
            "apart.",
        )
    if sum(promise.holds for promise in promises) == total:
        is_stated = any(promise.distances == DistanceSource.LABELS.value for promise in promises)
        by = ", for the distances that the file states" if is_stated else ""
        return (f"{_of_this_file(total, total)} verified when this report was written{by}.",)
    only_stated, sentences = sum(promise.for_stated for promise in promises), []
    failures = total - only_stated - empty - sum(promise.holds for promise in promises)
    if failures:
        claim = "the guarantee" if failures == total == 1 else f"{failures} of {plural(total, 'guarantee')}"
        sentences.append(f"NOT PROVED: {claim} of this file. Do not rely on what is not proved.")
    maps = sum(promise.for_stated and promise.distances in KIND_MAPS for promise in promises)
    if only_stated > maps:
        sentences.append(
            f"{_of_this_file(only_stated - maps, total)} proved for distances that the file states. Nothing "
            "confirms these distances: do not rely on them."
        )
    if maps:
        sentences.append(
            f"{_of_this_file(maps, total)} proved for the map of kinds that the file states. Nothing confirms "
            "this map: 'sfumato audit' decides with the map, --kinds FILE."
        )
    if empty:
        sentences.append(
            f"{empty} of {plural(total, 'guarantee')} of this file {'is' if empty == 1 else 'are'} about no two "
            f"{several} at all: it counts all of them as infinitely far apart."
        )
    return tuple(sentences)


def _of_this_file(count: int, total: int) -> str:
    """Return the subject of a sentence on some guarantees, with its verb."""
    if count < total:
        return f"{count} of {plural(total, 'guarantee')} of this file {'was' if count == 1 else 'were'}"
    subject = {1: "The guarantee", 2: "Both guarantees"}.get(count, f"All {count} guarantees")
    return f"{subject} of this file {'was' if count == 1 else 'were'}"
