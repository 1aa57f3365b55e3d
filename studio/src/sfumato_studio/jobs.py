"""Jobs: long work in processes of their own, which the studio starts, listens to, stops and resumes."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from .limits import JOBS_RUNNING
from .processes import hang_up, started
from .refusals import RefusedError
from .running import FINAL, RunningJob, is_draft, progress_key
from .store import Row, Store

_KEPT_EVERY_S: Final = 0.5  # progress is kept on disk no more often


class Jobs:
    """All jobs of the studio.

    Args:
        store: Where they are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._running: dict[str, RunningJob] = {}
        self._waiting: dict[str, Row] = {}  # the workspaces of the drafts that wait for their turn

    def start(self, workspace: Row, kind: str, title: str, request: Mapping[str, Any], *, unit: str) -> Row:
        """Start a job, and return it.

        A draft replaces that of the same workspace, with what it made, and waits while another is made.

        Raises:
            RefusedError: If too many run (drafts have a place of their own), or the data or the places were
                changed in the meantime.
        """
        draft = bool(request.get("draft"))
        with self._lock:
            self._check_same(workspace)
            if not draft:
                self._check_room()
                self._store.drop_old_states(workspace["id"], but={*self._running})
            for each in self.of(workspace["id"]) if draft else ():
                if is_draft(each):
                    self._drop(each, designs=True)
            status = "queued" if draft else "running"
            row = self._store.make_job(
                workspace["id"], kind=kind, title=title, request=dict(request), unit=unit, status=status
            )
            if not draft:
                return self._launch(workspace, row)
            self._waiting[row["id"]] = workspace
            self._next_draft()
            return self.now(workspace["id"], row["id"])

    def resume(self, workspace: Row, identity: str) -> Row:
        """Go on with a job that was cancelled or interrupted, or that failed.

        Raises:
            RefusedError: If it is in another state, or too many run.
        """
        with self._lock:
            row = self.now(workspace["id"], identity)
            if row["status"] not in ("cancelled", "interrupted", "failed"):
                raise RefusedError(409, f"The job is {row['status']}.", "only a job that stopped can be resumed.")
            if is_draft(row):
                raise RefusedError(409, "A draft is not resumed.", "ask for a design of this level.")
            self._check_same(workspace)
            self._check_room()
            changed: Row = {"status": "running", "error": None}
            if row["kind"] == "design":
                changed |= {"done": 0.0, "total": 1.0}  # trials that were done are told again
            self._store.change_job(identity, **changed)
            return self._launch(workspace, {**row, **changed})

    def cancel(self, workspace: str, identity: str) -> Row:
        """Stop a job; what was proved so far is kept.

        Raises:
            RefusedError: If it does not run.
        """
        with self._lock:
            running = self._running.get(identity)
            row = self.now(workspace, identity)
            if is_draft(row) and row["status"] not in FINAL:
                self._drop(row, designs=True)
                self._next_draft()
                return {**row, "status": "cancelled"}
            if running is None:
                raise RefusedError(409, f"The job is {row['status']}.", "only a job that runs can be cancelled.")
            running.cancelled = True
            running.stop()
            return dict(running.row)

    def remove(self, workspace: str, identity: str, *, designs: bool) -> None:
        """Drop a job that ended, or a draft in any state.

        Args:
            workspace: Its workspace.
            identity: The job.
            designs: Whether the designs that it made go, too.

        Raises:
            RefusedError: If it runs, or made the frontier, which belongs to the places or values.
        """
        with self._lock:
            row = self.now(workspace, identity)
            if row["kind"] == "frontier":
                raise RefusedError(
                    409, "The frontier belongs to the places or values.", "choose these again to start over."
                )
            if row["status"] not in FINAL and not is_draft(row):
                raise RefusedError(409, f"The job is {row['status']}.", "cancel it first.")
            self._drop(row, designs=designs or row["status"] not in FINAL)
            self._next_draft()

    @contextmanager
    def without(self, workspace: str) -> Iterator[None]:
        """End all jobs of a workspace at once, and forget them; no job of it starts before the block ends."""
        with self._lock:
            self._waiting = {name: each for name, each in self._waiting.items() if each["id"] != workspace}
            chosen = [each for each in self._running.values() if each.row["workspace"] == workspace]
            for running in chosen:
                running.gone = True
                running.process.kill()
            for running in chosen:
                with suppress(subprocess.TimeoutExpired):
                    running.process.wait(5)  # it writes nothing any more
            yield
        for running in chosen:
            if running.thread is not None:
                running.thread.join(5)

    def close(self) -> None:
        """End all jobs: they are interrupted, and can be resumed."""
        with self._lock:
            self._waiting.clear()
            chosen = list(self._running.values())
            for running in chosen:
                running.process.kill()
        for running in chosen:
            if running.thread is not None:
                running.thread.join(5)

    def forget(self, workspace: str, identity: str) -> None:
        """Drop what a job could go on from, unless it runs."""
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

    def version(self, identity: str) -> int:
        """Return a number that changes whenever a job does; -1 where it neither runs nor waits."""
        with self._lock:
            if identity in self._waiting:
                return 0
            running = self._running.get(identity)
            return -1 if running is None else running.version

    def of(self, workspace: str) -> list[Row]:
        """Return the jobs of a workspace as they are now."""
        with self._lock:
            running = {identity: dict(each.row) for identity, each in self._running.items()}
        # A draft may be deleted at any moment, so none is asked for by its name.
        return [running.get(row["id"], row) for row in self._store.jobs(workspace)]

    def _check_same(self, workspace: Row) -> None:
        """Refuse a job for data or places that were changed after the request was read.

        Raises:
            RefusedError: If they were, or the workspace is gone.
        """
        now = self._store.workspace(workspace["id"])
        if any(now[name] != workspace[name] for name in ("data", "site")):
            raise RefusedError(409, "The data or the places were changed at this moment.", "ask for it again.")

    def _check_room(self) -> None:
        count = sum(not is_draft(each.row) for each in self._running.values())
        if count >= JOBS_RUNNING:
            raise RefusedError(429, f"{count} jobs are running already.", "wait for one to end, or cancel one.")

    def _next_draft(self) -> None:
        """Start the draft that waits longest, where none is made now."""
        if self._waiting and not any(is_draft(each.row) for each in self._running.values()):
            identity = next(iter(self._waiting))
            workspace = self._waiting.pop(identity)
            self._store.change_job(identity, status="running")
            self._launch(workspace, self._store.job(workspace["id"], identity))

    def _drop(self, row: Row, *, designs: bool) -> None:
        """Forget a job, and end its process at once where it has one."""
        identity = row["id"]
        self._waiting.pop(identity, None)
        running = self._running.pop(identity, None)
        if running is not None:
            running.gone = True
            running.process.kill()
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(5)  # it writes nothing any more
        if designs:
            self._drop_others(row, "")
        self._store.drop_states(row["workspace"], identity)
        self._store.delete_job(identity)

    def _launch(self, workspace: Row, row: Row) -> Row:
        mine = [each for each in self._store.designs(workspace["id"]) if each["job"] == row["id"]]
        orders = {
            "kind": row["kind"],
            "folder": str(self._store.files(workspace["id"])),
            "data": workspace["data"],
            "site": workspace["site"],
            "request": row["request"],
            "done": [each["epsilon"] for each in mine],
            "before": mine[-1] if mine and row["kind"] == "design" else None,
            "states": str(self._store.states(workspace["id"], row["id"])),
            "seconds": max((line["seconds"] for line in row["progress"]), default=0.0),
        }
        reported = frozenset(map(progress_key, row["progress"]))
        running = RunningJob(dict(row), started(orders), reported=reported)
        self._running[row["id"]] = running
        running.thread = threading.Thread(target=self._listen, args=(running,), daemon=True)
        running.thread.start()
        return dict(running.row)

    def _listen(self, running: RunningJob) -> None:
        """Read the messages of a job until it ends."""
        last: Row = {}
        stream = running.process.stdout
        for line in stream or ():
            try:
                news = json.loads(line)
            except ValueError:
                continue  # it was killed in the middle of a line
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
            if not running.gone:
                running.row.update(running.ending(last))
                if running.row["status"] == "done":
                    self._store.drop_states(running.row["workspace"], identity)
                kept = ("status", "progress", "done", "total", "result", "error")
                self._store.change_job(identity, **{name: running.row[name] for name in kept})
            self._running.pop(identity, None)
            self._next_draft()

    def _take(self, running: RunningJob, news: Mapping[str, Any]) -> None:
        row, event = running.row, news["event"]
        with self._lock:
            if running.gone:
                return
            if event == "design":
                self._store.add_design(
                    row["workspace"], row["id"], news["id"], frontier=news["frontier"], facts=news["facts"]
                )
                if not news["frontier"]:  # it is better than what the same job kept before it was resumed
                    self._drop_others(row, news["id"])
            if not running.hear(news):
                return
            running.version += 1
            if event != "progress" or time.monotonic() - running.kept > _KEPT_EVERY_S:
                running.kept = time.monotonic()
                kept = ("title", "progress", "done", "total", "result")
                self._store.change_job(row["id"], **{name: row[name] for name in kept})

    def _drop_others(self, row: Row, kept: str) -> None:
        """Delete the designs of a job but for one."""
        for each in self._store.designs(row["workspace"]):
            if each["job"] == row["id"] and each["id"] != kept:
                self._store.delete_design(row["workspace"], each["id"])
