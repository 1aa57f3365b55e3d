"""A ledger of budgets: what each user has spent, and a refusal of what would exceed the limit."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ...core import units
from ...core.arguments import checked
from ...errors import FileError, InfeasibleError, InputError
from .stores import Account, Accounts, locked, read_accounts, write_accounts


class BudgetError(InfeasibleError):
    """A report that would spend more than a user's budget; nothing was charged.

    Attributes:
        user: Whose budget.
        asked: What the report would have spent.
        left: What is left.
    """

    def __init__(self, problem: str, hint: str, *, user: str, asked: Fraction, left: Fraction) -> None:
        super().__init__(problem, hint)
        self.user = user
        self.asked = asked
        self.left = left


@dataclass(frozen=True, slots=True)
class Balance:
    """One user's balance: what is spent, and what is left. Amounts are exact.

    Attributes:
        spent: The sum of what was charged.
        left: The limit minus what was spent.
        reports: How many charges there were.
    """

    spent: Fraction
    left: Fraction
    reports: int


@dataclass(frozen=True, slots=True, repr=False)
class Ledger:
    """The sums that users have spent of a common limit, in a JSON file that survives crashes.

    Reports about one secret with fresh noise add up: their epsilons, per unit of one
    metric, sum to what all of them together guarantee. The ledger adds exactly (a float
    is the decimal it prints as) and refuses the charge that would exceed the limit. Charge
    before drawing: after a crash in between, budget is lost, not privacy.

    The file is replaced as a whole and holds users' names and sums, no secrets. While one
    process charges, others wait.

    Args:
        path: The JSON file; made at the first charge.
        limit: What each user may spend in all: a number, or text such as ``"2/km"``.
        unit: The unit of the metric; empty for a pure number.

    Attributes:
        path: The file.
        limit: The limit, exactly.
        unit: The unit.

    Raises:
        InputError: If the limit is not positive, or the file was made for another one.
        FileError: If the file is there but is not a ledger.

    Example:
        >>> import tempfile
        >>> from sfumato.releases.budget import Ledger
        >>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.json", "0.3/km", unit="km")
        >>> for report in range(3):
        ...     balance = ledger.charge("ada", "0.1/km")
        >>> balance.left, ledger.balance("bob").left
        (Fraction(0, 1), Fraction(3, 10))
        >>> ledger.charge("ada", 0.1)
        Traceback (most recent call last):
        ...
        sfumato.releases.budget.ledger.BudgetError: 'ada' has spent 0.3/km of 0.3/km in 3 reports; ...
    """

    path: Path
    limit: Fraction
    unit: str

    @checked
    def __init__(self, path: str | os.PathLike[str], limit: float | str, *, unit: str = "") -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "unit", units.canonical(unit))
        object.__setattr__(self, "limit", _amount(limit, self.unit, "the limit"))
        self._accounts()

    @checked
    def charge(self, user: str, epsilon: float | str) -> Balance:
        """Spend some of a user's budget, or refuse.

        Args:
            user: Whose budget.
            epsilon: What the report spends, per unit of the metric.

        Returns:
            The balance after the charge, which is on disk by then.

        Raises:
            BudgetError: If less than that is left; then nothing is charged.
            FileError: If the file cannot be written.
        """
        name = _named(user)
        asked = _amount(epsilon, self.unit, "epsilon")
        with locked(self.path):
            accounts = self._accounts()
            before = accounts.get(name, Account(Fraction(0), 0))
            after = Account(before.spent + asked, before.reports + 1)
            if after.spent > self.limit:
                left = self.limit - before.spent
                raise BudgetError(
                    f"{user!r} has spent {self._shown(before.spent)} of {self._shown(self.limit)} in "
                    f"{before.reports} reports; {self._shown(left)} is left, but {self._shown(asked)} is needed.",
                    "repeat an earlier report, which spends nothing; or report with a smaller epsilon."
                    if left
                    else "repeat an earlier report, which spends nothing, or stop reporting.",
                    user=user,
                    asked=asked,
                    left=left,
                )
            write_accounts(self.path, {**accounts, name: after}, self.limit, self.unit)
        return self._balance(after)

    def balance(self, user: str) -> Balance:
        """Return what a user has spent and has left; a user who was never charged has the whole limit."""
        return self._balance(self._accounts().get(_named(user), Account(Fraction(0), 0)))

    @property
    def users(self) -> tuple[str, ...]:
        """The users who were ever charged, in alphabetical order."""
        return tuple(sorted(self._accounts()))

    def _accounts(self) -> Accounts:
        found = read_accounts(self.path)
        if found is None:
            return {}
        accounts, limit, unit = found
        if (limit, unit) != (self.limit, self.unit):
            raise InputError(
                f"{str(self.path)!r} was made for a limit of {_written(limit, unit)}, "
                f"not {self._shown(self.limit)}.",
                "open it with its own limit and unit; a new limit needs a new ledger.",
            )
        over = next((name for name, account in accounts.items() if account.spent > limit), None)
        if over is not None:
            raise FileError(
                f"in {str(self.path)!r} {over!r} has spent more than the limit.",
                "the file was changed: restore it.",
            )
        return accounts

    def _balance(self, account: Account) -> Balance:
        return Balance(account.spent, self.limit - account.spent, account.reports)

    def _shown(self, value: Fraction) -> str:
        return _written(value, self.unit)

    def __repr__(self) -> str:
        return (
            f"Ledger of {self._shown(self.limit)} per user, {len(self.users)} users so far, in {str(self.path)!r}"
        )


def _named(user: str) -> str:
    if not user:
        raise InputError("the name of the user is empty.", "pass a text that is not empty.")
    return user


def _amount(given: float | str, unit: str, what: str) -> Fraction:
    """Return an epsilon as the decimal that it is written as.

    A float stands for the shortest decimal that it prints as: 0.1 is 1/10, not the binary
    fraction next to it. Sums of amounts are exact.

    Args:
        given: A positive number, or text such as ``"0.1/km"``.
        unit: The unit of the metric; empty for a pure number.
        what: What it is, for the error message.

    Raises:
        InputError: If it is not positive.
        UnitError: If the unit does not fit.
    """
    value = units.parse(given, per=True, unit=unit, what=what)
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{what} must be a positive number, but {given!r} was given.", "use a number above 0.")
    return Fraction(repr(value))


def _written(value: Fraction, unit: str) -> str:
    """Return an amount as text for people: ``0.3/km``."""
    return f"{float(value):.12g}{'/' + unit if unit else ''}"
