"""Bases of frozen dataclasses: safe copies and pickles, a repr of one short line, HTML in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, Self

import numpy as np

_LONGEST: Final = 180  # characters of a repr
_OF_ONE: Final = 70  # characters of one field in it


class Immutable:
    """A frozen dataclass that nothing can change: a copy is the thing itself.

    Its pickle holds the constructor's arguments, so that unpickling checks them again. Without
    that a pickle would restore the fields one by one: arrays would come back writable, and fields
    that belong together, such as weights and their probabilities, could differ.
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]
        return _built, (type(self), given)


def _built(kind: type[Any], given: dict[str, Any]) -> Any:
    return kind(**given)


def assign(frozen: object, **values: object) -> None:
    """Set fields of a frozen dataclass while it is being made; arrays must be read-only."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


class CompactRepr:
    """A dataclass whose repr is one line: arrays by their shape, collections by their size.

    Declare the dataclass with ``repr=False``, or its own long repr takes the place of this one.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if f.repr and not f.name.startswith("_")]  # type: ignore[arg-type]
        text = f"{type(self).__name__}({', '.join(f'{f.name}={_brief(getattr(self, f.name))}' for f in shown)})"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...)"


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array {value.shape}"
    if isinstance(value, float):
        return f"{value:.6g}"
    found = repr(value)
    for text in (found, str(value)):
        if len(text) <= _OF_ONE and "\n" not in text:
            return text
    if isinstance(value, str):
        return f"{found[: _OF_ONE - 4]}...'"
    if isinstance(value, tuple | list | set | frozenset | dict):
        return f"{len(value)} items"
    return type(value).__name__


class NotebookRepr:
    """An object that notebooks show as HTML.

    Its renderer is on a floor above. The package registers it as an entry point, like any plugin.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the object as HTML; `NotImplementedError` without a renderer, and notebooks show its repr."""
        from importlib.metadata import entry_points

        for renderer in entry_points(group="sfumato.notebook"):
            return str(renderer.load()(self))
        raise NotImplementedError
