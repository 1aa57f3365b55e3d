"""Work in processes of its own that begin at once: forks of one that has imported what they need.

They are there to be killed, dozens of times in a test; an interpreter for each would spend its time on imports.
"""

import multiprocessing
import traceback
from collections.abc import Callable
from typing import Any

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "sfumato.releases",
        "sfumato.releases.local",
        "sfumato.releases.budget",
        "sfumato.files",
        "sfumato.evidence",
        "pyarrow.parquet",
        "pyarrow.dataset",
        "sqlalchemy.dialects.sqlite",
        "scipy.sparse",
        "scipy.optimize",
    ]
)

Say = Callable[[str], None]


class Fork:
    """A process that does some work: ``work(say, *args)``, where ``say`` sends a line to this side."""

    def __init__(self, work: Callable[..., None], *args: Any) -> None:
        self._lines, theirs = _FORKS.Pipe(duplex=False)
        self.process = _FORKS.Process(target=_done, args=(theirs, work, args))
        self.process.start()
        theirs.close()

    def line(self) -> str:
        """Return the next line that it sends; "" when it has ended."""
        try:
            return str(self._lines.recv())
        except EOFError:
            return ""

    def kill(self) -> bool:
        """Kill it, as ``kill -9`` does; return whether it was still at work."""
        self.process.kill()
        self.process.join()
        return self.process.exitcode == -9

    def rest(self, timeout: float = 120) -> list[str]:
        """Wait for its end, and return what it sent until then."""
        found = list(iter(self.line, ""))
        self.process.join(timeout)
        assert self.process.exitcode == 0
        return found


def _done(lines: Any, work: Callable[..., None], args: tuple[Any, ...]) -> None:
    try:
        work(lines.send, *args)
        lines.send("done")
    except Exception:  # noqa: BLE001  told on the other side
        lines.send(traceback.format_exc())
