"""The account of one user: what was spent in all, today and this week, and a refusal of what would be too much."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..core.immutable import CompactRepr
from ..errors import InfeasibleError, row_value
from ..rounding import counted
from .amounts import ZERO, added, less, shown
from .limits import DAY, EVER, WEEK, WINDOWS, Limit, days_since, weeks_since

_WHEN = {DAY: " today (UTC)", WEEK: " this week (since Monday, UTC)", EVER: ""}
_LATER = {DAY: "wait until tomorrow (UTC)", WEEK: "wait until Monday", EVER: ""}


class BudgetError(InfeasibleError):
    """A report that would spend more than a user's budget; nothing was charged.

    Attributes:
        user: Whose budget.
        asked: What the report would have spent.
        left: What may be spent now: the least that any limit leaves.
    """

    def __init__(self, problem: str, *hints: str, user: str, asked: Fraction, left: Fraction) -> None:
        super().__init__(problem, *hints)
        self.user = user
        self.asked = asked
        self.left = left


@dataclass(frozen=True, slots=True)
class WindowBalance:
    """The balance of one limit.

    Attributes:
        window: The time: ``day``, ``week`` or ``ever``.
        spent: What is spent in it.
        limit: What may be spent in it.
    """

    window: str
    spent: Fraction
    limit: Fraction


@dataclass(frozen=True, slots=True, repr=False)
class Balance(CompactRepr):
    """One user's balance: what is spent, and what is left. Amounts are exact.

    Attributes:
        spent: The sum of all that was ever charged.
        left: What may be spent now: the least that any limit leaves.
        reports: How many reports were charged, ever.
        windows: The balance of each limit.
    """

    spent: Fraction
    left: Fraction
    reports: int
    windows: tuple[WindowBalance, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """The sums of one user.

    Attributes:
        spent: The sum of all that was ever charged.
        reports: How many reports were charged.
        day: The number of the last day with a charge.
        day_spent: What was charged on that day.
        week: The number of the last week with a charge.
        week_spent: What was charged in that week.
    """

    spent: Decimal = ZERO
    reports: int = 0
    day: int = 0
    day_spent: Decimal = ZERO
    week: int = 0
    week_spent: Decimal = ZERO

    def spent_within(self, window: str, time_s: int) -> Decimal:
        """Return what was charged in the window that a time falls into."""
        if window == EVER:
            return self.spent
        if window == DAY:
            return self.day_spent if self.day == days_since(time_s) else ZERO
        return self.week_spent if self.week == weeks_since(time_s) else ZERO

    def charged(self, asked: Decimal, reports: int, time_s: int) -> Account:
        """Return the account after a charge, whatever the limits."""
        return Account(
            added(self.spent, asked),
            self.reports + reports,
            days_since(time_s),
            added(self.spent_within(DAY, time_s), asked),
            weeks_since(time_s),
            added(self.spent_within(WEEK, time_s), asked),
        )

    def balance(self, limits: tuple[Limit, ...], time_s: int) -> Balance:
        """Return the balance at a time."""
        windows = tuple(
            WindowBalance(limit.window, Fraction(self.spent_within(limit.window, time_s)), Fraction(limit.amount))
            for limit in limits
        )
        left = min(each.limit - each.spent for each in windows)
        return Balance(Fraction(self.spent), left, self.reports, windows)

    def check(self, user: str, asked: Decimal, limits: tuple[Limit, ...], unit: str, time_s: int) -> None:
        """Refuse a charge that a limit does not allow.

        Raises:
            BudgetError: If less is left than is asked for.
        """
        over = [each for each in limits if asked > less(each.amount, self.spent_within(each.window, time_s))]
        if not over:
            return
        never = [each for each in over if asked > each.amount]
        limit = max(never or over, key=lambda each: WINDOWS.index(each.window))  # the one that bars it longest
        spent = self.spent_within(limit.window, time_s)
        own = max(less(limit.amount, spent), ZERO)
        left = max(min(less(each.amount, self.spent_within(each.window, time_s)) for each in limits), ZERO)
        count = f" in {counted(self.reports, 'report')}" if limit.window == EVER else ""
        whose = "is left" if own == left else "of it is left"
        problem = (
            f"{row_value(repr(user), 'a user')} has spent {shown(spent, unit)} of {shown(limit.amount, unit)}"
            f"{_WHEN[limit.window]}{count}; "
            f"{shown(own, unit)} {whose}, but {shown(asked, unit)} is needed."
        )
        if never:
            problem += f" So much is never left: {limit.shown(unit)} is the limit."
            ways = ["ask for fewer reports of one person at a time", "report with a smaller epsilon."]
        else:
            ways = [_LATER[limit.window], "report with a smaller epsilon." if left > 0 else "stop reporting."]
        raise BudgetError(
            problem,
            "repeat an earlier report, which spends nothing",
            *ways,
            user=user,
            asked=Fraction(asked),
            left=Fraction(left),
        )
