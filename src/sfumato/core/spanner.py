"""Spanners of a metric, few pairs that stand for all, and their dilation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .arrays import Floats, readonly
from .metric import Metric, paths_along

Pairs = NDArray[np.intp]

_MOST: Final = float(np.finfo(np.float64).max)
_TIE: Final = 1e-12  # relative: sums of distances that differ by rounding alone are equal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Spanner:
    """A graph on the values of a metric whose shortest paths come close to the metric.

    Privacy on the edges at epsilon / dilation implies metric privacy at epsilon for all
    pairs: p(o|s) <= exp(epsilon d_G(s, s') / dilation) p(o|s'), and d_G <= dilation d.

    Attributes:
        edges: The pairs (i, j) with i < j, array (k, 2).
        lengths: Their distances, array (k,), in ``unit``.
        dilation: The realised dilation: the largest shortest path over distance, of all
            pairs at finite distance; ``inf`` if the graph leaves such a pair unconnected.
        unit: The unit of the metric.

    Source:
        Bordenabe, Chatzikokolakis, Palamidessi, CCS 2014, section 4.
    """

    edges: Pairs
    lengths: Floats
    dilation: float
    unit: str

    def __init__(self, metric: Metric, edges: Pairs) -> None:
        pairs = np.array(edges, dtype=np.intp).reshape(-1, 2)
        object.__setattr__(self, "edges", readonly(pairs))
        object.__setattr__(self, "lengths", readonly(metric.array[pairs[:, 0], pairs[:, 1]]))
        object.__setattr__(self, "dilation", _dilation(metric, pairs))
        object.__setattr__(self, "unit", metric.unit)

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"Spanner of {len(self):,} pairs, dilation {self.dilation:.6g}"


def greedy_spanner(metric: Metric, dilation: float) -> Spanner:
    """Return a spanner of at most the given dilation, with few edges.

    Pairs are taken by distance; one becomes an edge if the edges so far connect it only
    by a path longer than ``dilation`` times its distance. Pairs at infinite distance
    need no path.

    Args:
        metric: The metric on n values; time grows with n**2 times the edges.
        dilation: The largest dilation allowed, at least 1; the realised one is never
            larger and often smaller.

    Raises:
        InputError: If the dilation is below 1.

    Source:
        Narasimhan and Smid, "Geometric Spanner Networks", chapter 14.
    """
    if not (np.isfinite(dilation) and dilation >= 1):
        raise InputError(
            f"the dilation {dilation} is not a number of at least 1.", "use 1.05 to be within 5 % of the metric."
        )
    distances = metric.array
    pairs = _finite_pairs(metric)
    pairs = pairs[np.argsort(distances[pairs[:, 0], pairs[:, 1]], kind="stable")]
    paths = np.where(np.eye(len(metric), dtype=bool), 0.0, np.inf)
    edges = []
    for i, j in pairs:
        d, path = float(distances[i, j]), float(paths[i, j])
        if path > 0 and (d == 0 or path / d > dilation * (1 + _TIE)):
            edges.append((i, j))
            _join(paths, i, j, d)
    return Spanner(metric, np.array(edges, dtype=np.intp))


def neighbours(metric: Metric, limit: float | str) -> Spanner:
    """Return the graph of all pairs within a limit, with its realised dilation.

    Args:
        metric: The metric.
        limit: The longest edge, such as ``"1.5 km"``.

    Raises:
        UnitError: If the unit of the limit does not fit.

    Source:
        Shokri, "Privacy Games", appendix C, which drops the farther pairs without
        taking the dilation out of epsilon.
    """
    return Spanner(metric, np.argwhere(np.triu(metric.within(limit))))


def direct_pairs(metric: Metric) -> Spanner:
    """Return the pairs that no third value lies between.

    Where d(i, z) + d(z, j) = d(i, j), privacy for the pair (i, j) follows from that of
    (i, z) and (z, j); leaving it out changes nothing. On a grid with the Manhattan
    metric only the neighbouring cells remain.

    Args:
        metric: The metric on n values; time grows with n**3.
    """
    d = metric.array
    between = np.zeros_like(d, dtype=bool)
    with np.errstate(over="ignore"):
        bound = np.minimum(d * (1 + _TIE), _MOST)  # a sum beyond all floats is longer than any distance
    for z in range(len(d)):
        to, on = d[:, z, None], d[None, z, :]
        # Both steps must be shorter than the pair, or values at distance zero would remove each other.
        with np.errstate(over="ignore"):
            between |= (to + on <= bound) & (to < d) & (on < d)
    pairs = _finite_pairs(metric)
    return Spanner(metric, pairs[~between[pairs[:, 0], pairs[:, 1]]])


def _finite_pairs(metric: Metric) -> Pairs:
    return np.argwhere(np.triu(np.isfinite(metric.array), k=1))


def _join(paths: Floats, i: int, j: int, length: float) -> None:
    """Update all shortest paths for a new edge."""
    # The edge from i to j helps only values that come nearer to i by it, and the other way round.
    with np.errstate(over="ignore"):  # a sum beyond all floats is longer than any path
        left = np.flatnonzero(paths[:, i] + length < paths[:, j])
        right = np.flatnonzero(paths[:, j] + length < paths[:, i])
        block = paths[np.ix_(left, right)]
        np.minimum(block, paths[left, i, None] + length + paths[None, j, right], out=block)
    paths[np.ix_(left, right)] = block
    paths[np.ix_(right, left)] = block.T


def _dilation(metric: Metric, pairs: Pairs) -> float:
    distances, size = metric.array, len(metric)
    paths = paths_along(pairs, distances[pairs[:, 0], pairs[:, 1]], size)
    asked = np.isfinite(distances) & ~np.eye(size, dtype=bool)
    path, distance = paths[asked], distances[asked]
    with np.errstate(over="ignore"):  # a quotient beyond all floats is infinite, which is what unconnected means
        ratio = np.divide(path, distance, out=np.where(path > 0, np.inf, 1.0), where=distance > 0)
    return float(ratio.max(initial=1.0))
