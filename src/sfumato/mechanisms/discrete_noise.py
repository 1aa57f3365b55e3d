"""Noise on all integers: discrete Laplace, staircase (optimal for a large sensitivity) and discrete Gaussian."""

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
from ..rounding import float_above, float_below
from ..sampling.coins import add_signs, decays, draw_below, magnitudes, stairs, successes
from .formulas import geometric
from .noise import Noise, NoiseRecipe, check_scale, integers, rational, whole
from .real_noise import gaussian_sigma
from .strict_privacy import lower_exponents

_WIDEST = 1 << 40  # of the variance: sums run over some fourteen standard deviations
_SMOOTH = 4.0  # from this variance on, the sum of exp(-k**2 / (2 v)) is sqrt(2 pi v) to 34 digits
_GRAIN = 16  # bits of a calibrated variance


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(Noise):
    """Noise k with probability tanh(r / 2) exp(-r |k|), r = epsilon / sensitivity.

    The untruncated geometric mechanism: epsilon-private for integer answers that differ by at most the
    sensitivity, which every report but those between two answers attains. Clamped to a range it is `geometric`.
    Epsilon is a positive rational: an integer, a `Fraction`, text such as ``"1/10"``, or a float, which stands for
    the binary fraction it is; the sensitivity is a positive integer. Raises `InputError` if an argument is not
    positive, or the noise's scale is above 2**40.

    Source:
        Ghosh, Roughgarden and Sundararajan, STOC 2009; Canonne, Kamath and Steinke, 2020.

    Example:
        >>> from sfumato.mechanisms import DiscreteLaplace
        >>> DiscreteLaplace(1).pmf([-1, 0, 1]).round(4)
        array([0.17  , 0.4621, 0.17  ])
    """

    name: ClassVar[str] = "discrete Laplace noise"
    parameter: Fraction
    sensitivity: int

    def __init__(self, epsilon: Rational | float | str, sensitivity: int = 1) -> None:
        assign(self, parameter=rational(epsilon, "epsilon"), sensitivity=whole(sensitivity, "the sensitivity"))
        check_scale(1 / self.rate)

    @property
    def epsilon(self) -> float:
        """The epsilon that was given, or the next float above."""
        return float_above(self.parameter)

    @property
    def rate(self) -> Fraction:
        """r, the epsilon per unit of the answer."""
        return self.parameter / self.sensitivity

    @property
    def variance(self) -> float:
        """1 / (2 sinh(r / 2)**2)."""
        return 0.5 / math.sinh(min(float(self.rate) / 2, 350.0)) ** 2

    @property
    def absolute(self) -> float:
        """1 / sinh(r)."""
        return 1 / math.sinh(min(float(self.rate), 700.0))

    def pmf(self, value: ArrayLike) -> Floats:
        """Return tanh(r / 2) exp(-r |k|)."""
        r = float(self.rate)
        return math.tanh(r / 2) * np.exp(-r * np.abs(integers(value)))

    def tail(self, value: int) -> float:
        """Return exp(-r k) / (1 + exp(-r))."""
        r = float(self.rate)
        return math.exp(-r * value) / (1 + math.exp(-r))

    def on_range(self, space: Space) -> Mechanism:
        """Return `geometric` of the range."""
        return geometric(space, float_below(self.rate))

    def recipe(self) -> LaplaceNoise:
        """Return the recipe with the noise's exact scale."""
        return LaplaceNoise(1 / self.rate)


