"""Expected loss of the true point and the attacker's error under lattice noise and its remap, between bounds.

The probability of a cell of the table is a sum over its lattice points. It is computed from the
middle's exponential, with the correction of second order and a bound of the rest; what lies
beyond the table is bounded by the noise's tail. The attacker does at best as well as somebody
who corrects each cell's place by what the report says within the cell, which is of second order.
docs/proofs/planar-noise.md has the inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket
from ...core.arrays import Floats
from ...rounding import down, up
from . import sums
from .better_guesses import gains
from .cells import Block, Cell
from .remap import PlaneRemap, RemapWindow, weighted
from .snapping import snapped

_PAIRS: Final = 1 << 15  # of cells and places at a time
_ROUNDING: Final = 1e-9  # of all sums of positive terms, of exponentials and roots


@dataclass(frozen=True, slots=True)
class PlaneError:
    """The cost of noise and remap, and the attacker's distance from the truth; in metres.

    Attributes:
        loss: The mean distance from true place to report.
        attacker: The mean distance from true place to the best guess for each report
            before the remap. Whoever sees the report after it errs by at least as much,
            and by at most the loss.
    """

    loss: Bracket
    attacker: Bracket


def plane_error(
    points_m: ArrayLike, weights: ArrayLike, rate: Fraction, step_m: Fraction, remap: PlaneRemap
) -> PlaneError:
    """Return the loss and the attacker's error for weighted places.

    Args:
        points_m: Where people truly are, metres east and north, array (n, 2).
        weights: How often, array (n,), at least 0 and not all 0.
        rate: Of the noise, per step.
        step_m: The step of the lattice.
        remap: The table; for the attacker's error it should be that of these places, or
            the lower bound is a poor one.

    Raises:
        InputError: If an array is not as described.
    """
    x, w = weighted(points_m, weights)
    spots, step = snapped(x, step_m), float(step_m)
    origins: Floats = spots.astype(np.float64) * step
    mid = error = gain = 0.0
    for level, window in enumerate(remap.windows):
        cell = Cell.of(window.width, step, float(rate / step_m))
        centres, targets = uncovered(window, remap.windows[level - 1] if level else None)
        tall = max(1, _PAIRS // len(x))
        for first in range(0, len(centres), tall):
            rows = slice(first, first + tall)
            block = Block.of(cell, x, origins, w, centres[rows] * step, targets[rows])
            mean, off = block.mean_kernel()
            mid += cell.count * float(np.einsum("ij,ij,j->", mean, block.misses, w))
            error += cell.count * float(np.einsum("ij,ij,j->", off, block.misses, w))
            gain += cell.count * float(gains(block).sum())
    total = sums.total(rate)
    lower = max(0.0, (mid - error) / total.upper) * (1 - _ROUNDING)
    upper = (mid + error) / total.lower * (1 + _ROUNDING) + _beyond(x, w, spots, rate, remap.windows[-1])
    least = max(0.0, lower - gain / total.lower * (1 + _ROUNDING))
    value = min(max(mid / total.value, lower), upper)
    below, under = max(0.0, down(lower)), max(0.0, down(least))
    return PlaneError(Bracket(below, value, up(upper)), Bracket(under, value, up(upper)))


def raw_error(points_m: ArrayLike, weights: ArrayLike, rate: Fraction, step_m: Fraction) -> Bracket:
    """Return the mean distance in metres from true place to report without a remap.

    The noise is symmetric, so snapping by d makes it no shorter than the noise, and by at most d longer.

    Raises:
        InputError: If an array is not as described.
    """
    x, w = weighted(points_m, weights)
    away = x - snapped(x, step_m) * float(step_m)
    mean, step = sums.mean_length(rate), float(step_m)
    moved = float(w @ np.hypot(*away.T)) * (1 + _ROUNDING) + _ROUNDING * step
    lower, upper = mean.lower * step * (1 - _ROUNDING), mean.upper * step * (1 + _ROUNDING) + moved
    return Bracket(lower, min(max(mean.value * step, lower), upper), upper)


def uncovered(window: RemapWindow, inner: RemapWindow | None) -> tuple[Floats, Floats]:
    """Return the middles in steps and the places of the cells that no finer window covers."""
    centres, targets = window.centres.reshape(-1, 2), window.targets.reshape(-1, 2)
    if inner is None:
        return centres, targets
    outside = ~inner.holds(np.floor(centres).astype(np.int64))
    return centres[outside], targets[outside]


def _beyond(x: Floats, w: Floats, spots: NDArray[np.int64], rate: Fraction, window: RemapWindow) -> float:
    """Return a bound of the loss of reports beyond the table."""
    low, high = window.targets.reshape(-1, 2).min(axis=0), window.targets.reshape(-1, 2).max(axis=0)
    farthest = np.hypot(*np.maximum(x - low, high - x).T)
    return float((w * share_beyond_table(spots, rate, window) * farthest).sum()) * (1 + _ROUNDING)


def share_beyond_table(spots: NDArray[np.int64], rate: Fraction, window: RemapWindow) -> Floats:
    """Return bounds of the probability that noise leads beyond the last window of a table, array (n,).

    Args:
        spots: Lattice points, array (n, 2) in steps.
        rate: Of the noise, per step.
        window: The window.
    """
    edge = np.minimum(spots - window.corner + 1, window.corner + window.size - spots).min(axis=1)
    return sums.share_beyond(rate, np.maximum(edge, 0).astype(np.float64))
