"""The tables of a ledger."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, MetaData, Table, Text, text

METADATA: Final = MetaData()

# One row: the terms, which never change, and the head of the record.
LEDGER: Final = Table(
    "sfumato_ledger",
    METADATA,
    Column("id", BigInteger, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
    Column("identity", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("limits", Text, nullable=False),
    Column("salt", Text, nullable=False),
    Column("keyed", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
)

# The sums of each user, which the record proves.
ACCOUNTS: Final = Table(
    "sfumato_accounts",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("spent", Text, nullable=False),
    Column("reports", BigInteger, nullable=False),
    Column("day", BigInteger, nullable=False),
    Column("day_spent", Text, nullable=False),
    Column("week", BigInteger, nullable=False),
    Column("week_spent", Text, nullable=False),
    sqlite_with_rowid=False,
)

# The record of charges: rows are added, and never changed.
CHARGES: Final = Table(
    "sfumato_charges",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("amount", Text, nullable=False),
    Column("reports", BigInteger, nullable=False),
    Column("mechanism", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("batch", BigInteger, nullable=False),
    Column("places", Text, nullable=False),
    Column("report", Text, nullable=False),
    Column("hash", Text, nullable=False),
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
PLACES: Final = Table(
    "sfumato_places",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("charge", BigInteger, primary_key=True, autoincrement=False),
    Column("report", Text, nullable=False),
    sqlite_with_rowid=False,
)

# The batches of runs that were charged.
BATCHES: Final = Table(
    "sfumato_batches",
    METADATA,
    Column("run", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True, autoincrement=False),
    Column("contents", Text, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)


def typed(row: Any, table: Table) -> bool:
    """Return whether each value of a row is of its column's type, which SQLite does not ensure."""
    return all(type(value) is column.type.python_type for value, column in zip(row, table.columns, strict=True))
