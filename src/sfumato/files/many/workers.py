"""Workers that make designs: processes of our own, or any executor; what they make is handed back as it comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Final

from ..._system import worker_pool
from ...core.immutable import CompactRepr
from ...errors import InputError, SolverError, argument
from .job import DesignDone, Job, done

_POLL_S: Final = 0.3  # how often to ask whether to stop
_FEW: Final = 64  # designs that are handed to somebody else's executor at a time

Stop = Callable[[], bool]
Results = Iterator[tuple[str, DesignDone]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignWorkers(CompactRepr):
    """The makers of designs, and how many they make at a time.

    Attributes:
        processes: Worker processes, where there is no executor.
        executor: Somebody else's.
        in_flight: Designs that are handed out at a time; None for one more than there are processes, or 64.
        stop: Asked between designs whether to stop; what is in flight is then waited for. None never stops.
    """

    processes: int = 1
    executor: Executor | None = None
    in_flight: int | None = None
    stop: Stop | None = None

    def __post_init__(self) -> None:
        if self.processes < 1 or (self.in_flight is not None and self.in_flight < 1):
            raise InputError("no design could be in flight.", "use whole numbers of at least 1.")

    @property
    def threads(self) -> int:
        """The solver's threads in each design."""
        from ...optimal.structured import cores

        return cores() if self.processes == 1 and self.executor is None else 1

    def results(self, jobs: Iterable[Job]) -> Results:
        """Yield the results as they come; a few jobs are handed out at a time.

        Args:
            jobs: The designs to make.

        Raises:
            SolverError: If the workers ended.
        """
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
    """Workers ended before they gave back these jobs."""

    def __init__(self, jobs: list[Job]) -> None:
        super().__init__(f"{len(jobs)} jobs were lost")
        self.jobs = jobs


def _in_processes(waiting: deque[Job], processes: int, in_flight: int, stop: Stop) -> Results:
    """Yield results from processes of our own; a job that ends its worker is given up, and the others go on."""
    worked = False
    while waiting and not stop():
        suspects: list[Job] = []
        with worker_pool(min(processes, len(waiting))) as pool:
            try:
                for found in _handed_out(waiting, pool, in_flight, stop):
                    worked = True
                    yield found
            except _LostError as lost:
                suspects = lost.jobs
        ended: list[Job] = []
        for job in suspects:  # each alone: which of them is it?
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
            yield job.name, DesignDone(None, b"", "its worker was ended; maybe memory ran out.")


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
