"""Vertices of lattices: which ones serve a rectangle, their positions in a list, and which parts they serve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, numbers, readonly
from ..errors import InputError

Integers = NDArray[np.int64]
Kind = Literal["square", "triangular"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)

TRIANGLE: Final = np.array([(1.0, 0.0), (0.5, math.sqrt(3) / 2)])
"""The two steps of a triangular lattice, array (2, 2)."""

ROWS: Final = {"square": 1.0, "triangular": math.sqrt(3) / 2}
"""The distance of rows, in steps."""

AROUND: Final = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
"""Steps to a vertex itself and its eight neighbours, south to north within west to east, array (9, 2)."""

_WIDEST: Final = 10_000_000  # places in the table of vertices
_ROWS_AT_ONCE: Final = 256
_ROUND: Final = 1e-8  # of a step: 8 km are 16 steps of 500 m, whatever the last bits say


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VertexTable:
    """The positions of vertices in a list of them, looked up by their coordinates.

    Attributes:
        low: One less than the least coordinates, array (2,).
        positions: At each pair of coordinates from there the position, or -1, array; its border is empty.
        surrounded: Where a vertex and its eight neighbours are in the list, array.
    """

    low: Integers
    positions: NDArray[np.intp]
    surrounded: NDArray[np.bool_]

    @classmethod
    def of(cls, vertices: Integers) -> Self:
        """Return the table of vertices, array (n, 2).

        Raises:
            InputError: If they are spread too far, or one is given twice.
        """
        low = vertices.min(axis=0)
        size = vertices.max(axis=0) - low + 1
        if float(np.prod(size + 2.0)) > _WIDEST:
            raise InputError(
                f"the vertices spread over {size[0]:,} x {size[1]:,} steps, most of them without a vertex.",
                "use a lattice for each part.",
            )
        positions = np.full(tuple(size + 2), -1, dtype=np.intp)  # with a border, so that steps beside stay inside
        positions[tuple((vertices - low + 1).T)] = np.arange(len(vertices))
        if np.count_nonzero(positions >= 0) < len(vertices):
            raise InputError("a vertex of the lattice is given twice.", "give each pair of coordinates once.")
        there = positions >= 0
        surrounded = np.zeros_like(there)
        surrounded[1:-1, 1:-1] = np.logical_and.reduce(
            [there[1 + i : size[0] + 1 + i, 1 + j : size[1] + 1 + j] for i, j in AROUND.tolist()]
        )
        return cls(readonly(low - 1), readonly(positions), readonly(surrounded))

    def of_vertices(self, vertices: Integers) -> NDArray[np.intp]:
        """Return the positions of vertices (..., 2), array (...); -1 for one that is not in the list."""
        found: NDArray[np.intp] = self.positions.reshape(-1)[self._places(vertices)]
        return found

    def surrounds(self, vertices: Integers) -> NDArray[np.bool_]:
        """Return which vertices (..., 2) are in the list with their eight neighbours, array (...)."""
        found: NDArray[np.bool_] = self.surrounded.reshape(-1)[self._places(vertices)]
        return found

    def _places(self, vertices: Integers) -> NDArray[np.intp]:
        columns, rows = self.positions.shape
        across = np.clip(vertices[..., 0] - self.low[0], 0, columns - 1) * rows
        found: NDArray[np.intp] = across + np.clip(vertices[..., 1] - self.low[1], 0, rows - 1)
        return found

    def pieces(self, kind: Kind, vertices: Integers) -> NDArray[np.intp]:
        """Return the parts of the plane that the vertices serve, by their positions, array (pieces, k).

        Args:
            kind: The lattice: nine vertices around one make a square, three a triangle.
            vertices: The list, array (n, 2).
        """
        if kind == "square":
            blocks = vertices[:, None, :] + AROUND
        else:
            ups = vertices[:, None, :] + np.array([(0, 0), (1, 0), (0, 1)])
            downs = vertices[:, None, :] + np.array([(0, 0), (-1, 0), (0, -1)])
            blocks = np.concatenate([ups, downs])
        positions = self.of_vertices(blocks)
        return readonly(positions[(positions >= 0).all(axis=1)])


def whole(vertices: ArrayLike) -> Integers:
    """Return pairs of whole numbers as integers, array (n, 2).

    Raises:
        InputError: If they are not pairs, not whole, or too large.
    """
    given = numbers(vertices, "the vertices")
    if given.ndim != 2 or given.shape[1:] != (2,) or not len(given):
        raise InputError("the vertices of a lattice are pairs of whole numbers.", "pass an array (n, 2).")
    with np.errstate(invalid="ignore"):
        whole = given.astype(np.int64)
    if not (whole == given).all() or not (np.abs(given) <= 2**20).all():
        raise InputError(
            "a vertex of the lattice is not a pair of whole numbers below a million.", "pass integers."
        )
    return whole


def block(extent: Floats) -> tuple[Integers, Floats]:
    """Return a block of square-lattice vertices that serves a rectangle, and where vertex (0, 0) is.

    Args:
        extent: Width and height of the rectangle around the middle, in steps.
    """
    served = np.maximum(1, np.ceil(extent - _ROUND))
    columns, rows = (served + 2).astype(int)
    vertices = np.array([(a, b) for b in range(rows) for a in range(columns)], dtype=np.int64)
    return vertices, -(served + 1) / 2


def strip(extent: Floats) -> tuple[Integers, Floats]:
    """Return triangular-lattice vertices that serve a rectangle, and where vertex (0, 0) is; see `block`."""
    height = ROWS["triangular"]
    rows = max(1, math.ceil(extent[1] / height - _ROUND))
    start = np.array([-extent[0] / 2, -rows * height / 2])
    vertices = []
    for b in range(rows + 1):
        left = -b / 2  # lattice coordinate of the rectangle's west side in this row
        first = math.floor(left - 1 + _ROUND) + 1
        last = math.ceil(left + extent[0] + 1 - _ROUND) - 1
        vertices += [(a, b) for a in range(first, last + 1)]
    return np.array(vertices, dtype=np.int64), start


def steps_between(kind: Kind, vertices: Integers) -> Floats:
    """Return the distances of vertices in steps of the whole lattice, array (n, n); see `steps_along`."""
    found = np.empty((len(vertices), len(vertices)))
    for first in range(0, len(vertices), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        found[rows] = steps_along(kind, vertices[rows, None, :] - vertices[None, :, :])
    return found


def steps_along(kind: Kind, apart: Integers) -> Floats:
    """Return the lengths of differences of vertices (..., 2) in steps of the whole lattice, array (...).

    On a triangular lattice steps lead to six neighbours. On a square one they lead to four, or along
    diagonals, which count sqrt(2) (octile distance); such numbers are rounded down.
    """
    straight, diagonal = parts_along(kind, apart)
    if kind == "triangular":
        return straight.astype(np.float64)
    exact = straight + math.nextafter(math.sqrt(2), 0) * diagonal
    octile: Floats = np.where(diagonal > 0, np.nextafter(exact, 0), exact)
    return octile


def parts_along(kind: Kind, apart: Integers) -> tuple[Integers, Integers]:
    """Return how many steps of length one and how many along diagonals a shortest way takes, arrays (...).

    Args:
        kind: The lattice; a triangular one has no diagonals.
        apart: Differences of vertices, array (..., 2).
    """
    a, b = np.abs(apart[..., 0]), np.abs(apart[..., 1])
    if kind == "triangular":
        hops: Integers = np.maximum(np.maximum(a, b), np.abs(apart[..., 0] + apart[..., 1]))
        return hops, np.zeros_like(hops)
    diagonal: Integers = np.minimum(a, b)
    return np.maximum(a, b) - diagonal, diagonal
