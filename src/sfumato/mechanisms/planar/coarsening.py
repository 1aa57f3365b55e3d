"""Matrices of coordinate noise: probabilities of reports in cells, or at the places of its table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from ...core import Mechanism
from ...core.arrays import Floats, round_degrees
from ...core.immutable import CompactRepr
from ...errors import InputError, python
from ...geo import Cells, Grid, Projection, Region
from ...rounding import at_most
from .coordinate_noise import CoordinateNoise
from .lattice_noise import normaliser, snap
from .plane_remap import PlaneRemap
from .quadrature import Block, Cell, share_beyond_table, uncovered_cells

_USUAL: Final = 100  # cells: seen well on a map, and audited in seconds
_MOST: Final = 1000

_Locate = Callable[[Floats], NDArray[np.intp]]

_PAIRS: Final = 1 << 16  # of cells of the table and points at a time
_ROUNDING: Final = 1e-9  # of sums of positive terms, of exponentials and roots


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coarsening(CompactRepr):
    """Noise for coordinates seen on cells: people at points of each cell, reports counted in the cells.

    A report outside all cells counts for the nearest. Without a table, reports are first moved to the middle of a
    small square of lattice points, a tenth of 1 / epsilon wide; ``table`` is from reports of the noise to places.
    With ``spread`` a person in a cell is equally often at each of the points halfway from its middle to its
    corners, otherwise at its middle. ``mechanism`` has the probabilities, from cells to cells, in integers, each
    off by at most ``off``.
    """

    noise: CoordinateNoise
    cells: Cells
    spread: bool
    mechanism: Mechanism
    off: float
    table: PlaneRemap

    @property
    def sentence(self) -> str:
        """The coarsening and the accuracy of its probabilities, in words."""
        where = "spread over their cell" if self.spread else "at the middle of their cell"
        return (
            f"These numbers are of a coarsening: people are taken to be {where} (one of {len(self.cells):,}), and "
            f"reports are counted in the same cells, those outside in the nearest; no probability is off by more "
            f"than {at_most(self.off, 2)}. Nothing here is about two points of one cell."
        )

    def positions(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of each report's cell, array (n,), from degrees; `InputError` for other numbers."""
        plane = _plane(self.noise)
        xy = plane.forward(lat, lon)
        if not np.isfinite(xy).all():
            first = int(np.argmin(np.isfinite(xy).all(axis=1)))
            raise InputError(
                f"report number {first + 1} is not a latitude and a longitude.",
                "use degrees: -90 to 90, -180 to 180.",
            )
        if self.noise.remap is None:
            steps = np.rint(xy / float(self.noise.step_m)).astype(np.int64)
            xy = self.table.places(steps)
        return _locate(self.cells, plane, xy)


def coarsen(noise: CoordinateNoise, cells: Cells | None = None, *, spread: bool = False) -> Coarsening:
    """Return noise for coordinates, with a projection, seen on at most 1,000 cells.

    By default they are about 100 over the places of the noise's table. ``spread`` is as for `Coarsening`. Raises
    `InputError` if the noise has no projection, a cell is beyond its reach, there are too many cells, or none were
    given and there is no table.
    """
    plane = _plane(noise)
    tiles = _usual_cells(noise, plane) if cells is None else cells
    if len(tiles) > _MOST:
        raise InputError(f"{len(tiles):,} cells are too many.", f"use at most {_MOST:,}.")
    if not noise.serves(*tiles.latlon.T).all():
        raise InputError("a cell is farther from the centre than the noise serves.", "use cells within its reach.")
    middles = plane.forward(*tiles.latlon.T)
    points, samples = middles, 1
    if spread:
        corners = tiles.outlines_latlon()
        samples = corners.shape[1]
        outline = plane.forward(*corners.reshape(-1, 2).T)
        points = (np.repeat(middles, samples, axis=0) + outline) / 2
    epsilon = float(noise.noise.rate / noise.step_m)
    table = noise.remap or PlaneRemap.squares(points, epsilon, noise.step_m)
    shares, off = shares_of(noise, table, points, lambda xy: _locate(tiles, plane, xy), len(tiles))
    rows = shares.reshape(len(tiles), samples, -1).mean(axis=1)
    missing = float(np.abs(1 - rows.sum(axis=1)).max())
    mechanism = Mechanism(rows / rows.sum(axis=1, keepdims=True), tiles, tiles)
    return Coarsening(noise, tiles, spread, mechanism, min(1.0, off + missing), table)


