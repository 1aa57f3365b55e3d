"""The commands together: their list, their shared options, and what a wrong option is answered."""

from typing import Any

import pytest
import typer

import sfumato as sf
import sfumato.cli.app as app_module

SHARED = {
    "cell",
    "cells",
    "hexagons",
    "region",
    "user",
    "smoothing",
    "gap",
    "lat",
    "lon",
    "user_column",
}
SHARED |= {"picture", "objective", "seed", "failure"}


def _parameters(command: str) -> list[Any]:
    group: Any = typer.main.get_command(app_module.app)
    return list(group.commands[command].params)


def test_version(run):
    done = run("--version")
    assert done.code == 0
    assert done.out.strip() == f"sfumato {sf.__version__}"


def test_every_command_is_listed_with_a_whole_sentence(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("--help").out
    lines = shown.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == list(app_module._COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


def test_a_shared_option_is_described_alike_everywhere():
    described: dict[str, set[str]] = {}
    for command in app_module._COMMANDS:
        for parameter in _parameters(command):
            if parameter.name in SHARED and not (parameter.help or "").startswith("With cells: "):
                described.setdefault(parameter.name, set()).add(parameter.help)
    assert set(described) == SHARED
    assert {name for name, texts in described.items() if len(texts) > 1} == set()


def test_the_help_names_every_solver():
    (solver,) = (each for each in _parameters("design") if each.name == "solver")
    assert all(name in solver.help for name in sf.optimal.SOLVERS)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("design", "--epsilon"), "--epsilon: The epsilon to guarantee. [default: 1/km]"),
        (("sweep", "--within", "500 m"), "--within is an option of: sfumato attack."),
        (("design", "--users", "3"), "--users is an option of: sfumato sweep."),
        (("attack",), "file: A mechanism file (.sfm)."),
        (("sweep", "--beauty"), "'sfumato sweep --help' lists what it takes."),
        (("desing",), "the commands are design, design-column, "),
    ],
)
def test_wrong_options_are_followed_by_a_hint(run, arguments, hint):
    done = run(*arguments)
    assert done.code == 2
    assert f"\nHint: {hint}" in done.err
