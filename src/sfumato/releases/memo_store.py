"""Store of the reports that stand for users' places in one release, in a file or in memory."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, argument

_AT_ONCE: Final = 5_000  # keys in one query; SQLite takes 32,766 values
_SHOWN: Final = 8  # rows of places that may have moved
_PAGES: Final = -65_536  # KiB of the file that are held in memory
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS place (key BLOB PRIMARY KEY, report BLOB, lat REAL, lon REAL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS batch (start INTEGER PRIMARY KEY, named INTEGER NOT NULL, spread REAL)",
    "CREATE TABLE IF NOT EXISTS away (key BLOB PRIMARY KEY, m REAL NOT NULL, first INTEGER NOT NULL)",
)


class DamagedRunError(FileError):
    """A file of an interrupted release is damaged or gone, so that nothing can go on from it."""


class Anchor(NamedTuple):
    """First visit to a place (degrees, NaN if unknown) and its report, None where a ledger holds it."""

    report: bytes | None
    lat: float
    lon: float

    def read(self, kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the report as an array; `FileError` if the ledger's report is another one."""
        try:
            return np.frombuffer(self.report or b"", kind).reshape(shape)
        except ValueError:
            raise _unreadable("a report of a place is damaged") from None


class PlaceMemo:
    """Anchors of users' places in one release, in any number, and counts of its batches.

    A batch is stored whole before its part of the release is, so a run that goes on finds the report of every
    place. The file holds true positions, and only its owner can read it. Names of places are hashed with ``name``,
    a text of the run. Without a ``path``, ``spill`` allows an unnamed temporary file.
    """

    __slots__ = ("_database", "_name")

    def __init__(self, path: Path | None = None, name: str = "", *, spill: bool = False) -> None:
        self._name = name.encode()[:64]
        if path is not None:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        with _readable():
            self._database = sqlite3.connect(
                path or ("" if spill else ":memory:"), isolation_level=None, check_same_thread=False
            )
            try:
                self._database.execute(f"PRAGMA cache_size = {_PAGES}")
                self._database.execute("PRAGMA synchronous = FULL")
                for table in _TABLES:
                    self._database.execute(table)
            except BaseException:
                self._database.close()
                raise

    def key(self, user: str, place: str) -> bytes:
        """Return the key of a user's place, 32 bytes."""
        parts = (user.encode(errors="surrogatepass"), place.encode(errors="surrogatepass"))
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hashlib.blake2b(message, key=self._name, digest_size=32).digest()

    def known(self, keys: Sequence[bytes]) -> dict[bytes, Anchor]:
        """Return the anchors of those places that have one."""
        anchors: dict[bytes, Anchor] = {}
        with _readable():
            for at in range(0, len(keys), _AT_ONCE):
                some = keys[at : at + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = self._database.execute(f"SELECT * FROM place WHERE key IN ({marks})", some)  # noqa: S608
                anchors |= {
                    key: Anchor(report, *(float("nan") if each is None else each for each in at))
                    for key, report, *at in rows
                }
        return anchors

    def keep(
        self,
        start: int,
        anchors: dict[bytes, Anchor],
        named: int,
        spread_m: float | None,
        away: Mapping[bytes, tuple[float, int]] = MappingProxyType({}),
    ) -> None:
        """Bring the new places of a batch to the disk, all or none.

        ``named`` rows name a place, at most ``spread_m`` metres from their anchors. ``away`` are places that may
        have moved: the distance of a visit, metres, and its row in the source.
        """
        rows = ((key, *anchor) for key, anchor in anchors.items())
        with _readable():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany("INSERT INTO place VALUES (?, ?, ?, ?)", rows)
                self._database.execute("INSERT OR REPLACE INTO batch VALUES (?, ?, ?)", (start, named, spread_m))
                self._database.executemany(
                    "INSERT INTO away VALUES (?, ?, ?) "
                    "ON CONFLICT (key) DO UPDATE SET m = max(m, excluded.m), first = min(first, excluded.first)",
                    ((key, *each) for key, each in away.items()),
                )
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    @property
    def counts(self) -> tuple[int, int, float]:
        """The rows that name a place, the places, and how far rows are from their anchors at most, metres."""
        with _readable():
            named, spread = self._database.execute("SELECT sum(named), max(spread) FROM batch").fetchone()
            places = self._database.execute("SELECT count(*) FROM place").fetchone()[0]
        return named or 0, places, spread or 0.0

    @property
    def far(self) -> tuple[int, float, tuple[int, ...]]:
        """The places that may have moved, how far a visit is away at most, metres, and the first of such rows."""
        with _readable():
            places, far_m = self._database.execute("SELECT count(*), max(m) FROM away").fetchone()
            rows = self._database.execute("SELECT first FROM away ORDER BY first LIMIT ?", (_SHOWN,)).fetchall()
        return places, far_m or 0.0, tuple(row for (row,) in rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _unreadable(str(error)) from None


def _unreadable(why: str) -> DamagedRunError:
    return DamagedRunError(
        f"the places of the release could not be kept or read ({why}).",
        "free some space, or choose another target",
        f"if the interrupted release is damaged, start again without {argument('resume')}.",
    )
