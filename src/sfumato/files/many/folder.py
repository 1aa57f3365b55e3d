"""Folder of designs and its index: filled by workers, resumed by the next run, and read for a release."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any, Final

from ..._system import atomically, try_lock
from ...core import Randomizer
from ...core.arguments import checked
from ...core.immutable import CompactRepr
from ...errors import FileError, InputError
from ..decoding import load
from .job import DesignDone, DesignRow, DesignWorkers, Job, is_hash, name_of, stem_of

INDEX: Final = "index.jsonl"
_LOCK: Final = ".designing"
_OWNER_ONLY: Final = 0o600
_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "loss": (int, float),
    "slack_m": (int, float),
    "seconds": (int, float),
    "finished": bool,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignFolder(CompactRepr):
    """A folder of designs, after a run.

    Attributes:
        folder: The folder of the mechanism files and of ``index.jsonl``, with a line for each.
        rows: The designs by name, in the requested order.
        made: The number of designs made by this run; the others existed.
        failed: The reason of each missing design, by name.
        waiting: The number of designs not begun, because the run was asked to stop.
        few: The number of people left out, with too few visits.
    """

    folder: Path
    rows: dict[str, DesignRow]
    made: int
    failed: dict[str, str]
    waiting: int
    few: int = 0

    @property
    def finished(self) -> bool:
        """Whether all requested designs exist, each to the wanted gap."""
        return not self.failed and not self.waiting and all(row.finished for row in self.rows.values())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignNews(CompactRepr):
    """The result of one design for a person, and the progress of the run, which has tried ``done`` of ``total``.

    Without a design ``row`` is None, and ``reason`` says why.
    """

    name: str
    row: DesignRow | None
    reason: str
    done: int
    total: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Designs tried per minute."""
        return 60 * self.done / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        """The time for the rest at this rate."""
        return (self.total - self.done) * self.seconds / self.done


OnNews = Callable[[DesignNews], None]


def filled(
    folder: str | PathLike[str], jobs: Sequence[Job], workers: DesignWorkers, progress: OnNews | None, few: int = 0
) -> DesignFolder:
    """Make the missing designs of a folder, each written when it is ready; ``few`` counts the people left out.

    It is an `InputError` if the folder holds designs for other arguments, or another run writes to it.
    """
    begun, where = time.monotonic(), Path(folder)
    failed: dict[str, str] = {}
    with opened(where) as designs:
        missing = [job for job in jobs if not _there(where, job, designs.get(job.name))]
        for job in missing:
            designs.pop(job.name, None)
        tried = 0
        for name, made in workers.results(missing):
            tried += 1
            if made.row is None:
                failed[name] = made.reason
            else:
                add(where, made)
                designs[name] = made.row
            if progress is not None:
                seconds = time.monotonic() - begun
                progress(DesignNews(name, made.row, made.reason, tried, len(missing), seconds))
    rows = {job.name: designs[job.name] for job in jobs if job.name in designs}
    return DesignFolder(where, rows, tried - len(failed), failed, len(missing) - tried, few)


@checked
def read_designs(
    folder: str | PathLike[str], *, trust_distances: bool = False, signed_by: str | PathLike[str] | None = None
) -> dict[str, Randomizer]:
    """Return the mechanisms of a folder by name, for ``sf.release(..., by="user")``.

    The folder is one of `design_each_user` or `design_many`, or any with a mechanism file for each name. The index
    is used only for names that are too long for files. For the other arguments see `sfumato.load`.

    Raises:
        FileError: If it is not a folder, holds no mechanism file, or one cannot be read.
        InputError: If two files are for one name.
    """
    where = Path(folder)
    if not where.is_dir():
        raise FileError(f"{str(where)!r} is not a folder.", "name a folder of mechanism files.")
    paths = sorted(where.glob("*.sfm"))
    if not paths:
        raise FileError(f"the folder {str(where)!r} holds no mechanism file (.sfm).", "check the path.")
    long = {Path(row.file).stem: name for name, row in rows_of(where).items()}
    mechanisms: dict[str, Randomizer] = {}
    for path in paths:
        name = long.get(path.stem, path.stem) if is_hash(path.stem) else name_of(path.stem)
        if name in mechanisms:
            raise InputError(f"two files of {str(where)!r} are for {name!r}.", "remove one of them.")
        mechanisms[name] = load(path, trust_distances=trust_distances, signed_by=signed_by)
    return mechanisms


def _there(folder: Path, job: Job, row: DesignRow | None) -> bool:
    """Return whether the folder has the whole design; one for other arguments is refused, not replaced."""
    if row is None:
        return False
    if row.request != job.request:
        raise InputError(
            f"{str(folder)!r} holds a design for {job.name!r} from other data or options.",
            "choose another folder, or give the same data and options.",
        )
    with suppress(OSError):
        return hashlib.sha256((folder / row.file).read_bytes()).hexdigest() == row.sha256
    return False


@contextmanager
def opened(folder: Path) -> Iterator[dict[str, DesignRow]]:
    """Lock a folder, created if it is missing and readable by its owner only, and yield its designs by name.

    It is an `InputError` if another run writes to it, or it holds mechanism files without an index.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, _OWNER_ONLY)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from None
    try:
        if not try_lock(lock):
            raise InputError(
                f"another run is designing into {str(folder)!r}.", "wait until it ends, or choose another folder."
            )
        for left in folder.glob(".*.sfm.*.part"):  # half-written by a run that was killed
            left.unlink(missing_ok=True)
        if not (folder / INDEX).exists():
            if any(folder.glob("*.sfm")):
                raise InputError(
                    f"{str(folder)!r} holds mechanism files, but no index of designs: they would be replaced.",
                    "choose an empty folder.",
                )
            try:
                os.close(os.open(folder / INDEX, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
            except OSError as error:
                raise _unwritable(folder, error) from None
        yield rows_of(folder)
    finally:
        os.close(lock)


def rows_of(folder: Path) -> dict[str, DesignRow]:
    """Return the designs of a folder by name, the last of several; a line that was cut off is not a row."""
    try:
        lines = (folder / INDEX).read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FileError(
            f"the index of {str(folder)!r} cannot be read ({error.strerror}).", "check its rights."
        ) from None
    return {row.name: row for row in map(_row, lines) if row is not None}


def add(folder: Path, made: DesignDone) -> None:
    """Write the file of a design, then its row; both reach the disk, or a `FileError` is raised."""
    row = made.row
    if row is None:
        return
    with atomically(folder / row.file) as temporary:
        temporary.chmod(_OWNER_ONLY)
        temporary.write_bytes(made.content)
    try:
        with (folder / INDEX).open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                whole = file.read(1) == b"\n"
            line = json.dumps(asdict(row)).encode() + b"\n"
            file.write(line if not end or whole else b"\n" + line)  # what was cut off stays a line of its own
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(folder / INDEX, error) from None


def _unwritable(path: Path, error: OSError | ValueError) -> FileError:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return FileError(
        f"{str(path)!r} could not be written ({getattr(error, 'strerror', None) or error}).",
        "free some space; the same call goes on from here." if full else "choose a folder where you may write.",
    )


def _row(line: bytes) -> DesignRow | None:
    try:
        data: Any = json.loads(line)
        row = {each.name: data[each.name] for each in fields(DesignRow)}
        sound = all(isinstance(value, _KINDS.get(name, str)) for name, value in row.items())
        return DesignRow(**row) if sound and row["file"] == f"{stem_of(row['name'])}.sfm" else None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
