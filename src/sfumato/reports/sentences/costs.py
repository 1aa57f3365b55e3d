"""Sentences on costs, the distance from the optimum, and other designs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core.naming import list_names, name_phrase, quote
from ...core.units import per_unit
from ...escaping import plain
from ...optimal import Design, RobustDesign
from ...proofs import radius_words, scope_text
from ...rounding import (
    about,
    about_percent,
    at_most,
    gap_at_most,
    percent,
    percent_at_least,
    percent_at_most,
    plural,
    sum_above,
    up,
)
from ..facts import CostFacts, Evidence, Quantity, RadiusFacts, ReportFacts, SubjectFacts
from .scope import (
    about_amount,
    error_distance,
    least_amount,
    loss_text,
    most_amount,
    nouns_of,
    report_noun,
    secret_nouns,
    way_words,
)

_TABLE: Final = "make a table with sfumato sweep and name it with --sweep"
_FRONTIER_LEFT_OUT: Final = {
    "left out on purpose": "This was left out on purpose. It is made within a minute with --frontier-time 60.",
    "no epsilon is promised": "The file guarantees no epsilon between true values, so there is none to make "
    "larger or smaller.",
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


def cost_words(cost: CostFacts, subject: SubjectFacts, of: str = "the visits in the region") -> tuple[str, ...]:
    """Return the average cost of a report, over the visits or other points called ``of``."""
    if cost.expected is None:
        if subject.kind == "noise":
            return (
                "The distance between reports and true points depends on where people are, which was not given. "
                "Add their visits (--visits).",
            )
        return ("The file does not hold both a prior and a loss, so the cost of a report is not known.",)
    if cost.checked:
        return (_expected_cost(cost, cost.expected, subject, of),)
    sentences = [
        f"By the table of losses that the file states under the name {quote(cost.name)}, a report costs at most "
        f"{most_amount(cost.expected.high, cost.expected.unit)} on average{_worst(cost, subject)}.",
        "Nothing in the file confirms the table, so this does not show how far reports are from the truth.",
    ]
    if subject.region:
        sentences.append("With visits, 'sfumato report --visits' states the distance from the true points.")
    return tuple(sentences)


def cost_text(cost: CostFacts) -> str:
    """Return the upper bound of a known average cost as a short text, ``at most 610 m``."""
    known = cost.expected or Quantity.at_most(math.inf)
    share = cost.kind == "hamming"
    return f"at most {percent_at_most(min(known.high, 1.0)) if share else most_amount(known.high, known.unit)}"


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
    return () if radius is None else (radius_words(radius.length.high, near_table=radius.near_table),)


def _worst(cost: CostFacts, subject: SubjectFacts) -> str:
    if cost.worst is None:
        return ""
    return f" (at most {most_amount(cost.worst.value, cost.worst.unit)} for the worst {secret_nouns(subject)[0]})"


def _expected_cost(cost: CostFacts, expected: Quantity, subject: SubjectFacts, of: str) -> str:
    name, worst, most = cost.name, _worst(cost, subject), most_amount(expected.high, expected.unit)
    distance = "" if name == "euclidean" else f" ({name_phrase(name, 'distance')})"
    if cost.kind == "true point":
        between = f"at most {most}"
        if expected.lower is not None and least_amount(expected.lower, expected.unit) != most:
            between = f"between {least_amount(expected.lower, expected.unit)} and {most}"
        return f"Average distance from true point to report: {between}, over {of}{distance}."
    if cost.kind == "hamming":
        return (
            f"At most {percent_at_most(expected.high)} of the reports name another {_noun(subject)} than the "
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


def _noun(subject: SubjectFacts) -> str:
    return {"cells": "place", "points": "lattice point"}.get(subject.kind, nouns_of(subject)[0])


def loses_words(loss: float, unit: str) -> str:
    """Return an upper bound of a loss, a share where it has no unit, as a verb."""
    return f"loses at most {most_amount(loss, unit) if unit else percent_at_most(loss)}"


def progress_words(loss: float, unit: str, *, levels: bool) -> str:
    """Return the loss of the last of several designs so far, or of the best one."""
    subject = "The last level loses" if levels else "The best mechanism so far loses"
    return f"{subject} at most {most_amount(loss, unit)} on average."


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


def robust_words(robust: RobustDesign, names: Sequence[str], kind: str, subject: SubjectFacts) -> tuple[str, ...]:
    """Return the largest loss, of this kind, over several priors, and the least favourable mixture of them."""
    unit, share = robust.loss.unit, kind == "hamming"
    losses = [percent_at_most(loss) if share else most_amount(loss, unit) for loss in robust.losses]
    least = percent_at_least(robust.lower_bound) if share else least_amount(robust.lower_bound, unit)
    largest = percent_at_most(robust.value) if share else most_amount(robust.value, unit)
    noun = {
        "hamming": f"Share of reports that name another {_noun(subject)}",
        "true point": "Average distance from true point to report",
    }.get(kind, "Average loss")
    by_loss = sorted(range(len(names)), key=lambda place: -robust.losses[place])
    by_share = sorted(np.flatnonzero(robust.weights).tolist(), key=lambda place: -robust.weights[place])
    shares = [f"{about_percent(float(robust.weights[place]))} {quote(names[place])}" for place in by_share]
    scope = scope_text(len(robust.guarantees), lattice=subject.kind == "points")
    return (
        f"{noun}: at most {largest} for each of {len(names):,} priors, and for any mixture of them.",
        f"By prior, at most: {list_names([f'{quote(names[place])} {losses[place]}' for place in by_loss])}.",
        f"Least favourable mixture of the priors: {list_names(shares)}.",
        f"For this mixture no mechanism {scope} goes below {least}. The largest over the priors is "
        f"{near_words(robust.lower_bound, robust.value, unit)}.",
        "The file holds this mixture as its prior: attackers, and an audit of the file, are about this mixture.",
    )


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
    noun, place = secret_nouns(subject)[0], "it" if subject.kind == "points" else "its centre"
    return (
        f"The prior is not that of {of}, as with smoothing. Under it the average loss is at most "
        f"{most_amount(expected.high, expected.unit)}. There, a {noun} without visits counts as if people were at "
        f"{place}. A guaranteed error and the optimum are for this prior, and not for the visits."
    )


def held_out_words(expected: Quantity | None, visits: int, maker: str) -> str:
    """Return the loss on visits that a maker, ``the design`` or ``the remap``, has not seen; None for no such."""
    if expected is None:
        return f"None of the {plural(visits, 'visit')} held out is in the region, so their loss is not known."
    return (
        f"On {plural(visits, 'visit')} held out, which {maker} has not seen, the average distance from the true "
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
    best, value, unit = cost.best.value, cost.reached.value, cost.best.unit
    limit = loss if cost.objective == "distortion" else ""
    reports = "reports anywhere on the plane" if cost.free_reports else "these reports"
    scope = scope_text(guarantees, constraints, limit, lattice=subject.kind == "points", reports=reports)
    mechanism = f"No mechanism {scope}"
    if cost.all_secrets:
        with_what = f"with {limit}" if limit else "that leaves the best attacker this error"
        mechanism = f"No mechanism {with_what}, with reports and guesses anywhere on the plane,"
        by = " (proved: an attacker can guess the report, or guess without it)"
    if cost.objective == "distortion":
        near = near_words(value, best, unit)
        attacker = f"the best attacker who guesses one of {guesses:,} points" if guesses else "the best attacker"
        distance = error_distance(cost.error)
        return (
            f"{mechanism} gives {attacker} an average error above {most_amount(best, unit)}{distance}. With "
            f"this one it is at least {least_amount(value, unit)}: {near}{by}."
        )
    near = near_words(best, value, unit)
    if cost.kind == "hamming" and cost.objective == "expected":
        return (
            f"{mechanism} names another {_noun(subject)} in less than {percent_at_least(best)} of its "
            f"reports. This one does in at most {percent_at_most(value)}: {near}{by}."
        )
    mean = "a worst-case" if cost.objective == "worst-case" else "an average"
    return (
        f"{mechanism} has {mean} loss below {least_amount(best, unit)}. This one has at most "
        f"{most_amount(value, unit)}: {near}{by}."
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
    begin = f"This design is compared with {plural(sum(not row.this for row in facts.frontier), 'other design')}."
    if facts.frontier_source != "computed":
        source = f"They are as the table {plain(facts.frontier_source)} states them. Nothing here proves them."
        return (f"{begin} {source}", *((_IMPOSSIBLE,) if _too_cheap(facts) else ()))
    if facts.subject.kind == "noise":
        return (
            f"{begin} They were made for this report: noise of the same kind with other epsilons, for the same "
            "visits. With a smaller epsilon a report reveals less.",
            "The least loss of other kinds of mechanism is not stated here.",
        )
    errors = any(promise.kind == "error" for promise in facts.promises)
    limits = ["the guarantee on the attacker's error"] if errors else []
    families = any(promise.kind == "family" for promise in facts.promises)
    limits += ["the guarantee on distributions"] if families else []
    limits += [f"the linear constraint{'s' if len(facts.constraints) > 1 else ''}"] if facts.constraints else []
    also = f", and all of them satisfy {' and '.join(limits)}" if limits else ""
    noun, kind = secret_nouns(facts.subject)[0], "if it makes the same reports"
    if facts.subject.kind == "points":
        kind = "if it is of this kind (the same lattice, the same reports, the same way of proof)"
    sentences = [
        f"{begin} They were made for this report, with the prior (how common each {noun} is) and the loss of the "
        f"file{also}. With a smaller epsilon a report reveals less, and the least loss is at least as high.",
        "Time was limited, so there are two numbers for each epsilon: the most that the design loses, and what no "
        f"design with this epsilon goes below, {kind}. The least loss is between them.",
    ]
    if any(design.loss.known is Evidence.STATED for design in facts.frontier):
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
        measure = f"reports that name another {_noun(facts.subject)}" if share else "loss"
        mean = "" if share else " on average"
        if facts.frontier[0].objective == "worst-case":
            mean = f" for the worst {secret_nouns(facts.subject)[0]}"
        headings = ("epsilon", f"{measure}{mean}, at most", "what no such design goes below")
    rows = []
    for design in facts.frontier:
        loss = design.loss
        at = f"at most {at_most(design.epsilon.value)}" if design.this else about(design.epsilon.value)
        row = [f"{at}{plain(design.epsilon.unit)}{' (this design)' if design.this else ''}"]
        row.append(percent_at_most(loss.high) if share else most_amount(loss.high, loss.unit))
        if bounded and loss.lower is None:
            row.append("not known")
        elif bounded and loss.lower is not None:
            row.append(percent_at_least(loss.lower) if share else least_amount(loss.lower, loss.unit))
        rows.append(tuple(row))
    return caption, headings, tuple(rows)


def _too_cheap(facts: ReportFacts) -> bool:
    """Return whether a design has a loss below the proved bound, with no larger epsilon."""
    best, base = facts.cost.best, next((row for row in facts.frontier if row.this), None)
    if best is None or base is None or facts.cost.objective != "expected":
        return False
    least = best.value / 1000 if (best.unit, base.loss.unit) == ("m", "km") else best.value
    return any(row.epsilon.value <= base.epsilon.value and row.loss.value < least for row in facts.frontier)


def level_words(epsilon: float | None, unit: str, outcome: str, best: str) -> str:
    """Return the proved epsilon of the level that reaches an outcome; None for no level, with the best outcome."""
    if epsilon is None:
        return f"No level reaches {outcome} (best: {best})."
    return f"The level with epsilon at most {at_most(epsilon, 3)}{per_unit(unit)} reaches {outcome}."
