"""Errors of the interface: message, hint, field and columns, without paths and tracebacks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sfumato.errors import SfumatoError
from sfumato.escaping import plain

_FIELDS: Final = {
    "epsilon": "epsilon",
    "smoothing": "smoothing",
    "time_limit": "the time limit",
    "max_loss": "the loss",
    "radius": "the radius",
    "distortion": "the attacker's error",
}
_PATHS: Final = re.compile(r"(?:/[^\s/'\"]+)+/(?=[^\s/'\"]+)")
Columns = Mapping[str, Sequence[str]]  # the first values of columns, by their names


class RefusedError(Exception):
    """A request that the studio refuses, with a hint, the field that is meant, and columns to choose from."""

    def __init__(
        self, status: int, message: str, hint: str = "", field: str = "", columns: Columns | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.hint, self.field = status, message, hint, field
        self.columns = columns or {}


def page_term(name: str, value: str) -> str | None:
    """Write an argument as the page calls it; None where the page has no such field."""
    name = name.rpartition(".")[2]
    if name == "region":  # the page has no field for its value
        return "the four edges of the region"
    field = _FIELDS.get(name)
    if field is None:
        return None
    return f"{field} {value}" if value else field


def message_of(error: SfumatoError) -> tuple[str, str]:
    """Return the message and the hint of an error, in the words of the page."""
    problem, _, hint = _PATHS.sub("", error.render(page_term)).partition("\nHint: ")  # only the names of files
    return _sentence(plain(problem)), _sentence(plain(hint))


def refusal_of(error: Exception) -> RefusedError:
    """Return any error as one that the page can show."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, SfumatoError):
        return RefusedError(422, *message_of(error))
    hint = "try again; what happened is in the terminal that runs the studio."
    return RefusedError(500, "Something went wrong that was not foreseen.", hint)


def error_body(error: RefusedError) -> dict[str, Any]:
    """Return the body of an answer to a refused request."""
    columns = [{"name": name, "examples": list(values)} for name, values in error.columns.items()]
    texts = {"message": _sentence(plain(error.message)), "hint": _sentence(plain(error.hint))}
    return {"error": {**texts, "field": error.field, "columns": columns}}


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    whole = text[0].upper() + text[1:]
    return whole if whole[-1] in ".!?" else f"{whole}."
