"""A folder of designs: filled by workers, gone on with by the next run, and read for a release."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ...core import Mechanism
from ...core.arguments import checked
from ...core.immutable import CompactRepr
from ...errors import FileError, InputError
from ...mechanisms.planar import CoordinateNoise
from ...mechanisms.tupling import Tupling
from ..loading import load
from .index import add, opened, rows_of
from .job import DesignRow, Job
from .names import is_hash, name_of
from .workers import DesignWorkers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignFolder(CompactRepr):
    """A folder of designs, after a run.

    Attributes:
        folder: Where the mechanism files are, and ``index.jsonl`` with a line for each.
        rows: The designs by name, in the order in which they were asked for.
        made: How many this run made; the others were there.
        failed: Why there is no design, by name.
        waiting: How many were not begun, because the run was asked to stop.
        few: How many people were left out, because they have too few visits.
    """

    folder: Path
    rows: dict[str, DesignRow]
    made: int
    failed: dict[str, str]
    waiting: int
    few: int = 0

    @property
    def finished(self) -> bool:
        """Whether all that were asked for are there, each to the wanted gap."""
        return not self.failed and not self.waiting and all(row.finished for row in self.rows.values())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignNews(CompactRepr):
    """The news of one design, and how far the run has come.

    Attributes:
        name: Whose design it is.
        row: Its row of the index; None where there is no design.
        reason: Why there is none.
        done: How many this run has tried.
        total: How many it has to try.
        seconds: Since its beginning.
    """

    name: str
    row: DesignRow | None
    reason: str
    done: int
    total: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Designs that were tried in a minute."""
        return 60 * self.done / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        """The time that the rest takes at this rate."""
        return (self.total - self.done) * self.seconds / self.done


OnNews = Callable[[DesignNews], None]


def filled(
    folder: str | PathLike[str], jobs: Sequence[Job], workers: DesignWorkers, progress: OnNews | None, few: int = 0
) -> DesignFolder:
    """Make the designs that a folder lacks, and write each as soon as it is there.

    Args:
        folder: Where to write; it is made if need be.
        jobs: All designs that it is to hold; each name once.
        workers: Who makes them.
        progress: Is told of each design.
        few: People who were left out.

    Raises:
        InputError: If the folder holds designs for other arguments, or another run writes to it.
        FileError: If the folder cannot be written.
        SolverError: If the workers ended.
    """
    begun, where = time.monotonic(), Path(folder)
    failed: dict[str, str] = {}
    with opened(where) as found:
        missing = [job for job in jobs if not _there(where, job, found.get(job.name))]
        for job in missing:
            found.pop(job.name, None)
        tried = 0
        for name, made in workers.results(missing):
            tried += 1
            if made.row is None:
                failed[name] = made.reason
            else:
                add(where, made)
                found[name] = made.row
            if progress is not None:
                seconds = time.monotonic() - begun
                progress(DesignNews(name, made.row, made.reason, tried, len(missing), seconds))
    rows = {job.name: found[job.name] for job in jobs if job.name in found}
    return DesignFolder(where, rows, tried - len(failed), failed, len(missing) - tried, few)


@checked
def read_designs(
    folder: str | PathLike[str], *, trust_distances: bool = False, signed_by: str | PathLike[str] | None = None
) -> dict[str, Mechanism | Tupling | CoordinateNoise]:
    """Return the mechanisms of a folder by name, for ``sf.release(..., by="user")``.

    The folder is one of `design_each_user` or `design_many`, or any with a mechanism file for each name. Nothing
    that the index says of a design is believed, except for names that are too long for files.

    Args:
        folder: The folder.
        trust_distances: As of `sfumato.load`.
        signed_by: As of `sfumato.load`.

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
    found: dict[str, Mechanism | Tupling | CoordinateNoise] = {}
    for path in paths:
        name = long.get(path.stem, path.stem) if is_hash(path.stem) else name_of(path.stem)
        if name in found:
            raise InputError(f"two files of {str(where)!r} are for {name!r}.", "remove one of them.")
        found[name] = load(path, trust_distances=trust_distances, signed_by=signed_by)
    return found


def _there(folder: Path, job: Job, row: DesignRow | None) -> bool:
    """Return whether a design is in the folder, whole; one for other arguments is refused, not replaced."""
    if row is None:
        return False
    if row.request != job.request:
        raise InputError(
            f"{str(folder)!r} holds a design for {job.name!r} that was asked for otherwise.",
            "choose another folder, or give the same data and options.",
        )
    try:
        content = (folder / row.file).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == row.sha256
