"""The file of a SQLite ledger: one name for it, and the same file from the first charge to the last."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import QueuePool

from ..errors import FileError, python

_OWNER_ONLY: Final = 0o600


class SqliteFile:
    """One file on a disk, under its real path.

    Symbolic links are followed once. A file with a second name (a hard link) is refused: SQLite keeps its
    log beside each name, so that two processes would not see each other's charges. So is a file that was
    removed or replaced since it was opened.

    Args:
        path: Its path.
    """

    __slots__ = ("_seen", "path", "shown")

    def __init__(self, path: str) -> None:
        self.shown = path
        try:
            self.path = os.path.realpath(path)
        except ValueError as error:
            raise FileError(f"{path!r} is not a path ({error}).", "check the path.") from None
        self._seen: tuple[int, int] | None = None

    def create(self) -> None:
        """Make the file, which only its owner can read.

        Raises:
            FileError: If it exists, or cannot be made.
        """
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
        except FileExistsError:
            raise FileError(
                f"{self.shown!r} exists already.", "open it, or create the ledger in another file."
            ) from None
        except OSError as error:
            raise FileError(
                f"{self.shown!r} could not be made ({error.strerror}).",
                "choose a folder that exists and where you may write.",
            ) from error

    def remove(self) -> None:
        """Remove a file that was just made, and its log."""
        for ending in ("", "-wal", "-shm"):
            Path(self.path + ending).unlink(missing_ok=True)

    def check(self) -> None:
        """Refuse a file that is not there, has two names, or is another one than before.

        Raises:
            FileError: Of these.
        """
        try:
            found = os.stat(self.path)
        except (OSError, ValueError) as error:
            if self._seen:
                raise FileError(
                    f"{self.shown!r} was removed while it was in use.",
                    "restore it from a copy, and check that with the head of its record.",
                ) from None
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(
                f"there is no ledger {self.shown!r} ({reason}).",
                python("create it once with Ledger.create"),
                "create it once with 'sfumato ledger create'",
                "if it was there before, restore it: without it nobody knows what was spent.",
            ) from None
        if self._seen not in (None, (found.st_dev, found.st_ino)):
            raise FileError(
                f"{self.shown!r} was replaced by another file while it was in use.",
                "check it with the head of its record, and open it again.",
            )
        if found.st_nlink > 1:
            raise FileError(
                f"{self.shown!r} has {found.st_nlink} names (hard links), and charges by one could miss those by "
                "another.",
                "remove the other names, or use symbolic links.",
            )
        self._seen = found.st_dev, found.st_ino

    def engine(self, patience_s: float) -> Engine:
        """Return a pool of connections to the file, which is never made by opening it."""
        address = f"file:{quote(Path(self.path).as_posix())}?mode=rw"

        def connect() -> Any:
            connection = sqlite3.connect(
                address, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA synchronous = FULL")
            except BaseException:
                connection.close()
                raise
            return connection

        return create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    def write_ahead(self) -> None:
        """Let the file have a log that is written ahead: readers do not wait for a writer.

        Raises:
            FileError: If it cannot be written.
        """
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            raise FileError(f"{self.shown!r} could not be written ({error}).", "choose another place.") from error
        finally:
            connection.close()
