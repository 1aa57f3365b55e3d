"""Sentences on what reports cost, and how near that is to the least."""

from __future__ import annotations

from ....core.naming import name_phrase, quote
from ..facts import CostFacts, ReportFacts, SubjectFacts
from ..quantity import Quantity
from .amounts import least_amount, least_share, most_amount, most_share
from .subject import nouns_of


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
        return f"At most {most_share(upper)} of the reports name another {one} than the true one."
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
            f"{least_share(best.value)} of "
            f"its reports; this one does in at most {most_share(reached.value)}."
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
