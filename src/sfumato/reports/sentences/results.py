"""Sentences on costs, the distance from the optimum, other designs, attackers, risks and information."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ...audits import Outcome
from ...core import Side
from ...core.naming import name_phrase, quote
from ...core.units import per_unit
from ...escaping import plain
from ...optimal import Design
from ...proofs import covered, radius_words
from ...rounding import (
    about,
    about_percent,
    at_most,
    counted,
    gap_at_most,
    percent,
    percent_at_least,
    percent_at_most,
    percent_of_confidence,
    sum_above,
    up,
)
from ..facts import (
    AttackFacts,
    CostFacts,
    InformationFacts,
    Known,
    NotionFacts,
    Quantity,
    RadiusFacts,
    ReportFacts,
    RiskFacts,
    SubjectFacts,
    TupleFacts,
)
from .scope import (
    ALL,
    about_amount,
    least_amount,
    loss_text,
    most_amount,
    nouns_of,
    often,
    report_noun,
    secret_nouns,
    way_words,
)

_TABLE: Final = "make a table with sfumato sweep and name it with --sweep"
_FRONTIER_LEFT_OUT: Final = {
    "left out on purpose": "This was left out on purpose. It is made within a minute with --frontier-time 60.",
    "no epsilon is promised": "The file guarantees no epsilon, so there is none to make larger or smaller.",
    "several epsilons are promised": f"Several guarantees have an epsilon. To see one of them change, {_TABLE}.",
    "the promise is not proved": "What the file claims of this mechanism is not proved, or not all of it. It "
    "cannot be compared with designs that are proved.",
    "the cost is not known": "The cost of a report is not known, so neither is its cost with another epsilon.",
    "none was ready in time": f"No other design was ready in time. Use --frontier-time 600, or {_TABLE}.",
}
_IMPOSSIBLE: Final = (
    "The table states a smaller loss, with no larger epsilon, than was proved to be the least for designs of this "
    "kind. It is of other people, places or designs, or it is wrong."
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
_COUNTING: Final = {"cells": ", counted between centres of cells", "ranges": ", counted between middles of ranges"}
_TINY: Final = 0.01  # relative to its upper bound: of a smaller estimate only the bound is stated
_SAME: Final = 1e-9  # relative: bounds that differ by rounding only
NEVER: Final = "This is never reported, or too rarely to be shown here: the attacker learns nothing from it."
"""That there is no belief after a report."""


def cost_words(cost: CostFacts, subject: SubjectFacts, of: str = "the visits in the region") -> tuple[str, ...]:
    """Return the average cost of a report, over the visits or other points called ``of``."""
    if cost.expected is None:
        if subject.kind == "noise":
            return (
                "The distance between reports and true points depends on where people are, which was not given. "
                "Add their visits (--visits).",
            )
        return ("The file does not hold both a prior and a loss, so the cost of a report is not known.",)
    if not cost.checked:
        return _stated(cost, cost.expected, subject)
    return (_expected(cost, cost.expected, subject, of),)


def cost_text(cost: CostFacts) -> str:
    """Return the upper bound of a known average cost as a short text, ``at most 610 m``."""
    known = cost.expected or Quantity.at_most(math.inf)
    share = cost.kind == "hamming"
    return f"at most {percent_at_most(min(known.most, 1.0)) if share else most_amount(known.most, known.unit)}"


def constant_words(loss: float, subject: SubjectFacts) -> str:
    """Return the average loss of the best report that is the same for everyone."""
    return f"Always reporting one {report_noun(subject)}: about {loss_text(loss, subject)}."


def useless_words(excess: float, subject: SubjectFacts) -> str:
    """Return that one report for everyone loses more than a mechanism by at most this share."""
    return (
        f"Always reporting one {report_noun(subject)} loses at most about {percent(excess)} more: reports at this "
        "epsilon are useless. Choose a larger epsilon."
    )


def spread_words(radius: RadiusFacts | None) -> tuple[str, ...]:
    """Return the error radius in a sentence; none where it is not known."""
    return () if radius is None else (radius_words(radius.length.most, near_table=radius.near_table),)


def _stated(cost: CostFacts, expected: Quantity, subject: SubjectFacts) -> tuple[str, ...]:
    """Return the mean of an unconfirmed table of losses."""
    sentences = [
        f"By the table of losses that the file states under the name {quote(cost.name)}, a report costs at most "
        f"{most_amount(expected.most, expected.unit)} on average{_worst(cost, subject)}.",
        "Nothing in the file confirms the table, so this does not show how far reports are from the truth.",
    ]
    if subject.region:
        sentences.append("With visits, 'sfumato report --visits' states the distance from the true points.")
    return tuple(sentences)


def _worst(cost: CostFacts, subject: SubjectFacts) -> str:
    if cost.worst is None:
        return ""
    return f" (at most {most_amount(cost.worst.value, cost.worst.unit)} for the worst {secret_nouns(subject)[0]})"


def _expected(cost: CostFacts, expected: Quantity, subject: SubjectFacts, of: str) -> str:
    name, worst, most = cost.name, _worst(cost, subject), most_amount(expected.most, expected.unit)
    distance = "" if name == "euclidean" else f" ({name_phrase(name, 'distance')})"
    if cost.kind == "true point":
        between = f"at most {most}"
        if expected.lower is not None and least_amount(expected.lower, expected.unit) != most:
            between = f"between {least_amount(expected.lower, expected.unit)} and {most}"
        return f"Average distance from true point to report: {between}, over {of}{distance}."
    if cost.kind == "hamming":
        return (
            f"At most {percent_at_most(expected.most)} of the reports name another {_named(subject)} than the "
            "true one."
        )
    if cost.kind == "centres":
        return (
            f"Average distance from the centre of the true cell to the reported place: at most {most}{worst}"
            f"{distance}. The position within the cell is not counted."
        )
    way = way_words(subject) if name == "absolute" else ""
    if name == "absolute" and cost.kind in ("loss", "distance") and subject.kind in ("numbers", "ranges"):
        return f"Average difference between the report and the true number: at most {most}{worst}{way}."
    if cost.kind == "distance":
        return (
            f"Average distance between the report and the true {nouns_of(subject)[0]}: at most {most}{worst}{way}."
        )
    return f"Average loss ({name_phrase(name)}): at most {most}{worst}."


def _named(subject: SubjectFacts) -> str:
    return {"cells": "place", "points": "lattice point"}.get(subject.kind, nouns_of(subject)[0])


def loses_words(loss: float, unit: str) -> str:
    """Return an upper bound of a loss, a share where it has no unit, as a verb."""
    return f"loses at most {most_amount(loss, unit) if unit else percent_at_most(loss)}"


def progress_words(loss: float, unit: str, *, levels: bool) -> str:
    """Return the loss of the last of several designs so far, or of the best one."""
    which = "The last level loses" if levels else "The best mechanism so far loses"
    return f"{which} at most {most_amount(loss, unit)} on average."


def tie_words(gap: float, where: str = "Among ") -> str:
    """Return which of several mechanisms of equal loss was chosen, and its gap from the most private one."""
    return (
        f"{where}mechanisms of equal loss, one with the most distortion privacy was chosen (within "
        f"{gap_at_most(gap)} of the most)."
    )


def error_words(share: float | None) -> str:
    """Return the least error of the best attacker as a share of the loss; None where nothing is lost."""
    if share is None:
        return "No loss, and no error of the best attacker."
    return f"Best attacker's average error: at least {percent_at_least(share)} of the loss."


def unfinished_words(reason: str) -> str:
    """Return the warning on a design that was stopped."""
    return f"NOT FINISHED: {reason}."


def stopped_words(design: Design) -> str:
    """Return why a design is not finished."""
    if design.has_program:
        return design.status.value
    return "the program was stopped before it was known whether noise loses less"


def smoothed_words(expected: Quantity, subject: SubjectFacts, of: str) -> str:
    """Return the loss under a prior that is not that of the visits."""
    one = secret_nouns(subject)[0] if subject.kind == "points" else "place"
    return (
        f"The prior is not that of {of}, as with smoothing. Under it the average loss is at most "
        f"{most_amount(expected.most, expected.unit)}. There, a {one} without visits counts as if people were at "
        "it."
    )


def held_out_words(expected: Quantity | None, visits: int, maker: str) -> str:
    """Return the loss on visits that a maker, ``the design`` or ``the remap``, has not seen; None for no such."""
    if expected is None:
        return f"None of the {counted(visits, 'visit')} held out is in the region, so their loss is not known."
    return (
        f"On {counted(visits, 'visit')} held out, which {maker} has not seen, the average distance from the true "
        f"point is about {about_amount(expected.value, expected.unit)}. That is an estimate, not a bound."
    )


def optimum_words(
    cost: CostFacts,
    subject: SubjectFacts,
    guarantees: int,
    constraints: int,
    by: str = "",
    *,
    loss: str = "this loss",
    guesses: int = 0,
) -> str:
    """Return the bound for mechanisms with as many guarantees and constraints, and the gap of this one."""
    if cost.best is None or cost.reached is None:
        return ""
    best, reached, unit = cost.best.value, cost.reached.value, cost.best.unit
    limit = loss if cost.objective == "distortion" else ""
    mechanism = f"No mechanism {covered(guarantees, constraints, limit, lattice=subject.kind == 'points')}"
    if cost.objective == "distortion":
        near = near_words(reached, best, unit)
        who = f"the best attacker who guesses one of {guesses:,} points" if guesses else "the best attacker"
        return (
            f"{mechanism} gives {who} an average error above {most_amount(best, unit)}. With "
            f"this one it is at least {least_amount(reached, unit)}: {near}{by}."
        )
    near = near_words(best, reached, unit)
    if cost.kind == "hamming" and cost.objective == "expected":
        return (
            f"{mechanism} names another {_named(subject)} in less than {percent_at_least(best)} of its "
            f"reports. This one does in at most {percent_at_most(reached)}: {near}{by}."
        )
    mean = "a worst-case" if cost.objective == "worst-case" else "an average"
    return (
        f"{mechanism} has {mean} loss below {least_amount(best, unit)}. This one has at most "
        f"{most_amount(reached, unit)}: {near}{by}."
    )


def near_words(low: float, high: float, unit: str) -> str:
    """Return the gap of a mechanism to the bound: relative, or else absolute."""
    if low >= high:
        return "it is the best of them"
    apart = sum_above((high, -low))
    least = min(abs(low), abs(high)) if low * high > 0 else 0.0  # the optimum is no smaller
    if apart > 0.5 * least:
        return f"within {most_amount(apart, unit)} of the best of them"
    return f"within {gap_at_most(up(apart / least))} of the best of them"


def frontier_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return where the design stands among others, or why that is not stated."""
    if not facts.frontier:
        return (_FRONTIER_LEFT_OUT[facts.frontier_left_out],)
    begin = (
        f"This design is compared with {counted(sum(not each.this for each in facts.frontier), 'other design')}."
    )
    if facts.frontier_source != "computed":
        source = f"They are as the table {plain(facts.frontier_source)} states them. Nothing here proves them."
        return (f"{begin} {source}", *((_IMPOSSIBLE,) if _too_cheap(facts) else ()))
    if facts.subject.kind == "noise":
        return (
            f"{begin} They were made for this report: noise of the same kind with other epsilons, for the same "
            "visits. With a smaller epsilon a report reveals less.",
            "The least loss of other kinds of mechanism is not stated here.",
        )
    errors = any(each.kind == "error" for each in facts.promises)
    limits = ["the guarantee on the attacker's error"] if errors else []
    limits += [f"the linear constraint{'s' if len(facts.constraints) > 1 else ''}"] if facts.constraints else []
    also = f", and all of them satisfy {' and '.join(limits)}" if limits else ""
    one, kind = secret_nouns(facts.subject)[0], "if it makes the same reports"
    if facts.subject.kind == "points":
        kind = "if it is of this kind (the same lattice, the same reports, the same way of proof)"
    sentences = [
        f"{begin} They were made for this report, with the prior (how common each {one} is) and the loss of the "
        f"file{also}. With a smaller epsilon a report reveals less, and the least loss is at least as high.",
        "Time was limited, so there are two numbers for each epsilon: the most that the design loses, and what no "
        f"design with this epsilon goes below, {kind}. The least loss is between them.",
    ]
    if any(each.loss.known is Known.STATED for each in facts.frontier):
        sentences.append("Losses are by the file's own table, which nothing confirms.")
    return tuple(sentences)


