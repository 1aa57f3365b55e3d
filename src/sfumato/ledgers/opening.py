"""The beginning of a ledger: it is made once, and opened with the terms that it was made with."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, insert, select

from ..errors import FileError, InputError, argument, python
from ..escaping import plain
from .books import Books
from .database import database_at
from .limits import Limit, stored_limits
from .record import KEY_BYTES, SUM, VERSION, Terms
from .schema import LEDGER, METADATA, typed
from .verification import check_ends


def make_ledger(
    address: str | os.PathLike[str],
    limits: tuple[Limit, ...],
    unit: str,
    *,
    key: bytes | None = None,
    salt: str | None = None,
    fill: Callable[[Books], None] | None = None,
) -> None:
    """Make a new ledger, with first charges if there are any: all of it, or nothing.

    Args:
        address: Where; nothing may be there.
        limits: What each user may spend.
        unit: The unit of the metric.
        key: The ledger's key; None for none.
        salt: 32 hexadecimal digits, where places keep the hashes of an older ledger.
        fill: Makes the first charges.

    Raises:
        InputError: If the key does not have 32 bytes.
        FileError: If something is there, or nothing can be written there.
    """
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
        connection.execute(insert(LEDGER), _first_row(terms))
        if fill is not None:
            books = Books(connection, terms, now, database.name)
            fill(books)
            books.write()

    try:
        database.create(make)
    finally:
        database.close()


def _first_row(terms: Terms) -> dict[str, Any]:
    return {
        "id": 1,
        "version": VERSION,
        "identity": terms.identity,
        "unit": terms.unit,
        "rule": terms.rule,
        "limits": stored_limits(terms.limits),
        "salt": terms.salt,
        "keyed": terms.keyed,
        "created": terms.created,
        "number": 0,
        "time": terms.created,
        "hash": terms.genesis,
    }


def read_terms(connection: Connection, name: str, key: bytes) -> Terms:
    """Return the terms of a ledger that is opened.

    Args:
        connection: Of a transaction.
        name: The address, for errors.
        key: The key that was given; empty for none.

    Raises:
        FileError: If there is no ledger, or it is not sound.
        InputError: If the key is not its own.
    """
    row = connection.execute(select(LEDGER)).one_or_none()
    if row is None:
        raise FileError(f"there is no ledger in {name!r}.", "create it with 'sfumato ledger create'.")
    try:
        if not typed(row, LEDGER):
            raise ValueError("its terms are of other types")
        terms = Terms.of_row(row._asdict(), key)
    except (ValueError, TypeError) as error:
        raise _not_sound(name, error) from None
    if row.keyed and not key:
        raise InputError(
            f"the ledger in {name!r} has a key.",
            f"pass {argument('Ledger.key')} with the one that it was made with.",
        )
    if row.keyed != terms.keyed:
        raise InputError(
            f"the key is not that of the ledger in {name!r}.",
            "use the one that it was made with."
            if row.keyed
            else f"it was made without a key: leave {argument('Ledger.key')} out.",
        )
    try:
        check_ends(connection, terms)
    except (ValueError, TypeError) as error:
        raise _not_sound(name, error) from None
    return terms


def _not_sound(name: str, error: Exception) -> FileError:
    return FileError(
        f"{name!r} is not a sound ledger ({plain(str(error))}).",
        "restore it from a copy, and check that with the head of its record.",
    )
