"""Job queue: starts, follows, stops and resumes worker processes."""

from __future__ import annotations

import math
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from .errors import RefusedError
from .limits import JOBS_RUNNING, PROGRESS_LINES
from .processes import hang_up, messages, send, start_worker
from .store import Row, Store

FINAL: Final = frozenset({"done", "cancelled", "interrupted", "failed"})
_WITHOUT_RESULT: Final = FINAL - {"done"}
_PATIENCE_S: Final = 60.0  # for a design to end by itself with the best so far
_STOPS_AT_ONCE: Final = frozenset({"levels", "compare", "read"})  # nothing is lost that was not kept before
_KEPT_EVERY_S: Final = 0.5  # progress is kept on disk no more often
_SAVED_FIELDS: Final = ("status", "title", "progress", "done", "total", "error", "result")
_RECENT: Final = 8  # lines of progress from which the time left is estimated


@dataclass(slots=True, eq=False, repr=False)
class RunningJob:
    """A job that runs."""

    row: Row  # as it is now
    process: subprocess.Popen[str]
    cancelled: bool = False
    is_orphan: bool = False  # its workspace is gone, so that nothing of it is to be kept
    save_time: float = 0.0  # when it was last kept on disk
    thread: threading.Thread | None = None  # listens to it
    late: threading.Timer | None = None  # kills it where it does not end by itself
    reported: frozenset[tuple[Any, ...]] = frozenset()  # lines of progress that a resumed job may repeat

    def hear(self, news: Mapping[str, Any]) -> bool:
        """Read a message of the process; return whether it is new."""
        row, event = self.row, news["event"]
        if event == "progress":
            if _progress_key(news) in self.reported:
                return False
            line = {name: news[name] for name in ("seconds", "value", "bound", "gap", "rows", "step")}
            row["progress"] = [*row["progress"], line][-PROGRESS_LINES:]
        elif event == "total":
            row.update({name: news[name] for name in ("title", "done", "total") if name in news})
        elif event == "design":
            if news["frontier"]:
                row["done"] += 1
            else:
                row["result"] = {"design": news["id"]}
        elif event == "trial":
            row["done"] += 1
            row["total"] = max(row["total"], row["done"] + 1)
        return True

    def stop(self) -> None:
        """Ask the process to end; kill it where nothing is lost, or where it does not end."""
        if self.row["kind"] in _STOPS_AT_ONCE:
            self.process.kill()
            return
        send(self.process, "stop")
        if self.late is None:
            self.late = threading.Timer(_PATIENCE_S, self.process.kill)
            self.late.daemon = True
            self.late.start()

    def final_state(self, last: Mapping[str, Any]) -> Row:
        """Return how the job ended; ``last`` is its last result or error, empty without one."""
        result = last["result"] if last.get("event") == "result" else self.row["result"]
        if self.cancelled:
            return {"status": "cancelled", "error": None, "result": result}
        if last.get("event") == "result":
            return {"status": "done", "error": None, "result": result, "done": self.row["total"]}
        if last.get("event") == "error":
            error = {"message": last["message"], "hint": last["hint"]}
            return {"status": "failed", "error": error, "result": result}
        return {"status": "interrupted", "error": None, "result": result}


def seconds_left(row: Mapping[str, Any]) -> float | None:
    """Return an estimate of the seconds that a running job still needs; None where none can be made."""
    lines = row["progress"]
    if row["status"] != "running" or not lines:
        return None
    if row["kind"] == "levels":
        count = len(lines)
        return float(lines[-1]["seconds"] / count * (row["total"] - row["done"]))
    recent = [line for line in lines[-_RECENT:] if line["gap"]]
    target = row["request"].get("gap")
    if len(recent) < 2 or not target:
        return None
    seconds = recent[-1]["seconds"] - recent[0]["seconds"]
    shrunk = math.log(recent[0]["gap"] / recent[-1]["gap"])
    if not (seconds > 0 and shrunk > 0):
        return None
    return max(0.0, float(math.log(recent[-1]["gap"] / target) * seconds / shrunk))