def frontier_table(facts: ReportFacts) -> tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return caption and headings, and a row for the design and each other one, by epsilon."""
    share, caption = facts.cost.kind == "hamming", "Designs by their epsilon."
    headings: tuple[str, ...] = ("epsilon", "average distance from the true point, at most")
    bounded = facts.frontier_source == "computed" and facts.subject.kind != "noise"
    if facts.frontier_source != "computed":
        caption = "Other designs as a table states them, and this one."
        headings = ("epsilon", "loss, at most, as the table states it")
    elif bounded:
        what = f"reports that name another {_named(facts.subject)}" if share else "loss"
        mean = "" if share else " on average"
        if facts.frontier[0].objective == "worst-case":
            mean = f" for the worst {secret_nouns(facts.subject)[0]}"
        headings = ("epsilon", f"{what}{mean}, at most", "what no such design goes below")
    rows = []
    for each in facts.frontier:
        loss = each.loss
        at = f"at most {at_most(each.epsilon.value)}" if each.this else about(each.epsilon.value)
        row = [f"{at}{plain(each.epsilon.unit)}{' (this design)' if each.this else ''}"]
        row.append(percent_at_most(loss.most) if share else most_amount(loss.most, loss.unit))
        if bounded and loss.lower is None:
            row.append("not known")
        elif bounded and loss.lower is not None:
            row.append(percent_at_least(loss.lower) if share else least_amount(loss.lower, loss.unit))
        rows.append(tuple(row))
    return caption, headings, tuple(rows)


def _too_cheap(facts: ReportFacts) -> bool:
    """Return whether a design has a loss below the proved bound, with no larger epsilon."""
    best, this = facts.cost.best, next((each for each in facts.frontier if each.this), None)
    if best is None or this is None or facts.cost.objective != "expected":
        return False
    least = best.value / 1000 if (best.unit, this.loss.unit) == ("m", "km") else best.value
    return any(each.epsilon.value <= this.epsilon.value and each.loss.value < least for each in facts.frontier)


def attack_words(
    attacks: Sequence[AttackFacts], subject: SubjectFacts, *, even: bool = False, points: str = _POINTS
) -> tuple[str, ...]:
    """Return the success of the best attacker, with one report and with several."""
    sentences = []
    for what in dict.fromkeys(each.what for each in attacks):
        of_kind = {each.who: each for each in attacks if each.what == what}
        informed, blind = of_kind.get("informed"), of_kind.get("blind")
        if informed is None or blind is None:
            continue
        if even and what != "point":
            who = f"Best attacker, if all {secret_nouns(subject)[1]} are equally likely"
        else:
            who = f"Best attacker, knowing {_knowledge(informed, subject, points)}"
        by_hit, by_error = baseline_words(blind)
        if informed.error is not None and by_error:
            sentences.append(f"{who}: {_error(informed.error, by_error, what, subject)}")
        if informed.hit is not None and by_hit:
            sentences.append(f"{who}: {_hit(informed.hit, by_hit, what, subject)}")
    for each in attacks:
        if each.who == "repeated":
            sentences += _repeated(each, subject)
    return tuple(sentences)


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


def _hit(hit: Quantity, baseline: str, what: str, subject: SubjectFacts) -> str:
    if what == "vertex":
        return (
            f"finds the lattice point that a position is rounded to {often(hit)} ({baseline}). A neighbouring "
            "lattice point counts as wrong."
        )
    return f"finds the true {nouns_of(subject)[0]} {often(hit)} ({baseline})."


def baseline_words(blind: AttackFacts) -> tuple[str, str]:
    """Return hit rate and error of an attacker without a report, each with that without protection, as clauses."""
    bare = "" if blind.what == "vertex" else ", 100 % without protection"
    hit = "" if blind.hit is None else f"{about_percent(blind.hit.value)} without the report{bare}"
    error = (
        "" if blind.error is None else f"about {about_amount(blind.error.value, blind.error.unit)} with no report"
    )
    return hit, error and f"{error}, 0 unprotected"


def _error(error: Quantity, baseline: str, what: str, subject: SubjectFacts) -> str:
    counting = " from the true point"
    if what != "point":
        counting = _COUNTING.get(subject.kind, way_words(subject))
    if error.least <= 0:
        return f"no error is proved{counting} ({baseline})."
    return f"average error {_between(error)}{counting} ({baseline})."


def _between(number: Quantity) -> str:
    low, high = least_amount(number.least, number.unit), most_amount(number.most, number.unit)
    if number.lower is not None and number.upper is not None and low != high:
        return f"between {low} and {high}"
    return f"at least {low}"


def _repeated(attack: AttackFacts, subject: SubjectFacts) -> list[str]:
    one = nouns_of(subject)[0] if attack.what == "value" else attack.what
    begin = f"After {attack.reports:,} fresh reports of the same {one}, an attacker who combines them"
    end = f"simulated in {counted(attack.draws, 'case')}"
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
    drawn = f"{counted(reports, 'report')}, drawn with the operating system's randomness"
    true = f"{same:,} name the true {report_noun(subject)}"
    return f"{drawn}: {true}, and all of them {_mean(loss, subject)}. Their epsilons add up."


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
    adds = f"{counted(reports, 'report')} together: {total}, {reports:,} times one report."
    if step is None:
        what = "come from one place" if subject.region else "are of one value"
        return f"The attacker knows that all reports {what}. {adds}"
    apart = f"at most {loss_text(step, subject)} apart{way_words(subject)}"
    one = secret_nouns(subject)[0]
    return f"The attacker knows that consecutive stops are {apart}, and how common each {one} is. {adds}"


def level_words(epsilon: float | None, unit: str, outcome: str, best: str) -> str:
    """Return the proved epsilon of the level that reaches an outcome; None for no level, with the best outcome."""
    if epsilon is None:
        return f"No level reaches {outcome} (best: {best})."
    return f"The level with epsilon at most {at_most(epsilon, 3)}{per_unit(unit)} reaches {outcome}."


def attack_rows(
    attacks: Sequence[AttackFacts], subject: SubjectFacts
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings, and a row for each attacker: name, hit rate and average error, where there are such."""
    columns = {"attacker": [_name(each, subject) for each in attacks]}
    if any(each.hit is not None for each in attacks):
        hits = ["" if each.hit is None else share_text(each.hit, Side.AT_MOST) for each in attacks]
        columns[f"finds the {secret_nouns(subject)[0]}"] = hits
    if any(each.error is not None for each in attacks):
        errors = ["" if each.error is None else length_text(each.error, Side.AT_LEAST) for each in attacks]
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
    what = "lattice point that your position is rounded to" if rounded else f"true {nouns_of(subject)[0]}"
    return f"Finding you means naming the {what}. Errors are counted from there."


