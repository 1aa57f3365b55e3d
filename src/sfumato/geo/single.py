"""Single points on a lattice: their vertices are drawn with plain numbers, faster than with arrays of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from numpy.typing import NDArray

from .convex import ConvexPart
from .projection import CLOSE_M, Projection
from .vertex_weights import SNAP_BITS, lattice_steps
from .vertices import Kind

_ONE: Final = 2**SNAP_BITS
_HALF: Final = _ONE // 2
_WHOLE: Final = 2 * _ONE**2  # the sum of the weights along an axis of a square lattice

Vertex = tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SinglePoint:
    """Draws the vertex of one point, from the same words as `Lattice.drawn` and with the same outcome.

    Positions are the same integers: a position that lies so close to the border of two of them that other
    arithmetic could round it otherwise is left to arrays, and so is a point that is not well inside.

    Attributes:
        projection: The plane.
        spacing_m: The distance of neighbours, metres.
        origin: Where vertex (0, 0) lies on the plane, metres.
        kind: ``square`` or ``triangular``.
        positions: The position of each vertex.
        middles: On a square lattice the vertices whose eight neighbours are there, too.
        part: Where points stay that are to be moved if they are outside.
    """

    projection: Projection
    spacing_m: float
    origin: tuple[float, float]
    kind: Kind
    positions: Mapping[Vertex, int]
    middles: Collection[Vertex]
    part: ConvexPart | None

    def drawn(
        self, lat: float, lon: float, words: Callable[[int], NDArray[Any]], *, nearest: bool = False
    ) -> int | None:
        """Return the position of the vertex that a point is taken for; None where arrays have to say it.

        Args:
            lat: Degrees.
            lon: Degrees.
            words: From a number to as many fresh, uniform 64-bit words; not asked where None is returned.
            nearest: Whether a point outside would be moved.
        """
        x, y = self.projection.forward_one(lat, lon)
        if nearest and (self.part is None or not self.part.contains(x, y)):
            return None
        place = self._snapped(x, y)
        if place is None:
            return None
        return self._square(*place, words) if self.kind == "square" else self._triangular(*place, words)

    def _snapped(self, x: float, y: float) -> Vertex | None:
        """Return a point in units of the spacing over 2**20; None where the rounding is not certain."""
        step = self.spacing_m
        a, b = lattice_steps(self.kind, (x - self.origin[0]) / step, (y - self.origin[1]) / step)
        a, b = a * _ONE, b * _ONE
        unsure = 2 * CLOSE_M / step * _ONE
        if not (abs(a % 1 - 0.5) > unsure and abs(b % 1 - 0.5) > unsure):
            return None
        return round(a), round(b)

    def _square(self, a: int, b: int, words: Callable[[int], NDArray[Any]]) -> int | None:
        near = (a + _HALF) >> SNAP_BITS, (b + _HALF) >> SNAP_BITS
        if near not in self.middles:
            return None
        first, second = words(2).tolist()
        vertex = (
            near[0] - 1 + _spline(a - (near[0] << SNAP_BITS), first),
            near[1] - 1 + _spline(b - (near[1] << SNAP_BITS), second),
        )
        return self.positions[vertex]

    def _triangular(self, a: int, b: int, words: Callable[[int], NDArray[Any]]) -> int | None:
        p, q = a >> SNAP_BITS, b >> SNAP_BITS
        s, t, side = a - (p << SNAP_BITS), b - (q << SNAP_BITS), 1
        if s + t > _ONE:
            p, q, s, t, side = p + 1, q + 1, _ONE - s, _ONE - t, -1
        corners = (p, q), (p + side, q), (p, q + side)
        if not all(corner in self.positions for corner in corners):
            return None
        uniform = int(words(1)[0]) >> (64 - SNAP_BITS)
        return self.positions[corners[1 if uniform < s else 2 if uniform < s + t else 0]]


def _spline(offset: int, word: int) -> int:
    """Return which of three neighbours along an axis a word chooses: 0, 1 or 2."""
    uniform = word >> (63 - 2 * SNAP_BITS)
    return (uniform >= (_HALF - offset) ** 2) + (uniform >= _WHOLE - (_HALF + offset) ** 2)