def _progress_key(line: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the content of a line of progress without its time."""
    return tuple(line[name] for name in ("step", "rows", "value", "bound", "gap"))


class Jobs:
    """All jobs of the studio."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._running: dict[str, RunningJob] = {}

    def start(self, workspace: Row, kind: str, title: str, request: Mapping[str, Any], *, unit: str) -> Row:
        """Start a job, and return it."""
        with self.lock_site(workspace):
            self._check_room()
            self._store.drop_old_states(workspace["id"], but={*self._running})
            row = self._store.make_job(workspace["id"], kind=kind, title=title, request=dict(request), unit=unit)
            return self._launch(workspace, row)

    def resume(self, workspace: Row, identity: str) -> Row:
        """Resume a job that was cancelled or interrupted, or that failed."""
        with self.lock_site(workspace):
            row = self.now(workspace["id"], identity)
            if row["status"] not in _WITHOUT_RESULT:
                raise RefusedError(409, f"The job is {row['status']}.", "only a job that stopped can be resumed.")
            self._check_room()
            changed: Row = {"status": "running", "error": None}
            if row["kind"] == "design":
                changed |= {"done": 0.0, "total": 1.0}  # trials that were done are reported again
            self._store.change_job(identity, **changed)
            return self._launch(workspace, {**row, **changed})

    def cancel(self, workspace: str, identity: str) -> Row:
        """Stop a job; what was proved so far is kept. `RefusedError` if it does not run."""
        with self._lock:
            running = self._running.get(identity)
            row = self.now(workspace, identity)
            if running is None:
                raise RefusedError(409, f"The job is {row['status']}.", "only a job that runs can be cancelled.")
            running.cancelled = True
            running.stop()
            return dict(running.row)

    def remove(self, workspace: str, identity: str, *, designs: bool) -> None:
        """Drop a job that ended, and with ``designs`` the designs that it made."""
        with self._lock:
            row = self.now(workspace, identity)
            if row["kind"] == "levels":
                raise RefusedError(
                    409, "The levels belong to the places or values.", "choose these again to start over."
                )
            if row["status"] not in FINAL:
                raise RefusedError(409, f"The job is {row['status']}.", "cancel it first.")
            if designs:
                self._drop_others(row, "")
            self._store.drop_states(workspace, identity)
            self._store.delete_job(identity)

    @contextmanager
    def lock_site(self, workspace: Row) -> Iterator[None]:
        """Lock the data and the site of a workspace; `RefusedError` if they changed since they were read."""
        with self._lock:
            now = self._store.workspace(workspace["id"])
            if any(now[name] != workspace[name] for name in ("data", "site")):
                raise RefusedError(409, "The data or the places were changed at this moment.", "ask for it again.")
            yield

    @contextmanager
    def end_all(self, workspace: str) -> Iterator[None]:
        """End all jobs of a workspace at once, and forget them; no job of it starts before the block ends."""
        with self._lock:
            jobs = [job for job in self._running.values() if job.row["workspace"] == workspace]
            for running in jobs:
                running.is_orphan = True
                running.process.kill()
            for running in jobs:
                with suppress(subprocess.TimeoutExpired):
                    running.process.wait(5)  # it writes nothing any more
            yield
        _join(jobs)

    def close(self) -> None:
        """End all jobs: they are interrupted, and can be resumed."""
        with self._lock:
            jobs = list(self._running.values())
            for running in jobs:
                running.process.kill()
        _join(jobs)

    def forget(self, workspace: str, identity: str) -> None:
        """Delete the checkpoints of a job, unless it runs."""
        with self._lock:
            if identity not in self._running:
                self._store.drop_states(workspace, identity)

    def now(self, workspace: str, identity: str) -> Row:
        """Return a job as it is now."""
        with self._lock:
            running = self._running.get(identity)
            if running is not None and running.row["workspace"] == workspace:
                return dict(running.row)
        return self._store.job(workspace, identity)

    def of(self, workspace: str, kind: str | None = None) -> list[Row]:
        """Return the jobs of a workspace as they are now, or those of a kind."""
        with self._lock:
            running = {identity: dict(job.row) for identity, job in self._running.items()}
        rows = (running.get(row["id"], row) for row in self._store.jobs(workspace))
        return [row for row in rows if kind in (None, row["kind"])]

    def _check_room(self) -> None:
        if (count := len(self._running)) >= JOBS_RUNNING:
            raise RefusedError(429, f"{count} jobs are running already.", "wait for one to end, or cancel one.")

    def _launch(self, workspace: Row, row: Row) -> Row:
        designs = [design for design in self._store.designs(workspace["id"]) if design["job"] == row["id"]]
        orders = self._store.orders(workspace, row["kind"], row["request"]) | {
            "done": [design["epsilon"] for design in designs],
            "before": designs[-1] if designs and row["kind"] == "design" else None,
            "states": str(self._store.states(workspace["id"], row["id"])),
            "seconds": max((line["seconds"] for line in row["progress"]), default=0.0),
        }
        reported = frozenset(map(_progress_key, row["progress"]))
        running = RunningJob(dict(row), start_worker(orders), reported=reported)
        self._running[row["id"]] = running
        running.thread = threading.Thread(target=self._listen, args=(running,), daemon=True)
        running.thread.start()
        return dict(running.row)

    def _listen(self, running: RunningJob) -> None:
        """Read the messages of a job until it ends."""
        last: Row = {}
        for news in messages(running.process):
            if news["event"] in ("result", "error"):
                last = news
            else:
                self._take(running, news)
        running.process.wait()
        hang_up(running.process)
        with self._lock:
            identity = running.row["id"]
            if running.late is not None:
                running.late.cancel()
            if not running.is_orphan:
                running.row.update(running.final_state(last))
                if running.row["status"] == "done":
                    self._store.drop_states(running.row["workspace"], identity)
                self._keep(running)
            self._running.pop(identity, None)

    def _take(self, running: RunningJob, news: Mapping[str, Any]) -> None:
        row, event = running.row, news["event"]
        with self._lock:
            if running.is_orphan:
                return
            if event == "design":
                self._store.add_design(
                    row["workspace"], row["id"], news["id"], frontier=news["frontier"], facts=news["facts"]
                )
                if not news["frontier"]:  # it is better than what the same job kept before it was resumed
                    self._drop_others(row, news["id"])
            if not running.hear(news):
                return
            if event != "progress" or time.monotonic() - running.save_time > _KEPT_EVERY_S:
                self._keep(running)

    def _keep(self, running: RunningJob) -> None:
        """Write a job to disk as it is now."""
        running.save_time = time.monotonic()
        self._store.change_job(running.row["id"], **{name: running.row[name] for name in _SAVED_FIELDS})

    def _drop_others(self, row: Row, best: str) -> None:
        """Delete all designs of a job except the best."""
        for design in self._store.designs(row["workspace"]):
            if design["job"] == row["id"] and design["id"] != best:
                self._store.delete_design(row["workspace"], design["id"])


def _join(jobs: list[RunningJob]) -> None:
    for running in jobs:
        if running.thread is not None:
            running.thread.join(5)
