"""Points moved by a random distance in a random direction, and the certified noise to compare with."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import gammaincinv, ndtr

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.proofs import NoiseProof, prove_planar_noise

from .attack import geometric_medians, least_error
from .channels import FixedCells, WildChannel, check_positive, directions

_BINS: Final = 200  # of a mean distance, in the attacker's table of the law
_WITHIN: Final = 6  # points of a cell in each direction, in sums over it
_NODES, _TURNS = 400, 32  # of a quadrature over distances and directions
_ALLOWED: Final = 1e-6  # of the density at the mean distance: candidates are a lattice, and none is exactly right
_STEPS: Final = 1_000  # of the lattice in a mean distance: the slack is 0.14 % of it


class RadiusLaw(ABC):
    """The law of the distance that a point is moved, metres."""

    __slots__ = ()
    epsilon: float = math.inf

    @property
    @abstractmethod
    def mean_m(self) -> float:
        """The mean distance."""

    @abstractmethod
    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Return distances, array (count,)."""

    @abstractmethod
    def density(self, radius_m: Floats) -> Floats:
        """Return the density of distances, per metre."""


def _check_ring(low: float, high: float) -> None:
    if not 0 <= low < high < math.inf:
        raise InputError(f"there is no ring between {low:g} m and {high:g} m.", "use 0 <= low < high.")


@dataclass(frozen=True, slots=True)
class EvenRadius(RadiusLaw):
    """A uniform distance between two, or that of a uniform point of the ring (`areal`)."""

    low_m: float
    high_m: float
    areal: bool = False

    def __post_init__(self) -> None:
        _check_ring(self.low_m, self.high_m)

    @property
    def mean_m(self) -> float:
        """The mean distance."""
        low, high = self.low_m, self.high_m
        if self.areal:
            return 2 / 3 * (high**3 - low**3) / (high**2 - low**2)
        return (low + high) / 2

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Return distances, array (count,)."""
        if self.areal:
            return np.asarray(np.sqrt(generator.uniform(self.low_m**2, self.high_m**2, count)))
        return generator.uniform(self.low_m, self.high_m, count)

    def density(self, radius_m: Floats) -> Floats:
        """Return the density of distances, per metre."""
        inside = (radius_m >= self.low_m) & (radius_m <= self.high_m)
        span = (self.high_m**2 - self.low_m**2) / 2 if self.areal else self.high_m - self.low_m
        found: Floats = inside * (radius_m if self.areal else np.ones_like(radius_m)) / span
        return found


@dataclass(frozen=True, slots=True)
class FoldedRadius(RadiusLaw):
    """The size of a normal number around the middle of a ring; its deviation is a fifth of the width."""

    low_m: float
    high_m: float

    def __post_init__(self) -> None:
        _check_ring(self.low_m, self.high_m)

    @property
    def _normal(self) -> tuple[float, float]:
        return (self.low_m + self.high_m) / 2, (self.high_m - self.low_m) / 5

    @property
    def mean_m(self) -> float:
        """The mean distance."""
        mid, sd = self._normal
        tail = math.sqrt(2 / math.pi) * sd * math.exp(-((mid / sd) ** 2) / 2)
        return tail + mid * (1 - 2 * float(ndtr(-mid / sd)))

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Return distances, array (count,)."""
        sizes: Floats = np.abs(generator.normal(*self._normal, count))
        return sizes

    def density(self, radius_m: Floats) -> Floats:
        """Return the density of distances, per metre."""
        mid, sd = self._normal
        both = np.exp(-(((radius_m - mid) / sd) ** 2) / 2) + np.exp(-(((radius_m + mid) / sd) ** 2) / 2)
        found: Floats = both / (sd * math.sqrt(2 * math.pi))
        return found


