"""Notions and measures of a file, as an audit finds them."""

from __future__ import annotations

from typing import Final

from ...audits import Audit, audit
from ...escaping import plain
from ...files import MechanismFile, measured_by
from ...geo import Places
from .found import NotionFacts, RequirementFacts
from .quantity import Known, Quantity
from .required import Required

_MOST: Final = 260  # secrets, or reports, up to which an audit takes half a minute at most
_NONE: Final = (
    "The notions of the atlas were not measured, because that takes minutes for as many secrets. Run sfumato "
    "audit."
)


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
