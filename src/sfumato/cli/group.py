"""Commands with their options by topic, and groups of them with errors as messages and hints."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import SfumatoError
from .messages import error_lines, say

# A wrong option, missing argument or unknown command; Typer exports its subclasses only.
_UsageError: Final[Any] = typer.BadParameter.__base__

VALUES: Final = "--show-values"  # the option of all commands by which errors show data of rows

_COMMON: Final = (
    *("epsilon", "epsilons", "attacker_finds", "loss", "max_loss", "region", "spacing", "cells"),
    *("output", "report", "require", "time_limit"),
)
_TOPICS: Final[Mapping[str, tuple[str, ...]]] = {
    "Visits": ("lat", "lon", "user_column", "people", "user", "skip_damaged", "population", "held_out", "priors"),
    "Places": ("lattice", "near", "cell", "hexagons", "smoothing", "kinds", "kind_column"),
    "Guarantee": (
        *("max_loss", "distortion", "protect_within", "metric", "objective", "distances", "asymmetric"),
        "unit",
    ),
    "Solver": ("method", "gap", "solver", "pairs", "checkpoints", "bound_time"),
    "Tables of secrets": (
        *("relation", "events", "rivals", "family", "attribute_epsilon", "attribute_delta", "beliefs_within"),
        *("interventions", "curve"),
    ),
    "Rows": ("outside", "move_within", "allow", "place_column", "also", "by", "again", "resume"),
    "Uncertainty": ("uncertainty", "prior", "darwin_core"),
    "Limits and trust": (
        *("max_reports_per_person", "max_epsilon_per_person", "ledger", "key_file", "trust_distances"),
        "require_signature",
    ),
    "Output": ("figure", "figures", "figures_as", "picture", "dark", "outline", "frontier_time"),
}
"""The options of each topic in the help; all others are common ones, `_COMMON` in this order before the rest."""

_FEW: Final = 10  # options that need no topics


class Command(TyperCommand):
    """A command whose help shows the common options first, then the others by topic."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        options = [param for param in self.get_params(ctx) if param.param_type_name == "option"]
        topics = {name: topic for topic, names in _TOPICS.items() for name in names}
        sections: dict[str, list[Any]] = {
            "Arguments": [param for param in self.params if param.param_type_name == "argument"],
            "Options": [],
        } | {topic: [] for topic in _TOPICS}
        for option in options:
            common = option.required or len(options) <= _FEW + 1  # --help is one
            sections["Options" if common else topics.get(option.name, "Options")].append(option)
        for topic in _TOPICS:
            if len(sections[topic]) == 1:
                sections["Options"].append(sections[topic].pop())
        order = {name: place for place, name in enumerate(_COMMON)} | {"help": len(options) + len(_COMMON)}
        sections["Options"].sort(key=lambda option: order.get(option.name, len(_COMMON)))
        for title, parameters in sections.items():
            if records := [record for parameter in parameters if (record := parameter.get_help_record(ctx))]:
                with formatter.section(title):
                    formatter.write_dl(records)


