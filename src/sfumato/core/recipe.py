"""Recipes: the exact way in which a report is drawn from whole random words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats

Integers = NDArray[np.signedinteger[Any]]
Uints = NDArray[np.uint64]


class Words(Protocol):
    """A source of independent, uniform 64-bit words."""

    def draw(self, count: int) -> Uints:
        """Return the next ``count`` words."""


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
    def row(self) -> Recipe | None:
        """The `Row` that draws the true report, where reports are positions of its mechanism's observables."""
        return None

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


class PointRecipe(ABC):
    """The way a report is drawn for a point on the ground."""

    __slots__ = ()

    @abstractmethod
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

    @abstractmethod
    def blurred_one(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return a report for one point: latitude and longitude; see `blurred`."""
