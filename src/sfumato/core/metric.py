"""Metrics on secrets, shortest paths, and spanners: few pairs that imply all others."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, MetricWarning, argument, python
from ..escaping import plain
from ..rounding import exactly
from . import units
from .arguments import check_arguments
from .arrays import Floats, floats, readonly
from .immutable import Immutable, assign
from .naming import name_phrase

_TOLERANCE = 1e-9  # of the largest finite distance
_ENTRIES = 2**20  # distances that are looked at together
Pairs = NDArray[np.intp]
_MOST: Final = float(np.finfo(np.float64).max)
_TIE: Final = 1e-12  # relative: sums of distances that differ by rounding alone are equal


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Metric(Immutable):
    """Distances between the members of a space, with their unit; the name is that in texts.

    Distances must be non-negative, symmetric, and zero from a value to itself. A broken triangle inequality is a
    warning: privacy for such distances holds pair by pair, but the shortest paths then imply more (see `closure`).
    It is tested, in n**3 steps, where ``triangle`` does not say whether it holds. Distinct values may be at
    distance zero (a pseudometric), and ``inf`` marks pairs that need no protection from each other. ``is_stated``
    is whether a file states the distances and its secrets do not confirm them. A guarantee by such distances is
    refused where reports are drawn or charged. Raises `InputError` if the array is not square, or an axiom other
    than the triangle inequality fails.

    With ``symmetric=False`` the distance may depend on the direction (a quasi-metric): row s, column s' is that
    from s to s', and either may be ``inf`` alone. Metric privacy then bounds p(o|s) / p(o|s') by the distance from
    s to s'. Distance zero in one direction makes the rows equal, so it counts as a broken triangle inequality if
    the way back is longer. The attribute is false only where two directions differ.

    Example:
        >>> import sfumato as sf
        >>> sf.Metric([[0, 2], [2, 0]], unit="km").to("m").array[0, 1]
        np.float64(2000.0)
        >>> sf.Metric([[0, 2], [5, 0]], unit="km", symmetric=False)
        Asymmetric metric 'metric' on 2 values in km, diameter 5
    """

    array: Floats
    unit: str
    name: str
    triangle: bool
    symmetric: bool
    is_stated: bool

    def __init__(
        self,
        array: ArrayLike,
        unit: str = "",
        *,
        name: str = "metric",
        triangle: bool | None = None,
        symmetric: bool = True,
        is_stated: bool = False,
    ) -> None:
        phrase = name_phrase(name, "metric")
        distances = floats(array, f"the {phrase}", shape=(None, None), infinite=True)
        n, m = distances.shape
        if n != m:
            raise InputError(
                f"the {phrase} has shape {n} x {m}, but {n} x {n} is needed.", "pass a row and a column per value."
            )
        distances, both_ways = _check_distances(distances, phrase, symmetric=symmetric)
        assign(self, array=distances, unit=units.canonical(unit), name=name, symmetric=both_ways)
        if not both_ways and triangle is not False and ((distances == 0) != (distances.T == 0)).any():
            triangle = _one_way_zero(distances, phrase)
        assign(self, triangle=_triangle(distances, phrase) if triangle is None else triangle, is_stated=is_stated)

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        unit = f" in {plain(self.unit)}" if self.unit else ""
        noun = "Metric" if self.symmetric else "Asymmetric metric"
        return f"{noun} {self.name!r} on {len(self)} values{unit}, diameter {self.diameter:.4g}"

    @property
    def diameter(self) -> float:
        """The largest finite distance."""
        return _largest(self.array)

    @property
    def finite(self) -> bool:
        """Whether every distance is finite."""
        return bool(self.array.max(initial=0.0) < np.inf)

    def at(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Return the distances of the pairs at ``rows`` and ``columns``, arrays (k,) of positions."""
        return np.asarray(self.array[rows, columns])

    def scale(self, factor: float, unit: str | None = None) -> Metric:
        """Return the metric times a positive factor, in a new unit if one is given; `InputError` if that fails."""
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(f"a metric cannot be scaled by {factor}.", "use a positive number.")
        unit = self.unit if unit is None else unit
        return self._scale(factor, unit, f"{exactly(factor)} x {self.name}")

    @check_arguments
    def to(self, unit: str) -> Metric:
        """Return the metric in another unit; `UnitError` if it has another dimension."""
        return self._scale(units.factor(self.unit, unit), unit, self.name)

    def trust(self) -> Metric:
        """Return the same distances as trusted by the caller, who knows them from another source than the file."""
        if not self.is_stated:
            return self
        return Metric(self.array, self.unit, name=self.name, triangle=self.triangle, symmetric=self.symmetric)

    def near_pairs(self, limit: float | str) -> NDArray[np.bool_]:
        """Return which distinct pairs are at most ``limit`` apart, array (n, n) of bool."""
        bound = units.parse(limit, unit=self.unit, subject="the limit")
        near = (self.array <= bound * (1 + 1e-12)) & np.isfinite(self.array)
        np.fill_diagonal(near, val=False)
        return readonly(near)

    def threshold(self, limit: float | str) -> Metric:
        """Return the number of hops of at most ``limit`` between values; ``inf`` where no hops connect them.

        Metric privacy for it means indistinguishability of pairs within the limit (Privacy Games, equation 9).
        """
        near = self.near_pairs(limit)
        bound = units.parse(limit, unit=self.unit, subject="the limit")
        if not near.any():
            smallest = float(self.array[~np.eye(len(self), dtype=bool)].min(initial=np.inf))
            raise InputError(
                f"no two distinct values are within {units.show(bound, self.unit)} of each other.",
                f"the closest pair is {units.show(smallest, self.unit)} apart: use a larger limit.",
            )
        name = f"hops of at most {exactly(bound)} {self.unit}".rstrip()
        return Metric(hops(near), name=name, triangle=True, symmetric=self.symmetric, is_stated=self.is_stated)

    def closure(self) -> Metric:
        """Return the smallest distances that privacy implies: shortest paths, and zero both ways if in one."""
        if self.triangle:
            return self
        return self._of_paths(implied_distances(self.array), f"closure of {self.name}")

    def symmetrise(self) -> Metric:
        """Return the shortest paths by the smaller direction of each pair, whose privacy implies that of this."""
        if self.symmetric:
            return self.closure()
        return self._of_paths(shortest_paths(np.minimum(self.array, self.array.T)), f"{self.name}, both ways")

    def _of_paths(self, array: Floats, name: str) -> Metric:
        return Metric(
            array, self.unit, name=name, triangle=True, symmetric=self.symmetric, is_stated=self.is_stated
        )

    def _scale(self, factor: float, unit: str, name: str) -> Metric:
        array = np.empty_like(self.array)
        for part in _parts(self.array):
            old = self.array[part]
            with np.errstate(over="ignore"):
                new = np.multiply(old, factor, out=array[part])
            if not np.array_equal(np.isfinite(new) & (new > 0), np.isfinite(old) & (old > 0)):
                raise InputError(
                    f"the {self.name} cannot be scaled by {factor:g}: some distances would overflow or vanish.",
                    "use a factor nearer to 1.",
                )
        flags = {"triangle": self.triangle, "symmetric": self.symmetric, "is_stated": self.is_stated}
        return Metric(readonly(array), unit, name=name, **flags)


