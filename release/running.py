"""Run another program, with what it says kept in a file."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

LIMIT_S = 900.0
LINES = 15
"""How much of what a program said an error repeats."""

_OURS = ("CI", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "UV_FIND_LINKS")


class ReleaseError(Exception):
    """Something that a release needs does not hold; the text says what, and what was said."""


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without what would lead a program back to the clone."""
    return {**{name: value for name, value in os.environ.items() if name not in _OURS}, **more}


def run(
    command: Sequence[str | Path], cwd: Path, env: dict[str, str] | None = None, log: Path | None = None
) -> str:
    """Run a program and return what it printed.

    Args:
        command: The program and its arguments.
        cwd: The folder it runs in.
        env: Its environment; by default `environment`.
        log: A file to which the command and all it says are added.

    Raises:
        ReleaseError: It ended with another code than 0, or took longer than fifteen minutes.
    """
    words = [str(word) for word in command]
    given = environment() if env is None else env
    try:
        done = subprocess.run(  # noqa: S603 -- the commands are written in this folder
            words, cwd=cwd, env=given, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise ReleaseError(f"{' '.join(words)} took longer than {LIMIT_S:.0f} s and was ended") from None
    said = done.stdout + done.stderr
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"$ {' '.join(words)}\n{said}\n")
    if done.returncode:
        end = "\n".join(said.splitlines()[-LINES:])
        raise ReleaseError(f"{' '.join(words)} ended with code {done.returncode}:\n{end}")
    return done.stdout
