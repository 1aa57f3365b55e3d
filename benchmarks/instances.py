"""The instances as sfumato's objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.core import greedy_spanner
from sfumato.core.arrays import Floats

from .registry import ALL, CHECK_INS, DATA, DILATION, MIDDLES, Instance

_SEED = 7
_SKEWED_SUPPORT = 0.43  # of the cells; the median of real users visits fewer
_SKEWED_SHAPE = 0.3  # of the Dirichlet distribution on them
_MAP_M = (15_000.0, 8_000.0)  # of Privacy Games, for real users


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """An instance, ready to solve.

    Attributes:
        instance: What was built.
        prior: On n cells.
        loss: Between cells.
        metric: Which epsilon is per unit of.
    """

    instance: Instance
    prior: sf.Prior
    loss: sf.Loss | sf.Metric
    metric: sf.Metric

    @property
    def loss_array(self) -> Floats:
        """The loss, array (n, n)."""
        return self.loss.array

    def exponents(self) -> tuple[NDArray[np.intp], Floats]:
        """Return ordered pairs (k, 2) and the exponents (k,) of their rows, for a plain program."""
        d, n = self.metric.array, len(self.prior)
        if self.instance.pairs == ALL:
            pairs = np.argwhere(~np.eye(n, dtype=bool))
            scale = self.instance.epsilon
        else:
            spanner = greedy_spanner(self.metric, DILATION)
            pairs = np.concatenate([spanner.edges, spanner.edges[:, ::-1]])
            scale = self.instance.epsilon / spanner.dilation
        return pairs, scale * d[pairs[:, 0], pairs[:, 1]]


def build(instance: Instance) -> Built:
    """Return an instance as objects."""
    source = instance.prior.split()[0]
    great_circle = instance.loss == "great-circle"
    space: sf.Space
    if source in CHECK_INS:
        space, prior = (_of_town if " town " in instance.prior else _of_user)(instance, source)
    else:
        space = _map(instance) if great_circle else _unit_grid(instance)
        prior = sf.Prior(space, _probabilities(instance))
    kind = "great-circle" if great_circle else "euclidean"
    metric = space.metric(kind, unit="km") if isinstance(space, sf.Grid) else space.metric(kind)
    loss = sf.hamming(space) if instance.loss == "hamming" else metric
    return Built(instance, prior, loss, metric)


def _unit_grid(instance: Instance) -> sf.Space:
    points = [(x, y) for y in range(instance.rows) for x in range(instance.columns)]
    return sf.Space([f"{x},{y}" for x, y in points], np.array(points, dtype=np.float64))


def _map(instance: Instance) -> sf.Grid:
    """Return cells of one kilometre in Paris."""
    columns, rows = instance.columns, instance.rows
    return sf.Grid.covering(f"{columns} km x {rows} km around 48.8566,2.3522", shape=(columns, rows))


def _probabilities(instance: Instance) -> Floats:
    n = instance.cells
    if instance.prior == "uniform":
        return np.full(n, 1 / n)
    rng = np.random.default_rng(_SEED)
    if instance.prior == "dirichlet":
        return rng.dirichlet(np.ones(n))
    found = np.zeros(n)
    chosen = rng.choice(n, max(2, round(_SKEWED_SUPPORT * n)), replace=False)
    found[chosen] = rng.dirichlet(np.full(len(chosen), _SKEWED_SHAPE))
    return found


def _of_town(instance: Instance, source: str) -> tuple[sf.Grid, sf.Prior]:
    """Return the box of a town, and how often each of its cells is visited."""
    km = instance.prior.split()[2]
    region = f"{km} km x {km} km around {MIDDLES[source]}"
    grid = sf.Grid.covering(region, shape=(instance.columns, instance.rows))
    return grid, sf.Prior.from_visits(grid, sf.read_visits(DATA / CHECK_INS[source]))


def _of_user(instance: Instance, source: str) -> tuple[sf.Grid, sf.Prior]:
    """Return the map around a user's middle place, and their prior on it."""
    rank = int(instance.prior.split()[1])
    everyone = sf.read_visits(DATA / CHECK_INS[source])
    own = everyone.of_user(list(everyone.users())[rank - 1])
    region = sf.Region.around(float(np.median(own.lat)), float(np.median(own.lon)), *_MAP_M)
    grid = sf.Grid.covering(region, shape=(instance.columns, instance.rows))
    return grid, sf.Prior.from_visits(grid, own)
