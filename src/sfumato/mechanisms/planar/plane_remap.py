"""Bayes remap in the plane: a table from each report to the best place for what it reveals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.arrays import Floats, any_array, distinct_points, floats, freeze, integer
from ...core.immutable import CompactRepr, Immutable, assign
from ...errors import InputError
from ...geo import medians
from .lattice_noise import snap

Integers = NDArray[np.signedinteger[Any]]

LEVELS: Final = ((3.0, 1), (6.0, 2), (14.0, 4))
"""The distance by which each window exceeds the places, in units of 1 / epsilon, and its cells' width."""

CELLS: Final = 1 << 16
"""The most cells of a table: for places that are far apart they are wider than requested."""

_MOST_WINDOWS: Final = 8
_FARTHEST: Final = 1 << 40  # steps, as for places that are snap
_GROUPS: Final = 0.25  # of a cell's width: places so near each other are one where medians are looked for,
_CLOSE: Final = 0.01  # and this share of the places' spread,
_MANY: Final = 2000  # if there are more places than that
_TOLERANCE: Final = 1e-3  # of 1 / epsilon and of the places' spread: how good medians are
_PAIRS: Final = 1 << 20  # of cells and places at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RemapWindow(Immutable, CompactRepr):
    """Square cells of lattice points that fill a rectangle, and the place that each stands for.

    ``corner`` is the least column and row in steps, ``width`` that of a cell in steps, and ``targets`` are metres
    east and north, array (columns, rows, 2). Raises `InputError` if a width is not positive, or an array has
    another shape or a number that is none.
    """

    corner: NDArray[np.int64]
    width: int
    targets: Floats

    def __post_init__(self) -> None:
        corner = any_array(self.corner, "corner=")
        width = integer(self.width)
        if width is None or width < 1 or corner.shape != (2,) or corner.dtype.kind not in "iu":
            raise InputError("a window of the table has no whole corner and width.", "pass integers.")
        targets = floats(self.targets, "the table of places", shape=(None, None, 2))
        if not targets.size:
            raise InputError("a window of the table has no cell.", "pass at least one.")
        assign(self, corner=freeze(corner.astype(np.int64)), width=width, targets=targets)

    @property
    def size(self) -> NDArray[np.int64]:
        """The steps from the corner to the end in both directions, array (2,)."""
        return np.array(self.targets.shape[:2], dtype=np.int64) * self.width

    @property
    def centres(self) -> Floats:
        """The middle of each cell's lattice points in steps, array (columns, rows, 2)."""
        columns, rows = (
            corner + self.width * np.arange(cells) + (self.width - 1) / 2
            for corner, cells in zip(self.corner.tolist(), self.targets.shape[:2], strict=True)
        )
        return np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1)

    def holds(self, reports: Integers) -> NDArray[np.bool_]:
        """Return which lattice points, array (n, 2), are inside, array (n,)."""
        return np.asarray(((reports >= self.corner) & (reports < self.corner + self.size)).all(axis=1), dtype=bool)

    def places(self, reports: Integers) -> Floats:
        """Return the place of each lattice point, array (n, 2); for one outside, of the nearest inside."""
        cells = np.clip(reports - self.corner, 0, self.size - 1) // self.width
        return np.asarray(self.targets[cells[:, 0], cells[:, 1]])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlaneRemap(Immutable):
    """A table from reports to places: windows in each other, the finest first.

    A report takes the place of the finest window's cell that it is in; beyond the last window, of that window's
    nearest lattice point. The table uses the report only, so every guarantee before it holds after it. Each window
    is inside the next, and fills whole cells of it. Raises `InputError` if there is no window, or one is not
    inside the next or cuts a cell of it.

    Source:
        Chatzikokolakis, ElSalamouny and Palamidessi, "Efficient utility improvement for location privacy", PETS
        2017, section 3.
    """

    windows: tuple[RemapWindow, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", tuple(self.windows))
        if not self.windows:
            raise InputError("the table has no window.", "pass at least one.")
        for inner, outer in zip(self.windows, self.windows[1:], strict=False):
            low, high = inner.corner - outer.corner, inner.corner + inner.size - outer.corner
            ends = np.concatenate([low, high])
            if (ends < 0).any() or (ends > np.tile(outer.size, 2)).any() or (ends % outer.width).any():
                raise InputError("a window of the table cuts cells of the next.", "let each fill whole cells.")

    @classmethod
    def of(
        cls, points_m: ArrayLike, weights: ArrayLike, epsilon: float, step_m: Fraction, fineness: float = 0.1
    ) -> PlaneRemap:
        """Return the table for weighted places: the geometric median of the posterior at each cell's middle.

        The places are metres east and north, array (n, 2), with weights (n,) of at least 0, not all 0, and epsilon
        is per metre. ``fineness`` is the width of the finest cells in units of 1 / epsilon, wider where the table
        would exceed `CELLS`. Raises `InputError` if an array is not as described, or the cells of a table that is
        not too large would be wider than 1 / epsilon.
        """
        x, w = place_shares(points_m, weights)
        frames, width = _fit(x, epsilon, step_m, fineness)
        spread = float(w @ np.hypot(*(x - w @ x).T)) + float(step_m)
        side = min(_GROUPS * width * float(step_m), _CLOSE * spread)
        near, mass = (x, w) if len(x) <= _MANY else _group(x, w, side)
        tolerance = _TOLERANCE * min(1 / epsilon, spread)
        windows: list[RemapWindow] = []
        for window in frames:
            windows.append(_fill(window, windows[-1:], near, mass, epsilon, float(step_m), tolerance))
        return cls(tuple(windows))

    @classmethod
    def squares(cls, points_m: Floats, epsilon: float, step_m: Fraction, fineness: float = 0.1) -> PlaneRemap:
        """Return the table that moves each report to the middle of its cell; arguments and errors as for `of`."""
        frames, _ = _fit(points_m, epsilon, step_m, fineness)
        return cls(tuple(RemapWindow(w.corner, w.width, w.centres * float(step_m)) for w in frames))

    def places(self, reports: Integers) -> Floats:
        """Return the place in metres of each report, a lattice point in steps, array (n, 2)."""
        targets = self.windows[-1].places(reports)
        for window in reversed(self.windows[:-1]):
            inside = window.holds(reports)
            targets[inside] = window.places(reports[inside])
        return targets

    def arrays(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the table as two arrays, which `from_arrays` reads.

        They are an array (windows, 5): corner, width of a cell in steps, columns and rows of each window; and an
        array (cells, 2), the places of all cells, window after window and column after column.
        """
        frames = [[*window.corner, window.width, *window.targets.shape[:2]] for window in self.windows]
        return np.array(frames, dtype=np.int64), np.concatenate([w.targets.reshape(-1, 2) for w in self.windows])

    @classmethod
    def from_arrays(cls, frames: NDArray[Any], targets: NDArray[Any]) -> PlaneRemap:
        """Return the table that `arrays` wrote out; `InputError` if an array is not as it writes it."""
        shapes = frames.ndim == targets.ndim == 2 and frames.shape[1:] == (5,) and targets.shape[1:] == (2,)
        if not shapes or frames.dtype.kind not in "iu" or not 0 < len(frames) <= _MOST_WINDOWS:
            raise InputError(
                "the frames of the table are not a few rows of five integers.", "pass what arrays() gave."
            )
        if (np.abs(frames) > _FARTHEST).any() or (frames[:, 2:] < 1).any():
            raise InputError("a window of the table is too large, or has no cell.", "pass what arrays() gave.")
        ends = np.cumsum([columns * rows for columns, rows in frames[:, 3:].tolist()])
        if len(targets) != ends[-1] or len(targets) > CELLS:
            raise InputError(
                f"the table has {len(targets):,} places for {ends[-1]:,} cells, of at most {CELLS:,}.",
                "pass what arrays() gave.",
            )
        parts = zip(frames, np.split(targets, ends[:-1]), strict=True)
        return cls(tuple(RemapWindow(f[:2], int(f[2]), part.reshape(*f[3:], 2)) for f, part in parts))

    def __len__(self) -> int:
        return sum(window.targets[..., 0].size for window in self.windows)

    def __repr__(self) -> str:
        return f"PlaneRemap of {len(self):,} cells in {len(self.windows)} windows"


def place_shares(points_m: ArrayLike, weights: ArrayLike) -> tuple[Floats, Floats]:
    """Return places of positive weight, array (n, 2), and their shares, array (n,), of sum one."""
    w = floats(weights, "the weights", shape=(None,))
    x = floats(points_m, "the places", shape=(len(w), 2))
    if (w < 0).any() or not w.any():
        raise InputError("a weight is negative or all are zero.", "use weights of at least 0, such as counts.")
    distinct, where, _ = distinct_points(x[w > 0])
    mass = np.asarray(np.bincount(where, weights=w[w > 0] / w.max()), dtype=np.float64)
    return distinct, mass / mass.sum()


def _fit(x: Floats, epsilon: float, step_m: Fraction, fineness: float) -> tuple[list[RemapWindow], int]:
    """Return the windows of a table that is not too large, all places 0, and its finest cells' width in steps."""
    if not (0 < fineness <= 1 and epsilon > 0):
        raise InputError(f"the fineness {fineness} is not above 0 and up to 1.", "use 0.1.")
    ends = snap(np.stack([x.min(axis=0), x.max(axis=0)]), step_m)
    width = max(1, int(fineness / (epsilon * float(step_m))))
    while True:
        unit, frames = width * LEVELS[-1][1], []  # in whole cells of the outermost level
        for reach, times in LEVELS:
            margin = math.ceil(reach / (epsilon * float(step_m)))
            low, high = (ends[0] - margin) // unit, -((-ends[1] - margin - 1) // unit)
            frames.append((low * unit, width * times, (high - low) * unit // (width * times)))
        cells = sum(int(np.prod(shape)) for _, _, shape in frames)
        if cells <= CELLS:
            return [RemapWindow(low, wide, np.zeros((*shape.tolist(), 2))) for low, wide, shape in frames], width
        width = width * 5 // 4 + 1
        if width * epsilon * float(step_m) > 1:
            raise InputError(
                f"a table of places with cells as wide as 1 / epsilon has {cells:,}, more than {CELLS:,}.",
                "use a smaller region or a smaller epsilon.",
            )


def _group(x: Floats, w: Floats, side: float) -> tuple[Floats, Floats]:
    """Return the weighted means of places in the same squares, and their weights."""
    _, where, _ = distinct_points(np.floor(x / side))
    mass = np.asarray(np.bincount(where, weights=w), dtype=np.float64)
    means = np.column_stack([np.bincount(where, weights=w * x[:, axis]) / mass for axis in range(2)])
    return means, mass


def _fill(
    window: RemapWindow,
    inner: list[RemapWindow],
    x: Floats,
    w: Floats,
    epsilon: float,
    step_m: float,
    tolerance: float,
) -> RemapWindow:
    """Return the window with medians in those cells that no finer window covers; others are never used."""
    centres = window.centres.reshape(-1, 2)
    targets = np.empty_like(centres)
    corners = np.ceil(centres - (window.width - 1) / 2 - 0.25).astype(np.int64)
    covered = inner[0].holds(corners) if inner else np.zeros(len(centres), dtype=bool)
    if inner:
        targets[covered] = inner[0].places(corners[covered])
    todo, tall = np.flatnonzero(~covered), max(1, _PAIRS // len(x))
    for first in range(0, len(todo), tall):
        cells = todo[first : first + tall]
        middle = centres[cells] * step_m
        away = np.sqrt((x[:, 0] - middle[:, :1]) ** 2 + (x[:, 1] - middle[:, 1:]) ** 2)
        posterior = w * np.exp(-epsilon * (away - away.min(axis=1, keepdims=True)))
        posterior /= posterior.sum(axis=1, keepdims=True)
        targets[cells] = medians(x, posterior, posterior @ x, tolerance)
    return RemapWindow(window.corner, window.width, targets.reshape(window.targets.shape))
