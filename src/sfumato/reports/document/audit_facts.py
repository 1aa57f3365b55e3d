"""Notions and measures of a file from an audit, and the requirements on them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from ...audits import Audit, Requirement, audit
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...escaping import plain
from ...files import MechanismFile, measured_by
from ...geo import Places
from .facts import Known, NotionFacts, Quantity, RequirementFacts
from .risk import RiskLine

_MOST: Final = 260  # secrets, or reports, up to which an audit takes half a minute at most
_NONE: Final = (
    "The notions of the atlas were not measured, because that takes minutes for as many secrets. Run sfumato "
    "audit."
)
_NEAR: Final = re.compile(r"\s*within\b", re.IGNORECASE)
_COMPARED: Final = re.compile(r"[<>=≤≥]")


def measured(
    held: MechanismFile, required: Required
) -> tuple[tuple[NotionFacts, ...], tuple[str, ...], tuple[RequirementFacts, ...]]:
    """Return what an audit finds, what it says beside that, and whether it keeps what is required.

    A large mechanism is audited only where something is required of what is found.

    Raises:
        InputError: If something is required that this file has not.
    """
    also = [each.request for each in required.measured]
    if not held.has_matrix:
        found = audit(held.mechanism, prior=held.prior, also=also)
    elif max(held.report_channel.shape) > _MOST and not also:
        return (), (_NONE,), ()
    else:
        mechanism, space = held.report_channel, held.report_channel.secrets
        by = measured_by(mechanism, held.guarantees)
        metric = by.metric
        if metric is None and isinstance(space, Places):
            metric = space.metric("euclidean", unit="km")
        found = audit(mechanism, prior=held.prior, metric=metric, also=also)
        notes = (*found.notes, *([by.note] if by.note else ()))
        return notions_of(found), tuple(map(plain, notes)), required.held_against(found, stated=by.stated)
    return notions_of(found), tuple(map(plain, found.notes)), required.held_against(found)


def notions_of(found: Audit) -> tuple[NotionFacts, ...]:
    """Return what an audit found as facts."""
    facts = []
    for each in found:
        low, high = each.bracket.lower, each.bracket.upper
        seen = not each.proved and (each.failure > 0 or each.side.value == "estimate")
        unit = (f"/{each.unit}" if each.per else each.unit) if each.unit else ""
        number = Quantity(
            None if seen and low == -float("inf") else low,
            each.value,
            None if seen and high == float("inf") else high,
            plain(unit),
            Known.ESTIMATED if seen else Known.PROVED,
            1 - each.failure if each.failure else None,
        )
        facts.append(
            NotionFacts(
                each.key,
                plain(each.title),
                each.parameter,
                number,
                each.standing,
                plain(each.amount()),
                plain(each.sentence),
                plain(each.witness),
                plain(each.source),
            )
        )
    return tuple(facts)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Required(CompactRepr):
    """Requirements of both kinds.

    Attributes:
        risks: Those on how often an attacker is near.
        measured: Those on what an audit finds.
    """

    risks: tuple[RiskLine, ...] = ()
    measured: tuple[Requirement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.risks or self.measured)

    def held_against(self, found: Audit, *, stated: bool = False) -> tuple[RequirementFacts, ...]:
        """Return whether what an audit found keeps what is required of it.

        Raises:
            InputError: If the audit has no such entry, or a unit does not fit.
        """
        verdicts = [each.hold_against(found, stated=stated) for each in self.measured]
        return tuple(
            RequirementFacts(plain(each.requirement.text), each.outcome, plain(each.reason)) for each in verdicts
        )


def read_requirements(texts: Iterable[str]) -> Required:
    """Read requirements such as ``within 1850 ft: at most 50 %`` or ``epsilon <= 0.7/km``.

    Raises:
        InputError: If one has neither form.
    """
    risks, measured = [], []
    for text in texts:
        if _NEAR.match(text):
            risks.append(RiskLine.parse(text))
        elif _COMPARED.search(text):
            measured.append(Requirement.parse(text))
        else:
            raise InputError(
                f"{plain(text)!r} is not a valid requirement.",
                "write it as 'within 1850 ft: at most 50 %' for a risk.",
                "write it as 'epsilon <= 0.7/km' for what an audit finds.",
            )
    return Required(tuple(risks), tuple(measured))
