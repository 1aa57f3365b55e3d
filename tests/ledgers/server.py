"""A PostgreSQL server of the tests' own that clients reach over TCP, and that can be killed and started again."""

import importlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import ModuleType

import sqlalchemy

from ..releases.forks import PATIENCE_S


class Server:
    """A server.

    Args:
        package: The package that ships it.
    """

    def __init__(self, package: ModuleType) -> None:
        self._execute = importlib.import_module(f"{package.__name__}.pgexec").pgexec
        self._folder = Path(tempfile.mkdtemp(prefix="sf", dir="/tmp" if os.name == "posix" else None))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where there is no folder for a user's run-time files
            self._made = package.get_server(self._folder / "pg", cleanup_mode="stop")
        self.stop("fast")
        # A host of its own where the system has more than one for itself: nobody takes the port while it is down.
        number = os.getpid()
        own = f"127.{64 + (number >> 16) % 64}.{(number >> 8) % 256}.{number % 256}"
        self._host = own if sys.platform == "linux" else "127.0.0.1"
        with socket.socket() as free:
            free.bind((self._host, 0))
            self._port = free.getsockname()[1]
        self.start()

    @property
    def address(self) -> str:
        """The address of its database."""
        return f"postgresql://postgres@{self._host}:{self._port}/postgres"

    def start(self) -> None:
        """Start it, once what is left of the last one is gone, and wait until it takes connections."""
        listening = f"-h {self._host} -p {self._port} -c unix_socket_directories="
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._control("-l", str(self._folder / "pg" / "log"), "-o", listening, "start")
                return
            except subprocess.CalledProcessError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)

    def stop(self, mode: str) -> None:
        """Stop it: ``fast``, or ``immediate`` as in a crash."""
        self._control("-m", mode, "stop")

    def kill(self) -> None:
        """Kill the server at once, as the system does when memory is short."""
        pid = int((self._folder / "pg" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    def kill_one(self) -> None:
        """Kill the server's process for one client; it then breaks with all of them, and recovers."""
        with self.connection() as connection:
            pid = connection.exec_driver_sql(
                "SELECT max(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).scalar_one()
        os.kill(pid, signal.SIGKILL)

    def connection(self) -> sqlalchemy.Connection:
        """Connect without a ledger; every statement counts at once."""
        url = sqlalchemy.make_url(self.address).set(drivername="postgresql+psycopg")
        engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)
        return engine.connect()

    def remove(self) -> None:
        """Stop it, and remove its files."""
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _control(self, *arguments: str) -> None:
        made = self._made
        given = ("-w", "-t", str(PATIENCE_S), "-D", str(made.pgdata), *arguments)
        self._execute("pg_ctl", given, bin_path=made.bin_path, user=made.system_user, timeout=PATIENCE_S + 30)
