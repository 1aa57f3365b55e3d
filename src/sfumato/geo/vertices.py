"""Vertices of lattices: which ones serve a rectangle, and with which weights points are rounded to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, numbers
from ..errors import InputError

Integers = NDArray[np.int64]
Kind = Literal["square", "triangular"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)

SNAP_BITS: Final = 20
"""Positions are first rounded to multiples of the spacing over two to this power."""

TRIANGLE: Final = np.array([(1.0, 0.0), (0.5, math.sqrt(3) / 2)])
"""The two steps of a triangular lattice, array (2, 2)."""

ROWS: Final = {"square": 1.0, "triangular": math.sqrt(3) / 2}
"""The distance of rows, in steps."""

Number = TypeVar("Number", float, Floats)

_ROUND: Final = 1e-8  # of a step: 8 km are 16 steps of 500 m, whatever the last bits say


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """The vertices that points are rounded to, and how likely each is.

    Attributes:
        positions: Positions of the vertices in the lattice, array (n, k); -1 for one that it does not have.
        shares: Probability of each, array (n, k); each row sums to one.
    """

    positions: NDArray[np.intp]
    shares: Floats

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether all vertices that a point may be rounded to are in the lattice, array (n,)."""
        inside: NDArray[np.bool_] = ((self.positions >= 0) | (self.shares == 0)).all(axis=1)
        return inside


def spline_weights(offsets: Integers) -> Integers:
    """Return the weights of three neighbours along an axis as integers that sum to 2**41.

    Args:
        offsets: From the middle one, in units of the spacing over 2**20, from -2**19 to 2**19, array (...).

    Returns:
        Quadratic B-spline weights, array (..., 3): (1/2 - t)**2 / 2, 3/4 - t**2 and (1/2 + t)**2 / 2 for the
        offset t in steps, times 2**41; exact.
    """
    half = 2 ** (SNAP_BITS - 1)
    return np.stack([(half - offsets) ** 2, 6 * half**2 - 2 * offsets**2, (half + offsets) ** 2], axis=-1)


def lattice_steps(kind: Kind, x: Number, y: Number) -> tuple[Number, Number]:
    """Return places on the plane, in steps from vertex (0, 0), in coordinates of the lattice."""
    if kind == "square":
        return x, y
    across = y / ROWS["triangular"]
    return x - across / 2, across


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
