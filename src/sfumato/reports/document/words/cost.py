"""Sentences on costs, how near they are to the least, and designs with other epsilons."""

from __future__ import annotations

from typing import Final

from ....core.naming import name_phrase, quote
from ....escaping import plain
from ....rounding import about, at_most, counted, percent_at_least, percent_at_most
from ..facts import CostFacts, FrontierFacts, Known, Quantity, ReportFacts, SubjectFacts
from ..other_designs import LeftOut
from .subject import least_amount, most_amount, nouns_of

_TABLE: Final = "make a table with sfumato sweep and name it with --sweep"
_REASONS: Final = {
    LeftOut.ASKED: "This was left out on purpose. It is made within a minute with --frontier-time 60.",
    LeftOut.NO_EPSILON: "The file promises no epsilon, so there is none to make larger or smaller.",
    LeftOut.SEVERAL: "This is not made for several promises of this kind, whose epsilons could change one by one. "
    f"To see one of them change, {_TABLE}.",
    LeftOut.NOT_PROVED: "What the file states of this mechanism is not proved, or not all of it: it has no place "
    "among designs that keep it.",
    LeftOut.NO_LOSS: "What a report costs is not known, so neither is what it would cost with another epsilon.",
    LeftOut.NO_TIME: "No other design was ready in the time that was given. Give more, such as --frontier-time "
    f"600 for ten minutes, or {_TABLE}.",
}
_IMPOSSIBLE: Final = (
    "The table states a smaller loss, with no larger epsilon, than was proved to be the least for designs of "
    "this kind. It is of other people, places or designs, or it is wrong."
)
_UNKNOWN: Final = "not known"


def cost_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return what a report costs."""
    cost, subject = facts.cost, facts.subject
    if cost.expected is None:
        if subject.kind == "noise":
            return (
                "How far reports are from the truth depends on where people truly are, which was not given. With "
                "their visits (--visits) it is said here.",
            )
        return ("The file does not hold both a prior and a loss, so what a report costs is not known.",)
    found = [_expected(cost, cost.expected, subject)] if cost.checked else _stated(cost, cost.expected, subject)
    if cost.best is not None and cost.reached is not None:
        found.append(_best(facts, cost.best, cost.reached))
        found.append(
            "The file holds the numbers that prove this, and they were checked when this report was written."
        )
    return tuple(found)


def _stated(cost: CostFacts, expected: Quantity, subject: SubjectFacts) -> list[str]:
    """Return the mean of a table of losses that the file's writer made, which says nothing of people."""
    upper = expected.value if expected.upper is None else expected.upper
    worst = ""
    if cost.worst is not None:
        one = nouns_of(subject)[0]
        worst = f", and at most {most_amount(cost.worst.value, expected.unit)} for the worst {one}"
    found = [
        f"The file states a table of losses under the name {quote(cost.name)}. By this table it is at most "
        f"{most_amount(upper, expected.unit)} on average{worst}.",
        "Nothing in the file confirms the table, so this does not tell how far reports are from the truth.",
    ]
    if subject.region:
        found.append(
            "With people's visits (--visits), this report says how far reports are from where they truly are."
        )
    return found


def _expected(cost: CostFacts, expected: Quantity, subject: SubjectFacts) -> str:
    upper = expected.value if expected.upper is None else expected.upper
    unit, name, one = expected.unit, cost.name, nouns_of(subject)[0]
    if cost.kind == "true point":
        kind = name.removesuffix(" distance of the true point")
        distance = "" if kind == "euclidean" else f" ({name_phrase(kind, 'distance')})"
        return (
            f"On average over the visits in the region, a report is at most {most_amount(upper, unit)} from where "
            f"the person truly is{distance}."
        )
    if cost.kind == "hamming":
        return f"At most {percent_at_most(upper)} of the reports name another {one} than the true one."
    worst = (
        "" if cost.worst is None else f", and at most {most_amount(cost.worst.value, unit)} for the worst {one}"
    )
    if cost.kind == "centres":
        distance = "" if name == "euclidean" else f" ({name_phrase(name, 'distance')})"
        return (
            "From the centre of the true cell to the reported place it is at most "
            f"{most_amount(upper, unit)} on average{worst}{distance}. Where in its cell somebody is does not "
            f"count."
        )
    if _by_numbers(cost, subject):
        way = ", the shorter way around the circle" if subject.circle is not None else ""
        return (
            f"A report differs from the true number by at most {most_amount(upper, unit)} on average{worst}{way}."
        )
    return f"The loss of a report ({name_phrase(name)}) is at most {most_amount(upper, unit)} on average{worst}."


def _by_numbers(cost: CostFacts, subject: SubjectFacts) -> bool:
    """Return whether the loss is how far the reported number is from the true one."""
    return cost.kind == "loss" and cost.checked and cost.name == "absolute" and subject.kind == "numbers"


