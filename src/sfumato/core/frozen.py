"""Frozen things stay frozen through copies and pickles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self


class Frozen:
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
