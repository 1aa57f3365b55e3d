"""Several columns of a table, each by a mechanism of its own, drawn in one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core import Words
from ...errors import InputError, argument
from ...sampling import SystemWords
from .reporter import Given, Reporter, Secrets

_PLACES: Final = ("latitude", "longitude")


class Columnwise(Reporter):
    """Reporters side by side: a row's report is one report for each column, drawn independently.

    Args:
        parts: The reporter of each column, by its name.

    Raises:
        InputError: If one of them reports places.
    """

    given: Given = "labels"

    def __init__(self, parts: Mapping[str, Reporter]) -> None:
        self._parts = dict(parts)
        self.takes = len(self._parts)
        self.rowwise = all(each.rowwise for each in self._parts.values())
        self._shapes = {}
        for name, each in self._parts.items():
            if each.takes != 1:
                raise InputError(f"the mechanism for {name!r} is of several columns.", "release it by itself.")
            if each.given == "places":
                raise _of_places(name, each)
            drawn = each.draw(np.zeros(0, dtype=np.intp), SystemWords())
            if drawn.dtype.kind == "f" or set(_PLACES) & set(each.columns(drawn, lists=True, dictionaries=False)):
                raise _of_places(name, each)
            self._shapes[name] = drawn.shape[1:]

    @property
    def where(self) -> str:
        """The secrets in words."""
        return "; or not ".join(f"{each.where} ({name})" for name, each in self._parts.items())

    def of(self, *columns: Any) -> Secrets:
        """Return the secrets of all columns side by side, array (n, columns); inside where each of them is."""
        found = [each.of(column) for each, column in zip(self._parts.values(), columns, strict=True)]
        return Secrets(
            np.column_stack([each.values for each in found]), np.all([each.inside for each in found], axis=0)
        )

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return the reports of all columns side by side, array (n, ...)."""
        given = secrets.reshape(-1, self.takes)
        drawn = [each.draw(mine, words) for each, mine in zip(self._parts.values(), given.T, strict=True)]
        widths = map(_width, self._shapes.values())
        return np.column_stack([each.reshape(len(given), wide) for each, wide in zip(drawn, widths, strict=True)])

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return a column of the same name for each; of several numbers a list, or ``name_1``, ``name_2``, ..."""
        found: dict[str, Any] = {}
        start = 0
        for name, each in self._parts.items():
            shape = self._shapes[name]
            stop = start + _width(shape)
            mine = np.ascontiguousarray(reports[:, start:stop]).reshape(len(reports), *shape)
            start = stop
            for other, column in each.columns(mine, lists=lists, dictionaries=dictionaries).items():
                called = name + other.removeprefix("label").removeprefix("report")
                if called in found:
                    raise InputError(
                        f"two released columns would have the name {called!r}.",
                        f"rename one of the columns of {argument('column')} in the source.",
                    )
                found[called] = column
        return found

    def __repr__(self) -> str:
        return f"mechanisms for {', '.join(self._parts)}"


def _of_places(name: str, each: Reporter) -> InputError:
    verb = "is for" if each.given == "places" else "reports"
    return InputError(f"the mechanism for {name!r} {verb} places.", "release the places by themselves.")


def _width(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=int))
