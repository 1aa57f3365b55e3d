"""The face of a mechanism that is ready for batches: rows of a table become secrets, secrets become reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...core import Words
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import InputError, argument

BLOCK: Final = 1 << 15
"""Rows that are drawn at a time: what they need stays in the processor's cache."""

Given = Literal["places", "labels", "numbers"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Secrets(CompactRepr):
    """The secrets that rows are taken for.

    Attributes:
        values: Positions of secrets, or whole numbers, array (n,); for noise on coordinates degrees, array (n, 2).
        inside: Which rows have one, array (n,).
        moved_m: How far each was moved to be inside, metres, array (n,); None where none was.
    """

    values: NDArray[Any]
    inside: NDArray[np.bool_]
    moved_m: Floats | None = None


class Reporter(ABC):
    """One mechanism, ready to report on batches of rows.

    Attributes:
        given: What a row's secret is read from: a place, a label or a whole number.
        takes: How many columns of labels or numbers hold a secret.
        moves: Whether rows outside can be moved to the nearest place.
        rowwise: Whether reports for many rows take the same words as those for each row alone, row by row.
    """

    given: Given
    takes: int = 1
    moves: bool = False
    rowwise: bool = False

    @property
    @abstractmethod
    def where(self) -> str:
        """The secrets in words, as they follow "not"."""

    @property
    def loss_m(self) -> float:
        """The mean distance from a true place to its report, metres; NaN where reports have no place."""
        return float("nan")

    @abstractmethod
    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return a report for each secret, fresh and independent, array (n, ...)."""

    @abstractmethod
    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the Arrow columns of reports, by name.

        Args:
            reports: As `draw` returns them.
            lists: Whether a report of several numbers becomes a list, or as many columns.
            dictionaries: Whether labels may refer to a dictionary of all labels of the mechanism.
        """

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:  # noqa: ARG002
        """Return the secrets of points on the ground.

        Args:
            lat: Degrees, array (n,); NaN where a row has no position.
            lon: Likewise.
            words: Where the randomness comes from that rounds points to vertices.
            nearest: Whether points outside are moved first.

        Raises:
            InputError: If the mechanism is not one of places, or points cannot be moved.
        """
        raise InputError(
            f"{self!r} is not about places on the ground.",
            f"name the column that holds the secret with {argument('column', 'name')}.",
        )

    def of(self, *columns: Any) -> Secrets:  # noqa: ARG002
        """Return the secrets in Arrow columns of labels or numbers: one column, or as many as `takes` says.

        Raises:
            DataError: If a column holds neither.
        """
        raise InputError(f"{self!r} is for points, not for labels.", f"leave out {argument('column')}.")
