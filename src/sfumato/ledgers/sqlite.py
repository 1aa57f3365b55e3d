"""Ledgers in a SQLite file: a log that is written ahead and synced at every commit, and one writer at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, Engine, event

from ..errors import InputError
from ..escaping import plain
from .connections import PATIENCE_S, DatabaseConnections
from .sqlite_file import SqliteFile

_WRITING: Final = "sfumato_writing"


class Sqlite(DatabaseConnections):
    """A SQLite file; see `Database`.

    Args:
        path: Its path.

    Raises:
        InputError: If it is no file.
    """

    def __init__(self, path: str) -> None:
        if not path.strip() or path == ":memory:" or path.startswith("file:"):
            raise InputError("a ledger in memory would forget what was spent.", "give it a file: budget.db.")
        self._file = SqliteFile(path)
        super().__init__(path)

    def fresh(self) -> Engine:
        """Return an engine whose transactions take the file's lock when they begin, if they are to write."""
        engine = self._file.engine(PATIENCE_S)

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            writing = connection.get_execution_options().get(_WRITING)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

        return engine

    def create(self, fill: Callable[[Connection], None]) -> None:
        """Make a new ledger, or leave nothing behind; see `Database`."""
        self._file.create()
        try:
            self._file.write_ahead()
            with self.writing() as connection:
                fill(connection)
        except BaseException:
            self.close()
            self._file.remove()
            raise

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction as the only writer; see `Database`."""
        self._file.check()
        with self.told(), self.engine.connect() as connection:
            alone = connection.execution_options(**{_WRITING: True})
            with alone.begin():
                self._file.check()  # again: nobody else writes from here on
                yield alone

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Begin a transaction that sees one state; see `Database`."""
        self._file.check()
        with self.told(), self.engine.connect() as connection, connection.begin():
            yield connection

    def now(self, connection: Connection) -> int:
        """Return this machine's time; see `Database`."""
        del connection
        return int(time.time())

    def faults(self, connection: Connection) -> list[str]:
        """Return what SQLite finds damaged, and what would change the ledger by itself."""
        found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
        damaged = [] if found == ["ok"] else [f"SQLite finds the file damaged: {plain(each)}." for each in found]
        added = connection.exec_driver_sql(
            "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"
        )
        return [
            *damaged,
            *(f"The {kind} {plain(name)} was added, which may undo charges." for kind, name in added),
        ]