@dataclass(frozen=True, slots=True)
class MixedRadius(RadiusLaw):
    """One law most of the time, another one rarely."""

    usual: RadiusLaw
    rare: RadiusLaw
    share: float

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InputError(f"{self.share:g} is no share.", "use a number from 0 to 1, such as 0.01.")

    @property
    def mean_m(self) -> float:
        """The mean distance."""
        return (1 - self.share) * self.usual.mean_m + self.share * self.rare.mean_m

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Return distances, array (count,)."""
        rare = generator.random(count) < self.share
        return np.where(rare, self.rare.draw(count, generator), self.usual.draw(count, generator))

    def density(self, radius_m: Floats) -> Floats:
        """Return the density of distances, per metre."""
        return (1 - self.share) * self.usual.density(radius_m) + self.share * self.rare.density(radius_m)


@dataclass(frozen=True, slots=True)
class LaplaceRadius(RadiusLaw):
    """Planar Laplace noise: distances of density epsilon**2 r exp(-epsilon r)."""

    epsilon: float

    def __post_init__(self) -> None:
        check_positive(self.epsilon, "an epsilon")

    @property
    def mean_m(self) -> float:
        """The mean distance, 2 / epsilon."""
        return 2 / self.epsilon

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Return distances, array (count,)."""
        found: Floats = gammaincinv(2.0, generator.random(count)) / self.epsilon
        return found

    def density(self, radius_m: Floats) -> Floats:
        """Return the density of distances, per metre."""
        found: Floats = self.epsilon**2 * radius_m * np.exp(-self.epsilon * radius_m)
        return found


