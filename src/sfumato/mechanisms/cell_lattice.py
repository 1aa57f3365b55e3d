"""The lattice of a region's cells, and the window in which noise on it is moved to the cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Space
from ..core.arrays import Floats, floats
from ..core.immutable import CompactRepr
from ..errors import InputError

NORMS: Final = {"euclidean": 2.0, "manhattan": 1.0, "maximum": math.inf}
"""The norms by name, each with its exponent."""

_WHOLE = 1e-6  # of a step: how far from the lattice rounded coordinates may lie
_FLAT = 1e-6  # sine of the least angle between two steps

Integers = NDArray[np.int64]

_LARGEST_WINDOW = 1 << 20  # cells
_CHUNK = 1 << 22  # offsets at a time

Window = Callable[[int, int], Floats]
"""The probabilities of all cells of a window, array (rows, columns), for a secret at (column, row)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LatticeBasis(CompactRepr):
    """The two steps that span a lattice: the points i a + j b of the plane, for integers i and j.

    Raises `InputError` if the vectors are (nearly) parallel.

    Args:
        steps: The vectors a and b as rows, array (2, 2), in the unit of the coordinates.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import LatticeBasis
        >>> LatticeBasis.of(sf.Grid.covering("8 km x 6 km around 48.85,2.35", cell="500 m")).steps
        array([[500.,   0.],
               [  0., 500.]])
    """

    steps: Floats

    def __init__(self, steps: ArrayLike) -> None:
        vectors = floats(steps, "the steps of a lattice", shape=(2, 2))
        if not abs(np.linalg.det(vectors)) > _FLAT * math.prod(np.linalg.norm(vectors, axis=1).tolist()):
            raise InputError(
                f"the steps {vectors.tolist()} of the lattice are parallel.",
                "pass two vectors that span the plane.",
            )
        object.__setattr__(self, "steps", vectors)

    @classmethod
    def hexagonal(cls, width: float) -> LatticeBasis:
        """Return the basis of the centres of regular hexagons of a width, between opposite sides."""
        return cls([[width, 0.0], [width / 2, width * math.sqrt(0.75)]])

    @classmethod
    def of(cls, space: Space) -> LatticeBasis:
        """Return the basis of a grid, or the one that the neighbours in a space of places suggest.

        Raises `InputError` if the places are on a line, or have no two coordinates.
        """
        from scipy.spatial import cKDTree

        from ..geo import Grid

        if isinstance(space, Grid):
            return cls(np.diag(space.cell_m))
        points = plane(space)
        _, near = cKDTree(points).query(points, k=min(len(points), 9))
        around = points[near[:, 1:]] - points[:, None] if near.ndim == 2 else np.empty((0, 1, 2))
        vectors = around.reshape(-1, 2)
        vectors = vectors[vectors.any(axis=1)]
        vectors = np.where((vectors @ [1.0, 1e-3] < 0)[:, None], -vectors, vectors)
        if len(vectors):
            lengths = np.linalg.norm(vectors, axis=1)
            # Rounded, so that of equally long vectors the first neighbours decide, and no last bit.
            vectors = vectors[np.argsort(np.round(lengths / lengths.min(), 6), kind="stable")]
            first = vectors[0]
            across = np.abs(vectors[:, 0] * first[1] - vectors[:, 1] * first[0])
            aside = across > _FLAT * np.linalg.norm(vectors, axis=1) * np.linalg.norm(first)
            if aside.any():
                return cls(np.array([first, vectors[np.argmax(aside)]]))
        raise InputError(
            f"the {len(space)} places lie on a line, which does not show the lattice that they are on.",
            "pass basis=LatticeBasis([[width, 0], [0, height]]), or use geometric() for numbers.",
        )

    @property
    def rectangular(self) -> bool:
        """Whether the steps are along the axes."""
        return bool(np.count_nonzero(self.steps) == 2)

    def swapped(self) -> LatticeBasis:
        """Return the same basis with its steps in the other order."""
        return LatticeBasis(self.steps[::-1])

    def positions(self, space: Space) -> Integers:
        """Return i and j of each place, relative to the first one, array (n, 2).

        Raises `InputError` if a place is not on the lattice.
        """
        points = plane(space)
        coordinates = np.linalg.solve(self.steps.T, (points - points[0]).T).T
        whole = np.round(coordinates)
        off = np.abs(coordinates - whole).max(axis=1)
        if (off > _WHOLE).any():
            i = int(np.argmax(off))
            raise InputError(
                f"the place {space.labels[i]!r} is {off[i]:.3g} steps off the lattice of {self.steps.tolist()}.",
                "use a Grid or a part of one, pass basis=, or use exponential(), which takes places anywhere.",
            )
        return whole.astype(np.int64)

    def lengths(self, offsets: NDArray[np.int64] | Floats, norm: str) -> Floats:
        """Return the norm of i a + j b for offsets (..., 2)."""
        return norms(offsets @ self.steps, norm)

    def shortest(self, norm: str) -> float:
        """Return c > 0 with norm(i a + j b) >= c max(|i|, |j|) for all i and j."""
        least = float(np.linalg.svd(self.steps, compute_uv=False)[-1])
        if self.rectangular:
            least = float(np.abs(self.steps).sum(axis=1).min())
        elif NORMS[norm] > 2:
            least /= math.sqrt(2)
        return least * (1 - 1e-12)


def norms(vectors: Floats, norm: str) -> Floats:
    """Return the norms of vectors of the plane, array (..., 2) to (...)."""
    x, y = np.abs(vectors[..., 0]), np.abs(vectors[..., 1])
    if norm == "manhattan":
        return np.asarray(x + y)
    return np.asarray(np.maximum(x, y)) if norm == "maximum" else np.sqrt(x**2 + y**2)