def share_text(share: Quantity, side: Side) -> str:
    """Return a share as a short text: its bound on a side, or an estimate."""
    if share.confidence is not None:
        low, high = percent_at_least(share.lower or 0.0), percent_at_most(share.most)
        sure = f"with {percent_of_confidence(share.confidence)} confidence"
        return f"{about_percent(share.value)} ({sure} {low} to {high})"
    if share.lower == share.upper == share.value and share.value in (0.0, 1.0):
        return percent(share.value)
    if share.upper is None or share.lower == share.upper:
        return about_percent(share.value)
    limit = percent_at_most(share.upper)
    return "no useful limit" if limit == ALL else f"{side.value} {limit}"


def length_text(length: Quantity, side: Side) -> str:
    """Return an error as a short text: its bound on a side, or an estimate."""
    unit = length.unit
    if length.confidence is not None:
        sure = f"with {percent_of_confidence(length.confidence)} confidence"
        high = most_amount(length.most, unit)
        if not length.lower and length.value < _TINY * length.most:
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
    found = attack_words(tuples.attacks, subject)
    return (*sentences, f"From a tuple instead of one report (computed, not proved): {found[0]}", *found[1:])


def information_words(information: InformationFacts, subject: SubjectFacts) -> str:
    """Return an upper bound of the bits that one report reveals."""
    one, whole = secret_nouns(subject)[0], about(information.entropy)
    if information.bits > information.entropy:
        return f"One report may reveal everything about the {one}, about {whole} bits."
    return (
        f"One report reveals at most {at_most(information.bits)} bits of the {one} on average, of about {whole} "
        "in all."
    )