@dataclass(frozen=True, slots=True)
class GaussianRadius(RadiusLaw):
    """Normal noise of one deviation in both directions."""

    sigma_m: float

    def __post_init__(self) -> None:
        check_positive(self.sigma_m, "a standard deviation")

    @property
    def mean_m(self) -> float:
        """The mean distance, sigma sqrt(pi / 2)."""
        return self.sigma_m * math.sqrt(math.pi / 2)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Return distances, array (count,)."""
        found: Floats = self.sigma_m * np.sqrt(-2 * np.log1p(-generator.random(count)))
        return found

    def density(self, radius_m: Floats) -> Floats:
        """Return the density of distances, per metre."""
        found: Floats = radius_m / self.sigma_m**2 * np.exp(-((radius_m / self.sigma_m) ** 2) / 2)
        return found


@dataclass(frozen=True, slots=True, repr=False)
class RadialNoise(CompactRepr, WildChannel):
    """A point moved by a random distance in a random direction, for each report or once for all."""

    law: RadiusLaw
    renewed: bool
    cells: FixedCells | None = None

    @property
    def mean_m(self) -> float:
        """The mean distance from a uniform point to its report."""
        return self.law.mean_m if self.cells is None else _mean_with_cells(self.law, self.cells)

    @property
    def independent(self) -> bool:
        """Whether each report is drawn again."""
        return self.renewed

    @property
    def finite_epsilon(self) -> float:
        """That of planar Laplace noise, and infinite for laws that end at a distance or fall faster."""
        return self.law.epsilon

    def _draw(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        draws = count if self.renewed else 1
        radius = self.law.draw(len(points_m) * draws, generator)
        moves = radius[:, None] * directions(len(radius), generator)
        moved = points_m[:, None, :] + moves.reshape(len(points_m), draws, 2)
        if self.cells is not None:
            moved = self.cells.centres(moved)
        return np.repeat(moved, count // draws, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return log-likelihoods; candidates just beyond an edge of the law stay possible, as on a lattice."""
        used = reports_m if self.renewed else reports_m[:1]
        x, y = np.ascontiguousarray(candidates_m.T)
        step = self.law.mean_m / _BINS
        # A centre says that the moved point is in its cell, so the law is averaged over the cell.
        within = np.zeros((1, 2)) if self.cells is None else _within(self.cells)
        squares = [
            (x - report[0] - east) ** 2 + (y - report[1] - north) ** 2 for report in used for east, north in within
        ]
        most = math.sqrt(max(float(each.max()) for each in squares))
        radius = np.asarray(step * (np.arange(max(int(most / step), _BINS) + 2) + 0.5), dtype=np.float64)
        densities = self.law.density(radius) / radius
        table = np.maximum(densities, _ALLOWED * densities[_BINS])
        if self.cells is None:
            table = np.log(table)
        found = np.zeros(len(candidates_m))
        for first in range(0, len(squares), len(within)):
            own = np.zeros(len(candidates_m))
            for each in squares[first : first + len(within)]:
                own += table[(np.sqrt(each) / step).astype(np.intp)]
            found += own if self.cells is None else np.log(own)
        return found

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the best guesses under a uniform prior; of Laplace noise the most probable places."""
        used = reports_m if self.renewed else reports_m[:, :1]
        if used.shape[1] == 1 or isinstance(self.law, GaussianRadius):
            means: Floats = used.mean(axis=1)
            return means
        return geometric_medians(used) if isinstance(self.law, LaplaceRadius) else least_error(self, used)


def _within(cells: FixedCells) -> Floats:
    """Return points that are spread over a cell, seen from its centre, array (n, 2)."""
    inside = (np.arange(_WITHIN) + 0.5) / _WITHIN - 0.5
    return np.stack(np.meshgrid(inside, inside, indexing="ij"), axis=-1).reshape(-1, 2) * cells.sides_m


@lru_cache(maxsize=16)
def _mean_with_cells(law: RadiusLaw, cells: FixedCells) -> float:
    """Return the mean distance from a uniform point to the centre of the cell after its move, by quadrature."""
    radius = (np.arange(_NODES) + 0.5) / _NODES * 12 * law.mean_m
    weights = law.density(radius)
    angle = 2 * math.pi * (np.arange(_TURNS) + 0.5) / _TURNS
    moves = np.stack([np.outer(radius, np.cos(angle)), np.outer(radius, np.sin(angle))], axis=-1)
    away = np.mean(
        [np.hypot(*(moves + inside).transpose(2, 0, 1)).mean(axis=1) for inside in _within(cells)], axis=0
    )
    return float(weights @ away / weights.sum())


@dataclass(frozen=True, slots=True, repr=False)
class CertifiedNoise(CompactRepr, WildChannel):
    """Planar noise of sfumato as a channel: drawn exactly, and proved."""

    noise: CoordinateNoise
    renewed: bool

    @classmethod
    def of_mean(cls, mean_m: float, *, renewed: bool) -> CertifiedNoise:
        """Return the noise that moves a point by 2 / epsilon on average, to one part in a thousand."""
        if not 0 < mean_m < math.inf:
            raise InputError(f"noise of {mean_m:g} m on average cannot be drawn.", "use a positive distance.")
        return cls(CoordinateNoise(2000 / mean_m, Fraction(mean_m) / _STEPS), renewed)

    @property
    def mean_m(self) -> float:
        """The mean distance."""
        return 2000 / self.noise.epsilon

    @property
    def independent(self) -> bool:
        """Whether each report is drawn again."""
        return self.renewed

    @property
    def finite_epsilon(self) -> float:
        """The guaranteed epsilon of one report, per metre."""
        return self.noise.epsilon / 1000

    @property
    def proof(self) -> NoiseProof:
        """The proof of the guarantee, from the recipe that is drawn."""
        return prove_planar_noise(self.noise.promise, self.noise.noise.rate, self.noise.step_m)

    def _draw(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        draws = count if self.renewed else 1
        seed = int(generator.integers(1 << 62))
        found = self.noise.simulate(np.repeat(points_m, draws, axis=0), seed).reshape(len(points_m), draws, 2)
        return np.repeat(found, count // draws, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return the log-likelihoods of planar Laplace noise, which the lattice follows closely."""
        noise = RadialNoise(LaplaceRadius(self.finite_epsilon), self.renewed)
        return noise.log_likelihood(reports_m, candidates_m)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the most probable places, the geometric medians of the reports."""
        return geometric_medians(reports_m) if self.renewed else reports_m[:, 0]
