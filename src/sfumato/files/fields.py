"""The manifest's entries, read one by one with their types checked."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Final

from ..errors import FileError

DAMAGED: Final = "the file is damaged or was changed by hand: write it again, or get a sound copy."


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object whose entries must be there and of the right type.

    Each reader raises FileError where its entry is missing or of another type.

    Attributes:
        values: The object.
        name: What it is called in messages.
    """

    values: dict[str, Any]
    name: str = "manifest"

    @classmethod
    def of(cls, value: Any, name: str) -> Fields:
        """Return the fields of a JSON value, which must be an object."""
        if not isinstance(value, dict):
            raise FileError(f"its {name} is not an object.", DAMAGED)
        return cls(value, name)

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a text")
        return value

    def flag(self, key: str) -> bool:
        """Return a truth value."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def integer(self, key: str) -> int:
        """Return an integer."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "an integer")
        return value

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self._get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
            raise self._wrong(key, "a number")
        return float(value)

    def items(self, key: str) -> list[Any]:
        """Return a list."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def fields(self, key: str) -> Fields:
        """Return an object's fields."""
        return Fields.of(self._get(key), f"{self.name}'s {key}")

    def has(self, key: str) -> bool:
        """Return whether the entry is there and not null."""
        return self.values.get(key) is not None

    def _get(self, key: str) -> Any:
        if key not in self.values:
            raise FileError(f"its {self.name} has no entry {key!r}.", DAMAGED)
        return self.values[key]

    def _wrong(self, key: str, wanted: str) -> FileError:
        return FileError(f"its {self.name} has an entry {key!r} that is not {wanted}.", DAMAGED)
