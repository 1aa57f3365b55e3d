"""A slowly drifting offset under a grid: one offset for all reports of an hour, and a small step after it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from sfumato.core import Mechanism, Space
from sfumato.core.arrays import Floats, floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Grid

from .channel import WildChannel, check_positive
from .fixed_cells import FixedCells

_PATHS: Final = 1_000  # of offsets that the attacker tries
_PLACES: Final = 40  # within a cell, in one direction
_WIDTH: Final = 0.02  # of a cell: how near a mean must come to the one that was seen
_NODES: Final = 801  # of a quadrature
_SEED: Final = 1
_BEYOND: Final = 1  # cells around the places that are kept in a finite mechanism


@dataclass(frozen=True, slots=True, repr=False)
class DriftingOffset(CompactRepr, WildChannel):
    """A normal offset is added to every point, and the sum is rounded to a grid; the offset drifts by the hour.

    Once an hour offset <- sqrt(1 - c**2) offset + c N(0, sigma**2) in both directions, with the share of change c.
    Its law stays N(0, sigma**2), and it forgets itself in about 2 / c**2 hours.

    Attributes:
        step_m: The side of a cell, metres.
        sigma_m: The standard deviation of the offset in each direction, metres.
        change: The share of change c in an hour.
        origin_m: A corner of cells, metres east and north.

    Raises:
        InputError: If a length is not positive, or the change not a share.
    """

    step_m: float
    sigma_m: float
    change: float
    origin_m: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        check_positive(self.step_m, "a side")
        check_positive(self.sigma_m, "a standard deviation")
        if not 0 < self.change <= 1:
            raise InputError(f"a change of {self.change:g} is no share.", "use a number up to 1, such as 0.03.")

    @property
    def independent(self) -> bool:
        """No: the offset is nearly the same an hour later."""
        return False

    @property
    def finite_epsilon(self) -> float:
        """Infinite: the tails of normal noise fall too fast for an epsilon per metre."""
        return math.inf

    @property
    def kept(self) -> float:
        """The share of the offset that stays after an hour."""
        return math.sqrt(1 - self.change**2)

    @property
    def mean_m(self) -> float:
        """The mean distance from an even point to a report, by quadrature: offset and rounding are independent."""
        half = self.step_m / 2
        reach = half + 6 * self.sigma_m
        nodes = np.linspace(-reach, reach, _NODES)
        shares = ndtr((nodes + half) / self.sigma_m) - ndtr((nodes - half) / self.sigma_m)
        shares /= shares.sum()
        return float(shares @ np.hypot(nodes[:, None], nodes[None, :]) @ shares)

    def mu(self, apart_m: float, reports: int = 1) -> float:
        """Return the mu of Gaussian privacy of hourly reports of one place, for two places.

        mu = apart / sigma sqrt(1 + (k - 1) (1 - kept) / (1 + kept)): the first report counts as
        normal noise, and each later one adds the part that the drift changes. The grid can only lower mu.

        Args:
            apart_m: The distance of the two places, metres.
            reports: How many reports k, an hour apart.

        Source:
            Dong, Roth and Su, "Gaussian differential privacy", 2022, theorem 2.7; the sum is derived here, from
            the increments of a stationary autoregression.
        """
        each = (1 - self.kept) / (1 + self.kept)
        return apart_m / self.sigma_m * math.sqrt(1 + (reports - 1) * each)

    def averaged_m(self, reports: int) -> float:
        """Return the standard deviation, in each direction, of the mean of hourly offsets, metres.

        sigma sqrt(k + 2 sum over j < k of (k - j) kept**j) / k, in closed form.

        Args:
            reports: How many reports k, an hour apart.
        """
        k, rho = reports, self.kept
        pairs = rho * (k * (1 - rho) - (1 - rho**k)) / (1 - rho) ** 2
        return self.sigma_m * math.sqrt(max(k + 2 * pairs, 0.0)) / k

    def moved(self, origin_m: tuple[float, float]) -> DriftingOffset:
        """Return the same channel with the corners of its cells elsewhere."""
        return DriftingOffset(self.step_m, self.sigma_m, self.change, origin_m)

    def offsets(self, people: int, count: int, generator: np.random.Generator) -> Floats:
        """Return offsets an hour apart, array (people, count, 2), metres."""
        found = np.empty((people, count, 2))
        found[:, 0] = generator.normal(0, self.sigma_m, (people, 2))
        for hour in range(1, count):
            found[:, hour] = self.drifted(found[:, hour - 1], generator)
        return found

    def drifted(self, offsets_m: Floats, generator: np.random.Generator) -> Floats:
        """Return offsets an hour later, of the same shape, metres."""
        later: Floats = self.kept * offsets_m + self.change * generator.normal(0, self.sigma_m, offsets_m.shape)
        return later

    def _drawn(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        return self._cells.centres(points_m[:, None, :] + self.offsets(len(points_m), count, generator))

    def along(self, paths_m: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return a report at each step of walks: the offset stays the same within an hour; see `WildChannel`."""
        paths = floats(paths_m, "the paths", shape=(None, None, 2))
        return self._cells.centres(paths + self.offsets(len(paths), 1, generator))

    def mechanism(self, places: Grid) -> Mechanism:
        """Return the exact mechanism of one report from the centres of small cells, to audit and to save.

        The reported cells are those near the places; a report beyond them becomes the nearest one. The finite
        epsilon that an audit of it proves comes from this merging of far cells alone: it grows with the number of
        cells that are kept, and of all of them there is none.

        Args:
            places: The secrets; the plane's origin is that of their projection.
        """
        points = np.asarray(places.coordinates)
        axes, shares = [], []
        for axis in (0, 1):
            own = points[:, axis] - self.origin_m[axis]
            cells = np.arange(
                math.floor(own.min() / self.step_m) - _BEYOND, math.floor(own.max() / self.step_m) + _BEYOND + 1
            )
            edges = np.concatenate([[-np.inf], cells[1:] * self.step_m, [np.inf]])
            # Differences of the tail that is nearer keep their digits.
            low, high = (edges[:-1] - own[:, None]) / self.sigma_m, (edges[1:] - own[:, None]) / self.sigma_m
            upper = low > 0
            shares.append(np.where(upper, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))
            axes.append((cells + 0.5) * self.step_m + self.origin_m[axis])
        matrix = (shares[0][:, :, None] * shares[1][:, None, :]).reshape(len(points), -1)
        reported = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        labels = [f"cell {number}" for number in range(len(reported))]
        return Mechanism(matrix, places, Space(labels, reported, places.unit, places.crs))

    @property
    def _cells(self) -> FixedCells:
        return FixedCells(self.step_m, self.step_m, self.origin_m)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return how likely the mean of the reports is, from simulated offsets; see `WildChannel`.

        For one report it is the simulated likelihood of its cell. For several it is an approximation: their mean
        need not be a sufficient statistic.
        """
        seen = reports_m.mean(axis=0)
        found = np.zeros(len(candidates_m))
        for axis in (0, 1):
            own, position = np.unique(candidates_m[:, axis], return_inverse=True)
            found += self._along_axis(own - self.origin_m[axis], seen[axis] - self.origin_m[axis], len(reports_m))[
                position
            ]
        return found

    def _along_axis(self, own: Floats, seen: float, count: int) -> Floats:
        """Return log-likelihoods of places along one direction, array (n,)."""
        cell = np.floor(own / self.step_m)
        place = np.minimum((own / self.step_m - cell) * _PLACES, _PLACES - 1).astype(np.intp)
        means = _means(self.step_m, self.sigma_m, self.kept, count)[place]
        width = _WIDTH * self.step_m
        near = np.exp(-(((means + (cell * self.step_m)[:, None] - seen) / width) ** 2) / 2)
        with np.errstate(divide="ignore"):
            found: Floats = np.log(near.mean(axis=1))
        return found


@lru_cache(maxsize=16)
def _means(step: float, sigma: float, kept: float, count: int) -> Floats:
    """Return simulated means of reports from places within a cell, array (places, paths), metres."""
    generator = np.random.default_rng(_SEED)
    offset = generator.normal(0, sigma, _PATHS)
    inside = (np.arange(_PLACES) + 0.5) / _PLACES * step
    total = np.zeros((_PLACES, _PATHS))
    for _ in range(count):
        total += (np.floor((inside[:, None] + offset) / step) + 0.5) * step
        offset = kept * offset + np.sqrt(1 - kept**2) * generator.normal(0, sigma, _PATHS)
    return total / count
