"""Tables of a ledger, and its books within one transaction: every charge is written, or none."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Index,
    MetaData,
    Table,
    Text,
    bindparam,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from ..errors import FileError, InputError, python
from .accounts import (
    DAY_S,
    KEY_BYTES,
    SUM,
    VERSION,
    ZERO,
    Account,
    ChargeRow,
    ExactCharge,
    Limit,
    Report,
    Terms,
    add,
    decode,
    encode,
    kept_hash,
    restored_report,
    stored_limits,
    stored_report,
)
from .database import database_at

METADATA: Final = MetaData()


def _columns(names: str) -> list[Column[Any]]:
    """Return the columns of a table: ``#`` marks integers, other columns are texts, and ``*`` marks the key."""
    kinds = [(name.strip("#*"), BigInteger if "#" in name else Text, "*" in name) for name in names.split()]
    return [Column(name, kind, primary_key=key, autoincrement=False, nullable=False) for name, kind, key in kinds]


# One row: the terms, which never change, and the head of the record.
LEDGER: Final = Table(
    "sfumato_ledger",
    METADATA,
    Column("id", BigInteger, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    *_columns("version# identity unit rule limits salt keyed created# number# time# hash"),
)

# The sums of each user, which the record proves.
ACCOUNTS: Final = Table(
    "sfumato_accounts",
    METADATA,
    *_columns("name* spent reports# day# day_spent week# week_spent"),
    sqlite_with_rowid=False,
)

# The record of charges: rows are added, and never changed.
CHARGES: Final = Table(
    "sfumato_charges",
    METADATA,
    *_columns("number#* time# name amount reports# mechanism run batch# places report hash"),
    sqlite_with_rowid=False,
)

# The charges whose reports may have to be repeated; it costs the others nothing.
IS_KEPT: Final = text("report <> ''")
Index(
    "sfumato_kept",
    CHARGES.c.name,
    CHARGES.c.mechanism,
    CHARGES.c.number,
    sqlite_where=IS_KEPT,
    postgresql_where=IS_KEPT,
)

# The reports of places, in the order of their hashes: of a place that moved several, the last of which counts.
PLACES: Final = Table("sfumato_places", METADATA, *_columns("key* charge#* report"), sqlite_with_rowid=False)

# The batches of runs that were charged.
BATCHES: Final = Table(
    "sfumato_batches", METADATA, *_columns("run* batch#* contents first# last#"), sqlite_with_rowid=False
)

# The number of requests that were refused on each day since 1970, which the record does not prove.
REFUSALS: Final = Table("sfumato_refusals", METADATA, *_columns("day#* requests#"), sqlite_with_rowid=False)


def has_types(row: Any, table: Table) -> bool:
    """Return whether each value of a row is of its column's type, which SQLite does not ensure."""
    return all(type(value) is column.type.python_type for value, column in zip(row, table.columns, strict=True))


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
_KEPT_ROWS: Final = select(CHARGES.c.report).where(
    CHARGES.c.name == bindparam("of_user"), CHARGES.c.mechanism == bindparam("made_by"), IS_KEPT
)
_LAST_KEPT_ROW: Final = _KEPT_ROWS.order_by(CHARGES.c.number.desc()).limit(1)
_KEPT_IN_ORDER: Final = _KEPT_ROWS.order_by(CHARGES.c.number)


def _upsert_account(dialect: Any) -> Any:
    adding = dialect.insert(ACCOUNTS)
    columns = {column.name: adding.excluded[column.name] for column in ACCOUNTS.columns if column.name != "name"}
    return adding.on_conflict_do_update(index_elements=[ACCOUNTS.c.name], set_=columns)


def _upsert_refusal(dialect: Any) -> Any:
    adding = dialect.insert(REFUSALS).values(requests=1)
    return adding.on_conflict_do_update(
        index_elements=[REFUSALS.c.day], set_={"requests": REFUSALS.c.requests + 1}
    )


_COUNT_REFUSAL: Final = {"sqlite": _upsert_refusal(sqlite), "postgresql": _upsert_refusal(postgresql)}
_KEEP_ACCOUNT: Final = {"sqlite": _upsert_account(sqlite), "postgresql": _upsert_account(postgresql)}


class Books:
    """The books, open for writing: no other process changes them until the transaction ends.

    A clock that was set back does not count: the books go on at the latest time that they have seen.
    """

    def __init__(self, connection: Connection, terms: Terms, now: int, name: str) -> None:
        self._connection = connection
        self._terms, self.name = terms, name
        head = connection.execute(_HEAD).one_or_none()
        if head is None or head.identity != terms.identity:
            raise FileError(f"{name!r} holds another ledger than before.", "open it again.")
        self._number, self._hash = head.number, head.hash
        self.time: int = max(now, head.time)
        self.accounts: dict[str, Account] = {}
        self._entries: list[dict[str, Any]] = []
        self._places: list[dict[str, Any]] = []
        self._batches: list[dict[str, Any]] = []

    def already(self, run: str, batch: int, contents: str) -> bool:
        """Return whether a batch of a run was charged before; refuse one that had other contents."""
        if not run:
            return False
        charged = self._connection.execute(_BATCH, {"of_run": run, "of_batch": batch}).scalar_one_or_none()
        if charged not in (None, contents):
            raise InputError(
                f"batch {batch} of the run {run!r} was charged before, with other contents.",
                "a run that is resumed must repeat its batches; give another run a key of its own.",
            )
        return charged is not None

    def charge(
        self,
        charges: Sequence[ExactCharge],
        *,
        anchors: Mapping[str, Mapping[str, Report]] = MappingProxyType({}),
        last: Mapping[str, Report] = MappingProxyType({}),
        run: str = "",
        batch: int = 0,
        contents: str = "",
    ) -> None:
        """Charge users, or raise a `BudgetError`; ``contents`` is a hash of the batch.

        ``anchors`` has reports of places by user and key, ``last`` the report of a user that may have to be
        repeated.
        """
        self.check(charges)
        first = self._number + 1
        for user, total, reports, mechanism in charges:
            places = {key: stored_report(report) for key, report in anchors.get(user, {}).items()}
            report = stored_report(last[user]) if user in last else ""
            digest = kept_hash(self._terms, places.items(), contents if run else "")
            number = self._number + 1
            entry = ChargeRow(number, self.time, user, total, reports, mechanism, run, batch, digest, report)
            self._number, self._hash = entry.number, entry.after(self._hash, self._terms)
            self._entries.append({**entry._asdict(), "amount": encode(total), "hash": self._hash})
            self._places += [{"key": key, "report": text, "charge": entry.number} for key, text in places.items()]
            self.accounts[user] = self.accounts[user].after_charge(total, reports, self.time)
        if run and charges:
            ends = {"first": first, "last": self._number}
            self._batches.append({"run": run, "batch": batch, "contents": contents, **ends})

    def check(self, charges: Sequence[ExactCharge]) -> None:
        """Raise a `BudgetError` for the first user who has too little left."""
        new = {charge.user for charge in charges} - self.accounts.keys()
        self.accounts |= accounts_of(self._connection, new)
        sums: dict[str, Decimal] = {}
        for user, total, _, _ in charges:
            sums[user] = add(sums.get(user, ZERO), total)
        for user, total in sums.items():
            self.accounts[user].check(user, total, self._terms.limits, self._terms.unit, self.time)

    def places(self, keys: Iterable[str]) -> dict[str, Report]:
        """Return the reports of places that have one, by their keys."""
        return known_places(self._connection, keys)

    def reports_by(self, user: str, mechanism: str) -> list[Report]:
        """Return the reports of a user by a mechanism that were stored to be repeated, the oldest first."""
        return kept_reports(self._connection, user, mechanism)

    def write(self) -> None:
        """Write all charges; they count once the transaction ends."""
        if not self._entries:
            return
        execute = self._connection.execute
        names = {entry["name"] for entry in self._entries}
        sums = [{"name": name, **self.accounts[name]._asdict()} for name in names]
        rows = [
            {key: encode(value) if key.endswith("spent") else value for key, value in row.items()} for row in sums
        ]
        execute(_KEEP_ACCOUNT[self._connection.dialect.name], rows)
        execute(insert(CHARGES), self._entries)
        if self._places:
            execute(insert(PLACES), sorted(self._places, key=lambda row: str(row["key"])))
        if self._batches:
            execute(insert(BATCHES), self._batches)
        execute(_NEW_HEAD, {"new_number": self._number, "new_time": self.time, "new_hash": self._hash})


def head_row(connection: Connection) -> Any:
    """Return the end of the record: its ``number``, ``time`` and ``hash``."""
    return connection.execute(select(LEDGER.c.number, LEDGER.c.time, LEDGER.c.hash)).one()


def count_refusal(connection: Connection, now: int) -> None:
    """Count a refused request on the day of a time."""
    connection.execute(_COUNT_REFUSAL[connection.dialect.name], {"day": now // DAY_S})


def count_users(connection: Connection) -> int:
    """Return how many users were ever charged."""
    return int(connection.execute(select(func.count()).select_from(ACCOUNTS)).scalar_one())


def names_of_users(connection: Connection) -> list[str]:
    """Return the names of the users who were ever charged; a damaged one raises a `FileError`."""
    names = list(connection.execute(select(ACCOUNTS.c.name)).scalars())
    if not all(isinstance(name, str) for name in names):
        raise FileError("a user's name is not a text.", "restore the ledger from a copy, and check it.")
    return names


def accounts_of(connection: Connection, users: Iterable[str]) -> dict[str, Account]:
    """Return the accounts of users, empty ones if never charged; a damaged one raises a `FileError`."""
    names = list(users)
    rows = _select(connection, _ACCOUNT, _SOME_ACCOUNTS, names)
    return {name: Account() for name in names} | {row.name: account_of(row) for row in rows}


def _select(connection: Connection, single: Any, several: Any, keys: list[str]) -> Iterator[Any]:
    """Yield the rows for keys: by one quick query, or in blocks."""
    if len(keys) == 1:
        yield from connection.execute(single, {"wanted": keys[0]})
        return
    for start in range(0, len(keys), _AT_ONCE):
        yield from connection.execute(several, {"wanted": keys[start : start + _AT_ONCE]})


def account_of(row: Any) -> Account:
    """Return the account of a row; a damaged one raises a `FileError`."""
    try:
        if not has_types(row, ACCOUNTS):
            raise ValueError("a value of another type")
        sums: dict[str, Any] = {
            key: decode(value) if key.endswith("spent") else value for key, value in row._asdict().items()
        }
        del sums["name"]
        return Account(**sums)
    except (ValueError, TypeError) as error:
        raise FileError(
            f"the account of {row.name!r} is damaged ({error}).", "restore the ledger from a copy, and check it."
        ) from None


def known_places(connection: Connection, keys: Iterable[str]) -> dict[str, Report]:
    """Return the reports of places that have one, by key; of a place that moved, the last one."""
    rows = _select(connection, _PLACE, _SOME_PLACES, list(dict.fromkeys(keys)))
    return {row.key: _read_report(row.report) for row in rows}


def kept_report(connection: Connection, user: str, mechanism: str) -> Report | None:
    """Return the last report by a mechanism (its hexadecimal fingerprint) that was stored to be repeated."""
    text = connection.execute(_LAST_KEPT_ROW, {"of_user": user, "made_by": mechanism}).scalar_one_or_none()
    return None if text is None else _read_report(text)


def kept_reports(connection: Connection, user: str, mechanism: str) -> list[Report]:
    """Return all reports by a mechanism that were stored to be repeated, the oldest first."""
    texts = connection.execute(_KEPT_IN_ORDER, {"of_user": user, "made_by": mechanism}).scalars()
    return [_read_report(text) for text in texts]


def _read_report(text: str) -> Report:
    try:
        return restored_report(text)
    except (ValueError, TypeError) as error:
        raise FileError(
            f"a report in the ledger is damaged ({error}).", "restore the ledger from a copy, and check it."
        ) from None


def make_ledger(
    address: str | os.PathLike[str],
    limits: tuple[Limit, ...],
    unit: str,
    *,
    key: bytes | None = None,
    salt: str | None = None,
    fill: Callable[[Books], None] | None = None,
) -> None:
    """Make a new ledger at a free address, with the salt of an older one and the charges of ``fill``, if any."""
    if key is not None and len(key) != KEY_BYTES:
        raise InputError(
            f"the key has {len(key)} bytes, not {KEY_BYTES}.", python("make it with new_ledger_key().")
        )
    identity, salt = secrets.token_hex(16), salt or secrets.token_hex(16)
    database = database_at(address)

    def make(connection: Connection) -> None:
        now = database.now(connection)
        terms = Terms(identity, unit, SUM, limits, salt, now, key or b"")
        METADATA.create_all(connection, checkfirst=False)
        first = {"id": 1, "version": VERSION, "limits": stored_limits(limits), "keyed": terms.key_hash}
        columns = {name: getattr(terms, name) for name in ("identity", "unit", "rule", "salt", "created")}
        connection.execute(
            insert(LEDGER), {**first, **columns, "number": 0, "time": terms.created, "hash": terms.genesis}
        )
        if fill is not None:
            books = Books(connection, terms, now, database.name)
            fill(books)
            books.write()

    try:
        database.create(make)
    finally:
        database.close()
