"""Channels from true points to reports: the interface, fixed cells, and a drifting offset under a grid."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from sfumato.core import Mechanism, Space
from sfumato.core.arrays import Floats, floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError, argument
from sfumato.geo import Grid, Projection

_STEP: Final = 1e-3  # degrees, of differences
_PATHS: Final = 1_000  # of offsets that the attacker tries
_PLACES: Final = 40  # within a cell, in one direction
_WIDTH: Final = 0.02  # of a cell: how near a mean must come to the one that was seen
_NODES: Final = 801  # of a quadrature
_SEED: Final = 1
_BEYOND: Final = 1  # cells around the places that are kept in a finite mechanism


def check_positive(number: float, noun: str) -> None:
    """Refuse a number that is not positive and finite."""
    if not 0 < number < math.inf:
        raise InputError(f"{noun} of {number:g} cannot be used.", "use a positive number.")


def directions(count: int, generator: np.random.Generator) -> Floats:
    """Return unit vectors in uniform directions, array (count, 2)."""
    angle = generator.uniform(0, 2 * math.pi, count)
    return np.column_stack([np.cos(angle), np.sin(angle)])


class WildChannel(ABC):
    """A channel from points to reports in metres on a local plane; for studies, it draws seeded floats."""

    __slots__ = ()

    @property
    @abstractmethod
    def mean_m(self) -> float:
        """The mean distance from the true point to a report, for true points spread evenly."""

    @property
    def independent(self) -> bool:
        """Whether reports of one place are drawn independently of each other: where noise is renewed."""
        return bool(getattr(self, "renewed", False))

    @property
    def finite_epsilon(self) -> float:
        """The epsilon per metre of one report, between any two points in real numbers; by default infinite."""
        return math.inf

    @abstractmethod
    def _draw(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats: ...

    @abstractmethod
    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return the log-likelihoods of candidates for the place of all reports, array (m,), up to a constant."""

    def reports(self, points_m: ArrayLike, count: int, generator: np.random.Generator) -> Floats:
        """Return reports of people who stay where they are, array (n, count, 2)."""
        points = floats(points_m, "the points", shape=(None, 2))
        if count < 1:
            raise InputError(f"{count} reports are not positive.", f"use {argument('count', 10)}.")
        return self._draw(points, count, generator)

    def along(self, paths_m: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return a report at each step of walks of at most an hour, array (n, steps, 2)."""
        paths = floats(paths_m, "the paths", shape=(None, None, 2))
        return self._draw(paths.reshape(-1, 2), 1, generator).reshape(paths.shape)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the guesses of an attacker with the reports and the law alone, array (n, 2); by default means."""
        means: Floats = reports_m.mean(axis=1)
        return means


def degree_m(lat: float) -> tuple[float, float]:
    """Return the metres in a degree of longitude and in one of latitude."""
    step = _STEP / 2 * np.array([0, 0, -1, 1])
    south_west = Projection(lat, 0.0).forward(lat + step, step[::-1])
    east, north = (south_west[[0, 3], [0, 1]] - south_west[[1, 2], [0, 1]]) / _STEP
    return float(east), float(north)


@dataclass(frozen=True, slots=True, repr=False)
class FixedCells(CompactRepr, WildChannel):
    """Rectangles that tile the plane; a report is the centre of the cell, or one stored random point of it."""

    width_m: float
    height_m: float
    origin_m: tuple[float, float] = (0.0, 0.0)
    spread: bool = False

    def __post_init__(self) -> None:
        check_positive(self.width_m, "a width")
        check_positive(self.height_m, "a height")

    @classmethod
    def of_degrees(cls, step: float, lat: float, *, spread: bool = False) -> FixedCells:
        """Return the cells of a step in degrees, as they measure at a latitude."""
        east, north = degree_m(lat)
        return cls(step * east, step * north, spread=spread)

    @property
    def sides_m(self) -> tuple[float, float]:
        """The sides of a cell, from west to east and from south to north."""
        return self.width_m, self.height_m

    @property
    def mean_m(self) -> float:
        """The mean distance of a uniform point from the centre, or from another one, in closed form."""
        a, b, d = self.width_m, self.height_m, math.hypot(self.width_m, self.height_m)
        wide, tall = b**2 / a * math.log((a + d) / b), a**2 / b * math.log((b + d) / a)
        if not self.spread:
            return (d + wide / 2 + tall / 2) / 6
        return (a**3 / b**2 + b**3 / a**2 + d * (3 - (a / b) ** 2 - (b / a) ** 2) + 2.5 * (wide + tall)) / 15

    def centres(self, points_m: Floats) -> Floats:
        """Return the centres of the cells of points, array (..., 2), metres."""
        sides, origin = np.array(self.sides_m), np.array(self.origin_m)
        centres: Floats = (np.floor((points_m - origin) / sides) + 0.5) * sides + origin
        return centres

    def _draw(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        reports = self.centres(points_m)
        if self.spread:
            reports = reports + generator.uniform(-0.5, 0.5, reports.shape) * self.sides_m
        return np.repeat(reports[:, None, :], count, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return 0 in the cell of the reports, and minus infinity elsewhere."""
        cells = np.unique(self.centres(reports_m), axis=0)
        same = (self.centres(candidates_m)[:, None, :] == cells[None, :, :]).all(axis=(1, 2))
        return np.where(same, 0.0, -np.inf)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the centre of the cell, the guess with the least expected error."""
        return self.centres(reports_m[:, 0, :])

    def mechanism(self, places: Grid) -> Mechanism:
        """Return the exact mechanism from the centres of small cells to these cells, to audit and to save."""
        centres = self.centres(np.asarray(places.coordinates))
        reported, column = np.unique(centres, axis=0, return_inverse=True)
        matrix = np.zeros((len(places), len(reported)))
        matrix[np.arange(len(places)), column.ravel()] = 1.0
        return _mechanism(matrix, places, reported)


@dataclass(frozen=True, slots=True, repr=False)
class DriftingOffset(CompactRepr, WildChannel):
    """A normal offset of every point under a grid; hourly, offset <- sqrt(1 - c**2) offset + c N(0, sigma**2)."""

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
    def sides_m(self) -> tuple[float, float]:
        """The sides of a cell."""
        return self.step_m, self.step_m

    @property
    def memory(self) -> float:
        """The share of the offset that stays after an hour."""
        return math.sqrt(1 - self.change**2)

    @property
    def mean_m(self) -> float:
        """The mean distance from a uniform point to a report, by quadrature."""
        half = self.step_m / 2
        reach = half + 6 * self.sigma_m
        nodes = np.linspace(-reach, reach, _NODES)
        shares = ndtr((nodes + half) / self.sigma_m) - ndtr((nodes - half) / self.sigma_m)
        shares /= shares.sum()
        return float(shares @ np.hypot(nodes[:, None], nodes[None, :]) @ shares)

    def averaged_m(self, reports: int) -> float:
        """Return the standard deviation, in each direction, of the mean of hourly offsets, in closed form."""
        k, rho = reports, self.memory
        pairs = rho * (k * (1 - rho) - (1 - rho**k)) / (1 - rho) ** 2
        return self.sigma_m * math.sqrt(max(k + 2 * pairs, 0.0)) / k

    def offsets(self, people: int, count: int, generator: np.random.Generator) -> Floats:
        """Return offsets an hour apart, array (people, count, 2)."""
        offsets = np.empty((people, count, 2))
        offsets[:, 0] = generator.normal(0, self.sigma_m, (people, 2))
        for hour in range(1, count):
            offsets[:, hour] = self.drift(offsets[:, hour - 1], generator)
        return offsets

    def drift(self, offsets_m: Floats, generator: np.random.Generator) -> Floats:
        """Return the offsets an hour later."""
        later: Floats = self.memory * offsets_m + self.change * generator.normal(0, self.sigma_m, offsets_m.shape)
        return later

    def _draw(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        return self._cells.centres(points_m[:, None, :] + self.offsets(len(points_m), count, generator))

    def along(self, paths_m: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return a report at each step of walks, under one offset for each."""
        paths = floats(paths_m, "the paths", shape=(None, None, 2))
        return self._cells.centres(paths + self.offsets(len(paths), 1, generator))

    def mechanism(self, places: Grid) -> Mechanism:
        """Return the exact mechanism of one report from the centres of small cells, to audit and to save.

        A report beyond the nearby cells becomes the nearest of them. Only this makes its audited epsilon finite.
        """
        points = np.asarray(places.coordinates)
        axes, shares = [], []
        for axis in (0, 1):
            line = points[:, axis] - self.origin_m[axis]
            cells = np.arange(
                math.floor(line.min() / self.step_m) - _BEYOND, math.floor(line.max() / self.step_m) + _BEYOND + 1
            )
            edges = np.concatenate([[-np.inf], cells[1:] * self.step_m, [np.inf]])
            # Differences of the tail that is nearer keep their digits.
            low, high = (edges[:-1] - line[:, None]) / self.sigma_m, (edges[1:] - line[:, None]) / self.sigma_m
            upper = low > 0
            shares.append(np.where(upper, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))
            axes.append((cells + 0.5) * self.step_m + self.origin_m[axis])
        matrix = (shares[0][:, :, None] * shares[1][:, None, :]).reshape(len(points), -1)
        reported = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        return _mechanism(matrix, places, reported)

    @property
    def _cells(self) -> FixedCells:
        return FixedCells(*self.sides_m, self.origin_m)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return the log-likelihoods of the mean of the reports, from simulated offsets.

        For several reports this is an approximation: their mean need not be a sufficient statistic.
        """
        mean = reports_m.mean(axis=0)
        total = np.zeros(len(candidates_m))
        for axis in (0, 1):
            origin = self.origin_m[axis]
            coordinates, position = np.unique(candidates_m[:, axis], return_inverse=True)
            total += self._along_axis(coordinates - origin, mean[axis] - origin, len(reports_m))[position]
        return total

    def _along_axis(self, coordinates: Floats, mean: float, count: int) -> Floats:
        """Return the log-likelihoods of places along one direction."""
        cell = np.floor(coordinates / self.step_m)
        place = np.minimum((coordinates / self.step_m - cell) * _PLACES, _PLACES - 1).astype(np.intp)
        means = _means(self.step_m, self.sigma_m, self.memory, count)[place]
        width = _WIDTH * self.step_m
        near = np.exp(-(((means + (cell * self.step_m)[:, None] - mean) / width) ** 2) / 2)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(near.mean(axis=1))
        return logs


def _mechanism(matrix: Floats, places: Grid, reported_m: Floats) -> Mechanism:
    """Return the mechanism from places to cells with these centres."""
    labels = [f"cell {number}" for number in range(len(reported_m))]
    return Mechanism(matrix, places, Space(labels, reported_m, places.unit, places.crs))


@lru_cache(maxsize=16)
def _means(step: float, sigma: float, memory: float, count: int) -> Floats:
    """Return simulated means of reports from places within a cell, array (places, paths)."""
    generator = np.random.default_rng(_SEED)
    offset = generator.normal(0, sigma, _PATHS)
    inside = (np.arange(_PLACES) + 0.5) / _PLACES * step
    total = np.zeros((_PLACES, _PATHS))
    for _ in range(count):
        total += (np.floor((inside[:, None] + offset) / step) + 0.5) * step
        offset = memory * offset + np.sqrt(1 - memory**2) * generator.normal(0, sigma, _PATHS)
    return total / count
