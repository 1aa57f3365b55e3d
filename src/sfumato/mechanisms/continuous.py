"""Noise in real numbers, for studies only: Laplace and Gaussian.

Release integers instead: `DiscreteLaplace`, `DiscreteGaussian`, `Staircase`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, numbers
from ..core.bisection import bisect, double
from ..errors import InputError
from .family import positive
from .noise import RealNoise


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(RealNoise):
    """Density epsilon / (2 sensitivity) exp(-epsilon |x| / sensitivity): epsilon-private in real numbers.

    Its standard deviation is sqrt(2) sensitivity / epsilon.

    Args:
        epsilon: Positive.
        sensitivity: Positive.

    Raises:
        InputError: If an argument is not positive.

    Source:
        Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity", TCC 2006.
    """

    name: ClassVar[str] = "continuous Laplace noise"
    _epsilon: float
    sensitivity: float

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        object.__setattr__(self, "_epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "the sensitivity"))

    @property
    def epsilon(self) -> float:
        """As given."""
        return self._epsilon

    @property
    def scale(self) -> float:
        """The scale sensitivity / epsilon."""
        return self.sensitivity / self._epsilon

    @property
    def variance(self) -> float:
        """2 scale**2."""
        return 2 * self.scale**2

    @property
    def absolute(self) -> float:
        """The scale."""
        return self.scale

    def density(self, value: ArrayLike) -> Floats:
        """Return exp(-|x| / scale) / (2 scale)."""
        x = numbers(value, "the noise")
        densities: Floats = np.exp(-np.abs(x) / self.scale) / (2 * self.scale)
        return densities

    def simulate(self, answers: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return the answers with the noise of numpy's generator, in floats: never release it."""
        given = numbers(answers, "the answers")
        noisy: Floats = given + generator.laplace(scale=self.scale, size=given.shape)
        return noisy


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(RealNoise):
    """Normal noise: (epsilon, delta)-private in real numbers for every epsilon, with `delta` of it.

    Args:
        sigma: The standard deviation, positive.
        sensitivity: The largest Euclidean distance of two answers, positive.

    Raises:
        InputError: If an argument is not positive.

    Source:
        Balle and Wang, "Improving the Gaussian mechanism for differential privacy:
        analytical calibration and optimal denoising", ICML 2018, theorems 5 and 8.

    Example:
        >>> from sfumato.mechanisms import Gaussian
        >>> round(Gaussian(1.0).delta(1.0), 6)
        0.126937
    """

    name: ClassVar[str] = "continuous Gaussian noise"
    sigma: float
    sensitivity: float

    def __init__(self, sigma: float, sensitivity: float = 1.0) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "the sensitivity"))

    @classmethod
    def calibrated(cls, epsilon: float, delta: float, sensitivity: float = 1.0) -> Gaussian:
        """Return the noise of least sigma that is (epsilon, delta)-private.

        Args:
            epsilon: Positive.
            delta: Between 0 and 1.
            sensitivity: Positive.

        Raises:
            InputError: If an argument is out of range.
        """
        return cls(gaussian_sigma(epsilon, delta, sensitivity), sensitivity)

    @property
    def epsilon(self) -> float:
        """Infinite: see `delta`."""
        return math.inf

    @property
    def variance(self) -> float:
        """sigma**2."""
        return self.sigma**2

    @property
    def absolute(self) -> float:
        """The expected absolute noise, sigma sqrt(2 / pi)."""
        return self.sigma * math.sqrt(2 / math.pi)

    def delta(self, epsilon: float) -> float:
        """Return Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu), mu = sensitivity / sigma.

        Computed in floating point and rounded up by a part in 1e10.

        Raises:
            InputError: If epsilon is negative or not a number.
        """
        if not 0 <= epsilon < math.inf:
            raise InputError(f"epsilon is {epsilon}.", "use a number of at least 0.")
        return _delta(epsilon, self.sensitivity / self.sigma)

    def density(self, value: ArrayLike) -> Floats:
        """Return the normal density."""
        x = numbers(value, "the noise") / self.sigma
        densities: Floats = np.exp(-(x**2) / 2) / (self.sigma * math.sqrt(2 * math.pi))
        return densities

    def simulate(self, answers: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return the answers with the noise of numpy's generator, in floats: never release it."""
        given = numbers(answers, "the answers")
        noisy: Floats = given + generator.normal(scale=self.sigma, size=given.shape)
        return noisy


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return the least sigma of (epsilon, delta)-private normal noise, from above, to a few parts in 1e15.

    Raises:
        InputError: If an argument is out of range.
    """
    positive(epsilon, "epsilon")
    positive(sensitivity, "the sensitivity")
    if not 1e-250 <= delta < 1:
        raise InputError(f"delta is {delta}.", "use a number from 1e-250 to below 1, such as 1e-6.")

    def enough(sigma: float) -> bool:
        return _delta(epsilon, 1 / sigma) <= delta

    if enough(1.0):  # the same search for 1 / sigma, which is then at least 1
        ends = double(lambda precise: not enough(1 / precise), fails=1.0, holds=2.0)
        fails, holds = 1 / ends.holds, 1 / ends.fails
    else:
        fails, holds = double(enough, fails=1.0, holds=2.0)
    sigma, rise = bisect(enough, fails, holds, relative=4e-16).holds * sensitivity, 2.0**-52
    while _delta(epsilon, sensitivity / sigma) > delta:  # the product was rounded
        sigma, rise = sigma * (1 + rise), 2 * rise
    return sigma


def _delta(epsilon: float, mu: float) -> float:
    from scipy.special import log_ndtr

    upper, lower = log_ndtr(mu / 2 - epsilon / mu), log_ndtr(-mu / 2 - epsilon / mu)
    return min(1.0, -math.exp(upper) * math.expm1(min(epsilon + lower - upper, 0.0)) * (1 + 1e-10) + 1e-300)
