"""Sentences on attackers, walks, tuples, risks and information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...audits import Outcome
from ...core import Side
from ...core.arrays import Floats
from ...core.naming import list_names, quote
from ...core.units import per_unit
from ...escaping import plain
from ...rounding import (
    about,
    about_percent,
    at_most,
    percent,
    percent_at_least,
    percent_at_most,
    percent_of_confidence,
    plural,
    up,
)
from ..facts import AttackFacts, InformationFacts, NotionFacts, Quantity, RiskFacts, SubjectFacts, TupleFacts
from .scope import (
    CEILING,
    about_amount,
    frequency_text,
    least_amount,
    loss_text,
    most_amount,
    nouns_of,
    report_noun,
    secret_nouns,
    way_words,
)

_ATTACKS_LEFT_OUT: Final = {
    "prior": "the file holds no prior, so it is not known how common each one is",
    "visits": "the true points were not given, and each report of one place starts from another point near it",
    "unsaid": "the true points were not given",
    "table": "that is done for noise whose reports are moved to the places of a table",
    "size": "there are too many places to simulate enough cases in a few seconds",
}
_NO_CHANCE: Final = {
    "visits": "Not known without visits (--visits)",
    "table": "Not computed for noise whose reports are not moved to the places of a table",
    "size": "Not computed for so many visits",
    "many": "Not computed for so many visits",
    "prior": "Not known, because the file holds no prior",
}
_POINTS: Final = "where the visits were"
_MIDDLES: Final = {"cells": ", counted between centres of cells", "ranges": ", counted between middles of ranges"}
_TINY: Final = 0.01  # relative to its upper bound: of a smaller estimate only the bound is stated
_TOLERANCE: Final = 1e-9  # relative: bounds that differ by rounding only
RARE_REPORT: Final = "This is never reported, or too rarely to be shown here: the attacker learns nothing from it."
"""That there is no belief after a report."""


def attack_words(
    attacks: Sequence[AttackFacts], subject: SubjectFacts, *, even: bool = False, points: str = _POINTS
) -> tuple[str, ...]:
    """Return the success of the best attacker, with one report and with several."""
    sentences = []
    for goal in dict.fromkeys(attack.what for attack in attacks):
        of_kind = {attack.who: attack for attack in attacks if attack.what == goal}
        informed, blind = of_kind.get("informed"), of_kind.get("blind")
        if informed is None or blind is None:
            continue
        if even and goal != "point":
            attacker = f"Best attacker, if all {secret_nouns(subject)[1]} are equally likely"
        else:
            attacker = f"Best attacker, knowing {_knowledge(informed, subject, points)}"
        by_hit, by_error = baseline_words(blind)
        if informed.error is not None and by_error:
            sentences.append(f"{attacker}: {_error(informed.error, by_error, goal, subject)}")
        if informed.hit is not None and by_hit:
            target = (
                "lattice point that a position is rounded to"
                if goal == "vertex"
                else f"true {nouns_of(subject)[0]}"
            )
            more = " A neighbouring lattice point counts as wrong." if goal == "vertex" else ""
            sentences.append(f"{attacker}: finds the {target} {frequency_text(informed.hit)} ({by_hit}).{more}")
    for attack in attacks:
        if attack.who == "repeated":
            sentences += _repetition(attack, subject)
    return tuple(sentences)


def kind_words(hit: float, before: float, names: Sequence[str]) -> tuple[str, ...]:
    """Return how often the best attacker guesses the kind of a place, at most; the kind "" is no listed place."""
    listed = list_names(quote(name) for name in names if name) + (", or no listed place" if "" in names else "")
    chance = percent_at_most(min(1.0, hit))
    return (
        f"Best attacker of the kind of place ({listed}), with this prior: guesses it right at most {chance} of "
        f"the time ({about_percent(before)} without the report).",
        "An attacker's error without a unit is the chance that this guess is wrong. In a cell, or near a lattice "
        "point, all places of the map are taken as equally probable.",
    )


def group_words(hit: float, joint: Floats) -> str:
    """Return how often the best guess of the group is right at most, for groups of the sizes in the data."""
    most, blind, bare = (min(1.0, share) for share in (hit, joint.sum(axis=1).max(), joint.max(axis=0).sum()))
    return (
        f"Best guess of the group, with the shares of the {len(joint)} groups in the data: right at most "
        f"{percent_at_most(most)} of the time ({about_percent(blind)} without the report, {about_percent(bare)} "
        "from the secret itself)."
    )


def no_attack_words(subject: SubjectFacts) -> str:
    """Return why the success of attackers is not known."""
    why = "the true points were not given" if subject.kind == "noise" else "the file holds no prior"
    return f"How close an attacker comes is not known, because {why}."


def simulation_words(left_out: str) -> str:
    """Return that simulated numbers are no proofs, or why nothing was simulated."""
    if not left_out:
        return "Simulated numbers are estimates: they prove nothing."
    return f"Attackers with several reports were not simulated: {_ATTACKS_LEFT_OUT[left_out]}."


def _knowledge(attack: AttackFacts, subject: SubjectFacts, points: str = _POINTS) -> str:
    return points if attack.what == "point" else f"how common each {secret_nouns(subject)[0]} is"


def baseline_words(blind: AttackFacts) -> tuple[str, str]:
    """Return hit rate and error of an attacker without a report, each with that without protection, as clauses."""
    bare = "" if blind.what == "vertex" else ", 100 % without protection"
    hit = "" if blind.hit is None else f"{about_percent(blind.hit.value)} without the report{bare}"
    error = (
        "" if blind.error is None else f"about {about_amount(blind.error.value, blind.error.unit)} with no report"
    )
    return hit, error and f"{error}, 0 unprotected"


def _error(error: Quantity, baseline: str, goal: str, subject: SubjectFacts) -> str:
    counting = " from the true point"
    if goal != "point":
        counting = _MIDDLES.get(subject.kind, way_words(subject))
    if error.low <= 0:
        return f"no error is proved{counting} ({baseline})."
    low, high = least_amount(error.low, error.unit), most_amount(error.high, error.unit)
    two = error.lower is not None and error.upper is not None and low != high
    return f"average error {f'between {low} and {high}' if two else f'at least {low}'}{counting} ({baseline})."


def _repetition(attack: AttackFacts, subject: SubjectFacts) -> list[str]:
    noun = nouns_of(subject)[0] if attack.what == "value" else attack.what
    begin = f"After {attack.reports:,} fresh reports of the same {noun}, an attacker who combines them"
    end = f"simulated in {plural(attack.draws, 'case')}"
    sentences = []
    if attack.hit is not None:
        sentences.append(f"{begin} finds it {share_text(attack.hit, Side.AT_MOST)} of the time ({end}).")
    if attack.error is not None:
        sentences.append(f"{begin} has an average error of {length_text(attack.error, Side.AT_LEAST)} ({end}).")
    return sentences


def here_words(loss: float, subject: SubjectFacts) -> str:
    """Return the average loss at a position."""
    return f"From here, reports {_mean(loss, subject)}."


def drawn_reports_words(reports: int, same: int, loss: float, subject: SubjectFacts) -> str:
    """Return the average loss of reports that were drawn, and how many of them are true."""
    draws = f"{plural(reports, 'report')}, drawn with the operating system's randomness"
    true = f"{same:,} name the true {report_noun(subject)}"
    return f"{draws}: {true}, and all of them {_mean(loss, subject)}. Their epsilons add up."


def _mean(loss: float, subject: SubjectFacts) -> str:
    mean = loss_text(loss, subject)
    if subject.kind == "categories":
        return f"name another value about {mean} of the time"
    return f"are about {mean} {'away' if subject.region else 'off'} on average{way_words(subject)}"


def guess_words(before: float, after: float, subject: SubjectFacts, *, reported: bool) -> str:
    """Return whether an attacker's best guess is what was reported, and its probability before and after."""
    noun = report_noun(subject)
    guess = f"the reported {noun}" if reported else f"not the reported {noun}, but another"
    return (
        f"After this report the attacker's best guess is {guess}, with probability {percent(after)} "
        f"({percent(before)} before the report)."
    )


