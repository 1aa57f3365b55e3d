"""Designs of many people: jobs, workers, and the folder with an index that they fill and a rerun resumes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import string
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import unquote_to_bytes

import numpy as np

from ..._system import atomically, try_lock, worker_pool
from ...core import Asked, Loss, Metric, Prior, Randomizer
from ...core.arguments import checked
from ...core.immutable import CompactRepr
from ...errors import FileError, InputError, SfumatoError, SolverError, argument
from ...geo import Visits
from ...optimal import Auto, design
from ...proofs import PlaceDistortion
from ..decoding import load
from ..encoding import save
from ..mechanism_file import MechanismFile

_POLL_S: Final = 0.3  # how often to ask whether to stop
_FEW: Final = 64  # designs submitted to the caller's executor at a time
Stop = Callable[[], bool]
_PLAIN: Final = frozenset(string.ascii_lowercase + string.digits + "-_@+,= .")
_LONGEST: Final = 200  # bytes of a stem
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d) *(\.|$)")
_HASHED: Final = "%%"  # in front of a hash; no other stem holds it
INDEX: Final = "index.jsonl"
_LOCK: Final = ".designing"
_OWNER_ONLY: Final = 0o600
_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "loss": (int, float),
    "slack_m": (int, float),
    "seconds": (int, float),
    "finished": bool,
}


class Job(Protocol):
    """A design to be made, as sent to a worker."""

    @property
    def name(self) -> str:
        """The person."""

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on; the number of threads does not count."""

    def prepared(self) -> DesignJob:
        """Return the job with its prior, loss and guarantees."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignJob(CompactRepr):
    """A design for one person: prior, loss, guarantees, visits for medians, options of `design`, threads."""

    name: str
    prior: Prior
    loss: Loss
    guarantees: tuple[Asked, ...]
    medians: Visits | None
    options: Mapping[str, Any]
    threads: int

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on; the number of threads does not count."""
        space, loss = self.prior.space, self.loss
        texts = [type(space).__name__, repr(space.labels), space.unit, space.crs, loss.name, loss.unit]
        texts.append(repr(sorted(self.options.items())))
        arrays: list[np.ndarray | None] = [space.coordinates, self.prior.probabilities, loss.array]
        for each in self.guarantees:
            texts.append(f"{type(each).__name__} {each}")
            distances = getattr(each, "metric", None) or getattr(each, "distance", None)
            if isinstance(distances, Loss | Metric):
                arrays.append(distances.array)
            if isinstance(each, PlaceDistortion):
                arrays += [each.degrees, each.times]
        if self.medians is not None:
            arrays += [self.medians.lat, self.medians.lon]
        return fingerprint_of(texts, arrays)

    def prepared(self) -> DesignJob:
        """Return the job itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignRow(CompactRepr):
    """A design in the index, for the person ``name``; ``request`` is the fingerprint of all that it depends on.

    ``kind`` is ``program`` or ``noise``. The loss is an upper bound on the expected one, or on the worst-case loss
    where that was the objective. A guarantee per metre adds ``slack_m`` metres to every distance. ``finished`` is
    whether the wanted gap was reached.
    """

    name: str
    file: str
    request: str
    kind: str
    loss: float
    unit: str
    slack_m: float
    finished: bool
    seconds: float
    sha256: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignDone(CompactRepr):
    """The result of a worker: a row with its mechanism file, or None with the reason."""

    row: DesignRow | None
    content: bytes = field(repr=False)
    reason: str = ""


def done(job: Job) -> DesignDone:
    """Make a design in the current process, and return its file as bytes."""
    begun = time.monotonic()
    try:
        ready = job.prepared()
        options = {"medians": ready.medians, "method": "best", "solver": Auto(ready.threads), **ready.options}
        made = design(ready.prior, loss=ready.loss, guarantees=ready.guarantees, **options)
        content_of_file = MechanismFile.of_design(made, visits=ready.medians)
    except SfumatoError as error:
        return DesignDone(None, b"", error.problem)
    except Exception as error:  # noqa: BLE001  the others go on
        return DesignDone(None, b"", f"an error inside sfumato, {type(error).__name__}: {error}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.sfm"
        save(content_of_file, path)
        content = path.read_bytes()
    seconds, check = time.monotonic() - begun, hashlib.sha256(content).hexdigest()
    sizes = (float(made.value), made.loss_unit, float(made.slack_m))
    file = f"{stem_of(job.name)}.sfm"
    return DesignDone(
        DesignRow(job.name, file, job.request, made.kind, *sizes, made.finished, seconds, check), content
    )


def fingerprint_of(texts: list[Any], arrays: list[np.ndarray | None]) -> str:
    """Return a hash of texts and arrays, in their order."""
    parts = hashlib.sha256()
    for text in texts:
        parts.update(f"{text!r}\0".encode())
    for array in arrays:
        if array is None:
            parts.update(b"none\0")
        else:
            parts.update(f"{array.shape}\0".encode() + np.ascontiguousarray(array).tobytes())
    return parts.hexdigest()


Results = Iterator[tuple[str, DesignDone]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignWorkers(CompactRepr):
    """The workers: processes, or an executor of the caller, with a number of designs in flight.

    ``in_flight`` is by default one more than there are processes, or 64. ``stop`` is called between designs.
    """

    processes: int = 1
    executor: Executor | None = None
    in_flight: int | None = None
    stop: Stop | None = None

    def __post_init__(self) -> None:
        if self.processes < 1 or (self.in_flight is not None and self.in_flight < 1):
            raise InputError("no design can be in flight.", "use whole numbers of at least 1.")

    @property
    def threads(self) -> int:
        """The solver's threads in each design."""
        from ...optimal import cores

        return cores() if self.processes == 1 and self.executor is None else 1

    def results(self, jobs: Iterable[Job]) -> Results:
        """Yield results as they come; a few jobs are in flight at a time. `SolverError` if the workers ended."""
        stop = self.stop or (lambda: False)
        if self.executor is not None:
            try:
                yield from _handed_out(deque(jobs), self.executor, self.in_flight or _FEW, stop)
            except _LostError as error:
                raise _ended() from error
        elif self.processes == 1:
            for each in jobs:
                if stop():
                    return
                yield each.name, done(each)
        else:
            yield from _in_processes(deque(jobs), self.processes, self.in_flight or self.processes + 1, stop)


