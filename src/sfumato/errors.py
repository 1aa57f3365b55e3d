"""Errors of sfumato and their messages.

A message states what was given, what was needed and what to do next. Hints name arguments in Python, and options
at the command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from .escaping import plain

Spelling = Callable[[str, str], str | None]
"""From an argument and a value for it (or ``""``) to how the caller writes them; None if they cannot."""

_PYTHON: Final = "python"
_SHELL: Final = "shell"
_VALUE: Final = "value"
_INSTEAD: Final = "\ue002"  # between what stands for a value, and the value
# Mentions of arguments travel inside the text, between characters that no text holds: `plain` writes them out.
_MENTION: Final = re.compile("\ue000([\\w.]+)\ue001([^\ue000]*)\ue000")


def argument(name: str, value: object = "") -> str:
    """Return the mention of an argument for a message, which each caller reads in their own notation.

    A name has its function in front where commands call it otherwise: ``read_visits.user``. ``value`` is an
    example, or empty.

    Example:
        >>> error = InputError("the region is too wide.", f"use {argument('region', 'a,b,c,d')}.")
        >>> error.hint
        "use region='a,b,c,d'."
        >>> error.render(lambda name, value: f"--{name} {value}").splitlines()[1]
        'Hint: use --region a,b,c,d.'
    """
    return f"\ue000{plain(name)}\ue001{plain(value)}\ue000"


def python(text: str) -> str:
    """Return a text for callers in Python only: at the command line its hint is left out."""
    return f"\ue000{_PYTHON}\ue001{plain(text)}\ue000"


def shell(text: str) -> str:
    """Return a text for the command line only: in Python its hint is left out."""
    return f"\ue000{_SHELL}\ue001{plain(text)}\ue000"


def row_value(value: object, instead: str) -> str:
    """Return the mention of data for a message: it is shown only to readers who ask for values.

    Messages end in logs and mails, and the rows of a table are about people. ``value`` contains the data, such as
    ``the latitude 400.17,``; ``instead`` does not, such as ``a latitude``.

    Example:
        >>> error = DataError(f"row 2 has {row_value('the latitude 400.17,', 'a latitude')} beyond 90 degrees.")
        >>> str(error)
        'row 2 has a latitude beyond 90 degrees.'
        >>> error.render(values=True)
        'row 2 has the latitude 400.17, beyond 90 degrees.'
    """
    return f"\ue000{_VALUE}\ue001{plain(instead)}{_INSTEAD}{plain(value)}\ue000"


class SfumatoError(Exception):
    """Base of every error that the package raises on purpose.

    Args:
        problem: What was given and why it cannot be used.
        hints: Alternative ways to fix it, printed on a line of their own. A hint with an argument that the caller
            cannot pass is left out.

    Attributes:
        problem: The problem, with arguments as Python writes them.
        hint: The hints in one sentence, likewise.
        hints: The hints as given, for an error that replaces this one.
        text: The problem as given, likewise.
    """

    def __init__(self, problem: str, *hints: str) -> None:
        self.text = problem
        self.hints = tuple(hint for hint in hints if hint)
        self.problem, self.hint = self._parts(in_python)
        super().__init__(self.render(in_python))

    def render(self, spelling: Spelling | None = None, *, values: bool = False) -> str:
        """Return the message for a caller with their own notation of arguments.

        Args:
            spelling: The caller's notation of an argument; by default Python's.
            values: Whether to show data of rows (`row_value`).
        """
        problem, hint = self._parts(spelling or in_python, values=values)
        return f"{problem}\nHint: {hint}" if hint else problem

    @property
    def withholds(self) -> bool:
        """Whether it contains data of rows, which are shown on request only."""
        return any(_VALUE in match[1] for text in (self.text, *self.hints) for match in _MENTION.finditer(text))

    def _parts(self, spelling: Spelling, *, values: bool = False) -> tuple[str, str]:
        def spell(name: str, value: str) -> str:
            return spelling(name, value) or name.rpartition(".")[2]

        problem = _spell_out(self.text, spell, values=values)
        return problem or "", _join([_spell_out(hint, spelling, values=values) for hint in self.hints])


class InputError(SfumatoError, ValueError):
    """A value, array or option that does not fit its place."""


class UnitError(InputError):
    """A quantity whose unit is unknown or does not fit the metric."""


class DataError(SfumatoError, ValueError):
    """A file or table of places that cannot be read as such."""


class InfeasibleError(SfumatoError, ValueError):
    """A request that no mechanism can satisfy; the message says what is possible."""


class SolverError(SfumatoError, RuntimeError):
    """A solver stopped without a usable answer."""


class FileError(SfumatoError, OSError):
    """A file that could not be written or is not a sound mechanism file."""


class MissingExtraError(SfumatoError, ImportError):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs packages that are not installed.",
            f"in a clone of sfumato, install them with: uv sync --inexact --extra {extra}",
            f"without uv: pip install '.[{extra}]'",
        )


class MissingCompanionError(SfumatoError, ImportError):
    """A feature whose companion package is not installed."""

    def __init__(self, feature: str, package: str) -> None:
        super().__init__(
            f"{feature} needs the package {package}, which is not installed.",
            f"install it with: pip install {package}",
            "in a clone of sfumato: uv sync",
        )


class MetricWarning(UserWarning):
    """A metric that can be used, but lacks a property of metrics."""


class PlaceWarning(UserWarning):
    """A position that is far from the report of the place that it was given for."""


def at_command_line(name: str, value: str) -> str | None:
    """Return a text of `shell` as it is; None for anything else."""
    return value if name == _SHELL else None


def in_python(name: str, value: str) -> str | None:
    """Write an argument as Python does: ``region='8 km x 6 km around 48.85,2.35'``; None for a text of `shell`."""
    if name in (_PYTHON, _SHELL):
        return value if name == _PYTHON else None
    bare = name.rpartition(".")[2]
    if not value or re.fullmatch(r"[-+.\deE]+|True|False|None|[\w.]+\(.*\)|\(.*\)|\[.*\]", value):
        return f"{bare}={value}"
    return f"{bare}={value!r}"


def _spell_out(text: str, spelling: Spelling, *, values: bool) -> str | None:
    """Return a text with its arguments, and data of rows, written out; None if an argument cannot be."""
    parts = []
    end = 0
    for match in _MENTION.finditer(text):
        if match[1] == _VALUE:
            part: str | None = match[2].split(_INSTEAD)[values]
        else:
            part = spelling(match[1], match[2])
        if part is None:
            return None
        parts += [plain(text[end : match.start()]), plain(part)]
        end = match.end()
    return "".join([*parts, plain(text[end:])])


def _join(hints: list[str | None]) -> str:
    """Return several hints as one sentence."""
    texts = [hint for hint in hints if hint]
    if len(hints) < 2 or not texts:
        return "".join(texts)
    last = texts[-1] if texts[-1].endswith(".") else f"{texts[-1]}."
    return "; or ".join([*(hint.removesuffix(".") for hint in texts[:-1]), last])
