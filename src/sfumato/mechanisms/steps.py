"""How a report is drawn: recipes that a sampler runs with whole random bits.

A recipe names integer mechanisms and uniform choices only, so that whoever runs it
needs neither floats nor the full matrix. `sfumato.releases` runs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..core import Mechanism


@dataclass(frozen=True, slots=True)
class Row:
    """Draw one observable from the secret's row.

    Attributes:
        mechanism: The mechanism.
    """

    mechanism: Mechanism


@dataclass(frozen=True, slots=True)
class Bits:
    """Send each of ``count`` bits, of which the secret's own is 1, through one binary mechanism.

    Attributes:
        count: The number k of categories.
        bit: The mechanism of one bit, 2 x 2, in the order 0, 1.
    """

    count: int
    bit: Mechanism


@dataclass(frozen=True, slots=True)
class Hashed:
    """Draw a uniform seed (a, b), hash the secret, and draw from the bucket's row.

    Attributes:
        prime: p; a is uniform from 1 to p - 1, and b from 0 to p - 1.
        response: The mechanism on the buckets 0, 1, ..., g - 1.
    """

    prime: int
    response: Mechanism

    def bucket(self, a: int, b: int, position: int) -> int:
        """Return ((a x + b) mod p) mod g, the bucket of the secret at position x."""
        return (a * position + b) % self.prime % self.response.shape[0]


@dataclass(frozen=True, slots=True)
class Subset:
    """Draw a coin; then a uniform subset of the other categories fills the report.

    Attributes:
        count: The number k of categories.
        size: The size d of the subset that is reported.
        coin: A mechanism of one secret and the observables 0 (the own category is left
            out, and d others are drawn) and 1 (it is in, with d - 1 others).
    """

    count: int
    size: int
    coin: Mechanism


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Add an integer k with probability proportional to exp(-|k| / scale).

    Attributes:
        scale: A positive rational number.
    """

    scale: Fraction


@dataclass(frozen=True, slots=True)
class GaussianNoise:
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
        from math import isqrt

        return LaplaceNoise(Fraction(isqrt(self.variance.numerator // self.variance.denominator) + 1))

    def rejection(self, magnitude: int) -> Fraction:
        """Return (|k| - variance / t)**2 / (2 variance), exactly.

        Up to a constant it is k**2 / (2 variance) - |k| / t, what the proposal lacks.
        """
        return (magnitude - self.variance / self.proposal.scale) ** 2 / (2 * self.variance)


@dataclass(frozen=True, slots=True)
class StaircaseNoise:
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


Steps = Row | Bits | Hashed | Subset | LaplaceNoise | GaussianNoise | StaircaseNoise
