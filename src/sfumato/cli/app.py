"""The commands, and how errors reach the user."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import SfumatoError
from .attack import attack
from .audit import audit
from .compare import compare
from .console import PARTIAL, say
from .design import design
from .estimate import estimate
from .learn import learn
from .release import release
from .tuples import among_dummies
from .wording import told


class _Commands(TyperGroup):
    """The commands; an error of one is told in the names of its options."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            for line in told(error, command=self.commands.get(ctx.invoked_subcommand or "")):
                say(line, err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_Commands,
    help="Design, prove, attack and apply mechanisms that blur one person's secret.",
    epilog="Exit codes: 0 done; 1 an error that is explained, or a requirement that fails; 2 a wrong option; "
    f"{PARTIAL} not finished or not decided (what is written is proved all the same); 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(design)
app.command()(audit)
app.command()(attack)
app.command("tuple")(among_dummies)
app.command()(release)
app.command()(estimate)
app.command()(compare)
app.command()(learn)


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
