"""What the notions share that count per unit of a distance between distributions."""

from __future__ import annotations

from typing import final

import numpy as np

from ...core import Metric
from ...core.arrays import Floats
from ..notion import Notion
from .family import Family
from .family_distance import FamilyDistance


class ByDistance(Notion):
    """A notion that lets distributions differ in proportion to their distance.

    Attributes:
        family: The distributions, and which pairs count.
        distance: Between the distributions.
    """

    __slots__ = ()

    family: Family
    distance: FamilyDistance

    @final
    @property
    def metric(self) -> Metric | None:
        """The metric on the secrets, where the distance is a Wasserstein distance."""
        return self.distance.ground

    @final
    @property
    def order(self) -> float | None:
        """The order of the Wasserstein distance, where it is one."""
        return self.distance.order

    @final
    @property
    def unit(self) -> str:
        """The unit of the distance."""
        return self.distance.unit

    @final
    @property
    def between(self) -> tuple[Floats, Floats]:
        """An upper and a lower bound of the distance of each pair that counts, arrays (k,)."""
        first, second = self.family.pairs.T
        return self.distance.array[first, second], self.distance.lower[first, second]


def per_unit(values: Floats, distances: Floats) -> Floats:
    """Return values / distances: 0 / 0 is 0, any other value / 0 is infinite, anything / inf is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.where(values == 0, 0.0, values / distances)
    return np.where(np.isinf(distances), 0.0, quotients)