class Commands(TyperGroup):
    """A group whose errors name options; wrong options and commands are followed by a hint."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options of the group; `VALUES` may stand after the command."""
        end = args.index("--") if "--" in args else len(args)
        if VALUES in args[:end]:
            args = [VALUES, *(arg for arg in args[:end] if arg != VALUES), *args[end:]]
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            if getattr(error, "option_name", None) is None:  # not a wrong option: the help is asked for
                raise
            self._end(error, _option_hint(error, None, self.commands, ctx.command_path))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was typed; where there is a hint, no names spelt alike are suggested."""
        hint = COMMANDS.get(args[0].lower()) if "design" in self.commands else None
        self.suggest_commands = hint is None
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            self._end(error, hint or _list_of(self.commands))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; its errors become messages and exit codes."""
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            values = ctx.meta.get(VALUES, False)
            for line in error_lines(error, command=self.commands.get(ctx.invoked_subcommand or ""), values=values):
                say(line, err=True)
            if error.withholds and not values:
                say(f"Data of rows is not shown. {VALUES} shows it, where only you read the output.", err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            say("Interrupted.", err=True)
            raise typer.Exit(130) from None
        except _UsageError as error:
            command = self.commands.get(ctx.invoked_subcommand or "")
            self._end(error, _option_hint(error, command, self.commands, ctx.command_path))

    def _end(self, error: Any, hint: str) -> NoReturn:
        error.possibilities = None  # options spelt alike; the hint knows better
        error.show()
        say(f"Hint: {hint}", err=True)
        raise typer.Exit(error.exit_code) from None


# What is often tried: the options that may be meant, the most probable first.
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    name: options
    for names, options in (
        ("--eps -e --privacy --epsilons", ("--epsilon", "--epsilons")),
        ("--epsilon", ("--epsilons",)),
        ("--within", ("--protect-within", "--move-within")),
        ("--distortion --min-error --error", ("--distortion", "--distortions")),
        ("--max-cost --max-error --max-distance --quality --utility", ("--max-loss",)),
        ("--budget --limit", ("--budget", "--max-loss")),
        ("--cost", ("--loss", "--max-loss")),
        ("--radius --threshold", ("--protect-within", "--within")),
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
        ("--checkpoint", ("--checkpoints",)),
        ("--by", ("--mechanism",)),
        ("--source", ("--dummies-from",)),
        ("-v -V", ("--version",)),
    )
    for name in names.split()
}

_ALIKE: Final = 0.88  # from which similarity on a wrong option is taken for a slip

_MANY: Final = "for many epsilons: sfumato sweep --epsilons '0.15..0.9/km:6'."
_ANOTHER: Final = "the file has its epsilon; for another one, make another design: sfumato design --epsilon."
_COLUMNS: Final = "a column of categories or numbers: sfumato design-column TABLE --column NAME."

# Options that are not where they are looked for, by command: what to do instead.
ELSEWHERE: Final[Mapping[tuple[str, str], str]] = {
    ("design", "--column"): _COLUMNS,
    ("design", "--each-user"): "a mechanism for each user: sfumato design-users.",
    ("design", "--keep"): "--method chooses best, table or noise.",
    ("audit", "--samples"): "samples: sfumato audit-samples FILE.",
    ("audit", "--function"): "a function: sfumato audit-function MODULE:FUNCTION.",
    ("audit", "--epsilon"): "to test a claim, use --require 'epsilon <= 0.7/km'.",
    ("design", "--sweep"): _MANY,
    ("design", "--epsilons"): _MANY,
    ("design", "--seed"): "nothing in a design is random.",
    ("sweep", "--prior"): "the prior is how often the visits are in each cell; --smoothing adds to it.",
    ("sweep", "--seed"): "nothing in a design is random.",
    ("attack", "--prior"): "the prior is that of the file; --visits takes another one.",
    ("attack", "--output"): "the results are only printed: 'sfumato attack city.sfm > attack.txt' keeps them.",
    ("attack", "--epsilon"): _ANOTHER,
    ("release", "--output"): "the file to write is the last argument: sfumato release city.sfm visits.csv "
    "reports.csv.",
    ("release", "--seed"): "reports are drawn from the operating system's randomness, which has no seed.",
    ("release", "--epsilon"): _ANOTHER,
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
    "table": "answers.csv",
    "samples": "samples.csv",
    "function": "noise:blur",
    "reports": "reports.csv",
    "address": "budget.db",
    "family": "groups.csv",
    "formula": "randomised-response",
    "guarantee": "'epsilon <= 1'",
    "old": "budgets.json",
    "name": "change-in-formalism",
    "files": "visits.csv",
    "sources": "visits.csv",
}

_FILES: Final = {"-i", "-f", "--data", "--file", "--input", "--in", "--mechanism", "--reports", "--visits"}

