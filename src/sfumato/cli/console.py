"""What the commands share: saying a line, printing a summary, showing progress, stopping on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ..errors import SfumatoError
from ..escaping import plain
from .wording import told

if TYPE_CHECKING:
    from ..core import Guarantee
    from ..optimal import Progress
    from ..report import Summary

PARTIAL = 3


def say(line: str, *, err: bool = False) -> None:
    """Print one line, with every character visible."""
    typer.echo(plain(line), err=err)


def note(error: SfumatoError, what: str) -> None:
    """Print that something was left undone, why, and how to have it."""
    for line in told(error, f"Note: {what} "):
        say(line, err=True)


def warn_of_extremes(guarantees: Iterable[Guarantee]) -> None:
    """Warn of promises that hide nothing, or that leave nothing to learn from a report."""
    from ..report.extremes import extremes

    for guarantee in guarantees:
        for remark in extremes(guarantee):
            say(f"Warning: {remark}", err=True)


def print_summary(summary: Summary) -> None:
    """Print a summary in words, wrapped to the terminal."""
    from rich.padding import Padding
    from rich.text import Text

    from .screen import Screen

    console = Screen()
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
    """Show one live line of progress on the error stream; nothing where it is not a terminal."""
    from ..rounding import amount, gap_at_most
    from .screen import Screen

    console = Screen(stderr=True)
    with console.status("Preparing the problem (Ctrl-C stops with the best answer so far)") as status:

        def report(progress: Progress) -> None:
            status.update(
                f"Step {progress.step}: value {amount(progress.value, unit)}, "
                f"bound {amount(progress.bound, unit)}, gap {gap_at_most(progress.gap)}, {progress.seconds:.1f} s"
            )

        yield report
