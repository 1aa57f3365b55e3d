"""A ledger of budgets: what each user has spent, and a refusal of what would exceed the limit."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ...core import units
from ...core.arguments import checked
from ...errors import FileError, InfeasibleError, InputError
from .places import PlaceReports, Report
from .stores import Account, Books, locked, read_books, write_books


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

    The file is replaced as a whole and holds users' names and sums. While one process charges,
    others wait. Of places that are remembered it holds the report, and a salted hash of user and
    place: anyone who has the ledger can test whether a user has reported from a place that they
    name. Keep it where the true data are.

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
        self._books()

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
        asked = _amount(epsilon, self.unit, "epsilon")
        with locked(self.path):
            books = self._books()
            accounts = self._charged(books.accounts, Counter({_named(user): 1}), asked)
            write_books(self.path, Books(accounts, books.places), self.limit, self.unit)
        return self._balance(accounts[user])

    def reports(
        self,
        users: Sequence[str],
        places: Sequence[str | None],
        epsilon: float | str,
        draw: Callable[[list[int]], Sequence[Report]],
        mechanism: bytes,
    ) -> list[Report]:
        """Return one report for each visit; those of a user's place are all the same one, charged and drawn once.

        The first visit to a place, ever or among these, is its anchor: the report is drawn for it, and kept.
        A visit without a place is charged and drawn anew. All is charged, drawn and kept, or nothing.

        Args:
            users: Whose visit it is.
            places: The place of each visit, by any name of the user's own; None or empty for none.
            epsilon: What one report spends, per unit of the metric.
            draw: From the numbers of visits to reports: positions of observables, or latitudes and
                longitudes in pairs.
            mechanism: A hash of the mechanism that draws; under another one a place is reported anew.

        Raises:
            BudgetError: If a user has too little left; then nobody is charged.
            FileError: If the file cannot be read or written; then no report was given out.
        """
        asked = _amount(epsilon, self.unit, "epsilon")
        names = [_named(user) for user in users]
        with locked(self.path):
            books = self._books()
            keys = [
                books.places.key(user, place, mechanism) if place else None
                for user, place in zip(names, places, strict=True)
            ]
            known = dict(books.places.reports)
            anchors = {key: number for number, key in reversed(list(enumerate(keys))) if key and key not in known}
            fresh = sorted([*anchors.values(), *(number for number, key in enumerate(keys) if not key)])
            accounts = self._charged(books.accounts, Counter(names[number] for number in fresh), asked)
            drawn = dict(zip(fresh, draw(fresh), strict=True))
            known |= {key: drawn[number] for key, number in anchors.items()}
            if fresh:
                kept = books.places.joined({key: known[key] for key in anchors})
                write_books(self.path, Books(accounts, kept), self.limit, self.unit)
        return [known[key] if key else drawn[number] for number, key in enumerate(keys)]

    def _charged(
        self, accounts: Mapping[str, Account], counts: Counter[str], each: Fraction
    ) -> dict[str, Account]:
        """Return the accounts after so many reports of each user."""
        after = dict(accounts)
        for user, count in counts.items():
            before = accounts.get(user, Account(Fraction(0), 0))
            asked, left = count * each, self.limit - before.spent
            if asked > left:
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
            after[user] = Account(before.spent + asked, before.reports + count)
        return after

    def balance(self, user: str) -> Balance:
        """Return what a user has spent and has left; a user who was never charged has the whole limit."""
        return self._balance(self._books().accounts.get(_named(user), Account(Fraction(0), 0)))

    @property
    def users(self) -> tuple[str, ...]:
        """The users who were ever charged, in alphabetical order."""
        return tuple(sorted(self._books().accounts))

    def _books(self) -> Books:
        found = read_books(self.path)
        if found is None:
            return Books({}, PlaceReports())
        books, limit, unit = found
        if (limit, unit) != (self.limit, self.unit):
            raise InputError(
                f"{str(self.path)!r} was made for a limit of {_written(limit, unit)}, "
                f"not {self._shown(self.limit)}.",
                "open it with its own limit and unit; a new limit needs a new ledger.",
            )
        over = next((name for name, account in books.accounts.items() if account.spent > limit), None)
        if over is not None:
            raise FileError(
                f"in {str(self.path)!r} {over!r} has spent more than the limit.",
                "the file was changed: restore it.",
            )
        return books

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
    try:
        user.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name of the user {user!r} is not a valid text ({error.reason}).", "correct it."
        ) from None
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
