"""Route of the budgets of a ledger."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from sfumato.ledgers import amount_text
from sfumato.reports.sentences import spending_words

from ..answers import LedgerAnswer
from ..errors import RefusedError
from . import ERRORS, AStudio

ledger_routes = APIRouter(prefix="/api/ledger", tags=["ledger"], responses=ERRORS)


@ledger_routes.get("")
def budgets(studio: AStudio) -> LedgerAnswer:
    """Return the spending of each day, the users near their limit, and who would be refused."""
    if studio.ledger is None:
        raise RefusedError(404, "The studio was started without a ledger.", "start it with --ledger ADDRESS.")
    facts = studio.ledger.budgets()
    content = asdict(facts) | {"sentences": list(spending_words(facts))}
    for each in (*content["days"], *content["classes"], *content["near"]):
        texts = {f"{name}_text": amount_text(each[name], facts.unit) for name in ("spent", "left") if name in each}
        each.update(texts, spent=float(each["spent"]))
    for each in content["classes"]:
        each["share"] = each["users"] / max(1, facts.users)
    return LedgerAnswer.model_validate(content)
