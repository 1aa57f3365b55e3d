"""Generators of reports that learned ones are compared with: no noise, planar Laplace noise, and any table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core import Mechanism
from sfumato.core.arrays import Floats, floats
from sfumato.errors import InputError
from sfumato.learning import nearest
from sfumato.mechanisms import PlanarLaplace


@dataclass(frozen=True, slots=True)
class NoNoise:
    """Every report is the place itself."""

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:  # noqa: ARG002 - nothing is random
        """Return the places."""
        return floats(places, "the places", shape=(None, None))


@dataclass(frozen=True, slots=True)
class LaplaceDraws:
    """Planar Laplace noise in floats, for studies.

    Attributes:
        noise: The noise.
    """

    noise: PlanarLaplace

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, 2)."""
        return self.noise.simulate(places, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True, eq=False)
class TableDraws:
    """A finite mechanism used on places: each takes the row of the nearest secret. For studies.

    Attributes:
        mechanism: A mechanism whose secrets and observables have coordinates.

    Raises:
        InputError: If they have none.
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        if self.mechanism.secrets.coordinates is None or self.mechanism.observables.coordinates is None:
            raise InputError("the mechanism's values have no coordinates.", "use one on cells.")

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return the coordinates of one report for each place, array (k, dimensions)."""
        rng = np.random.default_rng(seed)
        rows = nearest(floats(places, "the places", shape=(None, None)), self.mechanism.secrets)
        steps = np.cumsum(self.mechanism.matrix, axis=1)
        steps[:, -1] = np.inf
        reports = np.empty(len(rows), dtype=np.intp)
        shots = rng.random(len(rows))
        for row in np.unique(rows):
            here = rows == row
            reports[here] = np.searchsorted(steps[row], shots[here], side="right")
        coordinates: Any = self.mechanism.observables.coordinates
        drawn: Floats = coordinates[reports]
        return drawn
