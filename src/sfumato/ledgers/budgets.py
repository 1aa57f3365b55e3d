"""Facts about the budgets of a ledger: spending and refused requests per day, and users near their limit."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ..core.immutable import CompactRepr
from .accounts import DAY, DAY_S, WEEK, ZERO, Terms, add, decode, weeks_since

if TYPE_CHECKING:
    from sqlalchemy import Connection

_NEAR: Final = Fraction(9, 10)
_CLASSES: Final = (
    ("up to half of the limit", Fraction(1, 2)),
    ("half to 90 % of the limit", _NEAR),
    ("near the limit, 90 % or more", Fraction(1)),
    ("nothing left", math.inf),
)
_LISTED: Final = 100


@dataclass(frozen=True, slots=True, repr=False)
class BudgetDay(CompactRepr):
    """Charges and refused requests of one day in UTC, and whether limits were renewed at its start.

    The day is written as ``2026-11-30``. The record of the ledger proves the charges, not the refused requests.
    """

    day: str
    spent: Fraction
    reports: int
    users: int
    refused: int
    renewed: bool


@dataclass(frozen=True, slots=True, repr=False)
class BudgetClass(CompactRepr):
    """Users who have spent about the same share of their tightest limit, and what they have spent in all."""

    name: str
    users: int
    spent: Fraction


@dataclass(frozen=True, slots=True, repr=False)
class NearUser(CompactRepr):
    """A user near the limit: name or pseudonym, what is spent in the tightest window and left, and the share."""

    user: str
    spent: Fraction
    left: Fraction
    share: float


@dataclass(frozen=True, slots=True, repr=False)
class LedgerBudgets(CompactRepr):
    """Facts about the budgets of a ledger, now.

    Attributes:
        address: The ledger, without a password.
        limits: The limits of each user, as text.
        days: The days with charges or refused requests, the last first.
        classes: Users by the share of their limit that is spent.
        near: The users near their limit, the nearest first, at most a hundred.
        exhausted: The number of users for whom a report like their last one would be refused now.
    """

    address: str
    unit: str
    limits: tuple[str, ...]
    days: tuple[BudgetDay, ...]
    classes: tuple[BudgetClass, ...]
    near: tuple[NearUser, ...]
    exhausted: int

    @property
    def users(self) -> int:
        """The number of users who were ever charged."""
        return sum(group.users for group in self.classes)


def read_budgets(
    connection: Connection, terms: Terms, now: int, address: str, *, days: int, identities: bool
) -> LedgerBudgets:
    """Return the facts of the last days; without ``identities`` users have pseudonyms, which the ledger salts."""
    from sqlalchemy import select  # of an extra

    from .books import ACCOUNTS, CHARGES, REFUSALS, account_of, head_row

    now = max(now, head_row(connection).time)
    since = (now // DAY_S - days + 1) * DAY_S
    amounts: defaultdict[int, Decimal] = defaultdict(lambda: ZERO)
    reports: defaultdict[int, int] = defaultdict(int)
    names: defaultdict[int, set[str]] = defaultdict(set)
    last: dict[str, Fraction] = {}
    columns = CHARGES.c
    recent = select(columns.time, columns.name, columns.amount, columns.reports).where(columns.time >= since)
    for row in connection.execute(recent.order_by(columns.number)):
        day, amount = row.time // DAY_S, decode(row.amount)
        amounts[day], reports[day] = add(amounts[day], amount), reports[day] + row.reports
        names[day].add(row.name)
        last[row.name] = Fraction(amount) / max(1, row.reports)
    counts = connection.execute(select(REFUSALS).where(REFUSALS.c.day >= since // DAY_S))
    refusals = {row.day: row.requests for row in counts}
    windows = {limit.window for limit in terms.limits}
    users: defaultdict[str, int] = defaultdict(int)
    sums: defaultdict[str, Fraction] = defaultdict(Fraction)
    near, exhausted = [], 0
    for row in connection.execute(select(ACCOUNTS)):
        balance = account_of(row).balance(terms.limits, now)
        tightest = max(balance.windows, key=lambda window: window.spent / window.limit)
        share = tightest.spent / tightest.limit
        name = next(title for title, most in _CLASSES if share < most)
        users[name] += 1
        sums[name] += balance.spent
        exhausted += balance.left < last.get(row.name, balance.spent / max(1, balance.reports))
        if share >= _NEAR:
            user = row.name if identities else pseudonym(terms, row.name)
            near.append(NearUser(user, tightest.spent, max(balance.left, Fraction(0)), float(share)))
    near.sort(key=lambda entry: (-entry.share, entry.user))
    return LedgerBudgets(
        address,
        terms.unit,
        tuple(limit.text(terms.unit) for limit in terms.limits),
        tuple(
            BudgetDay(
                datetime.fromtimestamp(day * DAY_S, UTC).date().isoformat(),
                Fraction(amounts[day]),
                reports[day],
                len(names[day]),
                refusals.get(day, 0),
                DAY in windows or (WEEK in windows and weeks_since(day * DAY_S) != weeks_since(day * DAY_S - 1)),
            )
            for day in sorted({*amounts, *refusals}, reverse=True)
        ),
        tuple(BudgetClass(title, users[title], sums[title]) for title, _ in _CLASSES),
        tuple(near[:_LISTED]),
        int(exhausted),
    )


def pseudonym(terms: Terms, name: str) -> str:
    """Return a short name for a user that needs the ledger to be traced back."""
    text = f"{terms.salt}\x1f{name}".encode("utf-8", "surrogatepass")
    return f"user {hashlib.blake2b(text, key=terms.key, digest_size=4).hexdigest()}"
