"""The probability of each report that a table of noise for coordinates may give, for people at some points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ...core.arrays import Floats, round_degrees
from ...core.immutable import CompactRepr
from ...errors import InputError, python
from . import sums
from .cells import Block, Cell
from .coordinate_noise import CoordinateNoise
from .quadrature import share_beyond_table, uncovered
from .remap import PlaneRemap
from .snapping import snapped

_Locate = Callable[[Floats], NDArray[np.intp]]

_PAIRS: Final = 1 << 16  # of cells of the table and points at a time
_ROUNDING: Final = 1e-9  # of sums of positive terms, of exponentials and roots


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableShares(CompactRepr):
    """The reports of noise with a table, and how often each is made for people at some points.

    Attributes:
        places: The different places of the table, metres east and north, array (k, 2).
        numbers: Which report each place is, array (k,): those that are released as the same degrees are one.
        shares: The probability of each report for each point, array (n, m).
        off: How far the probabilities of one point may be from the true ones, all errors added up, at most.
    """

    places: Floats
    numbers: NDArray[np.intp]
    shares: Floats
    off: float

    def reports(self, xy: Floats) -> NDArray[np.intp]:
        """Return the numbers of reports, array (n,).

        Args:
            xy: Places of the table, as noise draws them on the plane, array (n, 2).
        """
        return self.numbers[_rows(self.places, xy)]


def table_shares(noise: CoordinateNoise, points_m: Floats, most: int) -> TableShares | None:
    """Return how often each report of noise with a table is made for people at some points.

    Args:
        noise: The noise, with a projection and a table.
        points_m: Where people are, within the reach, metres east and north, array (n, 2).
        most: How many probabilities there may be; None is returned where there are more.

    Raises:
        InputError: If the noise has no projection or no table.

    Source:
        docs/proofs/planar-noise.md.
    """
    if noise.remap is None or noise.projection is None:
        raise InputError("the noise has no table of places on the ground.", python("use for_visits()."))
    places = np.unique(noise.remap.arrays()[1] + 0.0, axis=0)
    degrees, numbers = np.unique(round_degrees(noise.projection.inverse(places)), axis=0, return_inverse=True)
    numbers = numbers.ravel()
    if len(degrees) * len(points_m) > most:
        return None
    shares, off = shares_of(noise, noise.remap, points_m, lambda xy: numbers[_rows(places, xy)], len(degrees))
    return TableShares(places, numbers, shares, off)


def _rows(places: Floats, xy: Floats) -> NDArray[np.intp]:
    """Return the positions of some places, array (n,), among different ones in the order of `numpy.unique`."""
    among, wanted = (np.ascontiguousarray(each + 0.0).view("f8,f8").ravel() for each in (places, xy))
    return np.searchsorted(among, wanted)


def shares_of(
    noise: CoordinateNoise, table: PlaneRemap, points: Floats, located: _Locate, groups: int
) -> tuple[Floats, float]:
    """Return the probability of each group of a table's places for each point, array (n, groups).

    Beside it how far these probabilities of one point are off, all errors added up, at most.

    Args:
        noise: The noise.
        table: The table from its reports to places.
        points: Where people are, metres east and north, array (n, 2).
        located: The group of each place.
        groups: How many there are.
    """
    rate, step = noise.noise.rate, float(noise.step_m)
    spots = snapped(points, noise.step_m)
    origins: Floats = spots.astype(np.float64) * step
    total = sums.total(rate)
    found = np.zeros((groups, len(points)))
    error = np.zeros(len(points))
    for level, window in enumerate(table.windows):
        cell = Cell.of(window.width, step, float(rate / noise.step_m))
        centres, targets = uncovered(window, table.windows[level - 1] if level else None)
        where = located(targets)
        tall = max(1, _PAIRS // len(points))
        for first in range(0, len(centres), tall):
            rows = slice(first, first + tall)
            block = Block.of(cell, points, origins, np.ones(len(points)), centres[rows] * step, targets[rows])
            mean, off = block.mean_kernel()
            met, which = np.unique(where[rows], return_inverse=True)
            sorted_in = csr_array((np.ones(len(mean)), (which, np.arange(len(mean)))), shape=(len(met), len(mean)))
            found[met] += cell.count * (sorted_in @ mean)
            error += cell.count * off.sum(axis=0)
    beyond = share_beyond_table(spots, rate, table.windows[-1])
    widest = (error / total.lower + beyond + (total.upper - total.lower) / total.lower) * (1 + _ROUNDING)
    return found.T / total.value, float(widest.max()) + _ROUNDING
