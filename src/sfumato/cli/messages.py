"""Messages to the user, live progress lines, and a first Ctrl-C that stops with the best answer."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import typer

from ..errors import InputError, SfumatoError, Spelling, at_command_line
from ..escaping import plain

if TYPE_CHECKING:
    from ..optimal import Progress
    from ..releases import RowsDone

PARTIAL: Final = 3  # the exit code of work that was not finished, or of a requirement that is not decided

# Arguments whose option has another name.
_RENAMED: Final[Mapping[str, str]] = {
    "read_visits.user": "user_column",
    "release.user": "user_column",
    "release.time": "time_column",
    "Schedule.users": "user_list",
    "Ledger.key": "key_file",
    "Grid.covering.shape": "cells",
    "Hexagons.covering.cell": "hexagons",
    "within": "move_within",
    "keep": "method",
    "by": "mechanism",
    "epsilon": "epsilons",
    "symmetric": "asymmetric",
}


def say(line: str, *, err: bool = False) -> None:
    """Print one line, with every character visible."""
    typer.echo(plain(line), err=err)


def error_lines(
    error: SfumatoError, heading: str = "Error: ", command: Any = None, *, values: bool = False
) -> list[str]:
    """Return an error as lines to print: the problem, with data of rows if `values`, and the hint."""
    return f"{heading}{error.render(_spelling(command), values=values)}".splitlines()


def _spelling(command: Any) -> Spelling:
    """Return how arguments are written as options of a command (a Click command, or None)."""
    parameters = {} if command is None else {param.name: param for param in command.params}

    def spell(name: str, value: str) -> str | None:
        parameter = parameters.get(_RENAMED.get(name, "")) or parameters.get(name.rpartition(".")[2])
        if parameter is None:
            return at_command_line(name, value)
        if parameter.param_type_name == "argument":
            return str(parameter.name)
        if parameter.is_flag:
            negated = value == "False"
            return str((parameter.secondary_opts or parameter.opts)[0] if negated else parameter.opts[0])
        name = max(parameter.opts, key=len)
        if pair := re.fullmatch(r"\((\d+), (\d+)\)", value):  # columns and rows
            value = f"{pair[1]}x{pair[2]}"
        return f"{name} {shlex.quote(value) if ' ' in value else value}" if value else name

    return spell


@contextmanager
def option(name: str) -> Iterator[None]:
    """Put the name of an option or file before the errors of the block."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{name}: {error.text}", *error.hints) from None


class StopOnInterrupt:
    """The first Ctrl-C asks the work to stop with its best answer; the second ends it."""

    def __init__(self) -> None:
        self.requested = False
        self._before: Any = None

    def __call__(self) -> bool:
        """Return whether a stop was asked for."""
        return self.requested

    def __enter__(self) -> StopOnInterrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        os.write(2, b"\nStopping with the best answer so far. A second Ctrl-C ends at once.\n")


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a live line with the elapsed seconds on the error stream; yield the function that changes its text."""
    from .screen import Screen

    with Screen(stderr=True).status(text) as status:
        yield status.update


@contextmanager
def progress_line(unit: str) -> Iterator[Callable[[Progress], None]]:
    """Show a live line of a design's progress, in the unit of its value."""
    with working("Preparing the problem (Ctrl-C stops with the best answer so far)") as update:
        yield lambda progress: update(line_of(progress, unit))


def line_of(progress: Progress, unit: str) -> str:
    """Return a design's progress in words, in the unit of its value."""
    from ..rounding import amount, gap_at_most

    where = f"Step {progress.step}"
    if progress.coarse:
        where = f"Simpler problem of {progress.coarse:,} places, to see where to begin: step {progress.step}"
        if not math.isfinite(progress.value):
            return where
        where += ". So far"
    if not math.isfinite(progress.value):
        return f"{where}: no value and no bound yet"
    value = f"value {amount(progress.value, unit)}"
    if not math.isfinite(progress.bound):
        return f"{where}: {value}, no bound yet"
    return f"{where}: {value}, bound {amount(progress.bound, unit)}, gap {gap_at_most(progress.gap)}"


@contextmanager
def rows_line() -> Iterator[Callable[[RowsDone], None]]:
    """Show a live line of a release's progress."""
    with working("Drawing reports (after Ctrl-C go on with --resume)") as update:

        def report(progress: RowsDone) -> None:
            share = "" if not progress.total else f" of {progress.total:,}"
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:,.0f} s left"
            update(f"{progress.rows:,}{share} rows, {progress.rate:,.0f} a second{left}")

        yield report
