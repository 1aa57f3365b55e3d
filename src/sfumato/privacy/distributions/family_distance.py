"""Distances between the distributions of a family, and what notions per unit of a distance share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Metric
from ...core.arrays import Floats, floats, readonly
from ...errors import InputError
from ...escaping import plain
from ...transport import wasserstein
from ..point.metric import FAR_PAIRS, NO_PAIR
from ..relation import Relation
from ..rows import AnyMechanism
from .family import Family
from .family_reports import OfFamily, same_reports


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FamilyDistance:
    """Distances between the distributions of a family.

    Args:
        array: Array (k, k) of distances; ``inf`` marks pairs that need no protection
            from each other.
        unit: The unit, such as ``"km"``.
        name: What the distance is called in texts.

    Attributes:
        array: Array (k, k), an upper bound of each distance, attained up to rounding.
        lower: Array (k, k), a lower bound; the same up to rounding.
        ignored: Array (k, k), the mass that a Wasserstein distance left out as rounding.
        unit: The unit.
        name: The name.
        ground: The metric on the secrets of a Wasserstein distance, or None.
        order: Its order p, or None.

    Raises:
        InputError: If the array is not square, or a distance is negative.

    Source:
        Kawamoto and Murakami, definitions 8 and 12.
    """

    array: Floats
    lower: Floats
    ignored: Floats
    unit: str
    name: str
    ground: Metric | None
    order: float | None

    def __init__(self, array: ArrayLike, unit: str = "", *, name: str = "given distance") -> None:
        given = floats(array, "the distances of the family", shape=(None, None), infinite=True)
        if given.shape[0] != given.shape[1] or (given < 0).any():
            raise InputError(
                f"the distances have shape {given.shape[0]} x {given.shape[1]}, the smallest {given.min():g}.",
                "pass a row and a column per distribution, and distances of at least 0.",
            )
        self._set(given, given, np.zeros_like(given), unit, name, None, None)

    @classmethod
    def wasserstein(
        cls, family: Family, ground: Metric, p: float = float("inf"), *, tolerance: float = 1e-12
    ) -> FamilyDistance:
        """Return the Wasserstein distances of the family's pairs.

        Args:
            family: The distributions. Pairs that count in neither order are put at distance ``inf``.
            ground: The metric on the secrets.
            p: The order; 1 is the earth mover's distance, ``inf`` the largest step.
            tolerance: Mass that may be left out as the rounding of the distributions; it
                stays visible in ``ignored``. 0 measures exactly the given floats.
        """
        size = len(family)
        values, lower, ignored = (np.full((size, size), start) for start in (np.inf, np.inf, 0.0))
        for array in (values, lower):
            np.fill_diagonal(array, 0.0)
        for i, j in np.unique(np.sort(family.pairs, axis=1), axis=0):
            found = wasserstein(family.distributions[i], family.distributions[j], ground, p, tolerance=tolerance)
            # The ground metric is symmetric, and so are the distances.
            lower[[i, j], [j, i]], values[[i, j], [j, i]] = found.distance.lower, found.distance.upper
            ignored[[i, j], [j, i]] = found.ignored
        distance = object.__new__(cls)
        name = f"Wasserstein distance of order {p:g} over {ground.name}"
        distance._set(readonly(values), readonly(lower), readonly(ignored), ground.unit, name, ground, p)
        return distance

    def _set(
        self,
        array: Floats,
        lower: Floats,
        ignored: Floats,
        unit: str,
        name: str,
        ground: Metric | None,
        order: float | None,
    ) -> None:
        object.__setattr__(self, "array", array)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "ignored", ignored)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "ground", ground)
        object.__setattr__(self, "order", order)

    def __len__(self) -> int:
        """The number of distributions."""
        return len(self.array)

    def __repr__(self) -> str:
        return f"FamilyDistance between {len(self)} distributions ({plain(self.name)})"


def distance_on(family: Family, distance: FamilyDistance | Metric | ArrayLike) -> FamilyDistance:
    """Return the distance for a family, made of an array or a metric on its names where one is given.

    Raises:
        InputError: If it is between another number of distributions.
    """
    if isinstance(distance, Metric):
        found = FamilyDistance(distance.array, distance.unit, name=distance.name)
    else:
        found = distance if isinstance(distance, FamilyDistance) else FamilyDistance(distance)
    if len(found) != len(family):
        raise InputError(
            f"the distance is between {len(found)} distributions, but the family has {len(family)}.",
            "pass a row and a column per distribution; for a metric on secrets use FamilyDistance.wasserstein.",
        )
    return found


class ByDistance(OfFamily):
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
    def ground(self) -> NDArray[Any] | None:
        """The distances of the secrets, where the distance is a Wasserstein distance."""
        return None if self.distance.ground is None else self.distance.ground.array

    @final
    def has_points_apart(self, order: float) -> bool:
        """Return whether the distance is Wasserstein of an order, and all point masses at finite ones count."""
        ground = self.distance.ground
        if ground is None or self.distance.order != order:
            return False
        return self.family.missing_points(Relation(np.isfinite(ground.array))) is None

    @final
    def check_distance(self, other: ByDistance) -> None:
        """Refuse a notion of another distance.

        Raises:
            InputError: If the distances differ.
        """
        a, b = self.distance, other.distance
        if a.unit != b.unit or not np.array_equal(a.array, b.array):
            raise InputError(
                f"the promises are about different distances: {a.name} and {b.name}.",
                "use the same distance for both.",
            )

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
    def unprotected(self) -> str:
        """Sentence on the pairs that it says nothing of, at an infinite distance."""
        if np.isfinite(self.between[0]).all():
            return ""
        return NO_PAIR.format("distributions") if self.vacuous else FAR_PAIRS

    @final
    @property
    def vacuous(self) -> bool:
        """Whether no pair of distributions is at a finite distance."""
        return not np.isfinite(self.between[0]).any()

    @final
    @property
    def between(self) -> tuple[Floats, Floats]:
        """An upper and a lower bound of the distance of each pair that counts, arrays (k,)."""
        first, second = self.family.pairs.T
        return self.distance.array[first, second], self.distance.lower[first, second]

    @final
    def at_no_distance(self, mechanism: AnyMechanism) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return which pairs at distance 0 have equal reports and which do not, decided in fractions."""
        together = np.flatnonzero(self.between[1] == 0)
        pairs = self.family.distributions[self.family.pairs[together]]
        same = np.array([same_reports(mechanism, *pair) for pair in pairs], dtype=np.bool_)
        return together[same], together[~same]


def per_unit(values: Floats, distances: Floats) -> Floats:
    """Return values / distances: 0 / 0 is 0, any other value / 0 is infinite, anything / inf is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotients = np.where(values == 0, 0.0, values / distances)
    return np.where(np.isinf(distances), 0.0, quotients)