def notion_words(notion: NotionFacts) -> str:
    """Return the meaning of a measured notion, and where it is attained."""
    attained = f" Attained by {notion.witness}." if notion.witness else ""
    return f"{notion.title}: {notion.sentence}{attained}"


def notion_rows(notions: Sequence[NotionFacts]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings, and a row for each measured notion."""
    rows = tuple((each.title, f"{each.parameter} {each.shown}", each.side) for each in notions)
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
    near, chance = _near(risk, subject), risk.chance
    if chance is None or chance.upper is None or chance.lower is None:
        how = " Use 'sfumato attack'." if risk.why == "many" else ""
        return f"{_NO_CHANCE[risk.why]}: how often an attacker's guess is {near}.{how}"
    knowing = {
        "visits": "knowing where the visits in the region were",
        "file": "knowing where the visits of the file were",
        "prior": f"knowing how common each {nouns_of(subject)[0]} is",
    }[risk.of]
    some = ""
    if chance.upper - chance.lower > _SAME * chance.upper:
        some = f"; some guesses reach {percent_at_least(chance.lower)}"
    blind = "" if risk.blind is None or risk.blind.upper is None else f" ({often(risk.blind)} without the report)"
    return f"Best attacker, {knowing}: {near} {often(chance)}{some}{blind}."


def _near(risk: RiskFacts, subject: SubjectFacts) -> str:
    if subject.region:
        shown = plain(risk.shown).strip()
        metres = least_amount(risk.radius.value, "m", 5)
        return f"within {shown}{'' if shown == metres else f' ({metres})'} of the true point"
    if risk.radius.value == 0:
        return "right"
    middle = "the middle of the true range" if subject.kind == "ranges" else f"the true {nouns_of(subject)[0]}"
    return f"within {least_amount(risk.radius.value, risk.radius.unit, 9)} of {middle}"
