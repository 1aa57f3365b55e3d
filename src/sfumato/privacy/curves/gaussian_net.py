"""Pairs of rows by how large a shift of a normal distribution they may need, bounded by way of few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ..rows import Mask
from ..search import Positions, falling

_AT_ONCE: Final = 2**12  # pairs that are looked at together
_CENTRES: Final = 10  # times the root of the number of rows
_SLACK: Final = 1e-7  # far more than floating point takes away; rows may sum to one within 1e-9 only


class Net(NamedTuple):
    """Few rows, such that every row is near one of them.

    The mu of Gaussian privacy obeys the triangle inequality, so mu(s, t) is at most the mu of the centres of s and
    t, plus that of s and its centre, plus that of t and its centre.

    Rows that are possible for different outputs have an infinite mu.

    Attributes:
        centre: Array (n,), the number of the centre of each row.
        radius: Array (n,), the mu of each row and its centre.
        between: Array (k, k), the mu of the centres.
    """

    centre: NDArray[np.intp]
    radius: Floats
    between: Floats

    def limits(self, rows: Positions) -> Floats:
        """Return bounds of the mu of some rows and all others, array (b, n)."""
        found = self.between[self.centre[rows]][:, self.centre]
        return np.asarray(found + self.radius[rows, None] + self.radius + _SLACK)


def net_of(rows: Floats, shifts: Callable[[Positions], Floats]) -> Net:
    """Return a net of rows: again and again the row joins that is farthest from all centres.

    Args:
        rows: Array (n, m).
        shifts: From pairs of rows with the same possible outputs, array (k, 2), to the mu of each.

    Source:
        Dong, Roth and Su, 2022, theorem 2.14, whose proof shows the triangle inequality.
    """
    roots, most = np.sqrt(rows), math.ceil(_CENTRES * math.sqrt(len(rows)))
    support = np.unique(rows > 0, axis=0, return_inverse=True)[1].ravel()

    def affinities(chosen: int) -> Floats:
        return np.where(support == support[chosen], roots @ roots[chosen], 0.0)

    def apart(pairs: Positions) -> Floats:
        found = np.full(len(pairs), np.inf)
        same = support[pairs[:, 0]] == support[pairs[:, 1]]
        found[same] = shifts(pairs[same])
        return found

    centres, near, centre = [0], affinities(0), np.zeros(len(rows), dtype=np.intp)
    while len(centres) < most and near.min() < 1 - _SLACK:
        chosen = int(np.argmin(near))
        affinity = affinities(chosen)
        closer = affinity > near
        centre[closer], near = len(centres), np.maximum(near, affinity)
        centres.append(chosen)
    positions = np.array(centres, dtype=np.intp)
    radius = apart(np.stack([np.arange(len(rows)), positions[centre]], axis=1))
    between = np.zeros((len(positions), len(positions)))
    first, second = np.triu_indices(len(positions), 1)
    between[first, second] = apart(np.stack([positions[first], positions[second]], axis=1))
    return Net(centre, radius, between + between.T)


def farthest_first(mask: Mask, net: Net, known: Callable[[], float]) -> Iterator[Positions]:
    """Yield the pairs of a mask that may need more than is known, mostly the largest first, arrays (k, 2)."""
    rows = np.flatnonzero(mask.any(axis=1))
    far = np.where(np.isfinite(net.between), net.between, 0.0).max(axis=1)
    rows = rows[np.argsort(-(far[net.centre[rows]] + net.radius[rows]), kind="stable")]
    yield from falling(mask, rows, net.limits, known, _AT_ONCE)
