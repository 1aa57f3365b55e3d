"""Exit codes, files and data of commands, as they are in `commands.json`; sentences are not compared."""

import json
import re
from pathlib import Path

import pytest

from .commands import COMMANDS, LONGER, facts, prepare
from .conftest import runner

WRITES_INPUT = re.compile(r"-o [amn]\.sfm\b")
"""A command that writes a file which a longer one reads."""

GOLDEN = json.loads((Path(__file__).parent / "commands.json").read_text(encoding="ascii"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the command lines read."""
    folder = tmp_path_factory.mktemp("commands")
    prepare(folder)
    return folder


def outcomes(folder, lines):
    """Run command lines, each after those before it."""
    with pytest.MonkeyPatch.context() as patch:
        run = runner(patch, folder)
        return {line: facts(run, folder, line) for line in lines}


@pytest.fixture(scope="module")
def usual(folder):
    return outcomes(folder, COMMANDS)


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("longer")
    prepare(folder)
    return outcomes(folder, [*(line for line in COMMANDS if WRITES_INPUT.search(line)), *LONGER])


def check(found, golden):
    assert (found["code"], found["wrote"]) == (golden["code"], golden["wrote"])
    assert found.keys() == golden.keys()
    for name in found.keys() - {"code", "wrote"}:
        assert list(found[name]) == list(golden[name])
        for key, value in golden[name].items():
            assert found[name][key] == (value if key == "columns" else pytest.approx(value, rel=2e-5, abs=1e-6)), (
                key
            )


@pytest.mark.parametrize("line", COMMANDS, ids=str)
def test_a_command(line, usual):
    check(usual[line], GOLDEN[line])


@pytest.mark.slow
@pytest.mark.parametrize("line", LONGER, ids=str)
def test_a_longer_command(line, longer):
    check(longer[line], GOLDEN[line])


def test_every_command_is_run():
    """Each command of the help has a command line here."""
    with pytest.MonkeyPatch.context() as patch:
        shown = runner(patch, Path.cwd())("--help").out
    listed = shown.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert {each.split()[0] for each in listed} <= {line.split()[0] for line in (*COMMANDS, *LONGER)}
    assert len(GOLDEN) == len(COMMANDS) + len(LONGER)
