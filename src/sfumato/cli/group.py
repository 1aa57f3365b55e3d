"""A group of commands: errors become messages, and wrong options and commands are followed by a hint."""

from __future__ import annotations

from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from ..errors import SfumatoError
from .hints import command_hint, option_hint
from .messages import say, told

# A wrong option, missing argument or unknown command; Typer exports its subclasses only.
_UsageError: Final[Any] = typer.BadParameter.__base__

VALUES: Final = "--show-values"
"""The option of all commands by which errors show data of rows."""


class Commands(TyperGroup):
    """The commands; their errors name options, and wrong options and commands are followed by a hint."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the group itself, of which `VALUES` may stand after the command."""
        end = args.index("--") if "--" in args else len(args)
        if VALUES in args[:end]:
            args = [VALUES, *(arg for arg in args[:end] if arg != VALUES), *args[end:]]
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            if getattr(error, "option_name", None) is None:  # not a wrong option: the help is asked for
                raise
            self._end(error, option_hint(error, None, self.commands, ctx.command_path))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed."""
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            hint = command_hint(args[0], self.commands)
            if not hint.startswith("the commands are"):
                error.message = error.message.partition(" Did you mean")[0]
            self._end(error, hint)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; its errors end as messages and exit codes."""
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            values = ctx.meta.get(VALUES, False)
            for line in told(error, command=self.commands.get(ctx.invoked_subcommand or ""), values=values):
                say(line, err=True)
            if error.withholds and not values:
                say(f"Data of rows is not shown. {VALUES} shows it, where only you read the output.", err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            say("Interrupted.", err=True)
            raise typer.Exit(130) from None
        except _UsageError as error:
            command = self.commands.get(ctx.invoked_subcommand or "")
            self._end(error, option_hint(error, command, self.commands, ctx.command_path))

    def _end(self, error: Any, hint: str) -> NoReturn:
        """Show a wrong use of the command line, and a hint."""
        error.possibilities = None  # options spelt alike; the hint knows better
        error.show()
        say(f"Hint: {hint}", err=True)
        raise typer.Exit(error.exit_code) from None
