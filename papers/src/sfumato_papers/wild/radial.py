"""Points moved by a random distance in a random direction, and the certified noise to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import gammaincinv

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


@dataclass(frozen=True, slots=True, repr=False)
class RadiusLaw(CompactRepr):
    """The law of the distance that a point is moved, metres."""

    name: str
    mean_m: float
    draw: Callable[[int, np.random.Generator], Floats]  # distances, array (count,)
    density: Callable[[Floats], Floats]  # of distances, per metre
    epsilon: float = math.inf


def even_radius(low_m: float, high_m: float) -> RadiusLaw:
    """Return the law of a uniform distance between two."""
    if not 0 <= low_m < high_m < math.inf:
        raise InputError(f"there is no ring between {low_m:g} m and {high_m:g} m.", "use 0 <= low < high.")
    return RadiusLaw(
        "even",
        (low_m + high_m) / 2,
        lambda count, generator: generator.uniform(low_m, high_m, count),
        lambda radius: ((radius >= low_m) & (radius <= high_m)) / (high_m - low_m),
    )


def mixed_radius(usual: RadiusLaw, rare: RadiusLaw, share: float) -> RadiusLaw:
    """Return the law that is one most of the time, and another one for a share of points."""
    if not 0 <= share <= 1:
        raise InputError(f"{share:g} is no share.", "use a number from 0 to 1, such as 0.01.")

    def draw(count: int, generator: np.random.Generator) -> Floats:
        rarely = generator.random(count) < share
        return np.where(rarely, rare.draw(count, generator), usual.draw(count, generator))

    return RadiusLaw(
        "mixed",
        (1 - share) * usual.mean_m + share * rare.mean_m,
        draw,
        lambda radius: (1 - share) * usual.density(radius) + share * rare.density(radius),
    )


def laplace_radius(epsilon: float) -> RadiusLaw:
    """Return the law of planar Laplace noise, of density epsilon**2 r exp(-epsilon r)."""
    check_positive(epsilon, "an epsilon")
    return RadiusLaw(
        "Laplace",
        2 / epsilon,
        lambda count, generator: gammaincinv(2.0, generator.random(count)) / epsilon,
        lambda radius: epsilon**2 * radius * np.exp(-epsilon * radius),
        epsilon,
    )


def gaussian_radius(sigma_m: float) -> RadiusLaw:
    """Return the law of normal noise of one deviation in both directions."""
    check_positive(sigma_m, "a standard deviation")
    return RadiusLaw(
        "Gaussian",
        sigma_m * math.sqrt(math.pi / 2),
        lambda count, generator: sigma_m * np.sqrt(-2 * np.log1p(-generator.random(count))),
        lambda radius: radius / sigma_m**2 * np.exp(-((radius / sigma_m) ** 2) / 2),
    )


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
    def finite_epsilon(self) -> float:
        """That of planar Laplace noise, and infinite for laws that end at a distance or fall faster."""
        return self.law.epsilon

    def _draw(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        draws = count if self.renewed else 1
        radius = self.law.draw(len(points_m) * draws, generator)
        moves = radius[:, None] * directions(len(radius), generator)
        reports = points_m[:, None, :] + moves.reshape(len(points_m), draws, 2)
        if self.cells is not None:
            reports = self.cells.centres(reports)
        return np.repeat(reports, count // draws, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return log-likelihoods; candidates just beyond an edge of the law stay possible, as on a lattice."""
        used = reports_m if self.renewed else reports_m[:1]
        x, y = np.ascontiguousarray(candidates_m.T)
        step = self.law.mean_m / _BINS
        # A centre says that the moved point is in its cell, so the law is averaged over the cell.
        within = np.zeros((1, 2)) if self.cells is None else _cell_points(self.cells)
        squares = [
            (x - report[0] - east) ** 2 + (y - report[1] - north) ** 2 for report in used for east, north in within
        ]
        most = math.sqrt(max(float(square.max()) for square in squares))
        radius = np.asarray(step * (np.arange(max(int(most / step), _BINS) + 2) + 0.5), dtype=np.float64)
        densities = self.law.density(radius) / radius
        table = np.maximum(densities, _ALLOWED * densities[_BINS])
        if self.cells is None:
            table = np.log(table)
        total = np.zeros(len(candidates_m))
        for first in range(0, len(squares), len(within)):
            part = np.zeros(len(candidates_m))
            for square in squares[first : first + len(within)]:
                part += table[(np.sqrt(square) / step).astype(np.intp)]
            total += part if self.cells is None else np.log(part)
        return total

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the best guesses under a uniform prior; of Laplace noise the most probable places."""
        if not self.renewed or reports_m.shape[1] == 1:
            first: Floats = reports_m[:, 0]
            return first
        return geometric_medians(reports_m) if self.finite_epsilon < math.inf else least_error(self, reports_m)


def _cell_points(cells: FixedCells) -> Floats:
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
        [np.hypot(*(moves + inside).transpose(2, 0, 1)).mean(axis=1) for inside in _cell_points(cells)], axis=0
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
        check_positive(mean_m, "a mean distance")
        return cls(CoordinateNoise(2000 / mean_m, Fraction(mean_m) / _STEPS), renewed)

    @property
    def mean_m(self) -> float:
        """The mean distance."""
        return 2000 / self.noise.epsilon

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
        reports = self.noise.simulate(np.repeat(points_m, draws, axis=0), seed).reshape(len(points_m), draws, 2)
        return np.repeat(reports, count // draws, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return the log-likelihoods of planar Laplace noise, which the lattice follows closely."""
        noise = RadialNoise(laplace_radius(self.finite_epsilon), self.renewed)
        return noise.log_likelihood(reports_m, candidates_m)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the most probable places, the geometric medians of the reports."""
        return geometric_medians(reports_m) if self.renewed else reports_m[:, 0]
