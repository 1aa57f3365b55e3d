"""Possible values for columns: the column that each ``--labels`` and ``--numbers`` is for."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from difflib import get_close_matches

from ..errors import InputError


def values_of(
    columns: Sequence[str], labels: Sequence[str], numbers: Sequence[str]
) -> list[tuple[str | None, str | None]]:
    """Return ``--labels`` and ``--numbers`` of each column.

    An option may begin with a column's name, as in ``age=18..97:5``; with several columns ``--numbers`` must.
    One option may hold several columns, ``age=18..97:5;income=0..9``, each begun by its name.
    Other ``--labels`` go to the columns that are left, in order. Labels that begin like a name must be in a file.

    Args:
        columns: The columns.
        labels: ``--labels``, as often as it was given.
        numbers: ``--numbers``, likewise.

    Raises:
        InputError: If they do not fit the columns, or name another one.
    """
    named: dict[str, dict[str, str]] = {"--labels": {}, "--numbers": {}}
    rest: dict[str, list[str]] = {"--labels": [], "--numbers": []}
    for name, given in (("--labels", labels), ("--numbers", numbers)):
        for text in (part for each in given for part in _parts(each, columns)):
            column, values = _named(name, text, columns)
            if column is None:
                rest[name].append(values)
            elif column in named[name]:
                raise InputError(f"{name} names the column {column!r} twice.", "give its values once.")
            else:
                named[name][column] = values
    left = [each for each in columns if each not in named["--labels"] and each not in named["--numbers"]]
    if len(columns) == 1:
        for name, texts in rest.items():
            count = len(texts) + len(named[name])
            if count > 1:
                raise InputError(f"{count} {name} were given for 1 --column.", "give the column one.")
            named[name] |= dict(zip(columns, texts, strict=False))
    elif rest["--numbers"]:
        text = rest["--numbers"][0]
        raise InputError(
            f"--numbers {text} does not say which of the {len(columns)} columns it is for.",
            f"name the column: --numbers {shlex.quote(f'{(left or columns)[0]}={text}')}.",
        )
    elif rest["--labels"]:
        if len(left) != len(rest["--labels"]):
            raise InputError(
                f"{len(rest['--labels'])} --labels were given for {len(left)} --column.",
                f"give each column its own, in order, or name the column: --labels {columns[0]}=flu,cold.",
            )
        named["--labels"] |= dict(zip(left, rest["--labels"], strict=True))
    return [(named["--labels"].get(each), named["--numbers"].get(each)) for each in columns]


def _parts(text: str, columns: Sequence[str]) -> list[str]:
    """Return what an option holds for each column, where it begins with a name and others follow.

    Names of columns end the values before them, after a semicolon or a comma outside double quotes.
    """
    names = sorted(columns, key=len, reverse=True)
    begins = rf"(?:{'|'.join(map(re.escape, names))})="
    if not re.match(begins, text):
        return [text]
    parts = re.split(rf'\s*[;,]\s*(?={begins})(?=(?:[^"]*"[^"]*")*[^"]*$)', text)
    own = [part.partition("=")[0] for part in parts]
    return parts if len(set(own)) == len(own) else [text]


def circles_of(columns: Sequence[str], circular: Sequence[str]) -> dict[str, int]:
    """Return the length of the circle of each column that ``--circular`` gives one.

    Args:
        columns: The columns.
        circular: ``--circular``, as often as it was given: 24, or with several columns hour=24.

    Raises:
        InputError: If one is no whole number above 1, or names no column or one twice.
    """
    found: dict[str, int] = {}
    for text in circular:
        column, length = _named("--circular", text, columns)
        if column is None and len(columns) > 1:
            raise InputError(
                f"--circular {text} does not say which of the {len(columns)} columns it is for.",
                f"name the column: --circular {shlex.quote(f'{columns[0]}={text}')}.",
            )
        column = column or columns[0]
        digits = length.strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 16 and int(digits) > 1):
            raise InputError(
                f"--circular {text} is not the length of a circle.", "use a whole number such as 24 for hours."
            )
        if column in found:
            raise InputError(f"--circular names the column {column!r} twice.", "give its circle once.")
        found[column] = int(digits)
    return found


def _named(option_name: str, text: str, columns: Sequence[str]) -> tuple[str | None, str]:
    """Return the column that an option's text names, if it does, and the rest of the text.

    Raises:
        InputError: If it names something else.
    """
    column = max((each for each in columns if text.startswith(f"{each}=")), key=len, default=None)
    if column is not None:
        values = text.removeprefix(f"{column}=")
        if re.search(rf"[;,]\s*{re.escape(column)}=", values):
            raise InputError(
                f"{option_name} {text} names the column {column!r} more than once.",
                "write its name once, in front of the first label",
                "if the labels begin like this, write them into a text file, one on each line: --labels FILE.",
            )
        return column, values
    other, sign, _ = text.partition(",")[0].partition("=")
    if not (other and sign) or ("," not in text and os.path.isfile(text)):
        return None, text
    near = next(iter(get_close_matches(other, columns, 1)), columns[0])
    raise InputError(
        f"{option_name} {text} begins with {other!r}, which is none of the columns: "
        f"{', '.join(map(repr, columns))}.",
        f"name a column: {option_name} {shlex.quote(f'{near}={text[len(other) + 1 :]}')}.",
        "if labels hold '=', write them into a text file, one on each line: --labels FILE."
        if option_name == "--labels"
        else "",
    )
