"""The budgets of a ledger."""

from __future__ import annotations

from fastapi import APIRouter

from sfumato.ledgers import amount_text
from sfumato.reports.sentences import spending_words

from ..answers import LedgerAnswer, LedgerClassAnswer, LedgerDayAnswer, NearLimitAnswer
from ..errors import RefusedError
from . import ERRORS, AStudio

ledger_routes = APIRouter(prefix="/api/ledger", tags=["ledger"], responses=ERRORS)


@ledger_routes.get("")
def budgets(studio: AStudio) -> LedgerAnswer:
    """Return the spending of each day, the users near their limit, and who would be refused."""
    if studio.ledger is None:
        raise RefusedError(404, "The studio was started without a ledger.", "start it with --ledger ADDRESS.")
    facts = studio.ledger.budgets()
    days, classes, near = [], [], []
    for day in facts.days:
        spent, text = float(day.spent), amount_text(day.spent, facts.unit)
        counts = {"reports": day.reports, "users": day.users, "refused": day.refused}
        days.append(LedgerDayAnswer(day=day.day, spent=spent, spent_text=text, renewed=day.renewed, **counts))
    for each in facts.classes:
        text, share = amount_text(each.spent, facts.unit), each.users / max(1, facts.users)
        classes.append(LedgerClassAnswer(name=each.name, users=each.users, spent_text=text, share=share))
    for user in facts.near:
        text, left = (amount_text(value, facts.unit) for value in (user.spent, user.left))
        near.append(NearLimitAnswer(user=user.user, spent_text=text, left_text=left, share=user.share))
    return LedgerAnswer(
        address=facts.address,
        limits=list(facts.limits),
        days=days,
        classes=classes,
        near=near,
        exhausted=facts.exhausted,
        sentences=list(spending_words(facts)),
    )
