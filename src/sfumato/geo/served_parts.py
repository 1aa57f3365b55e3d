"""Parts of the area that places serve, and the mixtures of secrets that points in them are taken for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats

HALVES: Final = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
"""The corners of a square of side 1 around the origin, counter-clockwise, array (4, 2)."""

PROJECTED_M: Final = 1e-5
"""More than the error of a projected place, metres."""

# Triangles that a triangle splits into: their corners, by the shares of its own.
_QUARTERS: Final = (
    np.array(
        [
            [(2, 0, 0), (1, 1, 0), (1, 0, 1)],
            [(1, 1, 0), (0, 2, 0), (0, 1, 1)],
            [(1, 0, 1), (0, 1, 1), (0, 0, 2)],
            [(1, 1, 0), (0, 1, 1), (1, 0, 1)],
        ]
    )
    / 2
)


class ServedParts(ABC):
    """Parts of the served area; each point is taken for a mean of ``mixtures`` of the places ``rows`` (n, v)."""

    rows: NDArray[np.intp]

    @property
    @abstractmethod
    def mixtures(self) -> Floats:
        """Shares of the places, array (n, q, v)."""

    @property
    @abstractmethod
    def points(self) -> Self:
        """The corners, as parts without extent."""

    @abstractmethod
    def farthest(self, targets: Floats) -> Floats:
        """Return the largest distances of points of each part from targets (m, 2), array (n, m)."""

    @abstractmethod
    def split(self) -> Self:
        """Return parts of half the size, which cover these."""

    def take(self, index: NDArray[Any] | list[int]) -> Self:
        """Return some of the parts, by positions or a mask."""
        arrays: Any = vars(self)
        return type(self)(**{name: array[index] for name, array in arrays.items()})


@dataclass(frozen=True, eq=False)
class Rectangles(ServedParts):
    """Rectangles from ``low`` to ``high``, by the sizes of whole ones around ``centres``; all arrays (n, 2)."""

    rows: NDArray[np.intp]  # a cell, or the nine vertices around a square
    centres: Floats  # metres
    size_m: Floats
    low: Floats
    high: Floats

    @property
    def mixtures(self) -> Floats:
        """One of a cell, else those of splines: means of their polar forms; docs/proofs/error-radius.md."""
        if self.rows.shape[1] == 1:
            return np.ones((len(self.rows), 1, 1))
        a, b = np.stack([self.low, self.low, self.high]), np.stack([self.low, self.high, self.high])
        axis = np.stack([(0.5 - a) * (0.5 - b) / 2, 0.75 - a * b, (0.5 + a) * (0.5 + b) / 2])  # (3, 3, n, 2)
        both = np.einsum("ipn,jqn->npqij", axis[..., 0], axis[..., 1])
        return np.asarray(both.reshape(len(self.rows), 9, 9))

    @property
    def points(self) -> Self:
        """The four corners; see `ServedParts.points`."""
        at = np.where(HALVES < 0, self.low[:, None], self.high[:, None]).reshape(-1, 2)
        return replace(self.take(np.repeat(np.arange(len(self.rows)), 4)), low=at, high=at)

    def farthest(self, targets: Floats) -> Floats:
        """Return the distances of the farthest corners; see `ServedParts.farthest`."""
        middle = self.centres + self.size_m * (self.low + self.high) / 2
        half = self.size_m * (self.high - self.low) / 2
        east, north = (np.abs(targets[:, k] - middle[:, k, None]) + half[:, k, None] for k in (0, 1))
        return np.asarray(np.sqrt(east * east + north * north))

    def split(self) -> Self:
        """Return the quarters; see `ServedParts.split`."""
        middle = (self.low + self.high) / 2
        low = np.concatenate([np.where(half < 0, self.low, middle) for half in HALVES])
        high = np.concatenate([np.where(half < 0, middle, self.high) for half in HALVES])
        return replace(self.take(np.tile(np.arange(len(self.rows)), 4)), low=low, high=high)


@dataclass(frozen=True, eq=False)
class Triangles(ServedParts):
    """Triangles, by the shares (n, 3, 3) that their corners have of the corners (n, 3, 2) of whole ones."""

    rows: NDArray[np.intp]  # a cell, or the corners of the whole triangle
    whole: Floats  # metres
    shares: Floats

    @property
    def mixtures(self) -> Floats:
        """One of a cell, else those at the corners, between which they are linear."""
        return self.shares if self.rows.shape[1] > 1 else np.ones((len(self.rows), 1, 1))

    @property
    def points(self) -> Self:
        """The three corners; see `ServedParts.points`."""
        corners = np.repeat(self.shares.reshape(-1, 1, 3), 3, axis=1)
        return replace(self.take(np.repeat(np.arange(len(self.rows)), 3)), shares=corners)

    def farthest(self, targets: Floats) -> Floats:
        """Return the distances of the farthest corners; see `ServedParts.farthest`."""
        corners = self.shares @ self.whole
        east, north = (targets[:, k] - corners[:, :, k, None] for k in (0, 1))
        return np.asarray(np.sqrt((east * east + north * north).max(axis=1)))

    def split(self) -> Self:
        """Return the quarters; see `ServedParts.split`."""
        shares = np.concatenate([quarter @ self.shares for quarter in _QUARTERS])
        return replace(self.take(np.tile(np.arange(len(self.rows)), 4)), shares=shares)