@dataclass(frozen=True, slots=True)
class LaplaceNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-|k| / scale), the scale positive and rational.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020, algorithm 2.
    """

    scale: Fraction

    def _accepted_draws(self, tries: int, words: Words) -> NDArray[np.int64]:
        return add_signs(magnitudes(self.scale, tries, words), words)


@dataclass(frozen=True, slots=True, repr=False)
class Staircase(Noise):
    """Integer noise of probability a exp(-epsilon stair(|k|)), stairs of the sensitivity's width.

    With |k| = q sensitivity + j, the stair is q for j < step and q + 1 for the others. A shift by at most the
    sensitivity climbs at most one stair, so it is epsilon-private, and attains it. For sensitivity 1 it is
    `DiscreteLaplace`; see there for the arguments. The step, 1 to ``sensitivity``, is by default the one of least
    expected absolute noise. Raises `InputError` if an argument is out of range.

    Source:
        Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy", 2016, section V
        (discrete). Proof: docs/proofs/categories.md.

    Example:
        >>> from sfumato.mechanisms import DiscreteLaplace, Staircase
        >>> Staircase(3, 10).absolute < DiscreteLaplace(3, 10).absolute
        True
    """

    name: ClassVar[str] = "staircase noise"
    parameter: Fraction
    sensitivity: int
    step: int

    def __init__(self, epsilon: Rational | float | str, sensitivity: int, step: int | None = None) -> None:
        assign(self, parameter=rational(epsilon, "epsilon"), sensitivity=whole(sensitivity, "the sensitivity"))
        check_scale(self.sensitivity / self.parameter)
        if step is not None and not 1 <= step <= sensitivity:
            raise InputError(f"the step {step} is not within the sensitivity.", f"use 1 to {sensitivity}.")
        if step is None:  # that of least E |k|, near sensitivity / (1 + exp(epsilon / 2))
            epsilon, width = float(self.parameter), self.sensitivity
            near = int(width * math.exp(-epsilon / 2) / (1 + math.exp(-epsilon / 2)))
            steps = range(max(1, near - 1), min(width, near + 2) + 1)
            step = min(steps, key=lambda step: _moments(epsilon, width, step)[0])
        object.__setattr__(self, "step", step)

    @property
    def epsilon(self) -> float:
        """The epsilon that was given, or the next float above."""
        return float_above(self.parameter)

    @property
    def variance(self) -> float:
        """The variance, in closed form."""
        return _moments(float(self.parameter), self.sensitivity, self.step)[1]

    @property
    def absolute(self) -> float:
        """The expected absolute noise, in closed form."""
        return _moments(float(self.parameter), self.sensitivity, self.step)[0]

    def pmf(self, value: ArrayLike) -> Floats:
        """Return a exp(-epsilon stair(|k|))."""
        return self._pmf(np.abs(integers(value)), float(self.parameter))

    def tail(self, value: int) -> float:
        """Return the sum of pmf(j) over j >= k."""
        return self._tail(value, float(self.parameter))

    def on_range(self, space: Space) -> Mechanism:
        """Return the mechanism in integers."""
        n = len(space)
        apart = np.abs(np.arange(n)[:, None] - np.arange(n))
        steps = -(-apart // self.sensitivity)

        def build(scale: float) -> Floats:
            epsilon = float(self.parameter) * scale
            rows = self._pmf(apart, epsilon)
            tails = np.array([self._tail(k, epsilon) for k in range(n)])
            rows[:, -1], rows[:, 0] = tails[::-1], tails
            return rows if n > 1 else np.ones((1, 1))

        return lower_exponents(build, float(self.parameter) * steps, space, space)

    def recipe(self) -> StaircaseNoise:
        """Return the recipe with the noise's exact parameters."""
        return StaircaseNoise(self.parameter, self.sensitivity, self.step)

    def _pmf(self, magnitude: np.ndarray[tuple[int, ...], np.dtype[np.int64]], epsilon: float) -> Floats:
        stairs, within = np.divmod(magnitude, self.sensitivity)
        return _top(epsilon, self.sensitivity, self.step) * np.exp(-epsilon * (stairs + (within >= self.step)))

    def _tail(self, value: int, epsilon: float) -> float:
        """Return P(noise >= k): the rest of one stair, then a geometric series of whole ones."""
        top, b = _top(epsilon, self.sensitivity, self.step), math.exp(-epsilon)
        q, j = divmod(value, self.sensitivity)
        high, low = max(self.step - j, 0), self.sensitivity - max(self.step, j)
        whole_stair = self.step + (self.sensitivity - self.step) * b
        return top * math.exp(-epsilon * q) * (high + low * b + whole_stair * b / -math.expm1(-epsilon))


