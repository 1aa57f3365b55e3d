"""Run a page of the documentation as its reader does: from top to bottom, in an empty folder."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from operator import attrgetter
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli import main

TERMINAL = {"COLUMNS": "200", "NO_COLOR": "1"}
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_CLOSE = 0.03  # relative: what another processor or another version of a solver may change in a decimal number
_FILE = re.compile(r"# (\w+\.py)\n")


@dataclass(frozen=True)
class Block:
    """Fenced block of a page: python, bash (a script), console (commands, output), or text (output of python)."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [Block(each[1], each[2], text.count("\n", 0, each.start()) + 1) for each in found]


def run_page(page: Path) -> dict[str, object]:
    """Run the blocks of a page in the current folder, and compare what they print with what the page shows.

    Blocks of python run in one process, one after the other; one that begins with a comment like ``# app.py`` is
    saved under that name instead. The lines of a console block that begin with ``$`` are run by bash, or in this
    process where they only call our own command: imports take longer than most commands. A bash block is saved
    under the name in its second line. A text block is what the python block before it printed.

    Args:
        page: The page.

    Returns:
        The names that the blocks of python have made.
    """
    known: dict[str, object] = {"__name__": "__page__"}
    printed = ""
    for block in blocks_of(page):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            saved = _FILE.match(block.text)
            if saved is not None:
                Path(saved[1]).write_text(block.text, encoding="utf-8")
            else:
                printed = _run_python(block, where, known)
        elif block.language == "bash":
            Path(block.text.splitlines()[1].removeprefix("# ")).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command, shown in _commands(block.text):
                plain = re.fullmatch(r"sfumato [^&|;<>$`*?]*", command)
                run = _run_here if plain else _run_shell
                _check(shown, run(command, where), f"{where}: {command}")
        elif block.language == "text":
            _check(block.text, printed, where)
        else:
            raise AssertionError(f"{where}: nobody runs a block of {block.language!r}")
    return known


def shown_below(page: Path) -> tuple[str, list[str]]:
    """Return the one block of python of a page, and the lines that the page says it prints."""
    (block,) = (each for each in blocks_of(page) if each.language == "python")
    said = page.read_text(encoding="utf-8").partition("This prints")[2]
    return block.text, re.findall(r"^    (.*)$", said, flags=re.MULTILINE)


def names_on(page: Path) -> set[str]:
    """Return the names of ours on a page, such as ``sf.leakage.refines``; each must be there."""
    found = set(re.findall(r"\bsf(?:\.[A-Za-z_]+)+", page.read_text(encoding="utf-8")))
    for name in found:
        attrgetter(name.removeprefix("sf."))(sf)
    return found


def _run_python(block: Block, where: str, known: dict[str, object]) -> str:
    heard = StringIO()
    with redirect_stdout(heard):
        exec(compile("\n" * block.line + block.text, where, "exec"), known)
    return heard.getvalue()


def _run_here(command: str, where: str) -> str:
    heard = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(heard), redirect_stderr(heard):
        for name, value in TERMINAL.items():
            patch.setenv(name, value)
        patch.setattr("sys.argv", shlex.split(command))
        code = None
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    assert not code, f"{where}: {command}\n{heard.getvalue()}"
    return heard.getvalue()


def _run_shell(command: str, where: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **TERMINAL, "PATH": path}
    done = subprocess.run(
        ["bash", "-c", command],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{where}: {command}\n{done.stdout}"
    return done.stdout


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Return each command of a console block with the output that is shown below it."""
    joined = text.replace("\\\n", " ")
    first, *parts = re.split(r"^\$ ", joined, flags=re.MULTILINE)
    assert not first, "a console block begins with a command"
    for part in parts:
        command, _, shown = part.partition("\n")
        yield command, shown


def _check(shown: str, printed: str, where: str) -> None:
    """Check that output is as shown: ``...`` stands for anything, and decimal numbers may differ by 3 %."""
    wanted, found = " ".join(shown.split()), " ".join(printed.split())
    if not wanted:
        return
    tokens = re.split(rf"({_NUMBER}|\s*\.\.\.\s*)", wanted)
    given = [token for token in tokens[1::2] if "..." not in token]
    tokens[0::2] = [re.escape(token) for token in tokens[0::2]]
    tokens[1::2] = [r"\s*.*?\s*" if "..." in token else f"({_NUMBER})" for token in tokens[1::2]]
    match = re.fullmatch("".join(tokens), found)
    assert match is not None, f"{where} prints\n{printed}\nnot\n{shown}"
    for number, said in zip(given, match.groups(), strict=True):
        a, b = (float(each.replace(",", "")) for each in (number, said))
        exact = "." not in number and "e" not in number
        assert a == b if exact else abs(a - b) <= _CLOSE * abs(a), (
            f"{where} prints {said}, not {number}\n{printed}"
        )
