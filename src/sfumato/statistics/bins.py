"""Bins: continuous outputs made finitely many, so that they can be counted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, floats, numbers
from ..core.immutable import CompactRepr
from ..errors import InputError

Positions = NDArray[np.intp]


class Bins(ABC):
    """A partition of the line or of the plane (or more) into finitely many bins.

    A merge of outputs is post-processing: whatever is shown of the merged reports holds
    of the reports themselves, as long as the bins do not depend on the counted samples.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Number of numbers in an output."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""

    @abstractmethod
    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,), for outputs of shape (n, dimensions)."""

    def place_any(self, values: Any) -> Positions:
        """Return the bin of each output, after checking that they are such numbers."""
        points = as_points(values)
        if points.shape[1] != self.dimensions:
            raise InputError(
                f"the outputs have {points.shape[1]} numbers each, but the bins are for {self.dimensions}.",
                "use bins of the outputs' dimension.",
            )
        return self.place(points)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntervalBins(Bins, CompactRepr):
    """The intervals between edges of the line; the first and the last one have no end.

    Args:
        edges: Increasing numbers; k edges make k + 1 bins, each with its left edge.
    """

    edges: Floats

    def __init__(self, edges: ArrayLike) -> None:
        object.__setattr__(self, "edges", _edges(edges, "the edges"))

    @property
    def dimensions(self) -> int:
        """Number of numbers in an output."""
        return 1

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return _intervals(self.edges)

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        return np.searchsorted(self.edges, values[:, 0], side="right")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RectangleBins(Bins, CompactRepr):
    """The rectangles of a grid of the plane; those at its border have no end.

    Args:
        x_edges: Increasing numbers, in the unit of the outputs.
        y_edges: Increasing numbers.
    """

    x_edges: Floats
    y_edges: Floats

    def __init__(self, x_edges: ArrayLike, y_edges: ArrayLike) -> None:
        object.__setattr__(self, "x_edges", _edges(x_edges, "the x edges"))
        object.__setattr__(self, "y_edges", _edges(y_edges, "the y edges"))

    @property
    def dimensions(self) -> int:
        """Number of numbers in an output."""
        return 2

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return tuple(f"{x} x {y}" for x in _intervals(self.x_edges) for y in _intervals(self.y_edges))

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        column = np.searchsorted(self.x_edges, values[:, 0], side="right")
        row = np.searchsorted(self.y_edges, values[:, 1], side="right")
        positions: Positions = column * (len(self.y_edges) + 1) + row
        return positions


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Halvings(Bins, CompactRepr):
    """Bins that halve the given points again and again, along x, y, x, y, ... (a k-d tree).

    Args:
        values: The points to halve, array (n, dimensions): samples that are not counted later.
        depth: How often; 2**depth bins.
    """

    cuts: tuple[Floats, ...]
    axes: int

    def __init__(self, values: Any, depth: int) -> None:
        points = as_points(values)
        if depth < 1 or len(points) < 2**depth:
            raise InputError(
                f"{len(points)} outputs cannot be halved {depth} times.", "use more outputs or fewer bins."
            )
        parts, cuts = [points], []
        for level in range(depth):
            axis = level % points.shape[1]
            cut = np.array([np.median(part[:, axis]) for part in parts])
            parts = [
                half
                for part, c in zip(parts, cut, strict=True)
                for half in (part[part[:, axis] < c], part[part[:, axis] >= c])
            ]
            if min(map(len, parts)) == 0:
                raise InputError(
                    "many outputs are equal, so no cut halves them.",
                    "outputs with repeated values need no bins: count them as labels.",
                )
            cuts.append(cut)
        object.__setattr__(self, "cuts", tuple(cuts))
        object.__setattr__(self, "axes", points.shape[1])

    @property
    def dimensions(self) -> int:
        """Number of numbers in an output."""
        return self.axes

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        depth = len(self.cuts)
        return tuple(f"part {part:0{depth}b}" for part in range(2**depth))

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        part = np.zeros(len(values), dtype=np.intp)
        for level, cut in enumerate(self.cuts):
            part = 2 * part + (values[:, level % self.axes] >= cut[part])
        return part


@dataclass(frozen=True, slots=True)
class FineBits(Bins):
    """Whether each number has bits below ``step``, of those nearer to zero than ``limit``.

    Noise added in doubles is a multiple of the last bit of the secret's size. A report
    near zero that has finer bits than a large secret can leave in it excludes that
    secret, whatever epsilon was claimed.

    Args:
        step: A power of two, such as 2**-45.
        limit: Numbers beyond it are not looked at.
        dimensions: How many numbers an output has.

    Source:
        Mironov, "On significance of the least significant bits for differential
        privacy", CCS 2012.
    """

    step: float
    limit: float
    dimensions: int = 1

    def __post_init__(self) -> None:
        if not (self.step > 0 and np.frexp(self.step)[0] == 0.5 and self.limit > 0 and self.dimensions >= 1):
            raise InputError(
                f"fine bits below {self.step} within {self.limit} in {self.dimensions} numbers cannot be counted.",
                "use a power of two (2**-45), a positive limit and at least one number.",
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        found = [""]
        for _ in range(self.dimensions):
            found = [f"{head} {tail}".strip() for head in found for tail in ("far", "coarse", "fine")]
        return tuple(found)

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        # Division by a power of two is exact, and so is the remainder.
        kinds = np.where(np.abs(values) >= self.limit, 0, np.where(values / self.step % 1 == 0, 1, 2))
        powers = 3 ** np.arange(self.dimensions - 1, -1, -1)
        positions: Positions = (kinds @ powers).astype(np.intp)
        return positions


def quantile_bins(values: Any, count: int) -> Bins:
    """Return about ``count`` bins that hold equally many of the given outputs.

    Args:
        values: Outputs that are not counted later: numbers, or rows of numbers.
        count: How many bins; rounded down to a power of two unless outputs are single numbers.
    """
    points = as_points(values)
    if count < 2:
        raise InputError(f"{count} bins tell nothing apart.", "use at least two.")
    if points.shape[1] > 1:
        return Halvings(points, int(np.log2(count)))
    return IntervalBins(np.unique(np.quantile(points[:, 0], np.arange(1, count) / count)))


def as_points(values: Any) -> Floats:
    """Return outputs as an array (n, dimensions) of finite numbers."""
    array = numbers(values, "the outputs")
    return floats(array[:, None] if array.ndim == 1 else array, "the outputs", shape=(None, None))


def is_point(output: object) -> bool:
    """Whether an output is a float or a tuple of floats, so that it can be put in bins."""
    parts = output if isinstance(output, tuple) else (output,)
    return all(isinstance(part, float) for part in parts)


def _edges(given: ArrayLike, what: str) -> Floats:
    edges = floats(given, what, shape=(None,))
    if len(edges) == 0 or (np.diff(edges) <= 0).any():
        raise InputError(f"{what} do not increase, or there is none.", "pass at least one, in increasing order.")
    return edges


def _intervals(edges: Floats) -> tuple[str, ...]:
    shown = [repr(float(edge)) for edge in edges]
    middle = [f"[{a}, {b})" for a, b in pairwise(shown)]
    return (f"below {shown[0]}", *middle, f"from {shown[-1]}")
