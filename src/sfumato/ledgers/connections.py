"""Connections to a database, and its errors in the caller's words."""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Engine, exc

from ..errors import FileError
from ..escaping import plain

PATIENCE_S: Final = 20
_LOSS: Final = "no report was given out, but budget may be lost"
_LOST: Final = f"see that the server runs; {_LOSS}."
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
    "server closed": _LOST,
    "terminating connection": _LOST,
    "connection failed": _ABSENT,
    "connection to server at": _ABSENT,
    "failed to resolve": _ABSENT,
}


class DatabaseConnections(ABC):
    """A pool of connections that is closed with its owner, and that a forked process does not share.

    Args:
        name: The address without its password, for people.

    Attributes:
        name: The address.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._left: list[Engine] = []  # those of the process that this one was forked from
        self._open()

    @abstractmethod
    def fresh(self) -> Engine:
        """Return an engine that has no connection yet."""

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        if self._process != os.getpid():
            self._closing.detach()
            self._left.append(self._engine)
            self._open()
        return self._engine

    def _open(self) -> None:
        self._engine, self._process = self.fresh(), os.getpid()
        self._closing = weakref.finalize(self, _dispose, self._engine, self._process)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Tell errors of the database in the caller's words.

        Raises:
            FileError: For each of them.
        """
        try:
            yield
        except exc.TimeoutError as error:
            raise FileError(f"{self.name!r} has too many users at once.", "try again.") from error
        except exc.DBAPIError as error:
            raise _told(self.name, error.orig) from error
        except (exc.NoResultFound, exc.MultipleResultsFound) as error:  # of the one row of terms
            raise _told(self.name, error) from error
        except UnicodeError as error:  # of a text, or of the driver's own message, in a file that is damaged
            raise _told(self.name, error) from error

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()


def _dispose(engine: Engine, process: int) -> None:
    if process == os.getpid():  # a forked process leaves its parent's connections alone
        engine.dispose()


def _told(name: str, error: BaseException | None) -> FileError:
    """Return the error of a driver as one of a file."""
    lines = str(error).strip().splitlines() or ["unknown reason"]
    said = plain(lines[0])
    if "locked" in said or "lock timeout" in said:
        return FileError(
            f"another process has held {name!r} for {PATIENCE_S} seconds; nothing was charged.",
            "try again, or look for a process that hangs.",
        )
    hint = next(
        (text for mark, text in _HINTS.items() if mark in said), f"check the database, and try again; {_LOSS}."
    )
    return FileError(f"the ledger in {name!r} cannot be used ({said}).", hint)
