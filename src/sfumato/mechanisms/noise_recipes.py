"""Recipes of noise on all integers: discrete Laplace, Gaussian and staircase, from rational coins."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..sampling import Integers, Recipe, Words
from ..sampling.coins import below, decays, magnitudes, signed, stairs, successes

_BLOCK: Final = 1 << 16


class NoiseRecipe(Recipe):
    """Add independent noise to each answer, which is any integer.

    All coins have rational probabilities and are thrown by comparing random words with
    integers. The time a draw takes depends on the noise drawn, never on the answer.
    """

    __slots__ = ()

    @property
    def secrets(self) -> None:
        """None: the answer is any integer."""
        return

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return the answers with fresh noise added to each."""
        return rows + self.noise(len(rows), words)

    def noise(self, count: int, words: Words) -> NDArray[np.int64]:
        """Return independent noise, array (count,)."""
        found: list[NDArray[np.int64]] = []
        missing = count
        while missing > 0:
            accepted = self._accepted(min(_BLOCK, 2 * missing + 64), words)[:missing]
            found.append(accepted)
            missing -= len(accepted)
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    @abstractmethod
    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        """Return the draws that were accepted out of ``tries``."""


@dataclass(frozen=True, slots=True)
class LaplaceNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-|k| / scale).

    Attributes:
        scale: A positive rational number.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
        2020, algorithm 2.
    """

    scale: Fraction

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        return signed(magnitudes(self.scale, tries, words), words)


@dataclass(frozen=True, slots=True)
class GaussianNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-k**2 / (2 variance)).

    It is drawn from `proposal` and accepted with probability exp(-`rejection`).

    Attributes:
        variance: The parameter, a positive rational number.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
        2020, algorithm 3.
    """

    variance: Fraction

    @property
    def proposal(self) -> LaplaceNoise:
        """Laplace noise of scale t = floor(sqrt(variance)) + 1."""
        return LaplaceNoise(Fraction(isqrt(self.variance.numerator // self.variance.denominator) + 1))

    def rejection(self, magnitude: int) -> Fraction:
        """Return (|k| - variance / t)**2 / (2 variance), exactly.

        Up to a constant it is k**2 / (2 variance) - |k| / t, what the proposal lacks.
        """
        return (magnitude - self.variance / self.proposal.scale) ** 2 / (2 * self.variance)

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        k = self.proposal.noise(tries, words)
        distinct, where = np.unique(np.abs(k), return_inverse=True)
        gammas = [self.rejection(magnitude) for magnitude in distinct.tolist()]
        base = lcm(*(gamma.denominator for gamma in gammas))
        whole = np.array([gamma.numerator // gamma.denominator for gamma in gammas], dtype=object)[where]
        parts = np.array([int(gamma % 1 * base) for gamma in gammas], dtype=object)[where]
        kept = decays(parts, base, words)
        steep = np.flatnonzero(kept & np.asarray(whole > 0, dtype=bool))
        kept[steep] = np.asarray(successes(len(steep), words) >= whole[steep], dtype=bool)
        accepted: NDArray[np.int64] = k[kept]
        return accepted


@dataclass(frozen=True, slots=True)
class StaircaseNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-epsilon stair(|k|)).

    With |k| = q width + j, 0 <= j < width, the stair is q for j < step and q + 1 beyond.

    Attributes:
        epsilon: The fall of one stair, a positive rational number.
        width: The width of a stair.
        step: How much of a stair's width lies before the fall, 1 to ``width``.
    """

    epsilon: Fraction
    width: int
    step: int

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        """Return a place in a stair, late ones with probability exp(-epsilon), and the stair's number."""
        place = below(self.width, tries, words)
        kept = (place < self.step) | (stairs(self.epsilon, tries, words) > 0)
        place = place[kept]
        return signed(stairs(self.epsilon, len(place), words) * self.width + place, words)
