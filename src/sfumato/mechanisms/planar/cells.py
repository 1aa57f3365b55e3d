"""Cells of a table against places: distances, and the probability of a cell's reports between bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.arrays import Floats

_LEAST: Final = 1e-250  # of a kernel: the difference is no more than a rounding of the sums
_TOO_LARGE: Final = 709.0  # an exponent: its exponential is no float
_NEAR: Final = 3.0  # half diagonals from a cell within which the correction is not used


@dataclass(frozen=True, slots=True)
class Cell:
    """The lattice points of one cell as offsets from its middle: what bounds need of them, in metres.

    Attributes:
        epsilon: Of the noise, per metre.
        count: How many lattice points a cell has.
        variance: Of one coordinate.
        fourth: The mean fourth power of the length.
        radius: The largest length.
        grown: exp(epsilon radius): how much larger than at the middle a weight is, at most.
    """

    epsilon: float
    count: int
    variance: float
    fourth: float
    radius: float
    grown: float

    @classmethod
    def of(cls, width: int, step: float, epsilon: float) -> Cell:
        """Return the cell of some steps' width."""
        square = float(width) ** 2  # of steps in a row, with their mean square and mean fourth power
        variance, fourth = (square - 1) / 12 * step**2, (square - 1) * (3 * square - 7) / 240 * step**4
        radius = (width - 1) / math.sqrt(2) * step
        grown = math.exp(epsilon * radius) if epsilon * radius < _TOO_LARGE else math.inf
        return cls(epsilon, width * width, variance, 2 * fourth + 2 * variance**2, radius, grown)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block:
    """Some cells against all places; everything in metres.

    Attributes:
        cell: What the cells have in common.
        points: The places, array (n, 2).
        spots: Their lattice points, array (n, 2).
        weights: Their shares, array (n,).
        centres: The cells' middles, array (m, 2).
        targets: The cells' places, array (m, 2).
        lengths: From spots to middles, array (m, n).
        misses: From places to targets, array (m, n).
        kernel: exp(-epsilon length), array (m, n).
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
        """Return the mean of exp(-epsilon |.|) over each cell's points, and by how much it may be off.

        By Taylor at the middle, whose terms of first and third order cancel; near the noise's peak the
        middle itself, by the slope or the second order.
        """
        cell, r, epsilon = self.cell, self.lengths, self.cell.epsilon
        if cell.count == 1:
            return self.kernel, np.zeros_like(self.kernel)
        least = np.maximum(r - cell.radius, cell.radius)  # what is nearer is replaced below
        flat = epsilon / least
        bend = epsilon**3 * (epsilon + 1.5 / least) + 3 * flat * (flat + 1 / least**2)
        mean = self.kernel * (1 + cell.variance / 2 * (epsilon**2 - epsilon / np.maximum(r, cell.radius)))
        error = self.kernel * (cell.grown * cell.fourth / 24 * bend)
        near = r < _NEAR * cell.radius
        slope = epsilon * math.sqrt(2 * cell.variance)
        with np.errstate(divide="ignore"):
            second = cell.variance * np.maximum(epsilon**2, epsilon / np.maximum(r[near] - cell.radius, 0.0))
        mean[near] = self.kernel[near]
        error[near] = self.kernel[near] * cell.grown * np.minimum(slope, second)
        return mean, error


def distances(x: Floats, y: Floats) -> Floats:
    """Return the distance of each y to each x, array (m, n)."""
    dx, dy = x[:, 0] - y[:, :1], x[:, 1] - y[:, 1:]
    dx *= dx
    dy *= dy
    dx += dy
    found: Floats = np.sqrt(dx, out=dx)
    return found
