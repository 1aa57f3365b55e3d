"""The page of a ledger's budgets."""

from __future__ import annotations

from typing import Final

from ...errors import MissingExtraError
from ...ledgers import LedgerBudgets, amount_text
from ...rounding import percent
from ..sentences import spending_words
from ..theme import LIGHT, as_svg, blank
from .page import Page, PageFigure, PageSection, PageTable

_CAPTION: Final = "Spending of all users per day (UTC)."
_SIZE: Final = (7.2, 2.4)  # inches
_DATES: Final = 8  # labels below the bars


def budget_page(facts: LedgerBudgets) -> Page:
    """Return the page of a ledger's budgets: days, classes of users, and those near their limit."""
    days = tuple(
        (
            each.day,
            amount_text(each.spent, facts.unit),
            f"{each.reports:,}",
            f"{each.users:,}",
            f"{each.refused:,}",
            "renewed" if each.renewed else "",
        )
        for each in facts.days
    )
    classes = tuple(
        (
            each.name,
            f"{each.users:,}",
            percent(each.users / facts.users if facts.users else 0.0),
            amount_text(each.spent, facts.unit),
        )
        for each in facts.classes
    )
    near = tuple(
        (each.user, percent(each.share), amount_text(each.spent, facts.unit), amount_text(each.left, facts.unit))
        for each in facts.near
    )
    limits = "Limits are renewed at the start of the day, in UTC."
    return Page(
        "Privacy budgets",
        (f"Ledger: {facts.address}", *spending_words(facts)),
        (
            *(PageSection("Spending", figures=(each,)) for each in _figures(facts)),
            PageSection(
                "Days",
                tables=(PageTable(limits, ("day", "spent", "reports", "users", "refused", "limits"), days),),
            ),
            PageSection(
                "Users by spending",
                tables=(
                    PageTable("Shares of the tightest limit.", ("spent", "users", "share", "in all"), classes),
                ),
            ),
            PageSection(
                "Near the limit",
                () if near else ("No user has spent 90 % of a limit.",),
                tables=(PageTable("The nearest first.", ("user", "of the limit", "spent", "left"), near),)
                if near
                else (),
            ),
        ),
    )


def _figures(facts: LedgerBudgets) -> tuple[PageFigure, ...]:
    """Return bars of the spending per day, if matplotlib is installed."""
    days = facts.days[::-1]
    if len(days) < 2:
        return ()
    try:
        figure = blank(*_SIZE)
        axes = figure.subplots()
        axes.bar(range(len(days)), [float(each.spent) for each in days], color=LIGHT.series[0])
        step = -(-len(days) // _DATES)
        shown = range(0, len(days), step)
        axes.set_xticks(shown, [days[each].day[5:] for each in shown])
        axes.set_ylabel(f"spent (per {facts.unit})" if facts.unit else "spent")
        return (PageFigure(as_svg(figure, title="Spending per day", description=_CAPTION), _CAPTION),)
    except MissingExtraError:
        return ()
