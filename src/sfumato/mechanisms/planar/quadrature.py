"""Expected loss of the true point and the attacker's error under lattice noise and its remap, between bounds.

The inequalities are in docs/proofs/planar-noise.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket
from ...core.arrays import Floats
from ...rounding import down, up
from .lattice_noise import mean_length, normaliser, share_beyond, snap
from .plane_remap import PlaneRemap, RemapWindow, place_shares

_PAIRS: Final = 1 << 15  # of cells and places at a time
_ROUNDING: Final = 1e-9  # of all sums of positive terms, of exponentials, quotients and roots

_LEAST: Final = 1e-250  # of a kernel: the difference is no more than a rounding of the sums
_TOO_LARGE: Final = 709.0  # an exponent: its exponential is no float
_NEAR: Final = 3.0  # half diagonals from a cell within which the correction is not used

_REACHES: Final = (1 / 64, 1 / 16, 1 / 4, 1, 4)  # of the mean distance: how far off better guesses are looked for
_SMALLEST_M: Final = 1e-9


@dataclass(frozen=True, slots=True)
class PlaneError:
    """The cost of noise and remap, and the attacker's distance from the truth; means in metres.

    ``loss`` is the distance from true place to report, and ``attacker`` that to the best guess for each report
    before the remap. After it the best attacker's error is at least as large, and at most the loss.
    """

    loss: Bracket
    attacker: Bracket


def plane_error(
    points_m: ArrayLike, weights: ArrayLike, rate: Fraction, step_m: Fraction, remap: PlaneRemap
) -> PlaneError:
    """Return the loss and the attacker's error for weighted places (n, 2), metres east and north."""
    x, w = place_shares(points_m, weights)
    spots, step = snap(x, step_m), float(step_m)
    origins: Floats = spots.astype(np.float64) * step
    mid = error = gain = 0.0
    for level, window in enumerate(remap.windows):
        cell = Cell.of(window.width, step, float(rate / step_m))
        centres, targets = uncovered_cells(window, remap.windows[level - 1] if level else None)
        tall = max(1, _PAIRS // len(x))
        for first in range(0, len(centres), tall):
            rows = slice(first, first + tall)
            block = Block.of(cell, x, origins, w, centres[rows] * step, targets[rows])
            mean, off = block.mean_kernel()
            mid += cell.count * float(np.einsum("ij,ij,j->", mean, block.misses, w))
            error += cell.count * float(np.einsum("ij,ij,j->", off, block.misses, w))
            gain += cell.count * float(gains(block).sum())
    total, last, places = normaliser(rate), remap.windows[-1], remap.windows[-1].targets.reshape(-1, 2)
    farthest = np.hypot(*np.maximum(x - places.min(axis=0), places.max(axis=0) - x).T)
    beyond = float((w * share_beyond_table(spots, rate, last) * farthest).sum()) * (1 + _ROUNDING)
    lower = max(0.0, (mid - error) / total.upper) * (1 - _ROUNDING)
    upper = (mid + error) / total.lower * (1 + _ROUNDING) + beyond
    least = max(0.0, lower - gain / total.lower * (1 + _ROUNDING))
    value = min(max(mid / total.value, lower), upper)
    below, under = max(0.0, down(lower)), max(0.0, down(least))
    return PlaneError(Bracket(below, value, up(upper)), Bracket(under, value, up(upper)))


def raw_error(points_m: ArrayLike, weights: ArrayLike, rate: Fraction, step_m: Fraction) -> Bracket:
    """Return the mean distance in metres from true place to report without a remap.

    The noise is symmetric, so snapping by d makes it no shorter than the noise, and longer by at most d. Raises
    `InputError` if the points are not an array (n, 2), or the weights not (n,), at least 0 and not all 0.
    """
    x, w = place_shares(points_m, weights)
    away = x - snap(x, step_m) * float(step_m)
    mean, step = mean_length(rate), float(step_m)
    shift = float(w @ np.hypot(*away.T)) * (1 + _ROUNDING) + _ROUNDING * step
    lower, upper = mean.lower * step * (1 - _ROUNDING), mean.upper * step * (1 + _ROUNDING) + shift
    return Bracket(lower, min(max(mean.value * step, lower), upper), upper)


def uncovered_cells(window: RemapWindow, inner: RemapWindow | None) -> tuple[Floats, Floats]:
    """Return the middles in steps and the places of the cells that no finer window covers."""
    centres, targets = window.centres.reshape(-1, 2), window.targets.reshape(-1, 2)
    if inner is None:
        return centres, targets
    outside = ~inner.holds(np.floor(centres).astype(np.int64))
    return centres[outside], targets[outside]


def share_beyond_table(spots: NDArray[np.int64], rate: Fraction, window: RemapWindow) -> Floats:
    """Return bounds of the probability that noise at lattice points (n, 2) leads beyond the last window."""
    edge = np.minimum(spots - window.corner + 1, window.corner + window.size - spots).min(axis=1)
    return share_beyond(rate, np.maximum(edge, 0).astype(np.float64))


@dataclass(frozen=True, slots=True)
class Cell:
    """The lattice points of one cell as offsets from its middle, in metres, and epsilon of the noise.

    Their count, the variance of one coordinate, the mean fourth power of the length, the largest length, and
    exp(epsilon radius), the most by which a weight in the cell exceeds that at the middle.
    """

    epsilon: float
    count: int
    variance: float
    fourth: float
    radius: float
    growth: float

    @classmethod
    def of(cls, width: int, step: float, epsilon: float) -> Cell:
        """Return the cell of some steps' width."""
        square = float(width) ** 2  # of steps in a row, with their mean square and mean fourth power
        variance, fourth = (square - 1) / 12 * step**2, (square - 1) * (3 * square - 7) / 240 * step**4
        radius = (width - 1) / math.sqrt(2) * step
        growth = math.exp(epsilon * radius) if epsilon * radius < _TOO_LARGE else math.inf
        return cls(epsilon, width * width, variance, 2 * fourth + 2 * variance**2, radius, growth)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block:
    """Some cells against all places, in metres.

    Of the n places: points, their lattice points and their shares; of the m cells: their middles and the places
    they stand for. ``lengths`` are from lattice points to middles, ``misses`` from places to targets, and
    ``kernel`` is exp(-epsilon length), arrays (m, n).
    """

    cell: Cell
    points: Floats
    spots: Floats
    weights: Floats
    centres: Floats
    targets: Floats
    lengths: Floats
    misses: Floats
    kernel: Floats

    @classmethod
    def of(
        cls, cell: Cell, points: Floats, spots: Floats, weights: Floats, centres: Floats, targets: Floats
    ) -> Block:
        """Return the block with its distances."""
        lengths = distances(spots, centres)
        kernel = np.maximum(np.exp(-cell.epsilon * lengths), _LEAST)
        return cls(cell, points, spots, weights, centres, targets, lengths, distances(points, targets), kernel)

    def mean_kernel(self) -> tuple[Floats, Floats]:
        """Return the mean of exp(-epsilon |.|) over cells, by Taylor at the middle, and a bound of its error."""
        cell, r, epsilon = self.cell, self.lengths, self.cell.epsilon
        if cell.count == 1:
            return self.kernel, np.zeros_like(self.kernel)
        least = np.maximum(r - cell.radius, cell.radius)  # what is nearer is replaced below
        flat = epsilon / least
        bend = epsilon**3 * (epsilon + 1.5 / least) + 3 * flat * (flat + 1 / least**2)
        mean = self.kernel * (1 + cell.variance / 2 * (epsilon**2 - epsilon / np.maximum(r, cell.radius)))
        error = self.kernel * (cell.growth * cell.fourth / 24 * bend)
        near = r < _NEAR * cell.radius
        slope = epsilon * math.sqrt(2 * cell.variance)
        with np.errstate(divide="ignore"):
            second = cell.variance * np.maximum(epsilon**2, epsilon / np.maximum(r[near] - cell.radius, 0.0))
        mean[near] = self.kernel[near]
        error[near] = self.kernel[near] * cell.growth * np.minimum(slope, second)
        return mean, error


def distances(x: Floats, y: Floats) -> Floats:
    """Return the distance of each y to each x, array (m, n)."""
    dx, dy = x[:, 0] - y[:, :1], x[:, 1] - y[:, 1:]
    dx *= dx
    dy *= dy
    dx += dy
    return np.asarray(np.sqrt(dx, out=dx))


def gains(block: Block) -> Floats:
    """Return bounds of the mean gain of a cell's reports, array (m,), for weights times exp(-epsilon length)."""
    w, v = block.kernel * block.weights, block.misses
    mass = w.sum(axis=1)
    elsewhere = np.where(v == 0, 0.0, w)
    usual, most = _pulls(block, elsewhere, mass - elsewhere.sum(axis=1))
    between, farthest = np.einsum("ij,ij->i", w, v) / mass, v.max(axis=1)
    bounds = np.minimum(between * mass * block.cell.growth, usual * farthest)
    for share in _REACHES:
        reach = np.minimum(share * between, farthest) + _SMALLEST_M
        curvature = _curvature(block, elsewhere, reach)
        # Where the best guess may be farther away than the reach, it is still among the places.
        curvature *= np.where(reach * curvature >= most, 1.0, reach / np.maximum(farthest, reach))
        bounds = np.minimum(bounds, np.divide(usual**2, 4 * curvature, out=bounds.copy(), where=curvature > 0))
    return np.where(most <= 0, 0.0, bounds) * (1 + _ROUNDING)


def _pulls(block: Block, w: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Return the excess pull of the places elsewhere over the cell's own place: root mean square and maximum."""
    cell, epsilon, x, y, r = block.cell, block.cell.epsilon, block.points, block.targets, block.lengths
    along = np.divide(w, block.misses, out=np.zeros_like(w), where=block.misses > 0)
    g = along @ x - along.sum(axis=1, keepdims=True) * y
    both = epsilon * np.divide(along, r, out=np.zeros_like(r), where=r > 0)
    square = np.zeros(len(y))
    for i in range(2):
        for k in range(2):
            u, n = x[:, i] - y[:, i : i + 1], block.centres[:, k : k + 1] - block.spots[:, k]
            square += np.einsum("ij,ij,ij->i", both, u, n) ** 2
    slope = np.sqrt(square)
    close = r <= cell.radius / 4  # their directions from the middle say nothing
    first = 2 * epsilon * np.einsum("ij,ij->i", w, close) + mass * epsilon
    bent = np.divide(w, r, out=np.zeros_like(r), where=~close).sum(axis=1)
    second = epsilon / 2 * bent + epsilon**2 / 2 * cell.growth * w.sum(axis=1)
    force, deviation = np.hypot(*g.T) + _ROUNDING * w.sum(axis=1), math.sqrt(cell.variance)
    usual = np.where(
        mass > 0, np.maximum(force - mass, 0.0) + deviation * slope, np.hypot(force, deviation * slope)
    )
    usual += math.sqrt(2) * deviation * first + math.sqrt(cell.fourth) * second
    most = force - mass + cell.radius * (slope + first) + cell.radius**2 * second
    return usual, most


def _curvature(block: Block, w: Floats, reach: Floats) -> Floats:
    """Return a lower bound of the least eigenvalue of the sum of w (I - u u') / (2 (v + reach)) in each cell."""
    x, y, v = block.points, block.targets, block.misses
    part = w / (2 * (v + reach[:, None]))
    mass = part.sum(axis=1)
    np.divide(part, v * v, out=part, where=v > 0)
    dx, dy = x[:, 0] - y[:, :1], x[:, 1] - y[:, 1:]
    xx, xy, yy = (np.einsum("ij,ij,ij->i", part, a, b) for a, b in ((dx, dx), (dx, dy), (dy, dy)))
    least = mass - (xx + yy + np.hypot(xx - yy, 2 * xy)) / 2
    return np.asarray(np.maximum(least - _ROUNDING * mass, 0.0) / block.cell.growth)
