"""A command whose options are the fields of a dataclass: each has its name, type, default and help once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

T = TypeVar("T")


def options_of(kind: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Return a decorator: a function of one object becomes a command with an option for each of its fields.

    Args:
        kind: A dataclass. Its fields are annotated as options are, and all have defaults.
    """
    types = get_type_hints(kind, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name]
        )
        for field in fields(kind)  # type: ignore[arg-type]  # any dataclass
    ]

    def decorated(run: Callable[[T], None]) -> Callable[..., None]:
        def command(**options: Any) -> None:
            run(kind(**options))

        command.__doc__ = run.__doc__
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        vars(command)["__signature__"] = inspect.Signature(parameters)
        return command

    return decorated
