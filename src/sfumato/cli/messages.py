"""Messages to the user: lines, notes and warnings, and errors whose hints name options instead of arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import typer

from ..errors import InputError, SfumatoError, Spelling, at_command_line
from ..escaping import plain

PARTIAL: Final = 3  # the exit code of work that was not finished, or of a requirement that is not decided

# Arguments whose option has another name.
_RENAMED: Final[Mapping[str, str]] = {
    "read_visits.user": "user_column",
    "release.user": "user_column",
    "Ledger.key": "key_file",
    "Grid.covering.shape": "cells",
    "Hexagons.covering.cell": "hexagons",
    "within": "move_within",
    "keep": "method",
    "by": "mechanism",
    "epsilon": "epsilons",
}


def say(line: str, *, err: bool = False) -> None:
    """Print one line, with every character visible."""
    typer.echo(plain(line), err=err)


def error_lines(
    error: SfumatoError, heading: str = "Error: ", command: Any = None, *, values: bool = False
) -> list[str]:
    """Return an error as lines to print: the problem, with data of rows if `values`, and the hint."""
    return f"{heading}{error.told(_spelling(command), values=values)}".splitlines()


def _spelling(command: Any) -> Spelling:
    """Return how arguments are written as options of a command (a Click command, or None)."""
    parameters = {} if command is None else {each.name: each for each in command.params}

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
        return f"{name} {_quoted(value)}" if value else name

    return spell


@contextmanager
def option(name: str) -> Iterator[None]:
    """Put the name of an option or file before the errors of the block."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{name}: {error.text}", *error.hints) from None


def _quoted(value: str) -> str:
    if pair := re.fullmatch(r"\((\d+), (\d+)\)", value):  # columns and rows
        return f"{pair[1]}x{pair[2]}"
    return shlex.quote(value) if " " in value else value
