"""Worker processes: start, send, stop, and kill with all child processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from .errors import RefusedError
from .store import Row

Processes = set[subprocess.Popen[str]]


class _Family(subprocess.Popen[str]):
    """Subprocess whose whole process group is killed on exit: children could hold its pipes or memory."""

    def kill(self) -> None:
        """Kill the process and all that it started; where the system knows no groups, itself alone."""
        if not hasattr(os, "killpg"):
            super().kill()
        elif self.returncode is None:  # else its number may be another's by now
            self._kill_all()

    def kill_leftovers(self) -> None:
        """Wait for the process to end, and kill what it left behind."""
        with suppress(ChildProcessError):  # another thread has just taken note of its end
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)  # WNOWAIT: it keeps its number
        self._kill_all()

    def _kill_all(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # they are gone; macOS says the latter of the dead
            os.killpg(self.pid, signal.SIGKILL)


def run_worker(orders: Mapping[str, Any], seconds: float, late: RefusedError, running: Processes) -> Row:
    """Return what a process answers to orders."""
    process = start_worker(orders)
    running.add(process)
    watch = threading.Timer(seconds, process.kill)
    watch.daemon = True
    watch.start()
    last: Row = {}
    try:
        for news in messages(process):
            last = news
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        running.discard(process)
        hang_up(process)
    if last.get("event") == "result":
        result: Row = last["result"]
        return result
    if last.get("event") == "error":
        raise RefusedError(422, last["message"], last["hint"], last["field"], last.get("columns"))
    raise late


def messages(process: subprocess.Popen[str]) -> Iterator[Row]:
    """Yield what a process sends until it ends; lines in which it was killed are left out."""
    for line in process.stdout or ():
        try:
            news: Row = json.loads(line)
        except ValueError:
            continue
        yield news


def start_worker(orders: Mapping[str, Any]) -> subprocess.Popen[str]:
    """Return a process that carries out orders."""
    process = _Family(
        [sys.executable, "-P", "-m", "sfumato_studio.work"],  # -P: import nothing from the current folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1")},
    )
    if hasattr(os, "waitid"):
        threading.Thread(target=process.kill_leftovers, daemon=True).start()
    send(process, json.dumps(orders))
    return process


def send(process: subprocess.Popen[str], line: str) -> None:
    """Send a process a line; one that has ended, or does not listen any more, gets nothing."""
    if process.stdin is not None:
        with suppress(BrokenPipeError, ValueError):  # ValueError: it was hung up a moment ago
            process.stdin.write(f"{line}\n")
            process.stdin.flush()


def hang_up(process: subprocess.Popen[str]) -> None:
    """Close the pipes of a process that is gone; a line that it never read is lost."""
    for stream in (process.stdout, process.stdin):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
