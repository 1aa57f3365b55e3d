"""The discrete Gaussian distribution on all integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Mechanism, Space, Words
from ..core.arrays import Floats
from ..core.bracket import bisect, double
from ..core.immutable import assign
from ..errors import InputError
from ..sampling.coins import decays, successes
from .discrete_laplace import LaplaceNoise
from .noise import Noise, NoiseRecipe, integers, rational, whole
from .real_noise import gaussian_sigma

_WIDEST = 1 << 40  # of the variance: sums run over some fourteen standard deviations
_SMOOTH = 4.0  # from this variance on, the sum of exp(-k**2 / (2 v)) is sqrt(2 pi v) to 34 digits
_GRAIN = 16  # bits of a calibrated variance


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(Noise):
    """Noise k with probability proportional to exp(-k**2 / (2 v)), for integer answers.

    It has no pure epsilon, but (epsilon, delta) for every epsilon (`delta`), and `rho` of zero-concentrated
    privacy. The variance of the noise is at most v, and nearly v from v = 1 on. Raises `InputError` if an argument
    is not positive, or v is above 2**40.

    Args:
        squared_sigma: v, a positive rational: an integer, a `Fraction`, text such as ``"7/2"``, or a float, which
            stands for the binary fraction it is.
        sensitivity: A positive integer.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020, theorems 4 and 7.

    Example:
        >>> from sfumato.mechanisms import DiscreteGaussian
        >>> DiscreteGaussian(4).rho
        Fraction(1, 8)
    """

    name: ClassVar[str] = "discrete Gaussian noise"
    squared_sigma: Fraction
    sensitivity: int

    def __init__(self, squared_sigma: Rational | float | str, sensitivity: int = 1) -> None:
        v = rational(squared_sigma, "the squared sigma")
        if v > _WIDEST:
            raise InputError(f"the squared sigma is {float(v):.3g}, more than 2**40.", "use a coarser unit.")
        assign(self, squared_sigma=v, sensitivity=whole(sensitivity, "the sensitivity"))

    @classmethod
    def calibrated(cls, epsilon: float, delta: float, sensitivity: int = 1) -> DiscreteGaussian:
        """Return the noise of least variance, to 16 bits, that is (epsilon, delta)-private.

        Raises `InputError` if epsilon is not positive, delta not from 1e-250 to below 1, the sensitivity no
        positive integer, or the variance would be above 2**40.
        """
        sigma = gaussian_sigma(epsilon, delta, float(whole(sensitivity, "the sensitivity")))
        grain = Fraction(2) ** (math.floor(2 * math.log2(sigma)) - _GRAIN)

        def enough(multiple: int) -> bool:
            return cls(multiple * grain, sensitivity).delta(epsilon) <= delta

        high = math.ceil(Fraction(sigma) ** 2 / grain)
        return cls(bisect(enough, *double(enough, fails=1, holds=high)).holds * grain, sensitivity)

    @property
    def epsilon(self) -> float:
        """Infinite: see `delta`."""
        return math.inf

    @property
    def rho(self) -> Fraction:
        """sensitivity**2 / (2 v), of zero-concentrated differential privacy."""
        return Fraction(self.sensitivity**2) / (2 * self.squared_sigma)

    def delta(self, epsilon: float) -> float:
        """Return the least delta for which (epsilon, delta)-privacy holds, rounded up.

        The sum of max(pmf(k) - e^epsilon pmf(k + sensitivity), 0), whose terms are positive exactly for k >
        epsilon v / sensitivity - sensitivity / 2. Omitted terms and rounding are covered. Raises `InputError` if
        epsilon is negative or not a number.
        """
        if not 0 <= epsilon < math.inf:
            raise InputError(f"epsilon is {epsilon}.", "use a number of at least 0.")
        v, width = float(self.squared_sigma), self.sensitivity
        threshold = Fraction(epsilon) * self.squared_sigma / width - Fraction(width, 2)
        first = math.floor(threshold) + 1
        k = np.arange(first, self._end(first + 1) + 1, dtype=np.float64)
        beyond = np.arange(len(k)) + float(first - threshold)  # k - threshold, without cancellation
        terms = np.exp(-(k**2) / (2 * v)) * -np.expm1(-beyond * width / v)
        return min(1.0, math.fsum(terms) / self._normaliser * (1 + 1e-10) + 1e-300)

    @property
    def variance(self) -> float:
        """The variance of the noise, a sum in floating point."""
        return self._moment(2)

    @property
    def absolute(self) -> float:
        """The expected absolute noise, a sum in floating point."""
        return self._moment(1)

    def _moment(self, power: int) -> float:
        k = np.arange(1.0, self._end(0) + 1)
        return 2 * math.fsum(k**power * self.pmf(k.astype(np.int64)))

    def pmf(self, value: ArrayLike) -> Floats:
        """Return exp(-k**2 / (2 v)) over its sum."""
        k = integers(value).astype(np.float64)
        probabilities: Floats = np.exp(-(k**2) / (2 * float(self.squared_sigma))) / self._normaliser
        return probabilities

    def tail(self, value: int) -> float:
        """Return the sum of pmf(j) over j >= k."""
        return math.fsum(self.pmf(np.arange(value, self._end(value) + 1)))

    def on_range(self, space: Space) -> Mechanism:
        """Return the mechanism in integers, whose delta is at most `delta` + (1 + e^epsilon) 2**-40."""
        n = len(space)
        far = self.pmf(np.arange(self._end(n), n - 1, -1))
        near = self.pmf(np.arange(n - 1, -1, -1))
        tails = (math.fsum(far) + np.cumsum(near))[::-1]  # P(noise >= k) for k = 0, ..., n - 1
        rows = self.pmf(np.arange(n) - np.arange(n)[:, None])
        rows[:, -1], rows[:, 0] = tails[::-1], tails
        return Mechanism(rows if n > 1 else np.ones((1, 1)), space, space)

    def recipe(self) -> GaussianNoise:
        """Return the recipe with the noise's exact parameter."""
        return GaussianNoise(self.squared_sigma)

    @property
    def _normaliser(self) -> float:
        v = float(self.squared_sigma)
        if v >= _SMOOTH:
            return math.sqrt(2 * math.pi * v)
        return 1 + 2 * math.fsum(math.exp(-k * k / (2 * v)) for k in range(1, 80))

    def _end(self, first: int) -> int:
        """Return a k beyond which the terms are below e^-100 of the term at ``first`` (or at 0)."""
        start = max(first, 0)
        return math.ceil(math.sqrt(start**2 + 200 * float(self.squared_sigma))) + 2


