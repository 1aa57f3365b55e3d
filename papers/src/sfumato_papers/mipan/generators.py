"""Generators of reports that learned ones are compared with, and the Bayes errors that each leaves on grids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np

from sfumato.core import Mechanism
from sfumato.core.arrays import Floats, floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.learning import Draws, Pairs, grid_error, nearest, repeated
from sfumato.mechanisms import PlanarLaplace

_CELLS_M: Final = (500.0, 250.0, 100.0, 50.0)
HITS: Final = (10, 100, 500)
_AREA_M: Final = 6500.0  # side of the area that the grids divide

NO_NOISE: Final = "no noise"
LAPLACE: Final = "planar Laplace"
TABLE: Final = "learned table"
ANNEALED: Final = "annealed table"
NETWORK: Final = "learned network"
LEAST_INFORMATION: Final = "least information"
OPTIMUM: Final = "certified optimum"
SQUARE_GENERATORS: Final = (NO_NOISE, LAPLACE, LEAST_INFORMATION, TABLE, ANNEALED, NETWORK, OPTIMUM)
"""Generators of Experiments 1 and 2, in the order of figures."""

NOISE: Final = "planar geometric"
REMAP: Final = "planar geometric + remap"
EXPOST: Final = "ExPost"
DUMMIES: Final = 10
TUPLED: Final = f"planar geometric among {DUMMIES} dummies"
TRAIN: Final = "train"
TEST: Final = "test"


@dataclass(frozen=True, slots=True)
class NoNoise:
    """Every report is the place itself."""

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:  # noqa: ARG002 - nothing is random
        """Return the places."""
        return floats(places, "the places", shape=(None, None))


@dataclass(frozen=True, slots=True)
class LaplaceDraws:
    """Planar Laplace noise in floats, for studies."""

    noise: PlanarLaplace

    def draw(self, places: Floats, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, 2)."""
        return self.noise.simulate(places, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True, eq=False)
class TableDraws:
    """A finite mechanism on places: each takes the row of the nearest secret."""

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


@dataclass(frozen=True, slots=True, repr=False)
class GridRow(CompactRepr):
    """The Bayes error that a generator leaves on one grid."""

    experiment: str  # or the people and the limit
    generator: str
    seed: int  # of data, training and draws
    part: str  # train or test
    hits: int  # reports of each record
    cell_m: float
    error: float  # plug-in estimate, equation 27: on average too low on fine grids with few hits
    error_corrected: float  # less an estimate of the bias
    loss_m: float  # mean distance of report and place
    loss_standard_error_m: float  # over the records


def generator_errors(
    generators: Mapping[str, Draws],
    parts: Mapping[str, Pairs],
    *,
    experiment: str = "",
    hits: Sequence[int] = HITS,
    seed: int,
) -> list[GridRow]:
    """Measure generators on the same data and grids, coarse to fine; `grid_error` has their biases."""
    rows = []
    for (name, generator), (part, data), many in product(generators.items(), parts.items(), hits):
        again = repeated(data, many)
        drawn = generator.draw(again.points, seed=seed)
        reports = again.reported(drawn)
        each = np.linalg.norm(drawn - again.points, axis=1).reshape(many, len(data)).mean(axis=0)
        loss = float(each.mean()), float(each.std(ddof=1)) / math.sqrt(len(data)) if len(data) > 1 else math.inf
        for cell in _CELLS_M:
            grid = grid_error(reports, cell, even=round(_AREA_M / cell) % 2 == 0, seed=seed)
            errors = grid.plug_in, grid.error.value
            rows.append(GridRow(experiment, name, seed, part, many, cell, *errors, *loss))
    return rows
