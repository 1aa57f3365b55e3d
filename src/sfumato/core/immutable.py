"""Bases of frozen dataclasses: safe copies and pickles, a repr of one short line, HTML in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, Self, cast

import numpy as np

_LONGEST: Final = 180  # characters of a repr
_OF_ONE: Final = 70  # characters of one field in it


class NotebookRepr:
    """An object that notebooks show as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the object as HTML."""
        return str(load_method("html")(self))


class Immutable(NotebookRepr):
    """A frozen dataclass whose copy is itself and whose pickle calls the constructor, which checks it.

    A pickle of fields would restore writable arrays, and fields that must agree could differ.
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]
        return _build, (type(self), values)


def _build(kind: type[Any], values: dict[str, Any]) -> Any:
    return kind(**values)


def assign(frozen: object, **values: object) -> None:
    """Set fields of a frozen dataclass while it is being made; arrays must be read-only."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


class CompactRepr(NotebookRepr):
    """A dataclass, declared with ``repr=False``, whose repr is one line: arrays by shape, collections by size."""

    __slots__ = ()

    def __repr__(self) -> str:
        parts = [f for f in fields(self) if f.repr and not f.name.startswith("_")]  # type: ignore[arg-type]
        text = f"{type(self).__name__}({', '.join(f'{f.name}={brief(getattr(self, f.name))}' for f in parts)})"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...)"


def brief(value: object) -> str:
    """Return the value of a field in few words: arrays by shape, collections by size."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape}"
    if isinstance(value, float):
        return f"{value:.6g}"
    for text in (repr(value), str(value)):
        if len(text) <= _OF_ONE and "\n" not in text:
            return text
    if isinstance(value, str):
        return f"{value!r:.{_OF_ONE - 4}}...'"
    if isinstance(value, tuple | list | set | frozenset | dict):
        return f"{len(value)} items"
    return type(value).__name__


def load_method(name: str) -> Callable[..., Any]:
    """Return the function that a higher package registers as an entry point of the group ``sfumato.methods``."""
    from importlib.metadata import entry_points

    for method in entry_points(group="sfumato.methods", name=name):
        return cast("Callable[..., Any]", method.load())
    raise NotImplementedError(f"no function is registered for {name}: install this version of sfumato again.")
