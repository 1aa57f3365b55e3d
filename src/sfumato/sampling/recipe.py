"""Recipes: how a report is drawn from whole random words, exactly, for numbered secrets or for points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism
from ..core.arrays import Floats
from ..core.frozen import Frozen
from .alias import AliasTables
from .entropy import Words

Integers = NDArray[np.signedinteger[Any]]


class Recipe(ABC):
    """The way a report is drawn: integer mechanisms, uniform choices and rational coins; no float is involved."""

    __slots__ = ()

    rowwise: ClassVar[bool] = False
    """Whether as many words are asked for as for each row alone, row by row (but for ties): see `KeyedWords`."""

    @property
    @abstractmethod
    def secrets(self) -> int | None:
        """Number of secrets, at positions 0, 1, ...; None where the secret is any integer."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one report; () where it is a single number."""
        return ()

    @abstractmethod
    def draw(self, rows: Integers, words: Words) -> Integers:
        """Return one report for each secret, fresh and independent.

        Args:
            rows: Positions of secrets, or the integers themselves, array (count,); not
                checked here.
            words: Where the randomness comes from.

        Returns:
            Array (count, ...) of reports of the shape above.
        """


@runtime_checkable
class PointRecipe(Protocol):
    """The way a report is drawn for a point on the ground."""

    def blurred(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Floats:
        """Return a report for each point: latitudes and longitudes, array (n, 2).

        Args:
            lat: Latitudes in degrees, array (n,).
            lon: Longitudes in degrees, array (n,).
            words: Where the randomness comes from.
            nearest: Move points that are not served to the nearest that are, instead of refusing them.

        Raises:
            InputError: If a point is not served.
        """

    def blurred_one(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return a report for one point: latitude and longitude; see `blurred`."""


@runtime_checkable
class Drawable(Protocol):
    """Anything that can be drawn from: it knows its recipe."""

    def recipe(self) -> Recipe | PointRecipe:
        """Return how a report is drawn.

        Raises:
            InputError: If it is for studies only.
        """


@dataclass(frozen=True, slots=True)
class Row(Frozen, Recipe):
    """Draw the position of one observable from the secret's row of a mechanism.

    Attributes:
        mechanism: The mechanism.
    """

    rowwise: ClassVar[bool] = True
    mechanism: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.mechanism))

    @property
    def secrets(self) -> int:
        """As many as the mechanism has."""
        return self.mechanism.shape[0]

    def draw(self, rows: Integers, words: Words) -> NDArray[np.intp]:
        """Return positions of observables, array (count,), each of probability weights[s, o] / 2**bits exactly."""
        return self._tables.draw(rows.astype(np.intp, copy=False), words)

    def draw_one(self, row: int, words: Words) -> int:
        """Return the position of one observable; as `draw` does, from the same words, in less time."""
        return self._tables.draw_one(row, words)
