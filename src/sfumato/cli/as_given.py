"""Options of a command, as they were given: which of them differ from their defaults, and which do not fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from ..errors import InputError


class OptionsAsGiven:
    """The options of a command, as fields of a dataclass."""

    __slots__ = ()

    def given(self, *names: str) -> list[str]:
        """Return those of some options that were given otherwise than by default, as they are written.

        Args:
            names: The fields.
        """
        options: Any = self
        usual = {field.name: field.default for field in fields(options)}
        return [written(name) for name in names if getattr(self, name) not in (usual[name], [])]

    def refuse(self, names: Iterable[str], why: str, hint: str) -> None:
        """Refuse options that do not fit the others.

        Args:
            names: The fields.
            why: The rest of the sentence that begins with the option.
            hint: The way out.

        Raises:
            InputError: If one of them was given.
        """
        for name in self.given(*names):
            raise InputError(f"{name} {why}", hint)


def written(name: str) -> str:
    """Return a field as the option is written: ``max_loss`` as ``--max-loss``."""
    return f"--{name.replace('_', '-')}"
