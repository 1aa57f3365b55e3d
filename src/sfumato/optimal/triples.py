"""Rows of metric privacy: those that a general back-end starts from, and those that its answers break."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import Metric
from ..core.arrays import Floats
from ..core.shortest_paths import shortest_paths
from ..core.spanner import direct_pairs, greedy_spanner

_VIOLATION = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Rows of metric privacy: p(o|s) <= exp(e(s, s')) p(o|s'), as arrays (k,)."""

    secrets: NDArray[np.intp]
    others: NDArray[np.intp]
    observables: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.secrets)

    @classmethod
    def none(cls) -> Triples:
        """Return no rows."""
        empty = np.empty(0, dtype=np.intp)
        return cls(empty, empty, empty)

    @classmethod
    def of_pairs(cls, pairs: NDArray[np.intp], observables: int) -> Triples:
        """Return the rows of ordered pairs (k, 2) for every observable."""
        o = np.tile(np.arange(observables), len(pairs))
        return cls(np.repeat(pairs[:, 0], observables), np.repeat(pairs[:, 1], observables), o)

    def joined(self, more: Triples) -> Triples:
        """Return these rows and others."""
        return Triples(
            np.concatenate([self.secrets, more.secrets]),
            np.concatenate([self.others, more.others]),
            np.concatenate([self.observables, more.observables]),
        )


def all_pairs(exponents: Floats) -> NDArray[np.intp]:
    """Return the ordered pairs (k, 2) that imply every other one exactly.

    A pair with a third secret exactly between its two is implied by the two steps.
    """
    return _both_ways(direct_pairs(_as_metric(exponents)).edges)


def spanner_pairs(exponents: Floats, dilation: float) -> tuple[NDArray[np.intp], Floats]:
    """Return the ordered pairs of a spanner, and the exponents that their rows imply for all pairs.

    With exponents divided by the realised dilation along the edges, every path is within
    its pair's exponent.

    Source:
        Bordenabe, Chatzikokolakis and Palamidessi, CCS 2014.
    """
    spanner = greedy_spanner(_as_metric(exponents), dilation)
    edges = _both_ways(spanner.edges)
    implied = np.where(np.eye(len(exponents), dtype=bool), 0.0, np.inf)
    implied[edges[:, 0], edges[:, 1]] = exponents[edges[:, 0], edges[:, 1]] / spanner.dilation
    return edges, shortest_paths(implied)


def violated(matrix: Floats, exponents: Floats, known: Triples, most: int) -> Triples:
    """Return the rows that a matrix breaks, the worst ones if there are more than ``most``.

    Rows that are ``known`` are left out: that a back-end breaks them is its inaccuracy,
    and adding them again would never end.
    """
    shrink = np.exp(-exponents)
    found: list[NDArray[np.intp]] = []
    excesses: list[Floats] = []
    for s in range(len(matrix)):
        excess = shrink[s][:, None] * matrix[s] - matrix
        excess[s] = 0.0
        t, o = np.nonzero(excess > _VIOLATION)
        found.append(np.column_stack([np.full(len(t), s), t, o]))
        excesses.append(excess[t, o])
    rows, sizes = np.concatenate(found), np.concatenate(excesses)
    shape = (*exponents.shape, matrix.shape[1])
    given = np.ravel_multi_index((known.secrets, known.others, known.observables), shape)
    new = ~np.isin(np.ravel_multi_index((rows[:, 0], rows[:, 1], rows[:, 2]), shape), given)
    rows, sizes = rows[new], sizes[new]
    if len(rows) > most:
        rows = rows[np.argpartition(-sizes, most)[:most]]
    return Triples(rows[:, 0], rows[:, 1], rows[:, 2])


def _as_metric(exponents: Floats) -> Metric:
    return Metric(exponents, name="exponents", triangle=True)


def _both_ways(pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([pairs, pairs[:, ::-1]])
