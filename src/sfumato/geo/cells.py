"""Cells that divide the ground: what grids and hexagons share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, numbers
from ..core.distances import great_circle_m
from .places import OnePoint, Places
from .vertex_weights import Draw, Rounding

_BLOCK: Final = 1 << 10  # points at a time, each with its distance to every place


class Cells(Places):
    """Cells on the ground; each visit falls into one of them, or outside."""

    __slots__ = ()

    @abstractmethod
    def locate(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of the cell of each point, array (n,); -1 outside all cells.

        Args:
            lat: Latitudes, array (n,) in degrees.
            lon: Longitudes, array (n,) in degrees.
        """

    def drawn(self, lat: ArrayLike, lon: ArrayLike, words: Draw) -> NDArray[np.intp]:  # noqa: ARG002
        """Return the position of the cell of each point, array (n,); -1 outside all cells. Nothing is drawn."""
        return self.locate(lat, lon)

    def nearest(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]:
        """Return points, those outside moved to the nearest centre; see `Places.nearest`."""
        north, east = numbers(lat, "the latitude").ravel(), numbers(lon, "the longitude").ravel()
        away = np.flatnonzero((self.locate(north, east) < 0) & (np.abs(north) <= 90) & np.isfinite(east))
        centres = self.latlon
        for start in range(0, len(away), _BLOCK):
            some = away[start : start + _BLOCK]
            distances = great_circle_m(np.column_stack([north[some], east[some]]), centres)
            north[some], east[some] = centres[np.argmin(distances, axis=1)].T
        return north, east

    def singly(self) -> OnePoint:
        """Return what leaves single points to `locate`."""
        return _Located()

    def rounding(self, lat: ArrayLike, lon: ArrayLike) -> Rounding:
        """Return the cell of each point, for certain."""
        positions = self.locate(lat, lon)[:, None]
        return Rounding(positions, np.ones(positions.shape))


class _Located:
    """Single points of cells: nothing is faster than to look them up."""

    def drawn(self, lat: float, lon: float, words: Draw, *, nearest: bool = False) -> int | None:  # noqa: ARG002
        return None
