"""Recipes for points on the ground: reports are drawn for latitudes and longitudes, not for numbered secrets."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..core.arrays import Floats
from .entropy import Words


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
