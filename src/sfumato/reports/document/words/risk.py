"""Sentences on how often an attacker is near: the line that laws ask for."""

from __future__ import annotations

from typing import Final

from ....audits import Outcome
from ....escaping import plain
from ..facts import SubjectFacts
from ..found import RequirementFacts, RiskFacts
from ..quantity import Quantity
from .amounts import least_amount, least_share, often
from .subject import nouns_of

_SAME: Final = 1e-9  # relative: bounds that only rounding parts
_WHY: Final = {
    "visits": "It is not known how often {}, because no visits were given (--visits)",
    "table": "It is not worked out how often {}, for noise whose reports are not moved to the places of a table",
    "size": "It is not worked out how often {}, for as many different places",
    "prior": "It is not known how often {}, because the file holds no prior",
}


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
        said = f"{said}; some way of guessing reaches {least_share(risk.chance.lower)}"
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
