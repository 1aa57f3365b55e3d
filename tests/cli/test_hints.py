"""Hints after wrong options and commands: what newcomers try, and that all they name exists."""

import shlex

import pytest
import typer

from sfumato.cli.app import app
from sfumato.cli.group import COMMANDS, ELSEWHERE, EXAMPLES, OPTIONS, UNNAMED

TRIED = """
design --sweep 1..3/km:3 | sfumato sweep --epsilons
design --epsilons 1/km | sfumato sweep --epsilons
design --eps 1/km | --epsilon: The epsilon to guarantee
design -e 1/km | --epsilon: The epsilon to guarantee
design --out x.sfm | --output: Write the mechanism file
design --grid 4x4 | --cells: The number of cells
design --bbox 1,2,3,4 | --region: 'south,west,north,east'
design --timeout 5 | --time-limit: Seconds
design --plot | --picture: Draw
design --report out.md | always written next to the mechanism file
design --data visits.csv | without an option. For example: sfumato design visits.csv.
design --column age | sfumato design-column TABLE --column NAME
design --each-user | sfumato design-users
design --keep noise | --method chooses best, table or noise
design --labels a,b | --labels is an option of: sfumato design-column, mechanism, convert.
design --least-visits 3 | --least-visits is an option of: sfumato design-users.
audit samples.csv --samples | sfumato audit-samples FILE
audit --function noise:blur | sfumato audit-function MODULE:FUNCTION
release m.sfm visits.csv out.csv --within "2 km" | --move-within: How far rows are moved
accuracy --by OUE | --mechanism: With --categories
design --users 3 | --users is an option of: sfumato sweep.
design --epsilon 1 per km | values with spaces in quotes
design --region 48.8 2.2 48.9 2.4 | values with spaces in quotes
design --cells 4 3 | values with spaces need quotes
design --nothing | 'sfumato design --help' lists
design --epsilom 1/km | --epsilon: The epsilon to guarantee
release m.sfm visits.csv out.csv --lat-column y | 'sfumato release --help' lists
learn visits.csv --bounds 1,2,3,4 | --region: 'south,west,north,east'
audit m.sfm --promise | --promises: Prove what the file guarantees
audit m.sfm --requre "epsilon <= 1" | --require:
sweep --epsilon 1/km | --epsilons: '0.15/km, 0.3/km'
sweep --seed 1 | nothing in a design is random
audit m.sfm --plot | --figures: Write figures
audit m.sfm --notion dp | --measure: Also
audit m.sfm --epsilon 1/km | use --require 'epsilon <= 0.7/km'
attack m.sfm -o x.csv | only printed
attack m.sfm --prior p.csv | --visits takes another one
release m.sfm -o out.csv | the last argument: sfumato release city.sfm visits.csv reports.csv
release m.sfm visits.csv --output out.csv | the last argument
release m.sfm visits.csv --save out.csv | the last argument
release m.sfm visits.csv | target: The table to write: .csv, .parquet or .arrow. For example: sfumato release
release m.sfm visits.csv out.csv --seed 3 | no seed
release m.sfm visits.csv out.csv --user rider | --user-column: The name of the user column.
release m.sfm visits.csv out.csv --epsilon 1/km | make another design: sfumato design --epsilon
estimate m.sfm | For example: sfumato estimate city.sfm reports.csv
estimate m.sfm reports.csv --confidence 0.9 | --failure: The probability
tuple m.sfm -k 5 | --dummies: The number of dummies
learn visits.csv --hide home | --sensitive: The column to hide
learn visits.csv --column home | --sensitive: The column to hide
learn visits.csv --epochs 3 | --rounds: Train for
ledger show budget.db ada | name the user with --user: sfumato ledger show budget.db --user ada.
ledger check budget.db 3f9a | --head
--sweep | sweep is a command: sfumato sweep.
--epsilon 1/km | --epsilon is an option of: sfumato design
-v | --version: Show the version.
--nothing | the commands are design
help | sfumato --help
optimize | sfumato design
prove m.sfm | sfumato audit
noise visits.csv | sfumato release
nothing | the commands are design
"""


@pytest.mark.parametrize("line", TRIED.strip().splitlines())
def test_a_newcomer_is_told_what_to_type(run, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    typed, _, wanted = line.partition(" | ")
    done = run(*shlex.split(typed))
    assert done.code in (1, 2)
    said = " ".join(done.err.split())
    assert wanted in said
    assert "Possible options" not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_both_ways_to_ask_for_help(run, option):
    assert run("design", option).out.startswith("Usage: sfumato design")
    assert "Commands:" in run(option).out


def test_a_name_spelt_wrong_is_found(run):
    assert "Did you mean 'design'" in run("desing").err
    assert "Did you mean" not in run("version").err


def _own(group):
    """The commands of a group within the group."""
    return getattr(group, "commands", {}).items()


def test_every_option_and_command_that_a_hint_names_exists():
    group = typer.main.get_command(app)
    top = group.commands  # type: ignore[attr-defined]
    commands = {
        **top,
        **{f"{n} {m}": each for n, g in top.items() for m, each in getattr(g, "commands", {}).items()},
    }
    options = {
        name: {each for found in command.params for each in found.opts} for name, command in commands.items()
    }
    every = set().union(*options.values(), {"--version", "--help"})
    for tried, meant in OPTIONS.items():
        assert set(meant) <= every, tried
    for (name, tried), said in ELSEWHERE.items():
        assert tried not in options[name]
        assert all(word.strip("';.") in every for word in said.split() if word.startswith("--")), said
    for name, said in UNNAMED.items():
        assert {word for word in said.replace(":", "").split() if word.startswith("--")} <= options[
            f"ledger {name}"
        ]
    for said in COMMANDS.values():
        after = said.split("sfumato ")[1:]
        assert all(each.split()[0].strip("'.") in {*commands, "--help", "--version"} for each in after), said
    arguments = {each.name for command in commands.values() for each in command.params if each.opts == [each.name]}
    assert arguments == set(EXAMPLES)
