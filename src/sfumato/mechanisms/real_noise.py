"""Noise in real numbers, for studies only: Laplace, Gaussian, staircase and planar Laplace."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ..core import units
from ..core.arrays import Floats, numbers
from ..core.bracket import bisect, double
from ..core.immutable import assign
from ..errors import InfeasibleError, InputError
from .family import positive
from .noise import AdditiveNoise


class RealNoise(AdditiveNoise):
    """Noise in real numbers, for studies only; never to be released.

    A computer draws floats, and which floats are possible depends on the secret (Mironov 2012), so the guarantees
    hold in real numbers only. Release integers instead (`DiscreteLaplace`, `DiscreteGaussian`, `Staircase`), or
    cells (`PlanarGeometric`).
    """

    __slots__ = ()
    study_only: ClassVar[bool] = True
    instead: ClassVar[str] = "DiscreteLaplace, DiscreteGaussian or Staircase, on multiples of a small unit"
    _epsilon: float

    @property
    def epsilon(self) -> float:
        """The epsilon that was given; for places per unit of their coordinates."""
        return self._epsilon

    @abstractmethod
    def density(self, value: ArrayLike) -> Floats:
        """Return the density of the noise at x, an array of any shape."""

    def simulate(self, answers: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return the answers with textbook noise, in floats: for studies of the noise and of attacks on it."""
        values = numbers(answers, "the answers")
        return values + self._noise(values.shape, generator)

    @abstractmethod
    def _noise(self, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
        """Return noise of numpy's generator."""

    @property
    def hamming_loss(self) -> float:
        """The probability 1: no report in real numbers equals the secret."""
        return 1.0

    def mechanism(self) -> NoReturn:
        """Raise `InputError`: real numbers are too many for a matrix."""
        raise InputError(f"the reports of {self.name} are real numbers.", f"use {self.instead}.")

    def recipe(self) -> NoReturn:
        """Raise `InputError`: it is for studies only."""
        raise InputError(
            f"{self.name} is for studies only: floats in place of real numbers reveal the secret.",
            f"use {self.instead}.",
        )


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(RealNoise):
    """Density epsilon / (2 sensitivity) exp(-epsilon |x| / sensitivity): epsilon-private in real numbers.

    Both arguments must be positive (`InputError`). The standard deviation is sqrt(2) sensitivity / epsilon.

    Source:
        Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity", TCC 2006.
    """

    name: ClassVar[str] = "continuous Laplace noise"
    _epsilon: float
    sensitivity: float

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        assign(self, _epsilon=positive(epsilon, "epsilon"), sensitivity=positive(sensitivity, "the sensitivity"))

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
        return np.exp(-np.abs(numbers(value, "the noise")) / self.scale) / (2 * self.scale)

    def _noise(self, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
        return generator.laplace(scale=self.scale, size=shape)


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(RealNoise):
    """Normal noise: (epsilon, delta)-private in real numbers for every epsilon and its `delta`.

    ``sigma`` is the standard deviation, and the sensitivity the largest Euclidean distance of two answers. Raises
    `InputError` if an argument is not positive.

    Source:
        Balle and Wang, "Improving the Gaussian mechanism for differential privacy: analytical calibration and
        optimal denoising", ICML 2018, theorems 5 and 8.

    Example:
        >>> from sfumato.mechanisms import Gaussian
        >>> round(Gaussian(1.0).delta(1.0), 6)
        0.126937
    """

    name: ClassVar[str] = "continuous Gaussian noise"
    sigma: float
    sensitivity: float

    def __init__(self, sigma: float, sensitivity: float = 1.0) -> None:
        assign(self, sigma=positive(sigma, "sigma"), sensitivity=positive(sensitivity, "the sensitivity"))

    @classmethod
    def calibrate(cls, epsilon: float, delta: float, sensitivity: float = 1.0) -> Gaussian:
        """Return the noise of least sigma that is (epsilon, delta)-private.

        Raises `InputError` if epsilon or the sensitivity is not positive, or delta not from 1e-250 to below 1.
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

        Raises `InputError` if epsilon is negative or not a number.
        """
        if not 0 <= epsilon < math.inf:
            raise InputError(f"epsilon is {epsilon}.", "use a number of at least 0.")
        return _delta(epsilon, self.sensitivity / self.sigma)

    def density(self, value: ArrayLike) -> Floats:
        """Return the normal density."""
        x = numbers(value, "the noise") / self.sigma
        return np.exp(-(x**2) / 2) / (self.sigma * math.sqrt(2 * math.pi))

    def _noise(self, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
        return generator.normal(scale=self.sigma, size=shape)


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return the least sigma of (epsilon, delta)-private normal noise, from above, to a few parts in 1e15."""
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


@dataclass(frozen=True, slots=True, repr=False)
class PlanarLaplace(RealNoise):
    """Density epsilon**2 / (2 pi) exp(-epsilon r) at distance r: epsilon-private per unit, in real numbers.

    For studies only: in doubles the last bits of a report reveal the secret. To release places use
    `PlanarGeometric`, which is exact. Epsilon is per unit of the coordinates; a number or text such as
    ``"0.6/km"``. Raises `InputError` if epsilon is not positive. Raises `UnitError` if its unit does not fit.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability", CCS 2013, section 4.

    Example:
        >>> from sfumato.mechanisms import PlanarLaplace
        >>> noise = PlanarLaplace("6.931471805599453/km")  # a factor 2 per 100 m
        >>> noise.absolute, noise.median, float(noise.quantile(0.95))
        (288.539..., 242.134..., 684.394...)
    """

    instead: ClassVar[str] = "PlanarGeometric, which draws cells of a grid exactly"
    name: ClassVar[str] = "planar Laplace noise"
    _epsilon: float
    sensitivity: float
    unit: str

    def __init__(self, epsilon: float | str, unit: str = "m") -> None:
        rate = units.parse(epsilon, per=True, unit=unit, subject="epsilon")
        assign(self, _epsilon=positive(rate, "epsilon"), sensitivity=1.0, unit=units.canonical(unit))

    @property
    def absolute(self) -> float:
        """The mean distance from secret to report, 2 / epsilon."""
        return 2 / self._epsilon

    @property
    def median(self) -> float:
        """The distance that half of the reports exceed, 1.6783 / epsilon."""
        return float(self.quantile(0.5))

    @property
    def variance(self) -> float:
        """The mean squared distance, 6 / epsilon**2: 3 / epsilon**2 on either axis."""
        return 6 / self._epsilon**2

    def density(self, value: ArrayLike) -> Floats:
        """Return epsilon**2 / (2 pi) exp(-epsilon r) for offsets (..., 2), per unit of area."""
        x = _points(value, "the offsets")
        return self._epsilon**2 / (2 * math.pi) * np.exp(-self._epsilon * np.hypot(x[..., 0], x[..., 1]))

    def cdf(self, radius: ArrayLike) -> Floats:
        """Return the probability of a report within a distance, 1 - (1 + epsilon r) exp(-epsilon r).

        Distances, of any shape, must be at least 0 (`InputError`).
        """
        from scipy.special import gammainc

        r = numbers(radius, "the radius")
        if not (r >= 0).all():
            raise InputError("a radius is negative or not a number.", "use distances of at least 0.")
        shares: Floats = gammainc(2.0, self._epsilon * r)  # the same, without cancellation
        return shares

    def quantile(self, share: ArrayLike) -> Floats:
        """Return the distance within which a share of the reports lies: -(W((share - 1) / e) + 1) / epsilon.

        W is the branch -1 of Lambert's function. Shares, of any shape, are from 0 to below 1 (`InputError`).
        """
        from scipy.special import gammaincinv

        p = numbers(share, "the share")
        if not ((p >= 0) & (p < 1)).all():
            raise InputError("a share is not between 0 and 1.", "use 0.95 for 95 %.")
        radii: Floats = gammaincinv(2.0, p) / self._epsilon  # the same; scipy's W loses its digits near share 0
        return radii

    def simulate(self, answers: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return places (..., 2), in the unit of the coordinates, with textbook noise in floats, for studies."""
        return RealNoise.simulate(self, _points(answers, "the places"), generator)

    def _noise(self, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
        angle = generator.uniform(0, 2 * math.pi, shape[:-1])
        radius = self.quantile(generator.random(shape[:-1]))
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def rounded_epsilon(epsilon: float, step: float, widest: float, precision: float = 2.0**-52) -> float:
    """Return the epsilon of planar Laplace noise drawn with finite precision and rounded to a grid.

    epsilon + ln((q + 2 e^(epsilon u)) / (q - 2 e^(epsilon u))) / u with q = u / (r precision). It bounds the cost
    of rounding angles and radii to multiples of the precision, within the radius r. It does not cover generators
    whose functions round otherwise, nor doubles that are not rounded to the grid, so it is for studies;
    `PlanarGeometric` needs no such correction. Epsilon is that of the noise, per unit. ``step`` is u, the side of
    a cell, ``widest`` is r, the largest distance of report and secret, both in the unit, and the precision is that
    of the angle. Raises `InputError` if an argument is not positive. Raises `InfeasibleError` if the grid is too
    fine for the precision, so that no bound is known.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, CCS 2013, theorem 4.1.

    Example:
        >>> from sfumato.mechanisms import rounded_epsilon
        >>> round(rounded_epsilon(0.006931471806, 0.001, 1e5), 5)  # a grid of millimetres
        0.00702
    """
    for noun, value in ("epsilon", epsilon), ("the step", step), ("the radius", widest), ("precision", precision):
        positive(value, noun)
    fineness = step / (widest * precision)
    growth = 2 * math.exp(min(epsilon * step, 700.0))
    if not growth < fineness:
        raise InfeasibleError(
            f"a grid of {step:g} within {widest:g} is too fine for a precision of {precision:.3g}.",
            "use larger cells, a smaller radius, or PlanarGeometric, which is exact.",
        )
    return (epsilon + 2 * math.atanh(growth / fineness) / step) * (1 + 2.0**-49)  # its rounding, upwards


def epsilon_before_rounding(target: float, step: float, widest: float, precision: float = 2.0**-52) -> float:
    """Return the largest epsilon of noise whose `rounded_epsilon` is at most a target; errors as there."""
    most = positive(target, "epsilon")

    def reaches(epsilon: float) -> bool:
        try:
            return rounded_epsilon(epsilon, step, widest, precision) <= target
        except InfeasibleError:
            return False

    epsilon_of_noise = bisect(reaches, fails=most, holds=0.0, steps=200).holds
    if epsilon_of_noise < target * 1e-12:
        raise InfeasibleError(
            f"no noise has at most epsilon {target:g} on a grid of {step:g} within {widest:g}.",
            "use larger cells, a smaller radius, or PlanarGeometric, which is exact.",
        )
    return epsilon_of_noise


def _points(value: ArrayLike, subject: str) -> Floats:
    points = numbers(value, subject)
    if points.shape[-1:] != (2,):
        raise InputError(f"{subject} have shape {points.shape}.", "pass x and y: an array (..., 2).")
    return points


@dataclass(frozen=True, slots=True, repr=False)
class ContinuousStaircase(RealNoise):
    """Staircase noise in real numbers: the least expected absolute value of all epsilon-private noise.

    ``share`` is that of a stair before its fall, from 0 to 1; by default 1 / (1 + exp(epsilon / 2)), the best.
    Raises `InputError` if an argument is out of range.

    Source:
        Geng and Viswanath, 2016, theorem 3 and equation 54.
    """

    name: ClassVar[str] = "continuous staircase noise"
    _epsilon: float
    sensitivity: float
    share: float

    def __init__(self, epsilon: float, sensitivity: float = 1.0, share: float | None = None) -> None:
        assign(self, _epsilon=positive(epsilon, "epsilon"), sensitivity=positive(sensitivity, "the sensitivity"))
        best = math.exp(-epsilon / 2) / (1 + math.exp(-epsilon / 2))
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"the share {share} is not between 0 and 1.", "leave it out for the best.")
        object.__setattr__(self, "share", best if share is None else share)

    @property
    def absolute(self) -> float:
        """The expected absolute noise; for the best share sensitivity / (2 sinh(epsilon / 2))."""
        return self._moment(1)

    @property
    def variance(self) -> float:
        """The variance."""
        return self._moment(2)

    def density(self, value: ArrayLike) -> Floats:
        """Return a exp(-epsilon stair(|x|))."""
        stairs, within = np.divmod(np.abs(numbers(value, "the noise")) / self.sensitivity, 1.0)
        b = math.exp(-self._epsilon)
        top = (1 - b) / (2 * self.sensitivity * (self.share + b * (1 - self.share)))
        return top * np.exp(-self._epsilon * (stairs + (within >= self.share)))

    def _noise(self, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
        b = math.exp(-self._epsilon)
        stairs = generator.geometric(1 - b, size=shape) - 1
        early = generator.random(shape) < self.share / (self.share + b * (1 - self.share))
        u = generator.random(shape)
        within = np.where(early, self.share * u, self.share + (1 - self.share) * u)
        return generator.choice([-1.0, 1.0], size=shape) * self.sensitivity * (stairs + within)

    def _moment(self, power: int) -> float:
        """Return E |noise|**power for power 1 or 2, from the moments of the stair and of the place in it."""
        b, g = math.exp(-self._epsilon), self.share
        mass = g + b * (1 - g)
        place = [1.0, *((g**i + b * (1 - g**i)) / i / mass for i in (2, 3))]
        stair = [1.0, b / (1 - b), b * (1 + b) / (1 - b) ** 2]
        moment = sum(math.comb(power, i) * stair[i] * place[power - i] for i in range(power + 1))
        return self.sensitivity**power * moment
