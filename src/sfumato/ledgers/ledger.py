"""A ledger of budgets: what each user has spent, and a refusal of what would exceed a limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ..core.arguments import checked
from ..core.arrays import integer
from ..errors import FileError, InputError, MissingExtraError
from ..rounding import counted
from .accounts import Balance, read_limits
from .amounts import amount
from .charges import Charge, contents_of, read_charges, rule_sentence
from .names import accepted
from .record import Head, LedgerCheck, Report
from .visits import Draw, NamedVisits, PlaceKeys

if TYPE_CHECKING:
    from .books import Books

_SHOWN: Final = 60  # characters of an address


class Ledger:
    """The sums that users have spent of common limits, in a database that survives crashes.

    Reports about one secret with fresh noise add up: their epsilons, per unit of a metric, sum to what all of
    them together guarantee (where they were promised for different metrics, per unit of the largest distance of
    these). The ledger adds exactly (a float is the decimal that it prints as) and refuses the charge that would
    exceed a limit. Limits are for ever, for each day or for each week; days and weeks are those of UTC, so that
    two days' limits may be spent around one midnight. Charge before drawing: after a crash in between, budget is
    lost, not privacy.

    The database is a SQLite file, or PostgreSQL for several hosts. A ledger is made once with `create`; opening
    one that is not there is an error, because without it nobody knows what was spent. Every charge is a row of a
    record that only grows, with a hash of all rows before it; `check` verifies it. It holds users' names, amounts
    and times, and of remembered places the report and a salted hash of user and place: anyone who has the ledger
    (and its key, if it has one) can test whether a user has reported from a place that they name. Keep it where
    the true data are. A pickle of a ledger holds no charges, but its address, password included, and its key.

    Args:
        address: A path of a SQLite file, ``sqlite:///budget.db``, or ``postgresql://user@host/name``.
        key: The key that it was made with, from `new_ledger_key`; None if it was made without.

    Raises:
        InputError: If the address is none, or the key is not the ledger's.
        FileError: If there is no ledger, or it cannot be read.
        MissingExtraError: If SQLAlchemy is not installed (extra ``ledger``).

    Example:
        >>> import tempfile
        >>> from sfumato.ledgers import Ledger
        >>> ledger = Ledger.create(tempfile.mkdtemp() + "/ledger.db", "0.3/km")
        >>> for report in range(3):
        ...     balance = ledger.charge("ada", "0.1/km")
        >>> balance.left, ledger.balance("bob").left
        (Fraction(0, 1), Fraction(3, 10))
        >>> ledger.charge("ada", 0.1)
        Traceback (most recent call last):
        ...
        sfumato.ledgers.accounts.BudgetError: a user has spent 0.3/km of 0.3/km in 3 reports; ...
    """

    __slots__ = ("__weakref__", "_address", "_database", "_keys", "_terms")

    @checked
    def __init__(self, address: str | os.PathLike[str], *, key: bytes | None = None) -> None:
        check_installed(address)
        from .database import database_at
        from .verification import read_terms

        self._address = os.fspath(address)
        self._database = database_at(address)
        with self._database.reading() as connection:
            self._terms = read_terms(connection, self._database.name, key or b"")
        self._keys = PlaceKeys(self._terms.salt, self._terms.key)

    @classmethod
    @checked
    def create(
        cls,
        address: str | os.PathLike[str],
        limit: float | str | Sequence[float | str],
        *,
        unit: str | None = None,
        key: bytes | None = None,
    ) -> Self:
        """Make a new ledger, and open it.

        Args:
            address: Where; nothing may be there.
            limit: What each user may spend: ``"2/km"`` for ever, ``"5/km per day"``, ``"20/km per week"``, a
                number, or several of these.
            unit: The unit of the metric; by default that of the limit's text, or none.
            key: 32 bytes from `new_ledger_key`, to be kept elsewhere: nobody can write a record or test for a
                place without it. None for none.

        Raises:
            InputError: If a limit is not positive, or the key does not have 32 bytes.
            FileError: If something is there, or nothing can be written there.
            MissingExtraError: If SQLAlchemy is not installed.
        """
        check_installed(address)
        from .books import make_ledger

        limits, unit = read_limits(limit, unit)
        make_ledger(address, limits, unit, key=key)
        return cls(address, key=key)

    @property
    def address(self) -> str:
        """The address, without its password."""
        return self._database.name

    @property
    def unit(self) -> str:
        """The unit of the amounts; empty for pure numbers."""
        return self._terms.unit

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits of each user, as text: ``("5/km per day", "100/km")``."""
        return tuple(limit.shown(self.unit) for limit in self._terms.limits)

    @property
    def rule(self) -> str:
        """The rule of composition: what a sum of amounts says, in sentences."""
        return rule_sentence(self.unit)

    @checked
    def charge(self, user: str, epsilon: float | str, reports: int = 1) -> Balance:
        """Spend some of a user's budget, or refuse.

        Args:
            user: Whose budget.
            epsilon: What one report spends, per unit of the metric.
            reports: How many reports.

        Returns:
            The balance after the charge, which is on disk by then.

        Raises:
            BudgetError: If less than that is left; then nothing is charged.
            FileError: If the ledger cannot be written; then nothing is charged.
        """
        (charged,) = charges = read_charges([Charge(user, epsilon, int(reports))], self.unit)
        with self._books() as books:
            books.charge(charges)
            account = books.account(charged.user)
        return account.balance(self._terms.limits, books.time)

    @checked
    def charge_many(self, charges: Iterable[Charge], *, run: str = "", batch: int = 0) -> bool:
        """Spend of the budgets of many users in one transaction: all is charged, or nothing.

        With a run's key the charge of a batch happens once: the same batch again charges nothing. So a run
        that was cut off can be resumed from any batch. Two processes must not work at one run: both would
        draw what was charged once.

        Args:
            charges: Who is charged, how much for each report, and for how many.
            run: A text of the caller's own that no other run has; empty for none.
            batch: The number of the batch.

        Returns:
            Whether it was charged now; False if it was charged before.

        Raises:
            BudgetError: If a user has too little left.
            InputError: If the batch was charged before with other contents.
            FileError: If the ledger cannot be written.
        """
        exact = read_charges(charges, self.unit)
        run, batch = _run(run), _batch(batch)
        contents = contents_of(self._terms, exact) if run else ""
        with self._books() as books:
            if books.already(run, batch, contents):
                return False
            books.charge(exact, run=run, batch=batch, contents=contents)
        return True

    @checked
    def afford(self, charges: Iterable[Charge]) -> None:
        """Refuse charges that do not fit now, and charge nothing.

        Args:
            charges: As for `charge_many`.

        Raises:
            BudgetError: If a user has too little left.
        """
        exact = read_charges(charges, self.unit)
        with self._books() as books:
            books.check(exact)

    @checked
    def reports(
        self,
        users: Collection[str],
        places: Collection[str | None],
        epsilon: float | str | Decimal,
        draw: Draw,
        mechanism: bytes,
        *,
        run: str = "",
        batch: int = 0,
        repeatable: bool = False,
        move: bool = False,
    ) -> list[Report]:
        """Return one report for each visit; those of a user's place are all the same one, charged and drawn once.

        The first visit to a place, ever or among these, is its anchor: the report is drawn for it, and kept.
        A visit without a place is charged and drawn each time. All is charged, drawn and kept, or nothing.

        Args:
            users: Whose visit it is.
            places: The place of each visit, by any name of the user's own; None, an empty text or NaN for none.
            epsilon: What one report spends, per unit of the metric.
            draw: From the numbers of visits to reports: positions of observables, or latitudes and
                longitudes in pairs.
            mechanism: The mechanism's fingerprint; under another one a place gets a new report.
            run: A run's key, as for `charge_many`; a batch that was charged before is not charged again.
            batch: The number of the batch.
            repeatable: Whether the last of these reports of each user is kept, for `last_report`.
            move: Whether the places are elsewhere now: each is drawn and charged once more, and this report is the
                one that is repeated from then on. The record keeps both, with their times.

        Raises:
            BudgetError: If a user has too little left; then nobody is charged.
            InputError: If not as many places are given as users, a name is odd, or something is drawn that is
                no report; then nobody is charged.
            FileError: If the ledger cannot be read or written; then no report was given out.
        """
        from .books import known_places

        each = amount(epsilon, self.unit, "epsilon")
        visits = NamedVisits.of(users, places, self._keys, mechanism)
        if visits.keys and None not in visits.keys and not move:  # repeating takes no turn as the writer
            with self._database.reading() as connection:
                known = known_places(connection, visits.named)
            if known.keys() >= set(visits.keys):
                return [known[key] for key in visits.named]
        turn = _run(run), _batch(batch), visits.hash(self._terms, each) if run else ""
        with self._books() as books:
            return visits.settle(books, each, draw, turn, repeatable=repeatable, move=move)

    @checked
    def remembers(self, users: Collection[str], places: Collection[str | None], mechanism: bytes) -> list[bool]:
        """Return for each visit whether its place has a report, which costs nothing more.

        Args:
            users: Whose visit it is.
            places: The place of each visit; None, an empty text or NaN for none.
            mechanism: The mechanism's fingerprint.
        """
        from .books import known_places

        visits = NamedVisits.of(users, places, self._keys, mechanism)
        with self._database.reading() as connection:
            known = known_places(connection, visits.named)
        return [key in known for key in visits.keys]

    @checked
    def last_report(self, user: str, mechanism: bytes) -> Report | None:
        """Return the last report of a user by a mechanism that was kept to be repeated, or None.

        Args:
            user: Whose report.
            mechanism: The fingerprint of the mechanism that drew it.

        Raises:
            FileError: If the report is damaged.
        """
        from .books import kept_report

        name = accepted(user, "the user")
        with self._database.reading() as connection:
            return kept_report(connection, name, mechanism.hex())

    @checked
    def balance(self, user: str) -> Balance:
        """Return what a user has spent and has left; a user who was never charged has the whole limit."""
        from .books import accounts_of, head_row

        name = accepted(user, "the user")
        with self._database.reading() as connection:
            seen = head_row(connection).time
            account = accounts_of(connection, [name])[name]
            return account.balance(self._terms.limits, max(seen, self._database.now(connection)))

    @property
    def users(self) -> tuple[str, ...]:
        """The users who were ever charged, in alphabetical order."""
        from .books import names_of_users

        with self._database.reading() as connection:
            return tuple(sorted(names_of_users(connection)))

    @property
    def head(self) -> str:
        """The end of the record: its number and hash. Keep it elsewhere, for `check`."""
        from .books import head_row

        with self._database.reading() as connection:
            row = head_row(connection)
            return str(Head(row.number, row.hash))

    @checked
    def check(self, *, head: str | None = None) -> LedgerCheck:
        """Verify the whole record, the sums of all users and the reports of all places.

        Args:
            head: The `head` of an earlier time that was kept elsewhere: the record must contain it. Without one,
                an old copy that took the ledger's place is not found, nor, in a ledger without a key, a record
                that was rewritten as a whole.

        Raises:
            InputError: If the head is not one.
            FileError: If the ledger cannot be read.
        """
        from .verification import verify

        known = None if head is None else Head.read(head)
        if head is not None and known is None:
            raise InputError(
                f"{head!r} is not the head of a record.", "it is a number, a colon and 64 digits 0 to f."
            )
        with self._database.reading() as connection:
            faults = self._database.faults(connection)
            return verify(connection, self._terms, self._database.now(connection), known, faults)

    def close(self) -> None:
        """Close connections that are not in use; the ledger opens new ones when it needs them."""
        self._database.close()

    @contextmanager
    def _books(self) -> Iterator[Books]:
        """Open the books for writing; what was charged is written at the end."""
        from .books import Books

        with self._database.writing() as connection:
            books = Books(connection, self._terms, self._database.now(connection), self.address)
            yield books
            books.write()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _reopened, (self._address, self._terms.key)

    def __repr__(self) -> str:
        from .books import count_users

        try:
            with self._database.reading() as connection:
                users = f"{counted(count_users(connection), 'user')} so far"
        except FileError:
            users = "which cannot be read"
        where = self.address if len(self.address) <= _SHOWN else f"...{self.address[3 - _SHOWN :]}"
        return f"Ledger of {' and '.join(self.limits)} per user, {users}, in {where!r}"


def check_installed(address: str | os.PathLike[str]) -> None:
    """Raise a `MissingExtraError` if SQLAlchemy is not installed, which ledgers of every kind need."""
    if find_spec("sqlalchemy") is None:
        extra = "postgres" if os.fspath(address).startswith("postgres") else "ledger"
        raise MissingExtraError("a ledger", extra)


def _reopened(address: str, key: bytes) -> Ledger:
    return Ledger(address, key=key or None)


def _run(run: str) -> str:
    return accepted(run, "the run") if run else ""


def _batch(batch: int) -> int:
    number = integer(batch)
    if number is None or not 0 <= number < 2**53:
        raise InputError(f"{batch!r} is not the number of a batch.", "count batches from 0.")
    return number
