"""Work in processes of its own that begin at once: forks of one that has imported what they need.

They are there to be killed, dozens of times in a test; an interpreter for each would spend its time on imports.
"""

import itertools
import multiprocessing
import os
import signal
import stat
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEARCH: int | None = int(os.environ["SFUMATO_SEARCH"]) if os.environ.get("SFUMATO_SEARCH") else None
"""The seed of tests that kill at random moments. Without it they are not defined."""

PATIENCE_S = 300
"""How long a busy machine may take for the next line of a process."""

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "pytest",  # which modules of tests import, and the script that runs them
        "hypothesis",
        "sfumato.releases",
        "sfumato.releases.release",
        "sfumato.ledgers",
        "sfumato.mechanisms.planar",
        "sfumato.files",
        "sfumato.proofs",
        "pyarrow.csv",
        "pyarrow.parquet",
        "pyarrow.dataset",
        "sqlalchemy.dialects.sqlite",
        "psycopg",
        "scipy.sparse",
        "scipy.optimize",
    ]
)
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
_WRITES = os.O_CREAT | os.O_WRONLY | os.O_RDWR
_CUT = 20  # bytes that are missing from a file whose writing is cut off

Say = Callable[[str], None]


class Fork:
    """A process that does some work: ``work(say, *args)``, where ``say`` sends a line to this side."""

    def __init__(self, work: Callable[..., None], *args: Any) -> None:
        self._lines, theirs = FORKS.Pipe(duplex=False)
        self.process = FORKS.Process(target=_done, args=(theirs, work, args), daemon=True)
        self.process.start()
        theirs.close()

    def line(self) -> str:
        """Return the next line that it sends; "" when it has ended."""
        assert self._lines.poll(PATIENCE_S), f"no line and no end for {PATIENCE_S} seconds"
        try:
            return str(self._lines.recv())
        except EOFError:
            return ""

    def kill(self) -> bool:
        """Kill it, as ``kill -9`` does; return whether it was still at work."""
        self.process.kill()
        self.process.join()
        return self.process.exitcode == -signal.SIGKILL

    def rest(self) -> list[str]:
        """Wait for its end, and return what it sent until then."""
        found = list(iter(self.line, ""))
        self.process.join()
        assert self.process.exitcode == 0, found
        return found

    def died(self) -> bool:
        """Wait for its end; return whether it was killed, and fail unless it was, or its work was done."""
        found = list(iter(self.line, ""))
        self.process.join()
        killed = self.process.exitcode == -signal.SIGKILL
        assert killed or found[-1:] == ["done"], found
        return killed


class Steps:
    """The steps of this process, which kills itself at one of them.

    Args:
        last: The number of that step, from 1; 0 for none.

    Attributes:
        taken: How many steps there were.
    """

    def __init__(self, last: int) -> None:
        self._last, self._numbers = last, itertools.count(1)
        self.taken = 0

    def __call__(self, *_: object, leave: Callable[[], object] | None = None) -> None:
        """Count a step; at the last one do what ``leave`` does, and end."""
        self.taken = next(self._numbers)
        if self.taken == self._last:
            if leave is not None:
                leave()
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, folder: Path) -> None:
        """Count each change of a folder that this process makes: once before it, and for a file half-written.

        No file is brought to the disk any more: what a process has written outlives it without that.
        """
        before_changes(folder, self)

        def cut(descriptor: int) -> None:
            state = os.fstat(descriptor)
            if stat.S_ISREG(state.st_mode):
                self(leave=lambda: os.ftruncate(descriptor, max(0, state.st_size - _CUT)))

        setattr(os, "fsync", cut)  # noqa: B010


def before_changes(folder: Path, act: Callable[[str], None]) -> None:
    """Call a function before each change of a folder that this process makes, with what it is and the name."""

    def look(event: str, args: tuple[Any, ...]) -> None:
        path = os.fspath(args[0]) if args and isinstance(args[0], str | os.PathLike) else ""
        opened = event == "open" and isinstance(args[2], int) and args[2] & _WRITES
        gone = event == "os.remove" and not os.path.lexists(path)
        if (event in _CHANGES or opened) and str(folder) in str(path) and not gone:
            act(f"{event} {os.path.basename(path)}")

    sys.addaudithook(look)


def _done(lines: Any, work: Callable[..., None], args: tuple[Any, ...]) -> None:
    try:
        work(lines.send, *args)
        lines.send("done")
    except Exception:  # noqa: BLE001  told on the other side
        lines.send(traceback.format_exc())
