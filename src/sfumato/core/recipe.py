"""Recipes: the exact ways in which reports are drawn from random words."""

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
    """The exact way in which a report is drawn: integers, uniform choices and rational coins, no float."""

    __slots__ = ()

    rowwise: ClassVar[bool] = False
    """Whether rows draw the same words together as each alone (but for ties): see `KeyedWords`."""

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
        """Return one independent report for each secret, array (count, ...) of reports of shape `shape`.

        ``rows`` has positions of secrets, or the integers themselves, array (count,); it is not checked here.
        """


class PointRecipe(ABC):
    """The exact way in which a report is drawn for a point on the ground."""

    __slots__ = ()

    @abstractmethod
    def blurred(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Floats:
        """Return a report for each point in degrees: latitudes and longitudes, array (n, 2).

        With ``nearest`` points outside the region served move to its nearest point; otherwise they are an
        `InputError`.
        """

    @abstractmethod
    def blurred_one(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return a report for one point: latitude and longitude; see `blurred`."""
