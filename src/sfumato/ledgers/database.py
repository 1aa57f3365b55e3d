"""Databases for ledgers: a SQLite file or PostgreSQL, with one writer at a time."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import QueuePool

from ..errors import FileError, InputError, MissingExtraError, python
from ..escaping import plain

PATIENCE_S: Final = 20
_ADDRESSES: Final = "use a path, sqlite:///budget.db, or postgresql://user@host/name."
_LOSS: Final = "no report was given out, but budget may be lost"
_SERVER_HINT: Final = f"see that the server runs; {_LOSS}."
_ABSENT: Final = "see that the server runs, and check the address; nothing was charged."
_HINTS: Final = {
    "is full": "free some space; nothing was charged.",
    "No space left": "free some space; nothing was charged.",
    "disk I/O": f"check the disk and its free space; {_LOSS}.",
    "readonly": "choose a place where you may write; nothing was charged.",
    "unable to open": "choose a place where you may write, its folder too; nothing was charged.",
    "malformed": "restore it from a copy, and check that with the head of its record.",
    "not a database": "check the path.",
    "no such table": "check the path; if its making was cut off, remove the file and create it again.",
    "does not exist": "create a ledger first, or check the address.",
    "server closed": _SERVER_HINT,
    "terminating connection": _SERVER_HINT,
    "connection failed": _ABSENT,
    "connection to server at": _ABSENT,
    "failed to resolve": _ABSENT,
}


class Database(ABC):
    """A database that contains a ledger, or may; its name is the address without the password.

    Its pool of connections is closed with its owner, and a forked process does not share it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._left: list[Engine] = []  # those of the process that this one was forked from
        self._open()

    @abstractmethod
    def new_engine(self) -> Engine:
        """Return an engine that has no connection yet."""

    @abstractmethod
    def create(self, fill: Callable[[Connection], None]) -> None:
        """Make a new ledger, filled in one transaction, or leave nothing behind; refuse a place that is taken."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """Begin a transaction as the only writer."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that sees one state throughout."""

    @abstractmethod
    def now(self, connection: Connection) -> int:
        """Return the database's time, seconds since 1970."""

    @abstractmethod
    def faults(self, connection: Connection) -> list[str]:
        """Return in sentences the damage that the database finds, and what would change the ledger by itself."""

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        if self._process != os.getpid():
            self._closing.detach()
            self._left.append(self._engine)
            self._open()
        return self._engine

    def _open(self) -> None:
        self._engine, self._process = self.new_engine(), os.getpid()
        self._closing = weakref.finalize(self, _dispose, self._engine, self._process)

    @contextmanager
    def file_errors(self) -> Iterator[None]:
        """Raise each error of the database as a `FileError`, in the caller's words."""
        try:
            yield
        except exc.TimeoutError as error:
            raise FileError(f"{self.name!r} has too many users at once.", "try again.") from error
        except exc.DBAPIError as error:
            raise _file_error(self.name, error.orig) from error
        except (exc.NoResultFound, exc.MultipleResultsFound) as error:  # of the one row of terms
            raise _file_error(self.name, error) from error
        except UnicodeError as error:  # of a text, or of the driver's own message, in a file that is damaged
            raise _file_error(self.name, error) from error


def _dispose(engine: Engine, process: int) -> None:
    if process == os.getpid():  # a forked process leaves its parent's connections alone
        engine.dispose()


def _file_error(name: str, error: BaseException | None) -> FileError:
    lines = str(error).strip().splitlines() or ["unknown reason"]
    reason = plain(lines[0])
    if "locked" in reason or "lock timeout" in reason:
        return FileError(
            f"another process has held {name!r} for {PATIENCE_S} seconds; nothing was charged.",
            "try again, or look for a process that hangs.",
        )
    hint = next((hint for part, hint in _HINTS.items() if part in reason), "")
    return FileError(
        f"the ledger in {name!r} cannot be used ({reason}).",
        hint or f"check the database, and try again; {_LOSS}.",
    )


_OWNER_ONLY: Final = 0o600
_WRITING: Final = "sfumato_writing"


