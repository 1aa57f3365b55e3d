"""Command line through its entry point, and chance that repeats."""

import contextlib
import hashlib
import io
import itertools
import os
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pytest

GENERATOR: Final = np.random.default_rng


class Outcome(NamedTuple):
    """An exit code, and what was printed."""

    code: int
    out: str
    err: str


class Tape:
    """Bytes that follow from the number of the call, instead of those of the operating system."""

    def __init__(self) -> None:
        self._calls = itertools.count()

    def __call__(self, count: int) -> bytes:
        return hashlib.shake_256(next(self._calls).to_bytes(8, "little")).digest(count)


def repeat_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all that asks for random bytes or generators get the same ones in each test."""
    seeds = itertools.count(1)
    monkeypatch.setattr(os, "urandom", Tape())
    monkeypatch.setattr(
        np.random, "default_rng", lambda seed=None: GENERATOR(next(seeds) if seed is None else seed)
    )


def runner(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[..., Outcome]:
    """Return a function that runs the command line in a folder, each time with the same chance."""
    (entry,) = entry_points(group="console_scripts", name="sfumato")
    main = entry.load()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object) -> Outcome:
        out, err = io.StringIO(), io.StringIO()
        repeat_chance(monkeypatch)
        monkeypatch.setattr("sys.argv", ["sfumato", *map(str, arguments)])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as stop:
                code = int(stop.code or 0)
        return Outcome(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command line in an empty folder."""
    return runner(monkeypatch, tmp_path)