COMMANDS: Final[Mapping[str, str]] = {
    name: hint
    for names, hint in (
        ("help", "'sfumato --help' lists the commands, 'sfumato design --help' the options of one."),
        ("version", "'sfumato --version' shows the version."),
        ("optimize optimise solve build make create new", "to design a mechanism: sfumato design."),
        ("pareto frontier tradeoff trade-off epsilons", "to design for many epsilons: sfumato sweep."),
        ("prove verify check evaluate test measure validate", "to prove what a file guarantees: sfumato audit."),
        ("plot draw show report figure", "'sfumato design' draws maps, and 'sfumato audit --figures' figures."),
        ("sample apply run obfuscate perturb privatize privatise noise", "to draw reports: sfumato release."),
        ("dummies tupling", "to hide reports among dummies: sfumato tuple."),
        ("infer aggregate reconstruct population histogram", "to estimate a population: sfumato estimate."),
        ("benchmark baseline baselines", "to compare mechanisms: sfumato compare."),
        ("translate imply implies notions atlas", "to convert a guarantee into other notions: sfumato convert."),
        ("wasserstein divergence distances", "to compare distributions: sfumato distance."),
        ("train fit", "to learn a mechanism: sfumato learn."),
        ("budget budgets charge spend memo", "to keep budgets: sfumato ledger."),
    )
    for name in names.split()
}


def _list_of(commands: Mapping[str, Any]) -> str:
    return f"the commands are {', '.join(commands)}."


def _option_hint(error: Any, command: Any, commands: Mapping[str, Any], program: str) -> str:
    flag, wrong = getattr(error, "option_name", None) or "", getattr(error, "param", None)
    parameters = [] if command is None else command.params
    if wrong is not None and wrong in parameters:
        return _about(wrong) + (_example(command, program) if wrong.param_type_name == "argument" else "")
    if command is not None and type(error) is _UsageError:  # an argument too many: other errors have own classes
        if command.name in UNNAMED and program.endswith("ledger"):
            return UNNAMED[command.name]
        return f"write values with spaces in quotes: '500 m'.{_example(command, program)}"
    candidates = [candidate for candidate in (flag, *OPTIONS.get(flag, ())) if candidate]
    name = "sfumato" if command is None else command.name
    if (name, flag) in ELSEWHERE:
        return ELSEWHERE[name, flag]
    known = any(flag in parameter.opts for _, other in _single(commands) for parameter in other.params)
    names = [] if known else [option for parameter in parameters for option in parameter.opts]
    alike = get_close_matches(flag, names, 1, _ALIKE)
    for option in (*candidates, *alike):
        for parameter in parameters:
            if option in parameter.opts:
                return _about(parameter)
    for option in ("--output" if candidate == "-o" else candidate for candidate in candidates):
        if (name, option) in ELSEWHERE:
            return ELSEWHERE[name, option]
    if flag in _FILES and command is not None:
        return f"files are given without an option.{_example(command, program)}"
    if flag.lstrip("-") in commands:
        return f"{flag.lstrip('-')} is a command: {program} {flag.lstrip('-')}."
    for option in candidates:
        takers = [path for path, other in _single(commands) if any(option in part.opts for part in other.params)]
        if takers:
            return f"{option} is an option of: {program} {', '.join(takers)}."
    if command is None:
        return "--version: Show the version." if "--version" in candidates else _list_of(commands)
    return f"'{program} {name} --help' lists what it takes."


def _single(commands: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the commands, those of groups as ``ledger create``."""
    single: list[tuple[str, Any]] = []
    for name, command in commands.items():
        children = getattr(command, "commands", {})
        single += [(f"{name} {child}", part) for child, part in children.items()] or [(name, command)]
    return single


def _about(parameter: Any) -> str:
    return f"{max(parameter.opts, key=len)}: {parameter.help}"


def _example(command: Any, program: str) -> str:
    names = [param.name for param in command.params if param.param_type_name == "argument"]
    return f" For example: {program} {command.name} {' '.join(EXAMPLES[name] for name in names)}." if names else ""