@dataclass(frozen=True, slots=True)
class StaircaseNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-epsilon stair(|k|)), stairs as in `Staircase`."""

    epsilon: Fraction
    width: int
    step: int

    def _accepted_draws(self, tries: int, words: Words) -> NDArray[np.int64]:
        """Return a place in a stair, late ones with probability exp(-epsilon), and the stair's number."""
        place = draw_below(self.width, tries, words)
        accepted = (place < self.step) | (stairs(self.epsilon, tries, words) > 0)
        place = place[accepted]
        return add_signs(stairs(self.epsilon, len(place), words) * self.width + place, words)


def _top(epsilon: float, width: int, step: int) -> float:
    """Return a, the probability of noise 0."""
    b = math.exp(-epsilon)
    side = (step + (width - step) * b) / -math.expm1(-epsilon)  # the sum over k >= 0, in units of a
    return 1 / (2 * side - 1)


def _moments(epsilon: float, width: int, step: int) -> tuple[float, float]:
    """Return (E |k|, E k**2): over one side, a stair's number and the place in it are independent."""
    b, top = math.exp(-epsilon), _top(epsilon, width, step)
    fall = -math.expm1(-epsilon)
    early = [_power_sum(step, i) for i in range(3)]
    late = [_power_sum(width, i) - early[i] for i in range(3)]
    place = [x + b * y for x, y in zip(early, late, strict=True)]
    stair = [1 / fall, b / fall**2, b * (1 + b) / fall**3]
    first = width * stair[1] * place[0] + stair[0] * place[1]
    second = width**2 * stair[2] * place[0] + 2 * width * stair[1] * place[1] + stair[0] * place[2]
    return 2 * top * first, 2 * top * second


def _power_sum(count: int, power: int) -> float:
    """Return the sum of j**power over 0 <= j < count, for power 0, 1 or 2."""
    n = float(count)
    return (n, n * (n - 1) / 2, n * (n - 1) * (2 * n - 1) / 6)[power]


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(Noise):
    """Noise k with probability proportional to exp(-k**2 / (2 v)), v the squared sigma, for integer answers.

    It has no pure epsilon, but (epsilon, delta) for every epsilon (`delta`), and `rho` of zero-concentrated
    privacy. The variance of the noise is at most v, and nearly v from v = 1 on. See `DiscreteLaplace` for the
    arguments. Raises `InputError` if one is not positive, or v is above 2**40.

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
    def calibrate(cls, epsilon: float, delta: float, sensitivity: int = 1) -> DiscreteGaussian:
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
        return np.exp(-(k**2) / (2 * float(self.squared_sigma))) / self._normaliser

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
        return math.ceil(math.sqrt(max(first, 0) ** 2 + 200 * float(self.squared_sigma))) + 2


@dataclass(frozen=True, slots=True)
class GaussianNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-k**2 / (2 variance)), for a fraction above 0.

    k is drawn from `proposal` and accepted with probability exp(-`rejection`).

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

    def _accepted_draws(self, tries: int, words: Words) -> NDArray[np.int64]:
        k = self.proposal.noise(tries, words)
        distinct, where = np.unique(np.abs(k), return_inverse=True)
        gammas = [self.rejection(magnitude) for magnitude in distinct.tolist()]
        base = math.lcm(*(gamma.denominator for gamma in gammas))
        whole = np.array([gamma.numerator // gamma.denominator for gamma in gammas], dtype=object)[where]
        parts = np.array([int(gamma % 1 * base) for gamma in gammas], dtype=object)[where]
        accepted_mask = decays(parts, base, words)
        steep = np.flatnonzero(accepted_mask & np.asarray(whole > 0, dtype=bool))
        accepted_mask[steep] = np.asarray(successes(len(steep), words) >= whole[steep], dtype=bool)
        return k[accepted_mask]
