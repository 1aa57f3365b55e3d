"""Steps between the vertices of a lattice: their metric, and few pairs whose rows imply those of all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Metric
from ..core.arrays import Floats, freeze, readonly
from .vertices import Integers, Kind, VertexTable, parts_along, steps_along, steps_between

_TRIANGULAR: Final = np.array([(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)])
_SQUARE: Final = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j])
_AT_ONCE: Final = 1 << 20  # differences of vertices that are looked at together
_DIAGONAL: Final = 1 << 24  # more than any number of steps


class LatticeSteps(Metric):
    """The distances of vertices in steps of the whole lattice, computed where they are asked for.

    The array of ten thousand vertices takes 800 MB, so it is not kept.

    Args:
        kind: The kind of lattice.
        vertices: Whole-numbered coordinates, array (n, 2).
    """

    __slots__ = ("_kind", "_vertices")

    _kind: Kind
    _vertices: Integers

    def __init__(self, kind: Kind, vertices: Integers) -> None:
        object.__setattr__(self, "unit", "")
        object.__setattr__(self, "name", "lattice steps")
        object.__setattr__(self, "triangle", True)
        object.__setattr__(self, "stated", False)
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_vertices", freeze(vertices))

    @property
    def array(self) -> Floats:
        """The distances, array (n, n), computed anew each time."""
        return readonly(steps_between(self._kind, self._vertices))

    @property
    def finite(self) -> bool:
        """Whether every distance is finite: they all are."""
        return True

    def at(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Return the distances of listed pairs, array (k,)."""
        return steps_along(self._kind, self._vertices[rows] - self._vertices[columns])

    def __len__(self) -> int:
        return len(self._vertices)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self._kind, self._vertices)


def implying_pairs(kind: Kind, vertices: Integers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs (s, t) of vertices whose rows imply those of all pairs, arrays (k,).

    They are the neighbours, and every pair (s, t) where no neighbour u of s lies on a shortest way to t. For any
    other pair there is such a u, and the row of (s, t) follows from those of (s, u) and (u, t), whose distances
    add up; (u, t) is nearer, so this ends (docs/proofs/coordinates.md). Vertices with all their neighbours have
    one in every direction, so only those at borders and bays are looked at.

    Args:
        kind: The kind of lattice.
        vertices: Whole-numbered coordinates, array (n, 2).
    """
    around = _TRIANGULAR if kind == "triangular" else _SQUARE
    beside = VertexTable.of(vertices).of_vertices(vertices[:, None, :] + around)
    s, side = np.nonzero(beside >= 0)
    firsts, seconds = [s], [beside[s, side]]
    border = np.flatnonzero((beside < 0).any(axis=1))
    size = max(1, _AT_ONCE // len(vertices))
    for begin in range(0, len(border), size):
        part = border[begin : begin + size]
        apart = vertices[None, :, :] - vertices[part, None, :]
        length = _length(kind, apart)
        reached = length == 0
        for step, there in zip(around, (beside[part] >= 0).T, strict=True):
            nearer = _length(kind, apart - step) + _length(kind, step) == length
            reached |= nearer & there[:, None]
        near, far = np.nonzero(~reached)
        firsts.append(part[near])
        seconds.append(far)
    return np.concatenate(firsts), np.concatenate(seconds)


def _length(kind: Kind, apart: Integers) -> Integers:
    """Return the parts of lengths in one number: where these add up, both parts do."""
    straight, diagonal = parts_along(kind, apart)
    found: Integers = straight + _DIAGONAL * diagonal
    return found
