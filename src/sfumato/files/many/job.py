"""Designs of many people as jobs, and the workers that make them."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from ..._system import worker_pool
from ...core import DesignGuarantee, Loss, Metric, Prior
from ...core.immutable import CompactRepr
from ...errors import InputError, SfumatoError, SolverError, argument
from ...geo import Visits
from ...optimal import Auto, design
from ...proofs import PlaceDistortion
from ..encoding import save
from ..mechanism_file import MechanismFile
from .folder import DesignRow, stem_of

_POLL_S: Final = 0.3  # how often to ask whether to stop
_FEW: Final = 64  # designs submitted to the caller's executor at a time
Stop = Callable[[], bool]


class Job(Protocol):
    """A design to be made, as sent to a worker."""

    @property
    def name(self) -> str:
        """The person."""

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on; the number of threads does not count."""

    def prepare(self) -> DesignJob:
        """Return the job with its prior, loss and guarantees."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignJob(CompactRepr):
    """A design for one person: prior, loss, guarantees, visits for medians, options of `design`, threads."""

    name: str
    prior: Prior
    loss: Loss
    guarantees: tuple[DesignGuarantee, ...]
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
        for guarantee in self.guarantees:
            texts.append(f"{type(guarantee).__name__} {guarantee}")
            distances = getattr(guarantee, "metric", None) or getattr(guarantee, "distance", None)
            if isinstance(distances, Loss | Metric):
                arrays.append(distances.array)
            if isinstance(guarantee, PlaceDistortion):
                arrays += [guarantee.degrees, guarantee.times]
        if self.medians is not None:
            arrays += [self.medians.lat, self.medians.lon]
        return fingerprint_of(texts, arrays)

    def prepare(self) -> DesignJob:
        """Return the job itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignDone(CompactRepr):
    """The result of a worker: a row with its mechanism file, or None with the reason."""

    row: DesignRow | None
    content: bytes = field(repr=False)
    reason: str = ""


def make_design(job: Job) -> DesignDone:
    """Make a design in the current process, and return its file as bytes."""
    start = time.monotonic()
    try:
        ready = job.prepare()
        options = {"medians": ready.medians, "method": "best", "solver": Auto(ready.threads), **ready.options}
        answer = design(ready.prior, loss=ready.loss, guarantees=ready.guarantees, **options)
        content_of_file = MechanismFile.of_design(answer, visits=ready.medians)
    except SfumatoError as error:
        return DesignDone(None, b"", error.problem)
    except Exception as error:  # noqa: BLE001  the others go on
        return DesignDone(None, b"", f"an error inside sfumato, {type(error).__name__}: {error}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.sfm"
        save(content_of_file, path)
        content = path.read_bytes()
    seconds, check = time.monotonic() - start, hashlib.sha256(content).hexdigest()
    sizes = (float(answer.value), answer.loss_unit, float(answer.slack_m))
    file = f"{stem_of(job.name)}.sfm"
    return DesignDone(
        DesignRow(job.name, file, job.request, answer.kind, *sizes, answer.is_finished, seconds, check), content
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
                raise _pool_error() from error
        elif self.processes == 1:
            for job in jobs:
                if stop():
                    return
                yield job.name, make_design(job)
        else:
            yield from _in_processes(deque(jobs), self.processes, self.in_flight or self.processes + 1, stop)


class _LostError(Exception):
    """Workers ended before they returned these jobs."""

    def __init__(self, jobs: list[Job]) -> None:
        super().__init__(f"{len(jobs)} jobs were lost")
        self.jobs = jobs


def _in_processes(waiting: deque[Job], processes: int, in_flight: int, stop: Stop) -> Results:
    """Yield results from a worker pool; a job that ends its worker is given up, and the others go on."""
    has_result = False
    while waiting and not stop():
        suspects: list[Job] = []
        with worker_pool(min(processes, len(waiting))) as pool:
            try:
                for result in _handed_out(waiting, pool, in_flight, stop):
                    has_result = True
                    yield result
            except _LostError as error:
                suspects = error.jobs
        failures: list[Job] = []
        for job in suspects:  # each alone, to find the one that ends its worker
            if stop():
                return
            with worker_pool(1) as pool:
                try:
                    yield from _handed_out(deque([job]), pool, 1, stop)
                    has_result = True
                except _LostError:
                    failures.append(job)
        if failures and not has_result:
            raise _pool_error()
        for job in failures:
            yield job.name, DesignDone(None, b"", "its worker was ended, perhaps because memory ran out.")


def _handed_out(waiting: deque[Job], pool: Executor, in_flight: int, stop: Stop) -> Results:
    running = dict[Future[DesignDone], Job]()
    try:
        while True:
            is_stopped = stop()
            while waiting and len(running) < in_flight and not is_stopped:
                job = waiting.popleft()
                try:
                    running[pool.submit(make_design, job)] = job
                except BrokenExecutor:
                    raise _LostError([job, *running.values()]) from None
            if is_stopped:
                for future in [task for task in running if task.cancel()]:
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


def _pool_error() -> SolverError:
    return SolverError(
        "the workers ended before their designs were made.",
        "call again: the designs that are done stay done",
        f"use fewer {argument('processes')}, if memory ran out.",
    )
