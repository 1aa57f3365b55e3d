"""Relations on secrets: the pairs of secrets that must look alike, and bounds along chains of such pairs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core import Metric, Space, hops, shortest_paths
from ..core.arrays import Bools, Floats, Positions, any_array, readonly
from ..errors import InputError
from ..escaping import plain
from .rows import AnyMechanism, Mask, channel, check_size


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Relation:
    """A relation Phi on secrets: the ordered pairs (s, s') that a notion compares.

    Raises `InputError` if the array is not square and boolean.

    Args:
        array: Boolean array (n, n); the diagonal is ignored, and empty in the attribute.
        name: The name of the related secrets in texts, such as ``"neighbours"``.

    Source:
        Kawamoto and Murakami, section II (adjacency); Desfontaines, 2.2.6 (neighbours).
    """

    array: Bools
    name: str

    def __init__(self, array: ArrayLike, name: str = "related secrets") -> None:
        truths = np.array(any_array(array, "array="))
        if truths.ndim != 2 or truths.shape[0] != truths.shape[1] or truths.dtype != np.bool_:
            raise InputError(
                f"a relation was given as an array of {truths.dtype} of shape {truths.shape}.",
                "pass booleans, array (n, n): entry [s, t] says whether s must look like t.",
            )
        np.fill_diagonal(truths, val=False)
        object.__setattr__(self, "array", readonly(truths))
        object.__setattr__(self, "name", name)

    @classmethod
    def all(cls, size: int) -> Relation:
        """Return the relation of all pairs of ``size`` secrets: local differential privacy."""
        if size < 1:
            raise InputError(f"a relation of {size} secrets was asked for.", "pass a whole number of at least 1.")
        return cls(np.ones((size, size), dtype=np.bool_), "any two secrets")

    @classmethod
    def of_radius(cls, metric: Metric, limit: float | str) -> Relation:
        """Return the pairs that are at most ``limit`` apart, a number or text such as ``"500 m"``."""
        amount = limit if isinstance(limit, str) else f"{limit:g} {metric.unit}".strip()
        return cls(metric.near_pairs(limit), f"secrets at most {amount} apart")

    @classmethod
    def of_pairs(
        cls, space: Space, pairs: Iterable[tuple[Hashable, Hashable]], *, symmetric: bool = True
    ) -> Relation:
        """Return the relation of named pairs, in both orders if symmetric."""
        array = np.zeros((len(space), len(space)), dtype=np.bool_)
        for first, second in pairs:
            array[space.position(first), space.position(second)] = True
        return cls(array | array.T if symmetric else array, "listed pairs")

    def __len__(self) -> int:
        """The number of ordered pairs."""
        return int(np.count_nonzero(self.array))

    def __repr__(self) -> str:
        return f"Relation of {len(self):,} ordered pairs among {self.size} secrets ({plain(self.name)})"

    @property
    def size(self) -> int:
        """The number of secrets."""
        return len(self.array)

    @property
    def pairs(self) -> Positions:
        """The ordered pairs, array (k, 2) of positions."""
        return np.argwhere(self.array)

    @property
    def hops(self) -> Floats:
        """The fewest steps from each secret to each other, array (n, n); ``inf`` if no steps lead there."""
        return hops(self.array)

    @property
    def symmetric(self) -> bool:
        """Whether every pair counts in both orders."""
        return bool((self.array == self.array.T).all())


def relation_on(relation: Relation | None, size: int) -> Relation:
    """Return the relation, all pairs if None; raise InputError for another number of secrets."""
    if relation is None:
        return Relation.all(size)
    check_size("the relation is on", relation.size, size, "use a relation on the mechanism's secrets.")
    return relation


def related_rows(mechanism: AnyMechanism, relation: Relation | None) -> tuple[Floats, Mask]:
    """Return the rows of a mechanism, array (n, m), and which ordered pairs of them are related."""
    matrix = channel(mechanism).matrix
    return matrix, relation_on(relation, len(matrix)).array


def pair_name(relation: Relation | None) -> str:
    """Return the name of the related secrets."""
    return "any two secrets" if relation is None else relation.name


def reach(metric: Metric, relation: Relation | None) -> Floats:
    """Return the shortest distance from each secret to each other by related steps, array (n, n), rounded up."""
    array = metric.array
    if relation is None and metric.triangle:
        return array
    steps = array if relation is None else np.where(relation.array, array, np.inf)
    lengths = shortest_paths(steps)
    # Each of fewer than n additions has a relative error of at most 2**-53.
    return np.where(lengths == steps, lengths, lengths * (1 + len(lengths) * 2.0**-52))


def largest_ratio(lengths: Floats, units: Floats) -> float:
    """Return the largest length per unit over distinct secrets, rounded up; pairs at infinite units do not count.

    It is ``inf`` where a pair at a finite unit has no protection.
    """
    mask = np.isfinite(units) & ~np.eye(len(units), dtype=np.bool_)
    mask &= ~((lengths == 0) & (units == 0))
    if not mask.any():
        return 0.0
    with np.errstate(divide="ignore"):
        ratio = float((lengths[mask] / units[mask]).max())
    exact = bool((units[mask] == 1).all()) or np.array_equal(lengths, units)
    return math.nextafter(ratio, math.inf) if np.isfinite(ratio) and not exact else ratio


def largest_over(lengths: Floats, relation: Relation | None) -> float:
    """Return the largest length over the related pairs, or over all."""
    if relation is None:
        return float(lengths.max(initial=0.0))
    return float(lengths[relation.array].max(initial=0.0))
