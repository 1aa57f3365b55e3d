"""Couplings: joint distributions with two given marginals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, floats, readonly
from ..core.prior import SUM_TOLERANCE
from ..errors import InputError
from .inputs import Distances, Distribution, distances_between, distribution, relation_between


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coupling:
    """A joint distribution whose marginals are two given distributions.

    Attributes:
        joint: Array (n, m), non-negative; rows sum to ``first``, columns to ``second``
            (within 1e-9).
        first: Array (n,), the row marginal.
        second: Array (m,), the column marginal.

    Raises:
        InputError: If an entry is negative or NaN, or a marginal is another one.

    Example:
        >>> Coupling([[0.5, 0.0], [0.25, 0.25]], [0.5, 0.5], [0.75, 0.25])
        Coupling of 2 x 2 values on 3 pairs

    Source:
        Kawamoto and Murakami, definition 7.
    """

    joint: Floats
    first: Floats
    second: Floats

    def __init__(self, joint: ArrayLike, first: Distribution, second: Distribution) -> None:
        rows, columns = distribution(first, "the first marginal"), distribution(second, "the second marginal")
        array = floats(joint, "the joint distribution", shape=(len(rows), len(columns)))
        if (array < 0).any():
            i, j = np.argwhere(array < 0)[0]
            raise InputError(
                f"the joint distribution is negative at ({i}, {j}): {array[i, j]:g}.",
                "a probability is at least 0.",
            )
        for sums, wanted, what in ((array.sum(axis=1), rows, "row"), (array.sum(axis=0), columns, "column")):
            error = np.abs(sums - wanted)
            if (error > SUM_TOLERANCE).any():
                k = int(np.argmax(error))
                raise InputError(
                    f"{what} {k} of the joint distribution sums to {sums[k]:.12g}, but its marginal is "
                    f"{wanted[k]:.12g}.",
                    "a coupling has exactly the two distributions as its marginals.",
                )
        object.__setattr__(self, "joint", array)
        object.__setattr__(self, "first", rows)
        object.__setattr__(self, "second", columns)

    @classmethod
    def independent(cls, first: Distribution, second: Distribution) -> Coupling:
        """Return the coupling of independent values, the product of the marginals."""
        rows, columns = distribution(first, "the first marginal"), distribution(second, "the second marginal")
        return cls(np.outer(rows, columns), rows, columns)

    def __repr__(self) -> str:
        n, m = self.joint.shape
        return f"Coupling of {n} x {m} values on {int(self.support.sum())} pairs"

    @property
    def support(self) -> NDArray[np.bool_]:
        """The pairs of positive probability, array (n, m)."""
        return readonly(self.joint > 0)

    def expected(self, distances: Distances, p: float = 1.0) -> float:
        """Return the p-th root of the expected p-th power of the distance; for ``inf`` the largest distance.

        Args:
            distances: Array (n, m), or a metric.
            p: At least 1, or ``inf``.

        Raises:
            InputError: If the distances do not fit, or p is below 1.
        """
        d = distances_between(distances, self.joint.shape, p)[self.support]
        top = float(d.max())
        if np.isinf(p) or top == 0 or np.isinf(top):
            return top
        mean = float(self.joint[self.support] @ (d / top) ** p)
        return top * math.pow(mean, 1 / p)

    def mass_outside(self, relation: ArrayLike) -> float:
        """Return the probability of the pairs that are not in a relation, given as an array (n, m) of truths."""
        return float(self.joint[~relation_between(relation, self.joint.shape)].sum())
