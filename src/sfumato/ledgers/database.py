"""The database of a ledger: SQLite in one file, or PostgreSQL; one writer at a time in both."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, Protocol

from sqlalchemy import Connection, exc, make_url

from ..errors import InputError
from ..escaping import plain
from .postgres import Postgres
from .sqlite import Sqlite

_ADDRESSES: Final = "use a path, sqlite:///budget.db, or postgresql://user@host/name."


class Database(Protocol):
    """A database in which a ledger is, or can be made.

    Attributes:
        name: The address without its password, for people.
    """

    name: str

    def create(self, fill: Callable[[Connection], None]) -> None:
        """Make a new ledger, or leave nothing behind.

        Args:
            fill: Makes the tables and their first rows, in one transaction.

        Raises:
            FileError: If something is there already, or nothing can be written there.
        """

    def writing(self) -> AbstractContextManager[Connection]:
        """Begin a transaction as the only writer."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that sees one state throughout."""

    def now(self, connection: Connection) -> int:
        """Return the database's time, seconds since 1970."""

    def faults(self, connection: Connection) -> list[str]:
        """Return what the database itself finds damaged, in sentences."""

    def close(self) -> None:
        """Close all connections that are not in use."""


def database_at(address: str | os.PathLike[str]) -> Database:
    """Return the database at an address, without looking whether it is there.

    Args:
        address: ``sqlite:///budget.db``, ``postgresql://user@host/name``, or the path of a SQLite file.

    Raises:
        InputError: If it is another kind of address, or a database that would not outlive the process.
        MissingExtraError: If the driver of PostgreSQL is not installed.
    """
    given = os.fspath(address)
    if "://" not in given:
        return Sqlite(given)
    try:
        url = make_url(given)
        kind = url.get_backend_name()
    except (exc.ArgumentError, ValueError):
        raise InputError(f"{plain(given)!r} is not the address of a ledger.", _ADDRESSES) from None
    if kind == "sqlite":
        if url.query or url.host:
            raise InputError(f"{plain(given)!r} has parts that a SQLite ledger does not know.", _ADDRESSES)
        return Sqlite(url.database or "")
    if kind in ("postgresql", "postgres"):
        return Postgres(url)
    raise InputError(f"a ledger cannot be kept in {plain(kind)!r}.", _ADDRESSES)
