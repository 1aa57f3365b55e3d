"""The books of a ledger within one transaction: read what is needed, charge, and write all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ..errors import FileError, InputError
from .accounts import Account
from .amounts import ZERO, added, restored, stored
from .charges import Charged
from .places import Report, restored_report, stored_report
from .record import ChargeRow, Head, Terms, kept_hash
from .schema import ACCOUNTS, BATCHES, CHARGES, IS_KEPT, LEDGER, PLACES, typed

T = TypeVar("T")
_AT_ONCE: Final = 5_000  # names in one query; SQLite takes 32,766 values

_HEAD: Final = select(LEDGER.c.identity, LEDGER.c.number, LEDGER.c.time, LEDGER.c.hash).with_for_update()
_ACCOUNT: Final = select(ACCOUNTS).where(ACCOUNTS.c.name == bindparam("wanted"))
_SOME_ACCOUNTS: Final = select(ACCOUNTS).where(ACCOUNTS.c.name.in_(bindparam("wanted", expanding=True)))
_IN_TURN: Final = select(PLACES.c.key, PLACES.c.report).order_by(PLACES.c.charge)
_PLACE: Final = _IN_TURN.where(PLACES.c.key == bindparam("wanted"))
_SOME_PLACES: Final = _IN_TURN.where(PLACES.c.key.in_(bindparam("wanted", expanding=True)))
_BATCH: Final = select(BATCHES.c.contents).where(
    BATCHES.c.run == bindparam("of_run"), BATCHES.c.batch == bindparam("of_batch")
)
_NEW_HEAD: Final = update(LEDGER).values(
    number=bindparam("new_number"), time=bindparam("new_time"), hash=bindparam("new_hash")
)
_KEPT: Final = (
    select(CHARGES.c.report)
    .where(CHARGES.c.name == bindparam("of_user"), CHARGES.c.mechanism == bindparam("made_by"), IS_KEPT)
    .order_by(CHARGES.c.number.desc())
    .limit(1)
)
_ADD_CHARGE: Final = insert(CHARGES)
_ADD_PLACE: Final = insert(PLACES)
_ADD_BATCH: Final = insert(BATCHES)


def _kept_accounts(dialect: Any) -> Any:
    """Return the statement that adds an account or replaces its sums."""
    adding = dialect.insert(ACCOUNTS)
    columns = {column.name: adding.excluded[column.name] for column in ACCOUNTS.columns if column.name != "name"}
    return adding.on_conflict_do_update(index_elements=[ACCOUNTS.c.name], set_=columns)


_KEEP_ACCOUNT: Final = {"sqlite": _kept_accounts(sqlite), "postgresql": _kept_accounts(postgresql)}


class Books:
    """The books, open for writing: no other process changes them until the transaction ends.

    Args:
        connection: Of a transaction that is the only writer.
        terms: The ledger's terms.
        now: The time, seconds since 1970. A clock that was set back does not count: the books go on at the
            latest time that they have seen.
        name: The ledger's address, for errors.

    Attributes:
        name: The ledger's address.
        time: The time of what is charged.
    """

    def __init__(self, connection: Connection, terms: Terms, now: int, name: str) -> None:
        self._connection = connection
        self._terms, self.name = terms, name
        head = connection.execute(_HEAD).one_or_none()
        if head is None or head.identity != terms.identity:
            raise FileError(f"{name!r} holds another ledger than before.", "open it again.")
        self._number, self._hash = head.number, head.hash
        self.time: int = max(now, head.time)
        self._accounts: dict[str, Account] = {}
        self._entries: list[dict[str, Any]] = []
        self._places: list[dict[str, Any]] = []
        self._batches: list[dict[str, Any]] = []

    def already(self, run: str, batch: int, contents: str) -> bool:
        """Return whether a batch of a run was charged before.

        Raises:
            InputError: If it was, but with other contents.
        """
        if not run:
            return False
        found = self._connection.execute(_BATCH, {"of_run": run, "of_batch": batch}).scalar_one_or_none()
        if found not in (None, contents):
            raise InputError(
                f"batch {batch} of the run {run!r} was charged before, with other contents.",
                "a run that is resumed must repeat its batches; give another run a key of its own.",
            )
        return found is not None

    def charge(
        self,
        charges: Sequence[Charged],
        *,
        kept: Mapping[str, Mapping[str, Report]] | None = None,
        last: Mapping[str, Report] | None = None,
        run: str = "",
        batch: int = 0,
        contents: str = "",
    ) -> None:
        """Charge users, each as far as their limits allow.

        Args:
            charges: Who is charged, and how much.
            kept: Reports of places by user and key, which are kept with the user's charge.
            last: The report of a user that may have to be repeated.
            run: The key of a run; empty for none.
            batch: The number of the batch.
            contents: A hash of what the batch is made of.

        Raises:
            BudgetError: If a user has too little left.
        """
        self.check(charges)
        first = self._number + 1
        for user, asked, reports, mechanism in charges:
            places = {key: stored_report(report) for key, report in (kept or {}).get(user, {}).items()}
            report = stored_report(last[user]) if last and user in last else ""
            entry = ChargeRow(
                self._number + 1,
                self.time,
                user,
                asked,
                reports,
                mechanism,
                run,
                batch,
                kept_hash(self._terms, places.items(), contents if run else ""),
                report,
            )
            self._number, self._hash = entry.number, entry.after(self._hash, self._terms)
            self._entries.append({**entry._asdict(), "amount": stored(asked), "hash": self._hash})
            self._places += [{"key": key, "report": text, "charge": entry.number} for key, text in places.items()]
            self._accounts[user] = self._accounts[user].charged(asked, reports, self.time)
        if run and charges:
            ends = {"first": first, "last": self._number}
            self._batches.append({"run": run, "batch": batch, "contents": contents, **ends})

    def check(self, charges: Sequence[Charged]) -> None:
        """Refuse charges that a limit does not allow.

        Raises:
            BudgetError: Of the first user who has too little left.
        """
        new = {charge.user for charge in charges} - self._accounts.keys()
        self._accounts |= accounts_of(self._connection, new)
        sums: dict[str, Decimal] = {}
        for user, asked, _, _ in charges:
            sums[user] = added(sums.get(user, ZERO), asked)
        for user, asked in sums.items():
            self._accounts[user].check(user, asked, self._terms.limits, self._terms.unit, self.time)

    def account(self, user: str) -> Account:
        """Return the account of a user who was charged just now."""
        return self._accounts[user]

    def places(self, keys: Iterable[str]) -> dict[str, Report]:
        """Return the reports of places that have one, by their keys."""
        return known_places(self._connection, keys)

    def write(self) -> None:
        """Write all that was charged; it counts once the transaction ends."""
        if not self._entries:
            return
        execute = self._connection.execute
        written = {entry["name"] for entry in self._entries}
        rows = [_account_row(name, self._accounts[name]) for name in written]
        execute(_KEEP_ACCOUNT[self._connection.dialect.name], rows)
        execute(_ADD_CHARGE, self._entries)
        if self._places:
            execute(_ADD_PLACE, sorted(self._places, key=lambda row: str(row["key"])))
        if self._batches:
            execute(_ADD_BATCH, self._batches)
        execute(_NEW_HEAD, {"new_number": self._number, "new_time": self.time, "new_hash": self._hash})

    @property
    def head(self) -> Head:
        """The end of the record."""
        return Head(self._number, self._hash)


def head_row(connection: Connection) -> Any:
    """Return the end of the record: its ``number``, ``time`` and ``hash``."""
    return connection.execute(select(LEDGER.c.number, LEDGER.c.time, LEDGER.c.hash)).one()


def count_users(connection: Connection) -> int:
    """Return how many users were ever charged."""
    return int(connection.execute(select(func.count()).select_from(ACCOUNTS)).scalar_one())


def names_of_users(connection: Connection) -> list[str]:
    """Return the names of the users who were ever charged.

    Raises:
        FileError: If one is damaged.
    """
    names = list(connection.execute(select(ACCOUNTS.c.name)).scalars())
    if not all(isinstance(name, str) for name in names):
        raise FileError("a user's name is not a text.", "restore the ledger from a copy, and check it.")
    return names


def accounts_of(connection: Connection, users: Iterable[str]) -> dict[str, Account]:
    """Return the accounts of users; of those never charged, empty ones.

    Raises:
        FileError: If an account is damaged.
    """
    wanted = list(users)
    found = {name: Account() for name in wanted}
    if len(wanted) == 1:
        rows: Iterable[Any] = connection.execute(_ACCOUNT, {"wanted": wanted[0]})
    else:
        rows = (
            row
            for some in _blocks(wanted, _AT_ONCE)
            for row in connection.execute(_SOME_ACCOUNTS, {"wanted": some})
        )
    for row in rows:
        found[row.name] = account_of(row)
    return found


def account_of(row: Any) -> Account:
    """Return the account of a row.

    Raises:
        FileError: If it is damaged.
    """
    try:
        if not typed(row, ACCOUNTS):
            raise ValueError("a value of another type")
        return Account(
            restored(row.spent),
            row.reports,
            row.day,
            restored(row.day_spent),
            row.week,
            restored(row.week_spent),
        )
    except (ValueError, TypeError) as error:
        raise FileError(
            f"the account of {row.name!r} is damaged ({error}).", "restore the ledger from a copy, and check it."
        ) from None


def _account_row(name: str, account: Account) -> dict[str, Any]:
    return {
        "name": name,
        "spent": stored(account.spent),
        "reports": account.reports,
        "day": account.day,
        "day_spent": stored(account.day_spent),
        "week": account.week,
        "week_spent": stored(account.week_spent),
    }


def known_places(connection: Connection, keys: Iterable[str]) -> dict[str, Report]:
    """Return the reports of places that have one, by their keys; of a place that moved the last one.

    Raises:
        FileError: If a report is damaged.
    """
    wanted = list(dict.fromkeys(keys))
    if len(wanted) == 1:
        rows: Iterable[Any] = connection.execute(_PLACE, {"wanted": wanted[0]})
    else:
        rows = (
            row for some in _blocks(wanted, _AT_ONCE) for row in connection.execute(_SOME_PLACES, {"wanted": some})
        )
    return {row.key: _restored(row.report) for row in rows}


def kept_report(connection: Connection, user: str, mechanism: str) -> Report | None:
    """Return the last report of a user that was kept to be repeated, or None.

    Args:
        connection: Of a transaction.
        user: Whose report.
        mechanism: The fingerprint of the mechanism that drew it, hexadecimal.

    Raises:
        FileError: If the report is damaged.
    """
    text = connection.execute(_KEPT, {"of_user": user, "made_by": mechanism}).scalar_one_or_none()
    return None if text is None else _restored(text)


def _restored(text: str) -> Report:
    try:
        return restored_report(text)
    except (ValueError, TypeError) as error:
        raise FileError(
            f"a report in the ledger is damaged ({error}).", "restore the ledger from a copy, and check it."
        ) from None


def _blocks(values: list[T], size: int) -> Iterator[list[T]]:
    rest = iter(values)
    while block := list(islice(rest, size)):
        yield block