def _best(facts: ReportFacts, best: Quantity, reached: Quantity) -> str:
    cost, subject, unit = facts.cost, facts.subject, best.unit
    kept = ["these promises" if len(facts.promises) > 1 else "this promise"] if facts.promises else []
    limits = f"the linear constraint{'s' if len(facts.constraints) > 1 else ''}"
    kept += [limits] if facts.constraints else []
    others = f"that keeps {' and '.join(kept)} with these reports" if kept else "with these reports"
    if subject.kind == "points":
        also = f", {limits}" if facts.constraints else ""
        others = f"of this kind (the same lattice, the same reports{also}, the same way of proof)"
    if cost.objective == "distortion":
        return (
            f"No mechanism {others} that loses as little makes the best attacker's guess be off by more than "
            f"{most_amount(best.value, unit)} on average; with this one it is off by at least "
            f"{least_amount(reached.value, unit)}."
        )
    if cost.kind == "hamming" and cost.objective == "expected":
        return (
            f"No mechanism {others} names another {nouns_of(subject)[0]} in less than "
            f"{percent_at_least(best.value)} of "
            f"its reports; this one does in at most {percent_at_most(reached.value)}."
        )
    if cost.objective == "expected" and _by_numbers(cost, subject):
        return (
            f"By the prior of the file, no mechanism {others} differs by less than "
            f"{least_amount(best.value, unit)} on average; this one differs by at most "
            f"{most_amount(reached.value, unit)}."
        )
    mean = "for the worst one" if cost.objective == "worst-case" else "on average"
    least, most = least_amount(best.value, unit), most_amount(reached.value, unit)
    return (
        f"By the prior and the loss of the file, no mechanism {others} loses less than {least} {mean}; this one "
        f"loses at most {most}."
    )


def frontier_words(facts: ReportFacts) -> tuple[str, ...]:
    """Return where the design stands among others, or why that is not said."""
    if not facts.frontier:
        return (_REASONS[LeftOut(facts.frontier_left_out)],)
    others = counted(sum(not each.this for each in facts.frontier), "other design")
    begin = f"This design is shown beside {others}."
    if facts.frontier_source != "computed":
        whence = (
            f"They are as the table {plain(facts.frontier_source)} states them. Nothing here proves them, or "
            "that they are for the same people and places."
        )
        return (f"{begin} {whence}", *((_IMPOSSIBLE,) if _too_cheap(facts) else ()))
    if facts.subject.kind == "noise":
        return (
            f"{begin} They were made for this report: noise of the same kind with other epsilons, for the same "
            "visits. With a smaller epsilon a report tells less.",
            "How little other kinds of mechanism could lose is not said here.",
        )
    kept = [each.kind for each in facts.promises].count("error")
    kept_besides = [
        *(["the promise on the attacker's error"] if kept else []),
        *([f"the linear constraint{'s' if len(facts.constraints) > 1 else ''}"] if facts.constraints else []),
    ]
    also = f", and all of them keep {' and '.join(kept_besides)}" if kept_besides else ""
    found = [
        f"{begin} They were made for this report. How common each {nouns_of(facts.subject)[0]} is (the prior) "
        f"and how the cost of a report is counted (the loss) are as in the file{also}. With a smaller epsilon a "
        "report tells less, and the least that it can cost is at least as much.",
        "There was limited time for each, so there are two numbers: what the design that was found loses at "
        f"most, and what no design with this epsilon goes below, {_of_this_kind(facts)}. The least loss is "
        "between them.",
    ]
    if any(each.loss.known is Known.STATED for each in facts.frontier):
        found.append("Losses are by the file's own table, which nothing confirms.")
    return tuple(found)


def frontier_headings(facts: ReportFacts) -> tuple[str, ...]:
    """Return the headings of the table of designs."""
    if facts.frontier_source != "computed":
        return ("epsilon", "loss, at most, as the table states it")
    if facts.subject.kind == "noise":
        return ("epsilon", "distance from the truth on average, at most")
    return ("epsilon", f"{_what(facts)}, at most", "what no such design goes below")


def frontier_rows(facts: ReportFacts) -> tuple[tuple[str, ...], ...]:
    """Return the design and the others, by epsilon."""
    share = facts.cost.kind == "hamming"
    bounded = facts.frontier_source == "computed" and facts.subject.kind != "noise"
    rows: list[tuple[str, ...]] = []
    for each in facts.frontier:
        upper = each.loss.value if each.loss.upper is None else each.loss.upper
        at = f"at most {at_most(each.epsilon.value)}" if each.this else about(each.epsilon.value)
        name = f"{at}{plain(each.epsilon.unit)}{' (this design)' if each.this else ''}"
        most = percent_at_most(upper) if share else most_amount(upper, each.loss.unit)
        rows.append((name, most, _least(each.loss, share=share)) if bounded else (name, most))
    return tuple(rows)


def frontier_caption(facts: ReportFacts) -> str:
    """Return what the table shows."""
    computed = facts.frontier_source == "computed"
    return "Designs by their epsilon." if computed else "Other designs as a table states them, and this one."


def _least(loss: Quantity, *, share: bool) -> str:
    if loss.lower is None:
        return _UNKNOWN
    return percent_at_least(loss.lower) if share else least_amount(loss.lower, loss.unit)


def _of_this_kind(facts: ReportFacts) -> str:
    if facts.subject.kind == "points":
        return "if it is of this kind (the same lattice, the same reports, the same way of proof)"
    return "if it makes the same reports"


def _what(facts: ReportFacts) -> str:
    """Return what is counted."""
    one = nouns_of(facts.subject)[0]
    at_worst, share = facts.frontier[0].objective == "worst-case", facts.cost.kind == "hamming"
    what = f"reports that name another {one}" if share else "loss"
    return what if share and not at_worst else f"{what} {f'for the worst {one}' if at_worst else 'on average'}"


def _too_cheap(facts: ReportFacts) -> bool:
    """Return whether a design loses less than the least that is proved, with no larger epsilon."""
    best, this = facts.cost.best, _this(facts)
    if best is None or this is None or facts.cost.objective != "expected":
        return False
    least = best.value / 1000 if (best.unit, this.loss.unit) == ("m", "km") else best.value
    return any(each.epsilon.value <= this.epsilon.value and each.loss.value < least for each in facts.frontier)


def _this(facts: ReportFacts) -> FrontierFacts | None:
    return next((each for each in facts.frontier if each.this), None)