class _LostError(Exception):
    """Workers ended before they returned these jobs."""

    def __init__(self, jobs: list[Job]) -> None:
        super().__init__(f"{len(jobs)} jobs were lost")
        self.jobs = jobs


def _in_processes(waiting: deque[Job], processes: int, in_flight: int, stop: Stop) -> Results:
    """Yield results from a worker pool; a job that ends its worker is given up, and the others go on."""
    worked = False
    while waiting and not stop():
        suspects: list[Job] = []
        with worker_pool(min(processes, len(waiting))) as pool:
            try:
                for result in _handed_out(waiting, pool, in_flight, stop):
                    worked = True
                    yield result
            except _LostError as lost:
                suspects = lost.jobs
        ended: list[Job] = []
        for job in suspects:  # each alone, to find the one that ends its worker
            if stop():
                return
            with worker_pool(1) as pool:
                try:
                    yield from _handed_out(deque([job]), pool, 1, stop)
                    worked = True
                except _LostError:
                    ended.append(job)
        if ended and not worked:
            raise _ended()
        for job in ended:
            yield job.name, DesignDone(None, b"", "its worker was ended, perhaps because memory ran out.")


def _handed_out(waiting: deque[Job], pool: Executor, in_flight: int, stop: Stop) -> Results:
    running = dict[Future[DesignDone], Job]()
    try:
        while True:
            stopped = stop()
            while waiting and len(running) < in_flight and not stopped:
                job = waiting.popleft()
                try:
                    running[pool.submit(done, job)] = job
                except BrokenExecutor:
                    raise _LostError([job, *running.values()]) from None
            if stopped:
                for future in [each for each in running if each.cancel()]:
                    del running[future]
            if not running:
                return
            for future in wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED).done:
                yield running[future].name, _result(future, running)
                del running[future]
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[DesignDone], running: dict[Future[DesignDone], Job]) -> DesignDone:
    try:
        return future.result()
    except BrokenExecutor:
        raise _LostError(list(running.values())) from None
    except Exception as error:  # noqa: BLE001  a cluster's own; the others go on
        return DesignDone(None, b"", f"its worker failed, {type(error).__name__}: {error}.")


def _ended() -> SolverError:
    return SolverError(
        "the workers ended before their designs were made.",
        "call again: the designs that are done stay done",
        f"use fewer {argument('processes')}, if memory ran out.",
    )


def stem_of(name: str) -> str:
    """Return the stem of the file for a name; different names have different stems, also where case is ignored.

    Unsafe characters become ``%`` and two digits for each byte of UTF-8. A stem that is too long becomes a hash.
    """
    coded = name.encode()
    plain = [chr(byte) if chr(byte) in _PLAIN else f"%{byte:02x}" for byte in coded]
    for end in (0, -1):
        if plain[end] in (" ", "."):
            plain[end] = f"%{ord(plain[end]):02x}"
    stem = "".join(plain)
    if _DEVICES.match(stem):  # names of devices on Windows
        stem = f"%{ord(stem[0]):02x}{stem[1:]}"
    return stem if len(stem) <= _LONGEST else _HASHED + hashlib.sha256(coded).hexdigest()


def name_of(stem: str) -> str:
    """Return the name of a stem; a stem that `stem_of` does not make is the name itself."""
    try:
        name = unquote_to_bytes(stem).decode()
    except UnicodeDecodeError:
        return stem
    return name if name and stem_of(name) == stem else stem


def is_hash(stem: str) -> bool:
    """Return whether a stem is the hash of a name that is too long."""
    return stem.startswith(_HASHED)


def check_names(names: Iterable[str]) -> None:
    """Refuse a name that is empty, is not a text, or cannot be written in UTF-8 (`InputError`)."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"the name {name!r} is not a text.", "name each design with a text.")
        if not name:
            raise InputError("a name is empty.", "name each design with a text.")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"the name {name!r} is not written in Unicode.", "use another name.") from None


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
