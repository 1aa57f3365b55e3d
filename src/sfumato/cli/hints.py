"""Hints after a wrong option or command: what is often tried, and what it is called here."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

# What is often tried: the options that may be meant, the likeliest first.
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    tried: options
    for names, options in (
        ("--eps -e --privacy --epsilons", ("--epsilon", "--epsilons")),
        ("--epsilon", ("--epsilons",)),
        ("--distortion --min-error --error", ("--distortion", "--distortions")),
        ("--max-cost --max-error --max-distance --quality --utility", ("--max-loss",)),
        ("--budget --limit", ("--budget", "--max-loss")),
        ("--cost", ("--loss", "--max-loss")),
        ("--radius --threshold", ("--within",)),
        ("--grid --shape --size -n", ("--cells",)),
        ("--resolution --cell-size --width", ("--cell",)),
        ("--hex --hexagon --h3", ("--hexagons",)),
        ("--area --bbox --bounds --extent --map", ("--region",)),
        ("--latitude", ("--lat",)),
        ("--longitude", ("--lon",)),
        ("--person --persons --who", ("--people",)),
        ("--user --user-id --user-col --id", ("--user-column",)),
        ("--out --output-file --save --write --json --csv --format --to", ("--output",)),
        ("--plot --draw --image --png --figure --figures --picture", ("--picture", "--figures", "--figure")),
        ("--time --timeout --max-time", ("--time-limit",)),
        ("--tolerance --tol --accuracy --precision", ("--gap",)),
        ("--epochs --iterations --steps", ("--rounds",)),
        ("--secret --hide --attribute --protect", ("--sensitive", "--column")),
        ("--k -k --count", ("--dummies", "--most")),
        ("--confidence --level --alpha", ("--failure",)),
        ("--notion", ("--measure", "--require")),
        ("--promise", ("--promises", "--require")),
        ("--check --test --guarantee --claim --assert", ("--require", "--promises")),
        ("--distance", ("--metric", "--loss")),
        ("--metric", ("--distance",)),
        ("--column", ("--sensitive",)),
        ("-v -V", ("--version",)),
    )
    for tried in names.split()
}

_ALIKE: Final = 0.88  # from which similarity on a wrong option is taken for a slip

_MANY: Final = "for many epsilons: sfumato sweep --epsilons '0.15..0.9/km:6'."
_ANOTHER: Final = "the file has its epsilon; for another one, make another design: sfumato design --epsilon."

# Options that are not where they are looked for, by command: what to do instead.
ELSEWHERE: Final[Mapping[tuple[str, str], str]] = {
    ("design", "--sweep"): _MANY,
    ("design", "--epsilons"): _MANY,
    ("design", "--seed"): "nothing in a design is random.",
    ("sweep", "--prior"): "the prior is how often the visits are in each cell; --smoothing adds to it.",
    ("sweep", "--seed"): "nothing in a design is random.",
    ("attack", "--prior"): "the prior is that of the file; --visits takes another one.",
    ("attack", "--output"): "the results are only printed: 'sfumato attack city.sfm > attack.txt' keeps them.",
    (
        "attack",
        "--epsilon",
    ): _ANOTHER,
    (
        "release",
        "--output",
    ): "the file to write is the last argument: sfumato release city.sfm visits.csv reports.csv.",
    ("release", "--seed"): "reports are drawn from the operating system's randomness, which has no seed.",
    (
        "release",
        "--epsilon",
    ): _ANOTHER,
    ("estimate", "--epsilon"): "the file has its epsilon: give the file that the reports were released with.",
}

# Commands of a ledger that are given a value without its option: what to type.
UNNAMED: Final[Mapping[str, str]] = {
    "show": "name the user with --user: sfumato ledger show budget.db --user ada.",
    "check": "name the end of the record with --head: sfumato ledger check budget.db --head 3f9a...",
}

# Names of files and studies, by the name of the argument.
EXAMPLES: Final[Mapping[str, str]] = {
    "file": "city.sfm",
    "visits": "visits.csv",
    "source": "visits.csv",
    "target": "reports.csv",
    "reports": "reports.csv",
    "address": "budget.db",
    "old": "budgets.json",
    "name": "change-in-formalism",
    "files": "visits.csv",
}

_FILES: Final = {"-i", "-f", "--data", "--file", "--input", "--in", "--mechanism", "--reports", "--visits"}

COMMANDS: Final[Mapping[str, str]] = {
    tried: said
    for names, said in (
        ("help", "'sfumato --help' lists the commands, 'sfumato design --help' the options of one."),
        ("version", "'sfumato --version' shows the version."),
        ("optimize optimise solve build make create new", "to design a mechanism: sfumato design."),
        ("pareto frontier tradeoff trade-off epsilons", "to design for many epsilons: sfumato sweep."),
        ("prove verify check evaluate test measure validate", "to prove what a file promises: sfumato audit."),
        ("plot draw show report figure", "'sfumato design' draws maps, and 'sfumato audit --figures' figures."),
        ("sample apply run obfuscate perturb privatize privatise noise", "to draw reports: sfumato release."),
        ("dummies tupling", "to hide reports among dummies: sfumato tuple."),
        ("infer aggregate reconstruct population histogram", "to estimate a population: sfumato estimate."),
        ("benchmark baseline baselines", "to compare mechanisms: sfumato compare."),
        ("train fit", "to learn a mechanism: sfumato learn."),
        ("budget budgets charge spend memo", "to keep budgets: sfumato ledger."),
    )
    for tried in names.split()
}


def command_hint(tried: str, commands: Mapping[str, Any]) -> str:
    """Return what to type in place of an unknown command.

    Args:
        tried: What was typed.
        commands: All commands of the group, by name.
    """
    listed = f"the commands are {', '.join(commands)}."
    return COMMANDS.get(tried.lower(), listed) if "design" in commands else listed


def option_hint(error: Any, command: Any, commands: Mapping[str, Any], program: str = "sfumato") -> str:
    """Return what an option or argument is for, or which option or command does what was wanted.

    Args:
        error: The usage error (Click's).
        command: The command that met it; None for ``sfumato`` itself.
        commands: All commands, by name.
        program: The group that they belong to, as it is typed.
    """
    tried, wrong = getattr(error, "option_name", None) or "", getattr(error, "param", None)
    own = [] if command is None else command.params
    if wrong is not None and wrong in own:
        return _about(wrong) + (_example(command, program) if wrong.param_type_name == "argument" else "")
    if str(error.message).startswith("Got unexpected extra argument"):
        if command.name in UNNAMED and program.endswith("ledger"):
            return UNNAMED[command.name]
        return f"write values with spaces in quotes: '500 m'.{_example(command, program)}"
    meant = [each for each in (tried, *OPTIONS.get(tried, ())) if each]
    name = "sfumato" if command is None else command.name
    if (name, tried) in ELSEWHERE:
        return ELSEWHERE[name, tried]
    known = any(tried in found.opts for _, other in _single(commands) for found in other.params)
    alike = [] if known else get_close_matches(tried, [each for found in own for each in found.opts], 1, _ALIKE)
    for option in (*meant, *alike):
        for found in own:
            if option in found.opts:
                return _about(found)
    for option in ("--output" if each == "-o" else each for each in meant):
        if (name, option) in ELSEWHERE:
            return ELSEWHERE[name, option]
    if tried in _FILES and command is not None:
        return f"files are given without an option.{_example(command, program)}"
    if tried.lstrip("-") in commands:
        return f"{tried.lstrip('-')} is a command: {program} {tried.lstrip('-')}."
    for option in meant:
        having = [each for each, other in _single(commands) if any(option in found.opts for found in other.params)]
        if having:
            return f"{option} is an option of: {program} {', '.join(having)}."
    if command is None:
        return "--version: Show the version." if "--version" in meant else command_hint("", commands)
    return f"'{program} {name} --help' lists what it takes."


def _single(commands: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the commands, and in place of a group its own: ``ledger create``."""
    found: list[tuple[str, Any]] = []
    for name, command in commands.items():
        own = getattr(command, "commands", {})
        found += [(f"{name} {each}", part) for each, part in own.items()] or [(name, command)]
    return found


def _about(found: Any) -> str:
    return f"{max(found.opts, key=len)}: {found.help}"


def _example(command: Any, program: str) -> str:
    """Return a sentence that shows the command's arguments in their order."""
    names = [each.name for each in command.params if each.param_type_name == "argument"]
    return f" For example: {program} {command.name} {' '.join(EXAMPLES[name] for name in names)}." if names else ""
