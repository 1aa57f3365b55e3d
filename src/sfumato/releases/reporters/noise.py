"""Noise for coordinates, made ready for batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Words
from ...core.arrays import Floats
from ...mechanisms.planar import CoordinateNoise
from .reporter import Given, Reporter, Secrets


class NoiseReporter(Reporter):
    """Noise for coordinates."""

    given: Given = "places"
    moves = True

    def __init__(self, noise: CoordinateNoise) -> None:
        self.noise = noise

    @property
    def where(self) -> str:
        """The points that are served, in words."""
        return f"within {self.noise.reach_m / 1000:,.6g} km of the noise's centre"

    @property
    def loss_m(self) -> float:
        """The mean length of the noise, metres."""
        return 2 * float(self.noise.step_m / self.noise.noise.rate)

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:  # noqa: ARG002
        """Return the points themselves; see `Reporter.at`."""
        beyond = self.noise.beyond_m(lat, lon)
        moved = beyond > 0
        inside = np.isfinite(beyond) & (nearest | ~moved)
        points = np.column_stack([lat, lon])
        return Secrets(points, inside, np.where(inside & moved, beyond, 0.0) if nearest and moved.any() else None)

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return latitudes and longitudes, array (n, 2)."""
        if len(secrets) == 1:
            return np.array([self.noise.blurred_one(secrets.item(0), secrets.item(1), words, nearest=True)])
        return self.noise.blurred(secrets[:, 0], secrets[:, 1], words, nearest=True)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the columns ``latitude`` and ``longitude``."""
        import pyarrow as pa

        return {"latitude": pa.array(reports[:, 0]), "longitude": pa.array(reports[:, 1])}

    def __repr__(self) -> str:
        return repr(self.noise)