class _Sqlite(Database):
    """A SQLite file, under its real path, with a write-ahead log that is synced at every commit.

    A file with a hard link is refused: SQLite writes its log next to each name, so two processes would miss each
    other's charges. So is a file that was removed or replaced since it was opened.
    """

    def __init__(self, path: str) -> None:
        if not path.strip() or path == ":memory:" or path.startswith("file:"):
            raise InputError("a ledger in memory would forget what was spent.", "give it a file: budget.db.")
        try:
            self._path = os.path.realpath(path)
        except ValueError as error:
            raise FileError(f"{path!r} is not a path ({error}).", "check the path.") from None
        self._identity: tuple[int, int] | None = None
        super().__init__(path)

    def new_engine(self) -> Engine:
        """Return an engine that never creates the file, and takes its lock when a writing transaction begins."""
        address = f"file:{quote(Path(self._path).as_posix())}?mode=rw"

        def connect() -> Any:
            connection = sqlite3.connect(
                address, uri=True, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA synchronous = FULL")
            except BaseException:
                connection.close()
                raise
            return connection

        engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            writing = connection.get_execution_options().get(_WRITING)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

        return engine

    def create(self, fill: Callable[[Connection], None]) -> None:
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
        except FileExistsError:
            raise FileError(
                f"{self.name!r} exists already.", "open it, or create the ledger in another file."
            ) from None
        except OSError as error:
            raise FileError(
                f"{self.name!r} could not be made ({error.strerror}).",
                "choose a folder that exists and where you may write.",
            ) from error
        try:  # with the write-ahead log readers do not wait for a writer
            connection = sqlite3.connect(self._path, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.Error as error:
                raise FileError(
                    f"{self.name!r} could not be written ({error}).", "choose another place."
                ) from error
            finally:
                connection.close()
            with self.writing() as writer:
                fill(writer)
        except BaseException:
            self.close()
            for ending in ("", "-wal", "-shm"):
                Path(self._path + ending).unlink(missing_ok=True)
            raise

    def _check(self) -> None:
        """Refuse a file that does not exist, has two names, or was replaced."""
        try:
            status = os.stat(self._path)
        except (OSError, ValueError) as error:
            if self._identity:
                raise FileError(
                    f"{self.name!r} was removed while it was in use.",
                    "restore it from a copy, and check that with the head of its record.",
                ) from None
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(
                f"there is no ledger {self.name!r} ({reason}).",
                python("create it once with Ledger.create"),
                "create it once with 'sfumato ledger create'",
                "if it was there before, restore it: it is the only record of what was spent.",
            ) from None
        if self._identity not in (None, (status.st_dev, status.st_ino)):
            raise FileError(
                f"{self.name!r} was replaced by another file while it was in use.",
                "check it with the head of its record, and open it again.",
            )
        if status.st_nlink > 1:
            raise FileError(
                f"{self.name!r} has {status.st_nlink} names (hard links), and charges by one could miss those by "
                "another.",
                "remove the other names, or use symbolic links.",
            )
        self._identity = status.st_dev, status.st_ino

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        self._check()
        with self.file_errors(), self.engine.connect() as connection:
            alone = connection.execution_options(**{_WRITING: True})
            with alone.begin():
                self._check()  # again: no other process writes from here on
                yield alone

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        self._check()
        with self.file_errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    def now(self, connection: Connection) -> int:
        del connection
        return int(time.time())

    def faults(self, connection: Connection) -> list[str]:
        lines = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
        damaged = [] if lines == ["ok"] else [f"SQLite finds the file damaged: {plain(line)}." for line in lines]
        objects = connection.exec_driver_sql(
            "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"
        )
        return [
            *damaged,
            *(f"The {kind} {plain(name)} was added, which may undo charges." for kind, name in objects),
        ]


# A client that vanished in the middle of a charge holds the lock of the ledger's row no longer than this.
_SESSION: Final = (
    "SET synchronous_commit = on",
    f"SET lock_timeout = '{PATIENCE_S}s'",
    "SET idle_in_transaction_session_timeout = '5min'",
)
_SERVER_TIME: Final = text("SELECT floor(extract(epoch FROM clock_timestamp()))::bigint")
_TRIGGERS: Final = text(
    "SELECT tgname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    "WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace "
    "AND starts_with(relname, 'sfumato_') "
    "UNION ALL SELECT rulename::text FROM pg_rules "
    "WHERE schemaname = current_schema() AND starts_with(tablename, 'sfumato_')"
)
_DUPLICATE_CODES: Final = ("42P07", "42710", "23505")  # there is one, or another client makes one at the same time


class _Postgres(Database):
    """A PostgreSQL database, for several hosts: the server's clock, and a row that the writer locks."""

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql+psycopg")
        super().__init__(url.set(drivername="postgresql").render_as_string(hide_password=True))

    def new_engine(self) -> Engine:
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
        try:
            with self.writing() as connection:
                fill(connection)
        except FileError as error:
            reason = error.__cause__
            if isinstance(reason, exc.DBAPIError) and getattr(reason.orig, "sqlstate", "") in _DUPLICATE_CODES:
                raise FileError(
                    f"a ledger exists already in {self.name!r}.", "open it, or use another database."
                ) from error
            raise

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        # Its first query reads and locks the ledger's row.
        with self.file_errors(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.file_errors(), self.engine.connect() as connection:
            steady = connection.execution_options(isolation_level="REPEATABLE READ")
            with steady.begin():
                yield steady

    def now(self, connection: Connection) -> int:
        return int(connection.execute(_SERVER_TIME).scalar_one())

    def faults(self, connection: Connection) -> list[str]:
        """Return triggers and rules; the server checks its own files."""
        names = connection.execute(_TRIGGERS).scalars()
        return [f"The trigger or rule {plain(name)} was added, which may undo charges." for name in names]


def database_at(address: str | os.PathLike[str]) -> Database:
    """Return the database at an address or path, without checking whether it exists."""
    path = os.fspath(address)
    if "://" not in path:
        return _Sqlite(path)
    try:
        url = make_url(path)
        kind = url.get_backend_name()
    except (exc.ArgumentError, ValueError):
        raise InputError(f"{plain(path)!r} is not the address of a ledger.", _ADDRESSES) from None
    if kind == "sqlite":
        if url.query or url.host:
            raise InputError(f"{plain(path)!r} has parts that a SQLite ledger does not have.", _ADDRESSES)
        return _Sqlite(url.database or "")
    if kind in ("postgresql", "postgres"):
        return _Postgres(url)
    raise InputError(f"a ledger cannot be kept in {plain(kind)!r}.", _ADDRESSES)
