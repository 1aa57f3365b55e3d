"""Facts about the budgets of a ledger: spending per day, users near their limit, and refusals."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from ..core.immutable import CompactRepr
from ..rounding import counted
from .accounts import DAY, WEEK, ZERO, Terms, added, restored, weeks_since
from .books import ACCOUNTS, CHARGES, account_of, head_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

_DAY_S: Final = 86_400
_NEAR: Final = Fraction(9, 10)
_CLASSES: Final = (
    ("up to half of the limit", Fraction(1, 2)),
    ("half to 90 % of the limit", _NEAR),
    ("near the limit, 90 % or more", Fraction(1)),
)
_NOTHING_LEFT: Final = "nothing left"
_LISTED: Final = 100


@dataclass(frozen=True, slots=True, repr=False)
class BudgetDay(CompactRepr):
    """Charges of one day in UTC, written as ``2026-11-30``, and whether limits were renewed at its start."""

    day: str
    spent: Fraction
    reports: int
    users: int
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
class BudgetFacts(CompactRepr):
    """Facts about the budgets of a ledger, now.

    Attributes:
        address: The ledger, without a password.
        unit: The unit of the amounts.
        limits: The limits of each user, as text.
        days: The days with charges, the last first.
        classes: Users by the share of their limit that is spent.
        near: The users near their limit, the nearest first, at most a hundred.
        refused: The number of users for whom a report like their last one would be refused now.
    """

    address: str
    unit: str
    limits: tuple[str, ...]
    days: tuple[BudgetDay, ...]
    classes: tuple[BudgetClass, ...]
    near: tuple[NearUser, ...]
    refused: int

    @property
    def users(self) -> int:
        """The number of users who were ever charged."""
        return sum(each.users for each in self.classes)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The facts in words."""
        near = sum(each.users for each in self.classes[2:])
        return (
            f"{counted(self.users, 'user')} with a limit of {' and '.join(self.limits)} each.",
            f"{counted(near, 'user')} {'has' if near == 1 else 'have'} spent 90 % of a limit or more.",
            self.refusals,
        )

    @property
    def refusals(self) -> str:
        """The number of users who would be refused, in words."""
        who = "1 user" if self.refused == 1 else f"{self.refused:,} users"
        return (
            f"A report like the last one would now be refused to {who}. The ledger records charges only, so past "
            "refusals are not counted."
        )


def read_budgets(
    connection: Connection, terms: Terms, now: int, address: str, *, days: int, identities: bool
) -> BudgetFacts:
    """Return the facts of the last days; without ``identities`` users have pseudonyms, which the ledger salts."""
    now = max(now, head_row(connection).time)
    since = (now // _DAY_S - days + 1) * _DAY_S
    spent: defaultdict[int, Decimal] = defaultdict(lambda: ZERO)
    reports: defaultdict[int, int] = defaultdict(int)
    names: defaultdict[int, set[str]] = defaultdict(set)
    last: dict[str, Fraction] = {}
    columns = CHARGES.c
    recent = select(columns.time, columns.name, columns.amount, columns.reports).where(columns.time >= since)
    for row in connection.execute(recent.order_by(columns.number)):
        day, amount = row.time // _DAY_S, restored(row.amount)
        spent[day], reports[day] = added(spent[day], amount), reports[day] + row.reports
        names[day].add(row.name)
        last[row.name] = Fraction(amount) / max(1, row.reports)
    windows = {limit.window for limit in terms.limits}
    users: defaultdict[str, int] = defaultdict(int)
    sums: defaultdict[str, Fraction] = defaultdict(Fraction)
    near, refused = [], 0
    for row in connection.execute(select(ACCOUNTS)):
        balance = account_of(row).balance(terms.limits, now)
        tightest = max(balance.windows, key=lambda each: each.spent / each.limit)
        share = tightest.spent / tightest.limit
        name = next((title for title, most in _CLASSES if share < most), _NOTHING_LEFT)
        users[name] += 1
        sums[name] += balance.spent
        refused += balance.left < last.get(row.name, balance.spent / max(1, balance.reports))
        if share >= _NEAR:
            who = row.name if identities else pseudonym(terms, row.name)
            near.append(NearUser(who, tightest.spent, max(balance.left, Fraction(0)), float(share)))
    near.sort(key=lambda each: (-each.share, each.user))
    titles = (*(title for title, _ in _CLASSES), _NOTHING_LEFT)
    return BudgetFacts(
        address,
        terms.unit,
        tuple(limit.shown(terms.unit) for limit in terms.limits),
        tuple(
            BudgetDay(_date(day), Fraction(spent[day]), reports[day], len(names[day]), _renews(day, windows))
            for day in sorted(spent, reverse=True)
        ),
        tuple(BudgetClass(title, users[title], sums[title]) for title in titles),
        tuple(near[:_LISTED]),
        int(refused),
    )


def pseudonym(terms: Terms, name: str) -> str:
    """Return a short name for a user that needs the ledger to be traced back."""
    text = f"{terms.salt}\x1f{name}".encode("utf-8", "surrogatepass")
    return f"user {hashlib.blake2b(text, key=terms.key, digest_size=4).hexdigest()}"


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat()


def _renews(day: int, windows: set[str]) -> bool:
    """Return whether a limit is renewed at the start of a day."""
    monday = weeks_since(day * _DAY_S) != weeks_since(day * _DAY_S - 1)
    return DAY in windows or (WEEK in windows and monday)