def _locate(cells: Cells, plane: Projection, xy: Floats) -> NDArray[np.intp]:
    """Return the cell of each place on the plane as it is released, or the nearest, array (n,)."""
    positions = cells.locate(*round_degrees(plane.inverse(xy)).T)
    outside = positions < 0
    if outside.any():
        positions = positions.copy()
        positions[outside] = cKDTree(plane.forward(*cells.latlon.T)).query(xy[outside])[1]
    return positions


def _usual_cells(noise: CoordinateNoise, plane: Projection) -> Cells:
    """Return about a hundred cells over the places of the table."""
    if noise.remap is None:
        raise InputError(f"{noise!r} has no table of where people are.", "give cells that cover the places.")
    targets = noise.remap.arrays()[1]
    margin = 500 / noise.epsilon
    low, high = targets.min(axis=0) - margin, targets.max(axis=0) + margin
    ends = plane.inverse([low, high, (low[0], high[1]), (high[0], low[1])])
    region = Region(*ends.min(axis=0), *ends.max(axis=0))
    return Grid.covering(region, shape=region.shape_of(_USUAL))


def _plane(noise: CoordinateNoise) -> Projection:
    if noise.projection is None:
        raise InputError("this noise is for points of a plane, not for the ground.", "make it with a Projection.")
    return noise.projection


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableShares(CompactRepr):
    """The reports of noise with a table, and their probabilities (n, m) for people at some points.

    ``places`` are the different places of the table, metres east and north, array (k, 2), and ``numbers`` the
    report that each is, array (k,): places that are released as the same degrees are one. ``off`` is a bound of
    the sum of the errors of one point's probabilities.
    """

    places: Floats
    numbers: NDArray[np.intp]
    shares: Floats
    off: float

    def reports(self, xy: Floats) -> NDArray[np.intp]:
        """Return the numbers of reports from places of the table (n, 2), as noise draws them on the plane."""
        return self.numbers[_rows(self.places, xy)]


def table_shares(noise: CoordinateNoise, points_m: Floats, most: int) -> TableShares | None:
    """Return the probabilities of the reports of noise with a table for people at some points.

    ``points_m`` is where people are, within the reach, metres east and north, array (n, 2). None is returned where
    there would be more than ``most`` probabilities. Raises `InputError` if the noise has no projection or no
    table.

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
    """Return the positions of some places, array (n,), among distinct ones in the order of `numpy.unique`."""
    among, queries = (np.ascontiguousarray(array + 0.0).view("f8,f8").ravel() for array in (places, xy))
    return np.searchsorted(among, queries)


def shares_of(
    noise: CoordinateNoise, table: PlaneRemap, points: Floats, located: _Locate, groups: int
) -> tuple[Floats, float]:
    """Return points' probabilities of groups of a table's places, array (n, groups), and a bound of the error."""
    rate, step = noise.noise.rate, float(noise.step_m)
    spots = snap(points, noise.step_m)
    origins: Floats = spots.astype(np.float64) * step
    total = normaliser(rate)
    sums = np.zeros((groups, len(points)))
    error = np.zeros(len(points))
    for level, window in enumerate(table.windows):
        cell = Cell.of(window.width, step, float(rate / noise.step_m))
        centres, targets = uncovered_cells(window, table.windows[level - 1] if level else None)
        where = located(targets)
        tall = max(1, _PAIRS // len(points))
        for first in range(0, len(centres), tall):
            rows = slice(first, first + tall)
            block = Block.of(cell, points, origins, np.ones(len(points)), centres[rows] * step, targets[rows])
            mean, off = block.mean_kernel()
            met, index = np.unique(where[rows], return_inverse=True)
            sorted_in = csr_array((np.ones(len(mean)), (index, np.arange(len(mean)))), shape=(len(met), len(mean)))
            sums[met] += cell.count * (sorted_in @ mean)
            error += cell.count * off.sum(axis=0)
    beyond = share_beyond_table(spots, rate, table.windows[-1])
    widest = (error / total.lower + beyond + (total.upper - total.lower) / total.lower) * (1 + _ROUNDING)
    return sums.T / total.value, float(widest.max()) + _ROUNDING
