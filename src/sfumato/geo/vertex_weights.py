"""Weights of vertices: which ones a point may be rounded to, how likely each is, and drawing one, in integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from .vertices import AROUND, ROWS, Integers, Kind

SNAP_BITS: Final = 20
"""Positions are first rounded to multiples of the spacing over two to this power."""

Number = TypeVar("Number", float, Floats)

_ONE: Final = 2**SNAP_BITS
_FARTHEST: Final = 2.0**30  # steps: outside of every lattice

Draw = Callable[[int], NDArray[np.uint64]]


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


def spline_steps(offsets: Integers, words: NDArray[np.uint64]) -> Integers:
    """Return to which of three neighbours along an axis words lead: -1, 0 or 1, array (...), drawn exactly.

    Args:
        offsets: As for `spline_weights`, whose weights are the probabilities.
        words: Uniform words of 64 bits, array (...).
    """
    half = 2 ** (SNAP_BITS - 1)
    uniform = (words >> np.uint64(63 - 2 * SNAP_BITS)).view(np.int64)
    above = uniform >= (half - offsets) ** 2
    far = uniform >= 8 * half**2 - (half + offsets) ** 2
    chosen: Integers = above.astype(np.int64) + far - 1
    return chosen


def nearest_vertices(places: Integers) -> Integers:
    """Return the nearest vertices of a square lattice, array (n, 2), of places as `snapped` returns them."""
    return (places + _ONE // 2) >> SNAP_BITS


def lattice_steps(kind: Kind, x: Number, y: Number) -> tuple[Number, Number]:
    """Return places on the plane, in steps from vertex (0, 0), in coordinates of the lattice."""
    if kind == "square":
        return x, y
    across = y / ROWS["triangular"]
    return x - across / 2, across


def snapped(kind: Kind, plane: Floats) -> Integers:
    """Return places on the plane in coordinates of the lattice, in units of the spacing over 2**20, array (n, 2).

    Args:
        kind: The lattice.
        plane: In steps from vertex (0, 0), array (n, 2). What is not finite becomes a place far away.
    """
    steps = np.column_stack(lattice_steps(kind, plane[:, 0], plane[:, 1]))
    steps = np.clip(np.where(np.isfinite(steps), steps, _FARTHEST), -_FARTHEST, _FARTHEST)
    return np.rint(steps * _ONE).astype(np.int64)


def weights_of(kind: Kind, places: Integers) -> tuple[Integers, Floats]:
    """Return the vertices that places may be rounded to, array (n, k, 2), and their probabilities, array (n, k).

    Args:
        kind: The lattice.
        places: As `snapped` returns them, array (n, 2).
    """
    if kind == "square":
        nearest = nearest_vertices(places)
        axes = spline_weights(places - (nearest << SNAP_BITS)) / 2.0 ** (2 * SNAP_BITS + 1)
        return nearest[:, None, :] + AROUND, (axes[:, 0, :, None] * axes[:, 1, None, :]).reshape(len(places), 9)
    corner, side, part = _triangle(places)
    vertices = corner[:, None, :] + side[:, None] * np.array([(0, 0), (1, 0), (0, 1)])
    return vertices, np.column_stack([_ONE - part.sum(axis=1), part]) / _ONE


def vertices_drawn(kind: Kind, places: Integers, words: Draw) -> Integers:
    """Return a vertex for each place, array (n, 2), drawn as `weights_of` says: integers are compared, exactly.

    Args:
        kind: The lattice.
        places: As `snapped` returns them, array (n, 2).
        words: From a number to as many fresh, uniform 64-bit words.
    """
    if kind == "square":
        nearest = nearest_vertices(places)
        return nearest + spline_steps(places - (nearest << SNAP_BITS), words(places.size).reshape(places.shape))
    corner, side, part = _triangle(places)
    upto = np.column_stack([part[:, 0], part.sum(axis=1)])
    uniform = (words(len(places)) >> np.uint64(64 - SNAP_BITS)).astype(np.int64)
    step = np.column_stack([uniform < upto[:, 0], (uniform >= upto[:, 0]) & (uniform < upto[:, 1])])
    return corner + side * step


def _triangle(places: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the triangle around each place: a corner, the sign of its two sides, and weights at their ends.

    Arrays (n, 2), (n, 1) and (n, 2); weights are integers over 2**20, and the corner has the rest.
    """
    base = places >> SNAP_BITS
    part = places - (base << SNAP_BITS)
    upper = (part.sum(axis=1) > _ONE)[:, None]
    return np.where(upper, base + 1, base), np.where(upper, -1, 1), np.where(upper, _ONE - part, part)
