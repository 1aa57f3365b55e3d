"""Few pairs of secrets whose rows imply those of all others, and parts of them near the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.frozen import Short
from ...core.shortest_paths import paths_along
from ..interior.order import cuthill_mckee
from ..interior.pairs import CAP

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_NEAR: Final = 1.5  # times the nearest: on a lattice the neighbours, along diagonals, too
_MOST: Final = 16  # pairs per secret, and no more, are few
_TOLERANCE: Final = 1e-12

_LONGEST: Final = 1.5  # times a pair: the way along edges that nearly imply all rows

DETOUR: Final = 0.25
"""By which a first step towards a pair's other end may be a way around, where edges only show who is near whom."""


def edges_of(exponents: Floats, detour: float = _TOLERANCE) -> Ints | None:
    """Return few pairs (s, t) whose rows imply all others, both ways, array (k, 2); None where there are not.

    Taken are the nearest pairs, and every pair without a near secret u of s such that
    E(s, u) + E(u, t) <= E(s, t). Then all others are implied: go from s to u, which is nearer to t.

    Args:
        exponents: Array (n, n) of E, symmetric, with zeros on the diagonal only.
        detour: By what share the way through u may be longer. With more than rounding, rows are implied nearly.
    """
    n = len(exponents)
    bare = exponents.copy()
    np.fill_diagonal(bare, np.inf)
    nearest = bare.min(axis=1)
    if n < 2 or not np.isfinite(nearest).all() or not np.array_equal(exponents, exponents.T):
        return None
    near = bare <= _NEAR * nearest[:, None]
    near |= near.T
    if near.sum() > _MOST * n:
        return None
    found: list[Ints] = []
    for s in range(n):
        some = np.flatnonzero(near[s])
        way = (bare[s, some, None] + exponents[some]).min(axis=0)
        direct = near[s] | (way > bare[s] * (1 + detour))
        direct[s] = False
        found.append(np.column_stack([np.full(int(direct.sum()), s), np.flatnonzero(direct)]))
        if sum(map(len, found)) > _MOST * n:
            return None
    pairs = np.concatenate(found)
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return None if bare[pairs[:, 0], pairs[:, 1]].max() > CAP else pairs


def graph_of(exponents: Floats) -> tuple[Ints, bool] | None:
    """Return few pairs (s, t), both ways, array (k, 2), and whether their rows imply all others; None without any.

    Where they do not, the shortest way along them is at most half longer than any pair.

    Args:
        exponents: Array (n, n) of E, symmetric, with zeros on the diagonal only.
    """
    pairs = edges_of(exponents)
    if pairs is not None:
        return pairs, True
    pairs = edges_of(exponents, DETOUR) if exponents.max() <= CAP else None
    if pairs is None:
        return None
    once = pairs[pairs[:, 0] < pairs[:, 1]]
    ways = paths_along(once, exponents[once[:, 0], once[:, 1]], len(exponents))
    return (pairs, False) if (ways <= _LONGEST * exponents).all() else None


def nearest_of(exponents: Floats) -> Floats:
    """Return the least exponent between each secret and another one, array (n,)."""
    others = np.arange(len(exponents) - 1)
    return np.array([row[others + (others >= s)].min(initial=np.inf) for s, row in enumerate(exponents)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Edges(Short):
    """Rows of one observable: x(upper) <= e^E x(lower), scaled to e^{E/2} x(lower) - e^{-E/2} x(upper) > 0.

    Attributes:
        upper: Array (k,), sorted.
        lower: Array (k,).
        root: Array (k,), e^{E/2}.
        size: The number of secrets.
    """

    upper: Ints
    lower: Ints
    root: Floats
    size: int

    @classmethod
    def of(cls, pairs: Ints, exponents: Floats) -> Edges:
        """Return the rows of pairs (k, 2) of secrets with exponents (n, n)."""
        s, t = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T
        return cls(s, t, np.exp(exponents[s, t] / 2), len(exponents))

    def slack(self, x: Floats) -> Floats:
        """Return G x, array (k,)."""
        return self.root * x[self.lower] - x[self.upper] / self.root

    def adjoint(self, weights: Floats) -> Floats:
        """Return G' times weights, array (size,)."""
        taken = np.bincount(self.lower, weights * self.root, self.size)
        return np.asarray(taken - np.bincount(self.upper, weights / self.root, self.size))

    def among(self, chosen: Bools) -> tuple[Edges, Ints]:
        """Return the rows between chosen secrets, which are numbered anew, and where those rows are here."""
        rows = np.flatnonzero(chosen[self.upper] & chosen[self.lower])
        place = np.cumsum(chosen) - 1
        part = Edges(place[self.upper[rows]], place[self.lower[rows]], self.root[rows], int(chosen.sum()))
        return part, rows


def ordered(pairs: Ints, size: int) -> Ints:
    """Return an order of the secrets in which pairs are near each other."""
    return cuthill_mckee(pairs[:, 0], pairs[:, 1], size)