@dataclass(frozen=True, slots=True)
class GaussianNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-k**2 / (2 variance)).

    The variance is a positive fraction. k is drawn from `proposal` and accepted with probability
    exp(-`rejection`).

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020, algorithm 3.
    """

    variance: Fraction

    @property
    def proposal(self) -> LaplaceNoise:
        """Laplace noise of scale t = floor(sqrt(variance)) + 1."""
        return LaplaceNoise(Fraction(math.isqrt(self.variance.numerator // self.variance.denominator) + 1))

    def rejection(self, magnitude: int) -> Fraction:
        """Return (|k| - variance / t)**2 / (2 variance): k**2 / (2 variance) - |k| / t, up to a constant."""
        return (magnitude - self.variance / self.proposal.scale) ** 2 / (2 * self.variance)

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        k = self.proposal.noise(tries, words)
        distinct, where = np.unique(np.abs(k), return_inverse=True)
        gammas = [self.rejection(magnitude) for magnitude in distinct.tolist()]
        base = math.lcm(*(gamma.denominator for gamma in gammas))
        whole = np.array([gamma.numerator // gamma.denominator for gamma in gammas], dtype=object)[where]
        parts = np.array([int(gamma % 1 * base) for gamma in gammas], dtype=object)[where]
        accepted_mask = decays(parts, base, words)
        steep = np.flatnonzero(accepted_mask & np.asarray(whole > 0, dtype=bool))
        accepted_mask[steep] = np.asarray(successes(len(steep), words) >= whole[steep], dtype=bool)
        accepted: NDArray[np.int64] = k[accepted_mask]
        return accepted
