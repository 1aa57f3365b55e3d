"""Two groups of people, as distributions on the same places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core import Metric, Prior
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Places, Visits


@dataclass(frozen=True, slots=True, repr=False)
class Groups(CompactRepr):
    """Two groups of people, as distributions on the same places.

    Attributes:
        names: What the groups are called.
        priors: Where each group is.
        metric: The distance of places, in kilometres.
        title: What the two together are called.
    """

    names: tuple[str, str]
    priors: tuple[Prior, Prior]
    metric: Metric
    title: str = ""

    @classmethod
    def from_visits(
        cls, places: Places, visits: Visits, attribute: str, first: object, second: object, title: str = ""
    ) -> Groups:
        """Return the groups whose visits have one or the other value of an attribute.

        Args:
            places: The cells that the visits are counted in.
            visits: Visits with the attribute.
            attribute: Its name, such as ``home_area``.
            first: Its value in the first group.
            second: Its value in the second group.
            title: What the two together are called.

        Raises:
            InputError: If the visits do not have the attribute.
            DataError: If a group has no visit in the cells.
        """
        if attribute not in visits.attributes:
            raise InputError(
                f"the visits have no attribute {attribute!r}.",
                f"they have {', '.join(visits.attributes) or 'none'}.",
            )
        column = visits.attributes[attribute]
        one, two = (Prior.from_visits(places, visits.select(column == value)) for value in (first, second))
        return cls((str(first), str(second)), (one, two), places.metric("euclidean", unit="km"), title)

    @property
    def distributions(self) -> Floats:
        """Both distributions, array (2, n)."""
        return np.array([prior.probabilities for prior in self.priors])

    @property
    def everyone(self) -> Prior:
        """Both groups together, in equal parts: service quality loss is counted for them."""
        return Prior(self.priors[0].space, self.distributions.mean(axis=0))

    @property
    def total_variation(self) -> float:
        """Distance of the distributions, from 0 to 1."""
        return float(np.abs(np.subtract(*self.distributions)).sum() / 2)