def step_words(number: int, chance: float, error: float, subject: SubjectFacts) -> str:
    """Return the attacker's belief in the truth after some reports, and the error of their best guess on a map."""
    truth = "your true place" if subject.region else "the true value"
    begin = f"After report {number:,} the attacker gives {truth} a chance of {percent(min(chance, 1.0))}."
    return f"{begin} Their best guess is {loss_text(error, subject)} away." if subject.region else begin


def walk_words(reports: int, epsilon: float, unit: str, step: float | None, subject: SubjectFacts) -> str:
    """Return what the attacker knows of several reports, and their epsilon; ``step`` is None for one stop."""
    total = f"epsilon at most {at_most(up(reports * epsilon))}{per_unit(unit)}"
    adds = f"{plural(reports, 'report')} together: {total}, {reports:,} times one report."
    if step is None:
        clause = "come from one place" if subject.region else "are of one value"
        return f"The attacker knows that all reports {clause}. {adds}"
    apart = f"at most {loss_text(step, subject)} apart{way_words(subject)}"
    noun = secret_nouns(subject)[0]
    return f"The attacker knows that consecutive stops are {apart}, and how common each {noun} is. {adds}"


def attack_rows(
    attacks: Sequence[AttackFacts], subject: SubjectFacts
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings, and a row for each attacker: name, hit rate and average error, where there are such."""
    columns = {"attacker": [_name(attack, subject) for attack in attacks]}
    if any(attack.hit is not None for attack in attacks):
        hits = ["" if attack.hit is None else share_text(attack.hit, Side.AT_MOST) for attack in attacks]
        columns[f"finds the {secret_nouns(subject)[0]}"] = hits
    if any(attack.error is not None for attack in attacks):
        errors = ["" if attack.error is None else length_text(attack.error, Side.AT_LEAST) for attack in attacks]
        columns["average error"] = errors
    return tuple(columns), tuple(zip(*columns.values(), strict=True))


def _name(attack: AttackFacts, subject: SubjectFacts) -> str:
    """Return the observations and the knowledge of an attacker."""
    if attack.who == "bare":
        return "sees the truth: there is no mechanism"
    knows = f"knows {_knowledge(attack, subject)}"
    if attack.who == "blind":
        return f"sees no report, {knows}"
    if attack.who == "misinformed":
        several = "places" if subject.region else nouns_of(subject)[1]
        return f"sees one report, takes all {several} for equally likely"
    return f"sees {'one report' if attack.reports == 1 else f'{attack.reports:,} fresh reports'}, {knows}"


def suspicion_words(subject: SubjectFacts) -> tuple[str, str, str]:
    """Return what three attackers know: the prior, a false suspicion, and a true one."""
    return (
        f"Knows how common each {secret_nouns(subject)[0]} is.",
        "Believes your suspicion, but it is false.",
        "Believes your suspicion, and it is true. The mechanism was designed for the data.",
    )


def target_words(subject: SubjectFacts) -> str:
    """Return what an attacker must name, and from where the error of a guess is counted."""
    rounded = subject.kind == "points"
    target = "lattice point that your position is rounded to" if rounded else f"true {nouns_of(subject)[0]}"
    return f"Finding you means naming the {target}. Errors are counted from there."


def share_text(share: Quantity, side: Side) -> str:
    """Return a share as a short text: its bound on a side, or an estimate."""
    if share.confidence is not None:
        low, high = percent_at_least(share.lower or 0.0), percent_at_most(share.high)
        sure = f"with {percent_of_confidence(share.confidence)} confidence"
        return f"{about_percent(share.value)} ({sure} {low} to {high})"
    if share.lower == share.upper == share.value and share.value in (0.0, 1.0):
        return percent(share.value)
    if share.upper is None or share.lower == share.upper:
        return about_percent(share.value)
    limit = percent_at_most(share.upper)
    return "no useful limit" if limit == CEILING else f"{side.value} {limit}"


def length_text(length: Quantity, side: Side) -> str:
    """Return an error as a short text: its bound on a side, or an estimate."""
    unit = length.unit
    if length.confidence is not None:
        sure = f"with {percent_of_confidence(length.confidence)} confidence"
        high = most_amount(length.high, unit)
        if not length.lower and length.value < _TINY * length.high:
            return f"at most {high} ({sure})"
        low = least_amount(length.lower or 0.0, unit)
        return f"about {about_amount(length.value, unit)} ({sure} {low} to {high})"
    if length.lower is None:
        return f"about {about_amount(length.value, unit)}"
    if length.lower == length.upper:
        return about_amount(length.value, unit)
    return f"{side.value} {least_amount(length.lower, unit)}" if length.lower > 0 else "no useful limit"


def answer_words(queries: int, best: Quantity, single: Quantity) -> str:
    """Return the average loss of the best answer to a tuple, and of a single report."""
    return (
        f"The best of {queries:,} answers loses about {about_amount(best.value, best.unit)} on average, a single "
        f"report about {about_amount(single.value, single.unit)} (computed, not proved)."
    )


def tuple_words(tuples: TupleFacts, subject: SubjectFacts) -> tuple[str, ...]:
    """Return the proofs about tuples, the loss of the best answer, and the success of attackers."""
    sentences = [
        f"A tuple has {tuples.queries:,} reports in any order: one is drawn from the true "
        f"{nouns_of(subject)[0]}, the others are dummies. What is proved of one report holds for a tuple too.",
        *(tuples.proofs or ("The file guarantees nothing about tuples.",)),
    ]
    if tuples.best is not None and tuples.single is not None:
        sentences.append(answer_words(tuples.queries, tuples.best, tuples.single))
    if not tuples.attacks:
        return (*sentences, "How often an attacker finds the secret from a tuple was not computed.")
    attacks = attack_words(tuples.attacks, subject)
    return (*sentences, f"From a tuple instead of one report (computed, not proved): {attacks[0]}", *attacks[1:])


def information_words(information: InformationFacts, subject: SubjectFacts) -> str:
    """Return an upper bound of the bits that one report reveals."""
    noun, whole = secret_nouns(subject)[0], about(information.entropy)
    if information.bits > information.entropy:
        return f"One report may reveal everything about the {noun}, about {whole} bits."
    return (
        f"One report reveals at most {at_most(information.bits)} bits of the {noun} on average, of about {whole} "
        "in all."
    )


def notion_words(notion: NotionFacts) -> str:
    """Return the meaning of a measured notion, and where it is attained."""
    attained = f" Attained by {notion.witness}." if notion.witness else ""
    return f"{notion.title}: {notion.sentence}{attained}"


def notion_rows(notions: Sequence[NotionFacts]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings, and a row for each measured notion."""
    rows = tuple((notion.title, f"{notion.parameter} {notion.shown}", notion.side) for notion in notions)
    return ("notion or measure", "value", "side"), rows


def risk_words(risk: RiskFacts, subject: SubjectFacts) -> tuple[str, ...]:
    """Return the chance that the best attacker is near the secret, and whether a requirement on it holds."""
    sentences = [_chance(risk, subject)]
    if risk.outcome is not None:
        because = ""
        if risk.outcome is Outcome.UNDECIDED:
            why = "it is not known" if risk.chance is None else "the limit lies between these bounds"
            because = f", because {why}"
        sentences.append(f"The requirement '{plain(risk.text)}' {risk.outcome.value.upper()}{because}.")
        blind = risk.blind
        least = None if blind is None else blind.lower
        if risk.limit is not None and least is not None and least > risk.limit.value:
            sentences.append("No mechanism can satisfy it: even without any report a guess is right more often.")
    return tuple(sentences)


def _chance(risk: RiskFacts, subject: SubjectFacts) -> str:
    near, chance = _hit_phrase(risk, subject), risk.chance
    if chance is None or chance.upper is None or chance.lower is None:
        how = " Use 'sfumato attack'." if risk.why == "many" else ""
        return f"{_NO_CHANCE[risk.why]}: how often an attacker's guess is {near}.{how}"
    knowing = {
        "visits": "knowing where the visits in the region were",
        "file": "knowing where the visits of the file were",
        "prior": f"knowing how common each {nouns_of(subject)[0]} is",
    }[risk.of]
    guesses = ""
    if chance.upper - chance.lower > _TOLERANCE * chance.upper:
        guesses = f"; some guesses reach {percent_at_least(chance.lower)}"
    blind = (
        ""
        if risk.blind is None or risk.blind.upper is None
        else f" ({frequency_text(risk.blind)} without the report)"
    )
    return f"Best attacker, {knowing}: {near} {frequency_text(chance)}{guesses}{blind}."


def _hit_phrase(risk: RiskFacts, subject: SubjectFacts) -> str:
    if subject.region:
        radius = plain(risk.shown).strip()
        metres = least_amount(risk.radius.value, "m", 5)
        return f"within {radius}{'' if radius == metres else f' ({metres})'} of the true point"
    if risk.radius.value == 0:
        return "right"
    middle = "the middle of the true range" if subject.kind == "ranges" else f"the true {nouns_of(subject)[0]}"
    return f"within {least_amount(risk.radius.value, risk.radius.unit, 9)} of {middle}"
