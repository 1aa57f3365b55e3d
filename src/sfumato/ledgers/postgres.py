"""Ledgers in PostgreSQL, for several hosts: with the server's clock, and a row that is locked while one writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, exc, text
from sqlalchemy.engine import URL

from ..errors import FileError, MissingExtraError
from ..escaping import plain
from .connections import PATIENCE_S, DatabaseConnections

# A client that vanished in the middle of a charge holds the lock of the ledger's row no longer than this.
_SESSION: Final = (
    "SET synchronous_commit = on",
    f"SET lock_timeout = '{PATIENCE_S}s'",
    "SET idle_in_transaction_session_timeout = '5min'",
)
_SERVER_TIME: Final = text("SELECT floor(extract(epoch FROM clock_timestamp()))::bigint")
_ADDED: Final = text(
    "SELECT tgname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    "WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace "
    "AND starts_with(relname, 'sfumato_') "
    "UNION ALL SELECT rulename::text FROM pg_rules "
    "WHERE schemaname = current_schema() AND starts_with(tablename, 'sfumato_')"
)
_TAKEN: Final = ("42P07", "42710", "23505")  # there is one, or another client makes one at the same time


class Postgres(DatabaseConnections):
    """A PostgreSQL database; see `Database`.

    Args:
        url: Its address.

    Raises:
        MissingExtraError: If the driver is not installed.
    """

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql+psycopg")
        super().__init__(url.set(drivername="postgresql").render_as_string(hide_password=True))

    def fresh(self) -> Engine:
        """Return an engine whose commits are on the server's disk, and whose locks do not outlive a client."""
        try:
            engine = create_engine(
                self._url,
                isolation_level="READ COMMITTED",  # after the wait for the lock, the latest sums are read
                pool_pre_ping=True,
                connect_args={"connect_timeout": PATIENCE_S},
            )
        except ImportError:
            raise MissingExtraError("a ledger in PostgreSQL", "postgres") from None

        @event.listens_for(engine, "connect")
        def connect(connection: Any, record: object) -> None:
            del record
            with connection.cursor() as cursor:
                for setting in _SESSION:
                    cursor.execute(setting)
            connection.commit()

        return engine

    def create(self, fill: Callable[[Connection], None]) -> None:
        """Make the tables of a new ledger, or none; see `Database`."""
        try:
            with self.writing() as connection:
                fill(connection)
        except FileError as error:
            reason = error.__cause__
            if isinstance(reason, exc.DBAPIError) and getattr(reason.orig, "sqlstate", "") in _TAKEN:
                raise FileError(
                    f"a ledger exists already in {self.name!r}.", "open it, or use another database."
                ) from error
            raise

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction; the first thing that it reads is the ledger's row, which it locks."""
        with self.told(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Begin a transaction that sees one state; see `Database`."""
        with self.told(), self.engine.connect() as connection:
            steady = connection.execution_options(isolation_level="REPEATABLE READ")
            with steady.begin():
                yield steady

    def now(self, connection: Connection) -> int:
        """Return the server's time; see `Database`."""
        return int(connection.execute(_SERVER_TIME).scalar_one())

    def faults(self, connection: Connection) -> list[str]:
        """Return what would change the ledger by itself; the server looks after its own files."""
        added = connection.execute(_ADDED).scalars()
        return [f"The trigger or rule {plain(name)} was added, which may undo charges." for name in added]
