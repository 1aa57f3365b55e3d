"""The window in which noise on an infinite lattice is moved to the cells of a region.

Moving reports is post-processing: whichever cell they are moved to, the guarantee of
the noise stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import Space
from ..core.arrays import Floats
from ..errors import InputError
from .basis import NORMS, LatticeBasis

_LARGEST_WINDOW = 1 << 20  # cells
_CHUNK = 1 << 22  # offsets at a time

Window = Callable[[int, int], Floats]
"""The probabilities of all cells of a window, array (rows, columns), for a secret at (column, row)."""


@dataclass(frozen=True, slots=True, eq=False)
class ClampingWindow:
    """The cells of a space on a lattice, with a window around them.

    A report in the window moves to the nearest cell of the region; one beyond it first
    moves along the steps of the lattice to the window's border. Where the region fills
    a rectangle of a rectangular lattice, the window is the region.

    Attributes:
        basis: The basis of the lattice, its steps in such an order that columns are fewer than rows.
        positions: Column and row in the window of each of the n cells, array (n, 2).
        columns: The width of the window.
        rows: Its height.
        nearest: Which cell of the region each of the window's moves to, array (rows * columns,).
    """

    basis: LatticeBasis
    positions: NDArray[np.int64]
    columns: int
    rows: int
    nearest: NDArray[np.intp]

    @classmethod
    def of(cls, space: Space, basis: LatticeBasis, norm: str, reach: float) -> ClampingWindow:
        """Return the region of a space.

        Args:
            space: The cells.
            basis: The basis of their lattice.
            norm: The norm that says which cell is nearest.
            reach: How wide the window's margin is at least, where it needs one.

        Raises:
            InputError: If a cell is not on the lattice, two are at the same point of it, or the
                window would be too large.
        """
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

        All sums are of positive terms, so every entry has a relative error of at most about
        4 ``radius`` roundings and what lies beyond the radius.

        Args:
            kernel: From offsets (k, 2) in steps to non-negative weights.
            radius: Beyond this many steps in either direction weights are left out.
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
    """Return sums of a kernel over all offsets up to i, only i, and from i on, |i| < size.

    With one cell it is the sum of all. The sums are the first axis of the answer, and i
    takes the place of the kernel's axis.
    """
    weights = np.moveaxis(kernel, axis, 0)
    if size == 1:
        sums = weights.sum(axis=0)[None, None]
    else:
        middle = len(weights) // 2
        near = slice(middle - size + 1, middle + size)
        sums = np.stack(
            [
                np.cumsum(weights, axis=0)[near],
                weights[near],
                np.cumsum(weights[::-1], axis=0)[::-1][near],
            ]
        )
    return np.moveaxis(sums, 1, axis + 1)


def kinds(size: int) -> NDArray[np.intp]:
    """Return which of the `ranges` of offsets ends at each of a line's cells."""
    if size == 1:
        return np.zeros(1, dtype=np.intp)
    return np.concatenate([[0], np.ones(size - 2, dtype=np.intp), [2]]).astype(np.intp)
