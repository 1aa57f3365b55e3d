"""Errors in the words of the command line: hints name options where Python names arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from ..errors import InputError, SfumatoError, Spelling

# Arguments whose option has another name than they.
_RENAMED: Final[Mapping[str, str]] = {
    "read_visits.user": "user_column",
    "release.user": "user_column",
    "epsilons": "sweep",
    "distortions": "sweep_distortions",
    "Grid.covering.shape": "cells",
    "Hexagons.covering.cell": "hexagons",
    "audit_black_box.cells": "bins",
}


def told(error: SfumatoError, heading: str = "Error: ", command: Any = None) -> list[str]:
    """Return an error as lines to print: the problem, and the hint.

    Args:
        error: The error.
        heading: What stands before the problem.
        command: The command that met it; None where the hint can name no option.
    """
    return f"{heading}{error.told(spelling(command))}".splitlines()


def spelling(command: Any) -> Spelling:
    """Return how arguments are written as options of a command (a Click command, or None)."""
    parameters = {} if command is None else {found.name: found for found in command.params}

    def written(name: str, value: str) -> str | None:
        found = parameters.get(_RENAMED.get(name, name.rpartition(".")[2]))
        if found is None:
            return None
        if found.param_type_name == "argument":
            return str(found.human_readable_name)
        if found.is_flag:
            return str((found.secondary_opts or found.opts)[0] if value == "False" else found.opts[0])
        option = max(found.opts, key=len)
        return f"{option} {_quoted(value)}" if value else str(option)

    return written


@contextmanager
def option(name: str) -> Iterator[None]:
    """Let the errors of the block say by which option the wrong value came in."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{name}: {error.problem}", *error.hints) from None


def _quoted(value: str) -> str:
    pair = re.fullmatch(r"\((\d+), (\d+)\)", value)
    if pair:  # columns and rows
        return f"{pair[1]}x{pair[2]}"
    return shlex.quote(value) if " " in value else value