def _parts(array: Floats) -> Iterator[slice]:
    """Yield blocks of rows of moderate size."""
    size = max(1, _ENTRIES // max(1, array.shape[1]))
    for begin in range(0, len(array), size):
        yield slice(begin, begin + size)


def _largest(array: Floats) -> float:
    """Return the largest finite distance."""
    finite = (float(np.max(array[part], where=np.isfinite(array[part]), initial=0.0)) for part in _parts(array))
    return max(finite, default=0.0)


def _check_distances(array: Floats, name: str, *, symmetric: bool) -> tuple[Floats, bool]:
    """Return the distances, and whether they are the same both ways up to rounding."""
    scale = _TOLERANCE * max(_largest(array), 1e-300)
    if array.min(initial=0.0) < 0:
        i, j = np.argwhere(array < 0)[0]
        raise InputError(
            f"the {name} is negative: {array[i, j]:g} between values {i} and {j}.", "use distances of at least 0."
        )
    if np.diagonal(array).any():
        i = int(np.flatnonzero(np.diagonal(array))[0])
        raise InputError(
            f"the {name} puts value {i} at distance {array[i, i]:g} from itself.", "set the diagonal to zero."
        )
    equal = True
    for part in _parts(array):
        forward, backward = array[part], array[:, part].T
        different = forward != backward
        if not different.any():
            continue
        equal = False
        with np.errstate(invalid="ignore"):
            different &= np.abs(forward - backward) > scale
        if different.any() and not symmetric:
            return readonly(array), False
        if different.any():
            i, j = np.argwhere(different)[0]
            i += part.start
            raise InputError(
                f"the {name} is not symmetric: {array[i, j]:g} from value {i} to {j}, but {array[j, i]:g} back.",
                f"pass {argument('symmetric', False)} if the distance depends on the direction",
                python("np.minimum(a, a.T) protects more; as a loss, pass the plain array."),
            )
    return readonly(array if equal else np.minimum(array, array.T)), True


def _one_way_zero(array: Floats, name: str) -> bool:
    i, j = np.argwhere((array == 0) & (array.T > 0))[0]
    warnings.warn(
        f"the {name} is 0 from value {i} to {j}, but {array[j, i]:g} back. Privacy for it makes their rows equal, "
        "as distance 0 in both directions does; Metric.closure() has that.",
        MetricWarning,
        stacklevel=4,
    )
    return False


def _triangle(array: Floats, name: str) -> bool:
    scale = _TOLERANCE * max(float(array[np.isfinite(array)].max(initial=0.0)), 1e-300)
    for k in range(len(array)):
        with np.errstate(over="ignore"):  # a sum beyond all floats is longer than any distance
            detour = array[:, k, None] + array[None, k, :]
            violations = array > detour + scale
        if violations.any():
            i, j = np.argwhere(violations)[0]
            warnings.warn(
                f"the {name} breaks the triangle inequality: {array[i, j]:g} between values {i} and {j}, "
                f"but {detour[i, j]:g} by way of {k}. Privacy for it implies privacy for its shortest paths; "
                "Metric.closure() gives them.",
                MetricWarning,
                stacklevel=4,
            )
            return False
    return True


def shortest_paths(steps: Floats) -> Floats:
    """Return the lengths of shortest paths between all values, array (n, n), in n**3 steps.

    ``steps`` has the length of one step from each value to each other, array (n, n), ``inf`` where there is none.
    """
    lengths = steps.copy()
    np.fill_diagonal(lengths, 0.0)
    for k in range(len(lengths)):
        with np.errstate(over="ignore"):  # a sum beyond all floats is longer than any length
            detour = lengths[:, k, None] + lengths[None, k, :]
        np.minimum(lengths, detour, out=lengths)
    return lengths


def implied_distances(steps: Floats) -> Floats:
    """Return the least distances that metric privacy for ``steps`` implies, array (n, n), in n**3 steps.

    They are the shortest paths, where distance 0 in one direction counts in both: rows that sum to one are equal
    if one is nowhere larger.
    """
    zero = steps == 0
    return shortest_paths(np.where(zero | zero.T, 0.0, steps))


def paths_along(edges: NDArray[np.intp], lengths: Floats, size: int, *, directed: bool = False) -> Floats:
    """Return the lengths of shortest paths along few edges, array (size, size); ``inf`` where none leads.

    Each edge, array (k, 2), is walked in both directions if not ``directed``; lengths, array (k,), may be 0.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    if not directed:
        edges, lengths = np.vstack([edges, edges[:, ::-1]]), np.concatenate([lengths, lengths])
    graph = csr_array((lengths, (edges[:, 0], edges[:, 1])), shape=(size, size))
    return np.asarray(shortest_path(graph, method="D"))


def hops(near: NDArray[np.bool_]) -> Floats:
    """Return the fewest steps between values, array (n, n), along pairs that are near; ``inf`` where none lead."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    return np.asarray(shortest_path(csr_array(near.astype(np.float64)), unweighted=True))


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Spanner:
    """A graph on the values of a metric whose shortest paths come close to the metric.

    Privacy on the edges at epsilon / dilation implies metric privacy at epsilon for all pairs: p(o|s) <=
    exp(epsilon d_G(s, s') / dilation) p(o|s'), and d_G <= dilation d. Edges are pairs (i, j) with i < j, array (k,
    2), with their lengths, array (k,), in ``unit``. Where the metric is not symmetric the graph is ``directed``,
    and each edge (i, j) leads from i to j alone. The dilation is the largest shortest path over distance, of all
    pairs at finite distance; ``inf`` if the graph leaves such a pair unconnected.

    Source:
        Bordenabe, Chatzikokolakis, Palamidessi, CCS 2014, section 4.
    """

    edges: Pairs
    lengths: Floats
    dilation: float
    unit: str
    directed: bool

    def __init__(self, metric: Metric, edges: Pairs) -> None:
        pairs = np.array(edges, dtype=np.intp).reshape(-1, 2)
        assign(self, edges=readonly(pairs), lengths=readonly(metric.array[pairs[:, 0], pairs[:, 1]]))
        assign(self, dilation=_dilation(metric, pairs), unit=metric.unit, directed=not metric.symmetric)

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"Spanner of {len(self):,} pairs, dilation {self.dilation:.6g}"

    @property
    def ordered_pairs(self) -> Pairs:
        """The ordered pairs (s, s') of secrets that the edges constrain, array (r, 2)."""
        return self.edges if self.directed else np.concatenate([self.edges, self.edges[:, ::-1]])


def greedy_spanner(metric: Metric, dilation: float) -> Spanner:
    """Return a spanner of at most the given dilation (at least 1, or `InputError`), with few edges.

    Pairs are taken by distance. A pair becomes an edge if the edges so far connect it only by a path longer than
    ``dilation`` times its distance. Pairs at infinite distance need no path. Time grows with n**2 times the edges.

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
            _join(paths, i, j, d, directed=not metric.symmetric)
    return Spanner(metric, np.array(edges, dtype=np.intp))


def neighbours(metric: Metric, limit: float | str) -> Spanner:
    """Return the graph of all pairs within a limit, such as ``"1.5 km"`` (`UnitError` if it does not fit).

    Source:
        Shokri, "Privacy Games", appendix C, which drops farther pairs without taking the dilation out of epsilon.
    """
    near = metric.near_pairs(limit)
    return Spanner(metric, np.argwhere(np.triu(near) if metric.symmetric else near))


def direct_pairs(metric: Metric) -> Spanner:
    """Return the pairs that no third value lies between, in n**3 steps.

    Where d(i, z) + d(z, j) = d(i, j), privacy for (i, j) follows from that for (i, z) and (z, j), so leaving it
    out changes nothing. On a grid with the Manhattan metric only the neighbouring cells remain.
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
    finite = np.isfinite(metric.array) & ~np.eye(len(metric), dtype=bool)
    return np.argwhere(np.triu(finite) if metric.symmetric else finite)


def _join(paths: Floats, i: int, j: int, length: float, *, directed: bool) -> None:
    """Update all shortest paths for a new edge from i to j."""
    # The edge helps only values that come nearer to j by it, and values that i comes nearer to.
    with np.errstate(over="ignore"):  # a sum beyond all floats is longer than any path
        left = np.flatnonzero(paths[:, i] + length < paths[:, j])
        right = np.flatnonzero(length + paths[j] < paths[i])
        block = paths[np.ix_(left, right)]
        np.minimum(block, paths[left, i, None] + length + paths[None, j, right], out=block)
    paths[np.ix_(left, right)] = block
    if not directed:
        paths[np.ix_(right, left)] = block.T


def _dilation(metric: Metric, pairs: Pairs) -> float:
    distances, size = metric.array, len(metric)
    paths = paths_along(pairs, distances[pairs[:, 0], pairs[:, 1]], size, directed=not metric.symmetric)
    near = np.isfinite(distances) & ~np.eye(size, dtype=bool)
    path, distance = paths[near], distances[near]
    with np.errstate(over="ignore"):  # a quotient beyond all floats is infinite, which is what unconnected means
        ratio = np.divide(path, distance, out=np.where(path > 0, np.inf, 1.0), where=distance > 0)
    return float(ratio.max(initial=1.0))