def check_norm(norm: str) -> str:
    """Return the name of a norm; `InputError` if it is unknown."""
    if norm not in NORMS:
        raise InputError(f"the norm {norm!r} is unknown.", f"use one of {', '.join(NORMS)}.")
    return norm


def plane(space: Space) -> Floats:
    """Return the coordinates of places on the plane, array (n, 2); `InputError` if there are none."""
    points = space.coordinates
    if points is None or points.shape[1] != 2 or space.unit == "degree":
        raise InputError(
            f"{space!r} has no coordinates on a plane.", "use a Grid, or pass two coordinates in metres per place."
        )
    return points


@dataclass(frozen=True, slots=True, eq=False)
class ClampingWindow:
    """The cells of a space on a lattice, with a window around them.

    A report in the window moves to the nearest cell of the region; one beyond it first moves along the steps of
    the lattice to the window's border. Moving reports is post-processing, so the guarantee of the noise holds.
    Where the region fills a rectangle of a rectangular lattice, the window is the region.

    The steps of the basis are in such an order that the window has no more columns than rows. ``positions`` are
    the column and row of each of the n cells, array (n, 2), and ``nearest`` is the cell that each of the window's
    moves to, array (rows * columns,).
    """

    basis: LatticeBasis
    positions: NDArray[np.int64]
    columns: int
    rows: int
    nearest: NDArray[np.intp]

    @classmethod
    def of(cls, space: Space, basis: LatticeBasis, norm: str, reach: float) -> ClampingWindow:
        """Return the window of a space, with a margin as wide as the reach where it needs one."""
        positions = basis.positions(space)
        positions -= positions.min(axis=0)
        if len(np.unique(positions, axis=0)) < len(positions):
            raise InputError("two places lie at the same point.", "put them into one.")
        if positions[:, 0].max() > positions[:, 1].max():
            positions, basis = positions[:, ::-1], basis.swapped()
        full = int(np.prod(positions.max(axis=0) + 1)) == len(positions)
        margin = 0 if full and basis.rectangular else 1 + int(reach / basis.shortest(norm))
        positions = positions + margin
        columns, rows = (int(size) for size in positions.max(axis=0) + 1 + margin)
        if columns * rows > _LARGEST_WINDOW:
            raise InputError(
                f"the noise reaches over {columns:,} x {rows:,} cells around the region.",
                "use larger cells or a larger epsilon, or a region that fills a rectangle.",
            )
        from scipy.spatial import cKDTree

        cells = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
        _, nearest = cKDTree(positions @ basis.steps).query(cells @ basis.steps, p=NORMS[norm])
        return cls(basis, positions, columns, rows, np.asarray(nearest, dtype=np.intp))

    def matrix(self, row: Window) -> Floats:
        """Return p(o|s), array (n, n), of the window's probabilities after the moves."""
        matrix = np.empty((len(self.positions), len(self.positions)))
        for s, (column, line) in enumerate(self.positions.tolist()):
            matrix[s] = np.bincount(self.nearest, row(column, line).ravel(), len(matrix))
        return matrix

    def clamped(self, kernel: Callable[[NDArray[np.int64]], Floats], radius: int) -> tuple[Window, float]:
        """Return the window's probabilities for noise of a kernel, times the kernel's sum, and that sum.

        All terms are positive, so every entry has a relative error of at most about 4 ``radius`` roundings and
        what lies beyond the radius. The kernel takes offsets (..., 2) in steps to weights of at least 0; those
        beyond the radius in either direction are left out.
        """
        span = np.arange(-radius, radius + 1)
        tall = max(1, _CHUNK // len(span))
        parts = []
        for start in range(0, len(span), tall):
            chunk = span[start : start + tall]
            offsets = np.stack(np.broadcast_arrays(span[None, :], chunk[:, None]), axis=-1)
            parts.append(ranges(kernel(offsets), self.columns, axis=1))
        table = ranges(np.concatenate(parts, axis=1).swapaxes(0, 1), self.rows, axis=0)
        # table[kind of row, offset of row, kind of column, offset of column]
        i, j = np.arange(self.columns), np.arange(self.rows)
        kinds_i, kinds_j = kinds(self.columns), kinds(self.rows)
        total = float(table[kinds_j[:, None], (j + self.rows - 1)[:, None], kinds_i, i + self.columns - 1].sum())

        def row(column: int, line: int) -> Floats:
            entries: Floats = table[
                kinds_j[:, None],
                (j - line + self.rows - 1)[:, None],
                kinds_i[None, :],
                (i - column + self.columns - 1)[None, :],
            ]
            return entries

        return row, total


def ranges(kernel: Floats, size: int, axis: int) -> Floats:
    """Return sums of a kernel over all offsets up to i, only i, and from i on, |i| < size; of all for one cell.

    The sums are the first axis of the answer, and i takes the place of the kernel's axis.
    """
    weights = np.moveaxis(kernel, axis, 0)
    if size == 1:
        sums = weights.sum(axis=0)[None, None]
    else:
        middle = len(weights) // 2
        near = slice(middle - size + 1, middle + size)
        up, down = np.cumsum(weights, axis=0), np.cumsum(weights[::-1], axis=0)[::-1]
        sums = np.stack([up[near], weights[near], down[near]])
    return np.moveaxis(sums, 1, axis + 1)


def kinds(size: int) -> NDArray[np.intp]:
    """Return which of the `ranges` of offsets ends at each of a line's cells."""
    if size == 1:
        return np.zeros(1, dtype=np.intp)
    return np.concatenate([[0], np.ones(size - 2, dtype=np.intp), [2]]).astype(np.intp)
