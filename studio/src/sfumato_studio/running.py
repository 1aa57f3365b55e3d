"""A job that runs: its process, its messages, how it is stopped, and how it ended."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .limits import PROGRESS_LINES
from .processes import tell
from .store import Row

FINAL: Final = frozenset({"done", "cancelled", "interrupted", "failed"})
_PATIENCE_S: Final = 60.0  # for a design to end by itself with the best so far
_STOPS_AT_ONCE: Final = frozenset({"frontier", "compare", "read"})  # nothing is lost that was not kept before


@dataclass(slots=True, eq=False, repr=False)
class RunningJob:
    """A job that runs.

    Attributes:
        row: The job, as it is now.
        process: Its process.
        cancelled: Whether it was cancelled.
        gone: Whether its workspace is gone, so that nothing of it is to be kept.
        version: Counts the changes.
        kept: When it was last kept on disk.
        thread: Listens to it.
        late: Kills it where it does not end by itself.
        reported: The lines of progress from before it was resumed, which it may repeat.
    """

    row: Row
    process: subprocess.Popen[str]
    cancelled: bool = False
    gone: bool = False
    version: int = 0
    kept: float = 0.0
    thread: threading.Thread | None = field(default=None)
    late: threading.Timer | None = field(default=None)
    reported: frozenset[tuple[Any, ...]] = frozenset()

    def hear(self, news: Mapping[str, Any]) -> bool:
        """Read a message of the process; return whether it is new."""
        row, event = self.row, news["event"]
        if event == "progress":
            if progress_key(news) in self.reported:
                return False
            line = {name: news[name] for name in ("seconds", "value", "bound", "gap", "rows", "step")}
            row["progress"] = [*row["progress"], line][-PROGRESS_LINES:]
        elif event == "total":
            row["done"], row["total"] = news["done"], news["total"]
            row["result"] = {"epsilons": news["epsilons"]}
        elif event == "design":
            if news["frontier"]:
                row["done"] += 1
            else:
                row["result"] = {"design": news["id"]}
        elif event == "named":
            row["title"] = f"Comparing: {news['name']}"
            row["done"], row["total"] = news["done"], max(news["total"], news["done"] + 1)
        elif event == "trial":
            row["done"] += 1
            row["total"] = max(row["total"], row["done"] + 1)
        return True

    def stop(self) -> None:
        """Ask the process to end; kill it where nothing is lost, or where it does not end."""
        if self.row["kind"] in _STOPS_AT_ONCE:
            self.process.kill()
            return
        tell(self.process, "stop")
        if self.late is None:
            self.late = threading.Timer(_PATIENCE_S, self.process.kill)
            self.late.daemon = True
            self.late.start()

    def ending(self, last: Mapping[str, Any]) -> Row:
        """Return how the job ended.

        Args:
            last: The last result or error; empty without one.
        """
        result = self.row["result"]
        if self.cancelled:
            found = last.get("result") if last.get("event") == "result" else result
            return {"status": "cancelled", "error": None, "result": found}
        if last.get("event") == "result":
            return {"status": "done", "error": None, "result": last["result"], "done": self.row["total"]}
        if last.get("event") == "error":
            error = {"message": last["message"], "hint": last["hint"]}
            return {"status": "failed", "error": error, "result": result}
        return {"status": "interrupted", "error": None, "result": result}


def progress_key(line: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the content of a line of progress without its time."""
    return tuple(line[name] for name in ("step", "rows", "value", "bound", "gap"))


def is_draft(row: Mapping[str, Any]) -> bool:
    """Return whether a job makes the design of a level that is only previewed."""
    return bool(row["request"].get("draft"))
