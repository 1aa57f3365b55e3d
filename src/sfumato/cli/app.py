"""The commands: their list, and their errors as messages and exit codes."""

from __future__ import annotations

import io
import sys
import warnings
from importlib import import_module
from typing import Any, Final, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import SfumatoError
from .hints import command_hint, option_hint
from .messages import PARTIAL, say, told

_COMMANDS: Final = (
    "design",
    "sweep",
    "audit",
    "attack",
    "tuple",
    "release",
    "estimate",
    "compare",
    "learn",
)
"""The commands, in the order of the help; each is the function ``command`` of its file in ``commands/``."""


# A wrong option, missing argument or unknown command; Typer exports its subclasses only.
_UsageError: Final[Any] = typer.BadParameter.__base__


class _Commands(TyperGroup):
    """The commands; their errors name options, and wrong options and commands are followed by a hint."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            if getattr(error, "option_name", None) is None:  # not a wrong option: the help is asked for
                raise
            self._end(error, option_hint(error, None, self.commands))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            hint = command_hint(args[0], self.commands)
            if not hint.startswith("the commands are"):
                error.message = error.message.partition(" Did you mean")[0]
            self._end(error, hint)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            for line in told(error, command=self.commands.get(ctx.invoked_subcommand or "")):
                say(line, err=True)
            raise typer.Exit(1) from None
        except _UsageError as error:
            self._end(error, option_hint(error, self.commands.get(ctx.invoked_subcommand or ""), self.commands))

    def _end(self, error: Any, hint: str) -> NoReturn:
        """Show a wrong use of the command line, and a hint."""
        error.possibilities = None  # options spelt alike; the hint knows better
        error.show()
        say(f"Hint: {hint}", err=True)
        raise typer.Exit(error.exit_code) from None


app = typer.Typer(
    cls=_Commands,
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
for name in _COMMANDS:
    app.command(name)(import_module(f".commands.{name}", __package__).command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """Design, prove, attack and apply mechanisms that blur one person's secret."""


def main() -> None:
    """Run the command line; errors end as a message and an exit code."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shows its number
    try:
        app()
    except KeyboardInterrupt:
        say("Interrupted; nothing was written.", err=True)
        sys.exit(130)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    del category, filename, lineno, file, line  # where in the code means nothing to the user
    say(f"Warning: {message}", err=True)
