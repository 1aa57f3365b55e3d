"""The commands, with the usage, arguments and options that their ``--help`` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import typer

from sfumato.cli.app import app

_CODE: Final = re.compile(r"`[^`]*`|(?<![\w'])'([^'\n]+)'(?!\w)|(?<![\w-])(--?[a-z][\w-]*)")
_SIGNS: Final = re.compile(r"([\\*_<>\[\]|#$])")


def command_words() -> str:
    """Return a section in Markdown for each command, and one for each part of a group."""
    group: Any = typer.main.get_command(app)
    top = group.make_context("sfumato", [], resilient_parsing=True)
    return "\n".join(_sections(group, top, "##"))


def _sections(group: Any, above: Any, mark: str) -> Iterator[str]:
    for name, command in group.commands.items():
        context = command.make_context(name, [], parent=above, resilient_parsing=True)
        path = context.command_path
        yield f"({path.removeprefix('sfumato ').replace(' ', '-')}-command)=\n{mark} {path}\n"
        yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
        yield "\n\n".join(_prose(" ".join(each.split())) for each in (command.help or "").split("\n\n")) + "\n"
        kinds = {"Arguments": "argument", "Options": "option"}
        for title, kind in kinds.items():
            entries = [_entry(each, context) for each in command.params if each.param_type_name == kind]
            if entries and not hasattr(command, "commands"):
                yield f"**{title}**\n"
                yield "\n".join(entries)
        if hasattr(command, "commands"):
            yield from _sections(command, context, mark + "#")


def _entry(parameter: Any, context: Any) -> str:
    """Return an argument or an option with its help, as an item of a list of definitions."""
    names, said = parameter.get_help_record(context)
    return f"`{' '.join(names.split())}`\n: {_prose(' '.join(said.split())) or 'See above.'}\n"


def _prose(text: str) -> str:
    """Return a plain text as Markdown, with options and quoted values as code."""
    parts, end = [], 0
    for found in _CODE.finditer(text):
        parts += [_SIGNS.sub(r"\\\1", text[end : found.start()])]
        code = found[1] or found[2] or found[0].strip("`")
        parts += [f"`{code}`"]
        end = found.end()
    return "".join([*parts, _SIGNS.sub(r"\\\1", text[end:])])
