"""Certified counterpart of a scheme: planar noise of the same average distance, with its proved epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.proofs import NoiseProof, prove_planar_noise

from .channel import WildChannel
from .flat_prior import geometric_medians
from .radial import LaplaceRadius, RadialNoise

_STEPS: Final = 1_000  # of the lattice in a mean distance: the slack is 0.14 % of it


@dataclass(frozen=True, slots=True, repr=False)
class CertifiedNoise(CompactRepr, WildChannel):
    """`sfumato.mechanisms.planar.CoordinateNoise` as a channel: drawn exactly, and proved.

    Attributes:
        noise: The noise.
        renewed: Whether each report is drawn again, and charged; otherwise the place is remembered by its name and
            its first report is repeated.
    """

    noise: CoordinateNoise
    renewed: bool

    @classmethod
    def of_mean(cls, mean_m: float, *, renewed: bool) -> CertifiedNoise:
        """Return the noise that moves a point by a mean distance.

        Planar Laplace noise moves by 2 / epsilon on average; on a lattice as fine as this one by as much, to
        within one part in a thousand.

        Args:
            mean_m: The mean distance, metres.
            renewed: Whether each report is drawn again.

        Raises:
            InputError: If the distance is not positive.
        """
        if not 0 < mean_m < math.inf:
            raise InputError(f"noise of {mean_m:g} m on average cannot be drawn.", "use a positive distance.")
        return cls(CoordinateNoise(2000 / mean_m, Fraction(mean_m) / _STEPS), renewed)

    @property
    def mean_m(self) -> float:
        """The mean distance, metres."""
        return 2000 / self.noise.epsilon

    @property
    def independent(self) -> bool:
        """Whether each report is drawn again."""
        return self.renewed

    @property
    def finite_epsilon(self) -> float:
        """As promised of one report, per metre."""
        return self.noise.epsilon / 1000

    @property
    def proof(self) -> NoiseProof:
        """The proof of its promise, from the recipe that is drawn."""
        return prove_planar_noise(self.noise.promise, self.noise.noise.rate, self.noise.step_m)

    def _drawn(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats:
        draws = count if self.renewed else 1
        seed = int(generator.integers(1 << 62))
        found = self.noise.simulate(np.repeat(points_m, draws, axis=0), seed).reshape(len(points_m), draws, 2)
        return np.repeat(found, count // draws, axis=1)

    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return that of planar Laplace noise, which the lattice follows closely; see `WildChannel`."""
        noise = RadialNoise(LaplaceRadius(self.finite_epsilon), self.renewed)
        return noise.log_likelihood(reports_m, candidates_m)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return the most probable places, the geometric medians of the reports; see `WildChannel`."""
        return geometric_medians(reports_m) if self.renewed else reports_m[:, 0]
