"""The budgets of a ledger."""

from __future__ import annotations

from fastapi import APIRouter

from sfumato.ledgers import amount_text

from ..answers import LedgerAnswer, LedgerClassAnswer, LedgerDayAnswer, NearLimitAnswer, RefusedAnswer
from ..errors import RefusedError
from . import ERRORS, AStudio

ledger_routes = APIRouter(prefix="/api/ledger", tags=["ledger"], responses=ERRORS)


@ledger_routes.get("")
def budgets(studio: AStudio) -> LedgerAnswer:
    """Return the spending of each day, the users near their limit, and who would be refused."""
    if studio.ledger is None:
        raise RefusedError(404, "The studio was started without a ledger.", "start it with --ledger ADDRESS.")
    facts = studio.ledger.budgets()

    return LedgerAnswer(
        address=facts.address,
        limits=list(facts.limits),
        days=[
            LedgerDayAnswer(
                day=each.day,
                spent=float(each.spent),
                spent_text=amount_text(each.spent, facts.unit),
                reports=each.reports,
                users=each.users,
                refused=0,  # the ledger records charges only
                renewed=each.renewed,
            )
            for each in facts.days
        ],
        classes=[
            LedgerClassAnswer(
                name=each.name,
                users=each.users,
                spent_text=amount_text(each.spent, facts.unit),
                share=each.users / max(1, facts.users),
            )
            for each in facts.classes
        ],
        near=[
            NearLimitAnswer(
                user=each.user,
                spent_text=amount_text(each.spent, facts.unit),
                left_text=amount_text(each.left, facts.unit),
                share=each.share,
            )
            for each in facts.near
        ],
        refused=RefusedAnswer(users=facts.refused, sentence=facts.refusals),
        sentences=list(facts.sentences),
    )
