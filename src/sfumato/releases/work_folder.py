"""Work folder of a release: lock, run, drawn batches and reports of places, readable by its owner only.

A row is drawn if and only if no part covers it. A part is written under another name, brought to the disk and then
renamed. So after a crash each row is either in a whole part, whose report stands, or in none, and then its report
was never seen.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._system import hidden_name, pa
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, argument
from ..tables import cause
from .kernel import PrivateBatch
from .provenance import Mark, mark_beside

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

RUN: Final = "run.json"
"""The file in a work folder with the facts of its run; without it no run goes on there."""

_SUFFIX: Final = ".release"
LOCK: Final = "lock"
"""The name of the lock in a work folder."""

_PAUSES_S: Final = (0.001, 0.01, 0.05)
_PART: Final = re.compile(r"part-(\d+)-(\d+)\.arrow")
_PART_NAME: Final = "part-{:015d}-{:015d}.arrow"
_MARK: Final = "mark"
_FACTS: Final = b"facts"
_AT_ONCE: Final = 5_000  # keys in one query; SQLite takes 32,766 values
_MOST_ROWS: Final = 8  # rows of places that may have moved
_PAGES: Final = -65_536  # KiB of the file that are held in memory
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS place (key BLOB PRIMARY KEY, report BLOB, lat REAL, lon REAL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS batch (start INTEGER PRIMARY KEY, named INTEGER NOT NULL, spread REAL)",
    "CREATE TABLE IF NOT EXISTS away (key BLOB PRIMARY KEY, m REAL NOT NULL, first INTEGER NOT NULL)",
)


def lock_folder(folder: Path, target: Path) -> int:
    """Make a work folder, lock it for this process alone, and return the descriptor of the lock."""
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        _check_own(folder, target)
        try:
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:  # another process has just finished
            continue
        try:
            _hold(lock)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), os.stat(folder / LOCK)):
                    return lock
        except BlockingIOError:
            os.close(lock)
            raise FileError(
                f"another process is writing a release to {str(target)!r}.",
                "wait for it, or choose another target.",
            ) from None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _hold(lock: int) -> None:
    """Take a lock, or raise `BlockingIOError`; the instant for which `is_locked` may hold it is waited for."""
    for wait_s in (*_PAUSES_S, None):
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if wait_s is None:
                raise
            time.sleep(wait_s)


def is_locked(folder: Path) -> bool:
    """Return whether a process works in a work folder now; False where the system knows no such locks."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
    return False


def _check_own(folder: Path, target: Path) -> None:
    """Refuse a folder of another owner, and close it to others."""
    with suppress(FileNotFoundError):
        state = os.lstat(folder)
        is_owner = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
        if not (stat.S_ISDIR(state.st_mode) and is_owner):
            raise FileError(
                f"{str(folder)!r}, where {str(target)!r} would be prepared, is not a folder of yours.",
                "remove it, or choose another target.",
            )
        if state.st_mode & 0o077:
            folder.chmod(0o700)


def work_folder(target: Path) -> Path:
    """Return the folder in which a release to a target is prepared."""
    return target.with_name(hidden_name(target.name, _SUFFIX))


def work_folders(folder: Path) -> Iterator[Path]:
    """Yield the work folders of all targets in a folder."""
    yield from sorted(folder.glob(f".*{_SUFFIX}"))


def facts_of(folder: Path) -> dict[str, str]:
    """Return what the release in a work folder is made from; empty where none can be continued."""
    try:
        data = json.loads((folder / RUN).read_bytes())
        return {str(name): str(value) for name, value in data.items()}
    except (OSError, AttributeError, ValueError, RecursionError):
        return {}


def _resume_run(folder: Path, facts: Mapping[str, str], target: Path) -> tuple[str, int]:
    """Return the name of the run that goes on, and how often its source had been released before it."""
    try:
        before = json.loads((folder / RUN).read_bytes())
        run, times = str(before["run"]), int(before["before"])
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"the interrupted release to {str(target)!r} cannot be read ({error}).",
            f"start again without {argument('resume')}.",
        ) from None
    for fact, now in facts.items():
        if before.get(fact) != now:
            raise InputError(
                f"the interrupted release to {str(target)!r} had another {fact}.",
                "resume it with the arguments it was started with",
                f"leave out {argument('resume')} to start again.",
            )
    return run, times


class DrawnPart(NamedTuple):
    """Rows of the source that have been drawn: from ``start`` up to ``stop``, not included."""

    start: int
    stop: int


