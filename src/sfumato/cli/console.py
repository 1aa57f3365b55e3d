"""What the commands share: printing a summary, showing progress, stopping on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..optimal import Progress
    from ..report import Summary

PARTIAL = 3


def print_summary(summary: Summary) -> None:
    """Print a summary in words, wrapped to the terminal."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(soft_wrap=False, highlight=False)
    console.print(Text(summary.title, style="bold"))
    for section in summary.sections:
        console.print(Text(section.title, style="bold cyan"))
        for sentence in section.sentences:
            console.print(Padding(Text(sentence), (0, 0, 0, 2)))


class StopOnInterrupt:
    """The first Ctrl-C asks the work to stop with its best answer; the second ends it."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __call__(self) -> bool:
        """Return whether a stop was asked for."""
        return self.asked

    def __enter__(self) -> StopOnInterrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def progress_line(unit: str) -> Iterator[Any]:
    """Show one live line of progress on the error stream; nothing where it is no terminal."""
    from rich.console import Console

    from ..rounding import amount, gap_at_most

    console = Console(stderr=True, highlight=False)
    with console.status("Preparing the problem (Ctrl-C stops with the best answer so far)") as status:

        def report(progress: Progress) -> None:
            status.update(
                f"Step {progress.step}: value {amount(progress.value, unit)}, "
                f"bound {amount(progress.bound, unit)}, gap {gap_at_most(progress.gap)}, {progress.seconds:.1f} s"
            )

        yield report
