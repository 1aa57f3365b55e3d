"""Options of a study at the command line, read from its signature: what the examples share."""

from __future__ import annotations

import argparse
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.frozen import Short
from ..errors import SfumatoError
from ..geo import Visits

_CALLBACKS = ("progress", "partial")


@dataclass(frozen=True, slots=True, repr=False)
class StudyOptions(Short):
    """The command line of a study, read.

    Attributes:
        files: The files of visits, in the order given.
        out: The folder of the results.
        arguments: The study's other arguments, by name.
    """

    files: tuple[Path, ...]
    out: Path
    arguments: Mapping[str, Any]


@contextmanager
def study_options(
    study: Callable[..., object], about: str | None, given: Sequence[str] | None = None, **defaults: object
) -> Iterator[StudyOptions]:
    """Read the command line of a study: an option for each of its arguments, and ``--out``.

    The name, type and default of an option are those of the argument, and its help is what the study's docstring
    says of it. Files come first, without an option, where the study takes visits. An error of the package that is
    raised inside the ``with`` block ends the program with a message that names options.

    Args:
        study: The study, such as `sfumato.studies.drawing_board.study`.
        about: What the program does; of several lines the first counts. None says nothing.
        given: The words of the command line; None takes those of the program.
        **defaults: Other defaults, for arguments that have none.

    Yields:
        What the command line says.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parameters, types, said = inspect.signature(study).parameters, typing.get_type_hints(study), _said(study)
    for name, parameter in parameters.items():
        kind = types[name]
        if name in _CALLBACKS:
            continue
        if kind is Visits:
            parser.add_argument(
                "files", nargs="?", type=Path, help="a file of visits; without it, the synthetic city"
            )
        elif parameter.default is parameter.empty and name not in defaults:
            parser.add_argument("files", nargs="+", type=Path, help=said[name].replace("%", "%%"))
        else:
            default = defaults.get(name, parameter.default)
            shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
            text = f"{said[name]} [default: {shown}]".replace("%", "%%")
            parser.add_argument(_option(name), default=default, help=text, **_values(kind))
    parser.add_argument("--out", type=Path, default=Path(), help="the folder of the results [default: this one]")
    arguments = vars(parser.parse_args(given))
    files, out = arguments.pop("files", None) or [], arguments.pop("out")
    try:
        yield StudyOptions(tuple(files) if isinstance(files, list) else (files,), out, arguments)
    except SfumatoError as error:
        parser.error(error.told(lambda name, value: _written(name, value, arguments)))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _values(kind: Any) -> dict[str, Any]:
    """Return how argparse reads values of an annotated type."""
    inner = typing.get_args(kind)
    one = {"type": found} if (found := inner[0] if inner else kind) in (int, float) else {}
    if typing.get_origin(kind) is tuple:
        return {**one, "nargs": len(inner)}
    return {**one, "nargs": "+"} if typing.get_origin(kind) is Sequence else one


def _said(study: Callable[..., object]) -> dict[str, str]:
    """Return what the docstring says of each argument."""
    text = re.search(r"^Args:\n((?:    .*\n?|\n)*)", inspect.getdoc(study) or "", flags=re.MULTILINE)
    entries = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", text[1] if text else "", flags=re.MULTILINE)
    plain = {name: " ".join(words.split()).replace("`", "") for name, words in entries}
    return {name: words[0].lower() + words[1:].removesuffix(".") for name, words in plain.items()}


def _written(name: str, value: str, arguments: Mapping[str, Any]) -> str | None:
    bare = name.rpartition(".")[2]
    return f"{_option(bare)} {value}".strip() if bare in arguments else None
