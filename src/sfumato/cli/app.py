"""The commands: their list, and their errors as messages and exit codes."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Final

import typer

from .. import __version__
from .group import VALUES, Command, Commands
from .messages import PARTIAL, say

_COMMANDS: Final[Mapping[str, str]] = {
    "design": "design.command",
    "design-column": "design_column.command",
    "design-users": "design_users.command",
    "mechanism": "mechanism.command",
    "sweep": "sweep.command",
    "audit": "audit.command",
    "audit-samples": "audit_samples.command",
    "audit-function": "audit_samples.audit_function",
    "convert": "convert.command",
    "distance": "distance.command",
    "attack": "attack.command",
    "tuple": "tuple.command",
    "release": "release.command",
    "track": "release.track",
    "estimate": "estimate.command",
    "accuracy": "estimate.accuracy",
    "compare": "compare.command",
    "learn": "learn.command",
    "report": "report.command",
    "studio": "companions.studio",
    "reproduce": "companions.reproduce",
    "sign": "mechanism.sign",
    "verify": "mechanism.verify",
    "ledger": "ledger.command",
}
"""The functions of the commands in ``commands/``, or groups of them, in the order of the help."""

app = typer.Typer(
    cls=Commands,
    help="Design, prove, attack and apply mechanisms that blur one person's secret.",
    epilog="Exit codes: 0 done; 1 an error that is explained, or a requirement that fails; 2 a command line that "
    f"cannot be read; {PARTIAL} not finished or not decided, though everything written is proved; "
    "130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for name, place in _COMMANDS.items():
    module, _, function = place.partition(".")
    command = getattr(import_module(f".commands.{module}", __package__), function)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name, cls=Command)(command)


def _version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    _: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
    show_values: bool = typer.Option(
        False, VALUES, help="Show the data of a row that an error is about; also accepted after the command."
    ),
) -> None:
    """Design, prove, attack and apply mechanisms that blur one person's secret."""
    context.meta[VALUES] = show_values


def main() -> None:
    """Run the command line; errors end as a message and an exit code."""
    # Where in the code a warning comes from means nothing to the user.
    warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}", err=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shows its number
    try:
        app(prog_name="sfumato")  # however it was started: ``python -m sfumato``, a test, another program
    except KeyboardInterrupt:  # before a command has begun
        say("Interrupted.", err=True)
        sys.exit(130)
