"""Changes behind a ledger's back: what somebody with the database could do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy
from sqlalchemy import Connection


@contextmanager
def behind(address: str) -> Iterator[Connection]:
    """Connect to a ledger's database without the ledger."""
    url = sqlalchemy.make_url(address)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = sqlalchemy.create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def alter(address: str, *statements: str) -> None:
    """Run statements in a ledger's database."""
    with behind(address) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def stop_clock(address: str) -> None:
    """Let the clock of a ledger stand still: it goes on at the time of its latest charge, which is a day ahead."""
    alter(address, "UPDATE sfumato_ledger SET time = time + 86400")


def rows(address: str, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table."""
    with behind(address) as connection:
        return [dict(row) for row in connection.exec_driver_sql(f"SELECT * FROM sfumato_{table}").mappings()]
