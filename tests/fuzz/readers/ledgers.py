"""Ledgers whose databases were changed behind their backs, and JSON ledgers of the first version."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from sfumato.errors import SfumatoError
from sfumato.ledgers import Charge, Ledger, migrate

from ..guard import check_words
from ..mutations import INTEGERS, TEXTS, changed_bytes, changed_json, dumped, near, times
from ..reader import Case, Reader

Rows = dict[str, list[tuple[Any, ...]]]
_TABLES = ("ledger", "accounts", "charges", "places", "batches")


class Ledgers(Reader):
    """SQLite ledgers with changed rows, tables or bytes: the check finds each change of what is stored."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        path = folder / "ledger.db"
        with closing(Ledger.create(path, ["9/km per day", "20/km"])) as ledger:
            ledger.charge("ada", 1)
            ledger.charge_many([Charge("ada", 2), Charge("bob", 0.5, 3)], run="r", batch=4)
            ledger.reports(["ada", "cy", "cy"], ["home", "work", None], 1, _draw, b"m")
            ledger.reports(["bob"], [None], 1, _draw, b"m", repeatable=True)
            self.head = ledger.head
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        self.data = path.read_bytes()
        self.rows = _rows(path)

    def case(self, rng: Random) -> Case:
        if rng.randrange(3) == 0:
            return {"ledger.db": changed_bytes(rng, self.data, [self.data])}
        path = self.folder / "case.db"
        path.write_bytes(self.data)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for _ in times(rng):
                try:
                    _edit(rng, connection, self.rows)
                except (sqlite3.Error, OverflowError, UnicodeEncodeError):
                    continue  # SQLite itself refuses it
        return {"ledger.db": path.read_bytes()}

    def read(self, folder: Path) -> None:
        path = folder / "ledger.db"
        try:
            now = _rows(path)
        except (sqlite3.Error, UnicodeDecodeError):
            now = {}
        with closing(Ledger(path)) as ledger:
            found = ledger.check(head=self.head)
            assert str(found)
            assert found.sound == (not found.problems)
            assert now == self.rows or not found.sound, f"a change was not found: {_difference(self.rows, now)}"
            balances(ledger)


def balances(ledger: Ledger) -> None:
    """Read what a ledger says of some users, who may be refused."""
    for user in ("ada", "bob", "cy", "nobody"):
        try:
            ledger.balance(user)
        except SfumatoError as error:
            check_words(error)
    _ = ledger.users, ledger.head, ledger.limits, repr(ledger)


class JsonLedgers(Reader):
    """Ledgers of the first version: what is migrated has the sums that the file states."""

    honest: ClassVar[Any] = {
        "format": "sfumato ledger",
        "version": 1,
        "limit": "3/2",
        "unit": "km",
        "users": {
            "ada": {"spent": "3/2", "reports": 3},
            "Zoë": {"spent": "1/10", "reports": 1},
            "Zoe\u0308": {"spent": "1", "reports": 1},
            "cy": {"spent": "0", "reports": 0},
        },
        "places": {"salt": "0" * 32, "reports": {"a" * 64: 4, "b" * 64: [48.5, 2.25]}},
    }

    def case(self, rng: Random) -> Case:
        return {"old.json": dumped(rng, changed_json(rng, self.honest))}

    def read(self, folder: Path) -> None:
        target = folder / "new.db"
        target.unlink(missing_ok=True)
        try:
            ledger = migrate(folder / "old.json", target)
        except SfumatoError:
            assert not target.exists(), "a ledger was left that could not be migrated"
            raise
        with closing(ledger):
            assert ledger.check().sound
            given = json.loads((folder / "old.json").read_text(encoding="utf-8"))
            spent = sum((Fraction(entry["spent"]) for entry in given["users"].values()), Fraction(0))
            reports = sum(entry["reports"] for entry in given["users"].values())
            found = [ledger.balance(user) for user in ledger.users]
            assert sum((each.spent for each in found), Fraction(0)) == spent
            assert sum(each.reports for each in found) == reports
            assert all(each.left + each.spent == Fraction(given["limit"]) for each in found)
        for ending in ("", "-wal", "-shm"):
            Path(f"{target}{ending}").unlink(missing_ok=True)


def _draw(visits: list[int]) -> list[int]:
    return [7 + number for number in visits]


def _edit(rng: Random, connection: sqlite3.Connection, rows: Rows) -> None:
    table = rng.choice(_TABLES)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info(sfumato_{table})")]
    if not columns:
        return
    key, kind = columns[0], rng.randrange(12)
    row = rng.choice(rows[table])
    if kind < 6:
        place = rng.randrange(len(columns))
        value = _value(rng, row[place], [each[place] for each in rows[table]])
        connection.execute(f"UPDATE sfumato_{table} SET {columns[place]} = ? WHERE {key} = ?", (value, row[0]))
    elif kind == 6:
        connection.execute(f"DELETE FROM sfumato_{table} WHERE {key} = ?", (row[0],))
    elif kind == 7:
        copy = [_value(rng, value, [value]) if rng.randrange(3) == 0 else value for value in row]
        connection.execute(f"INSERT INTO sfumato_{table} VALUES ({', '.join('?' * len(copy))})", copy)
    elif kind == 8:
        connection.execute(f"DROP TABLE sfumato_{table}")
    elif kind == 9:
        connection.execute(f"ALTER TABLE sfumato_{table} RENAME COLUMN {rng.choice(columns)} TO other")
    elif kind == 10:
        _loosened(rng, connection, table, columns)
    else:
        made = f"CREATE TRIGGER t AFTER INSERT ON sfumato_{table} BEGIN DELETE FROM sfumato_accounts; END"
        connection.execute(
            rng.choice((made, f"CREATE VIEW v AS SELECT * FROM sfumato_{table}", "DELETE FROM sfumato_places"))
        )


def _loosened(rng: Random, connection: sqlite3.Connection, table: str, columns: list[str]) -> None:
    """Make a table anew without types and conditions, so that it takes any value."""
    connection.execute(f"CREATE TABLE copied AS SELECT * FROM sfumato_{table}")
    connection.execute(f"DROP TABLE sfumato_{table}")
    connection.execute(f"CREATE TABLE sfumato_{table} ({', '.join(columns)})")
    connection.execute(f"INSERT INTO sfumato_{table} SELECT * FROM copied")
    connection.execute("DROP TABLE copied")
    value = rng.choice((None, b"\xff\xfe", 1.5, "1.0", float("inf"), 2**62))
    connection.execute(f"UPDATE sfumato_{table} SET {rng.choice(columns)} = ?", (value,))


def _value(rng: Random, value: Any, others: list[Any]) -> Any:
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(others)
    if kind == 1:
        return rng.choice((None, b"\x00\xff", 1.5, *TEXTS[:16]))
    if kind == 2:
        return rng.choice(INTEGERS)
    return near(rng, value)


def _rows(path: Path) -> Rows:
    """Return all that a ledger stores, types included, read without the ledger."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    try:
        with closing(sqlite3.connect(copy)) as connection:
            return {
                table: sorted(connection.execute(f"SELECT * FROM sfumato_{table}").fetchall(), key=repr)
                for table in _TABLES
            }
    finally:
        copy.unlink()


def _difference(one: Rows, other: Rows) -> str:
    return "; ".join(
        f"{table}: {set(one[table]) ^ set(other.get(table, []))}"
        for table in one
        if one[table] != other.get(table)
    )