class WorkFolder(CompactRepr):
    """Hidden folder next to a target: ``before`` counts earlier releases, ``removals`` parts that were removed."""

    __slots__ = ("_folder", "_lock", "before", "removals", "run")

    def __init__(self, folder: Path, lock: int, run: str, before: int, removals: int) -> None:
        self._folder, self._lock = folder, lock
        self.run, self.before, self.removals = run, before, removals

    @classmethod
    def open(
        cls, target: Path, facts: Mapping[str, str], *, resume: bool, again: bool = False, before: int = 0
    ) -> Self:
        """Return the locked work folder of a target: of the same ``facts`` with ``resume``, else emptied."""
        folder = work_folder(target)
        try:
            if resume and not (folder / RUN).is_file():
                raise InputError(
                    f"no interrupted release to {str(target)!r} is there to continue.",
                    f"leave out {argument('resume')}.",
                )
            lock = lock_folder(folder, target)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise unwritable(target, error) from None
        try:  # a copy of the folder, which would draw the same rows with one charge, has another number
            facts = {**facts, "folder": str(folder.stat().st_ino)}
            if resume:
                return cls(folder, lock, *_resume_run(folder, facts, target), 0)
            old_facts = {} if again or not (facts["ledger"] and facts["source"]) else facts_of(folder)
            if old_facts and all(old_facts.get(fact) == now for fact, now in facts.items()):
                raise InputError(
                    f"an interrupted release to {str(target)!r} is there, for which users may have been charged.",
                    f"continue it with {argument('resume', True)}, which charges no user twice for the same rows",
                    f"pass {argument('again', True)} to charge for all rows once more.",
                )
        except BaseException:
            os.close(lock)
            raise
        try:
            old = [path for path in folder.iterdir() if path.name != LOCK]
            removals = sum(_PART.fullmatch(path.name) is not None for path in old)
            (folder / RUN).unlink(missing_ok=True)  # before the parts: see `remove`
            sync_folder(folder)
            for path in old:
                path.unlink(missing_ok=True)
            run = secrets.token_hex(16)
            place = cls(folder, lock, run, before, removals)
            place._write(RUN, json.dumps({"run": run, "before": before, **facts}).encode())
            return place
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
            if isinstance(error, OSError) and not isinstance(error, FileError):
                raise unwritable(target, error) from None
            raise

    @property
    def parts(self) -> list[DrawnPart]:
        """Whole parts, in the order of their rows."""
        matches = (_PART.fullmatch(path.name) for path in self._folder.iterdir())
        return sorted(DrawnPart(int(match[1]), int(match[2])) for match in matches if match is not None)

    def keep(self, part: DrawnPart, private: PrivateBatch) -> None:
        """Bring a part to the disk; only then it counts as drawn."""
        names = ("dropped", "moved", "farthest_m", "without_position")
        facts = {name: getattr(private, name) for name in names}
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        schema = private.batch.schema.with_metadata({_FACTS: json.dumps(facts).encode()})
        with pa.ipc.new_file(sink, schema, options=options) as writer:
            writer.write_batch(private.batch.replace_schema_metadata(schema.metadata))
        self._write(_PART_NAME.format(*part), sink.getvalue())

    def read(self, part: DrawnPart, schema: Any) -> PrivateBatch:
        """Return a stored part; `FileError` if it is damaged."""
        path = self._folder / _PART_NAME.format(*part)
        try:
            with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
                facts = json.loads(reader.schema.metadata[_FACTS])
                batch = reader.get_batch(0).replace_schema_metadata(None)
            if batch.schema != schema:
                raise ValueError("it has other columns")
            nowhere = int(facts.get("without_position", 0))  # parts of earlier versions do not say
            return PrivateBatch(batch, facts["dropped"], facts["moved"], facts["farthest_m"], None, nowhere)
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise DamagedRunError(
                f"the part {str(path)!r} of the interrupted release is damaged ({cause(error)}).",
                f"start again without {argument('resume')}.",
            ) from None

    @property
    def table(self) -> Path:
        """Empty file in which the table is put together, readable by its owner only."""
        path = self._folder / "table"
        path.unlink(missing_ok=True)
        path.touch(0o600, exist_ok=False)
        return path

    @property
    def memo(self) -> Path:
        """File of the places that have a report; `FileError` if there are parts but no such file."""
        path = self._folder / "places.db"
        if self.parts and not path.is_file():
            raise DamagedRunError(
                f"{str(path)!r}, which the interrupted release needs, is gone.",
                f"start again without {argument('resume')}.",
            )
        return path

    def publish(self, table: Path, target: Path, mark: Mark | None) -> None:
        """Move the finished table, which is on the disk, to the target, with the rights of a new file.

        The old mark is removed first, and the new one added last: after a crash there is none, never a wrong one.
        """
        probe = self._folder / "rights"
        probe.unlink(missing_ok=True)
        probe.touch(0o666, exist_ok=False)
        rights = stat.S_IMODE(probe.stat().st_mode)
        probe.unlink()
        table.chmod(rights)
        if mark is None:
            table.replace(target)
        else:
            self._write(_MARK, f"{mark.text}\n".encode())
            (self._folder / _MARK).chmod(rights)
            mark_beside(target).unlink(missing_ok=True)
            sync_folder(target.parent)
            table.replace(target)
            sync_folder(target.parent)
            (self._folder / _MARK).replace(mark_beside(target))
        sync_folder(target.parent)

    def remove(self) -> None:
        """Remove the folder, first the facts of its run: going on without its parts would draw rows again."""
        (self._folder / RUN).unlink(missing_ok=True)
        sync_folder(self._folder)
        for path in self._folder.iterdir():
            if path.name != LOCK:
                path.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock)

    def _write(self, name: str, content: Any) -> None:
        temporary = self._folder / f"{name}.new"
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._folder / name)
        sync_folder(self._folder)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def unwritable(target: Path, error: OSError) -> FileError:
    """Return the error of a target that cannot be written, with what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return FileError(
        f"{str(target)!r} could not be written ({error.strerror or error}).",
        "the disk is full: free some space or write elsewhere"
        if full
        else "check the folder and its permissions.",
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

    A batch is stored whole before its part of the release is, so a run that goes on finds every report. The file
    holds true positions, and only its owner can read it. Names of places are hashed with ``name``, a text of the
    run. Without a ``path``, ``spill`` allows an unnamed temporary file.
    """

    __slots__ = ("_database", "_name")

    def __init__(self, path: Path | None = None, name: str = "", *, spill: bool = False) -> None:
        self._name = name.encode()[:64]
        if path is not None:
            path.touch(0o600)
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

    def find_anchors(self, keys: Sequence[bytes]) -> dict[bytes, Anchor]:
        """Return the anchors of those places that have one."""
        anchors: dict[bytes, Anchor] = {}
        with _readable():
            for at in range(0, len(keys), _AT_ONCE):
                batch = keys[at : at + _AT_ONCE]
                marks = ",".join("?" * len(batch))
                rows = self._database.execute(f"SELECT * FROM place WHERE key IN ({marks})", batch)  # noqa: S608
                anchors |= {
                    key: Anchor(report, *(float("nan") if degree is None else degree for degree in at))
                    for key, report, *at in rows
                }
        return anchors

    def keep(
        self,
        start: int,
        anchors: dict[bytes, Anchor],
        visits: int,
        spread_m: float | None,
        away: Mapping[bytes, tuple[float, int]] = MappingProxyType({}),
    ) -> None:
        """Bring the new places of a batch to the disk, all or none.

        ``visits`` rows name a place, at most ``spread_m`` metres from their anchors. ``away`` are places that may
        have moved: the distance of a visit, metres, and its row in the source.
        """
        rows = ((key, *anchor) for key, anchor in anchors.items())
        with _readable():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany("INSERT INTO place VALUES (?, ?, ?, ?)", rows)
                self._database.execute("INSERT OR REPLACE INTO batch VALUES (?, ?, ?)", (start, visits, spread_m))
                self._database.executemany(
                    "INSERT INTO away VALUES (?, ?, ?) "
                    "ON CONFLICT (key) DO UPDATE SET m = max(m, excluded.m), first = min(first, excluded.first)",
                    ((key, *visit) for key, visit in away.items()),
                )
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    @property
    def counts(self) -> tuple[int, int, float]:
        """The rows that name a place, the places, and how far rows are from their anchors at most, metres."""
        with _readable():
            visits, spread = self._database.execute("SELECT sum(named), max(spread) FROM batch").fetchone()
            places = self._database.execute("SELECT count(*) FROM place").fetchone()[0]
        return visits or 0, places, spread or 0.0

    @property
    def possible_moves(self) -> tuple[int, float, tuple[int, ...]]:
        """The places that may have moved, how far a visit is away at most, metres, and the first of such rows."""
        with _readable():
            places, far_m = self._database.execute("SELECT count(*), max(m) FROM away").fetchone()
            rows = self._database.execute(
                "SELECT first FROM away ORDER BY first LIMIT ?", (_MOST_ROWS,)
            ).fetchall()
        return places, far_m or 0.0, tuple(row for (row,) in rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()


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
