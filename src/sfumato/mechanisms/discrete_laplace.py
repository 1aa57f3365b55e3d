"""Discrete Laplace noise on all integers, and staircase noise, optimal for a query of large sensitivity."""

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
from ..core.immutable import assign
from ..errors import InputError
from ..rounding import float_above, float_below
from ..sampling.coins import below, magnitudes, signed, stairs
from .formulas import geometric
from .noise import Noise, NoiseRecipe, check_scale, integers, rational, whole
from .strict_privacy import lower_exponents


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(Noise):
    """Noise k with probability tanh(r / 2) exp(-r |k|), r = epsilon / sensitivity.

    The untruncated geometric mechanism: epsilon-private for integer answers that differ by at most the
    sensitivity, which every report but those between two answers attains. Clamped to a range it is `geometric`.
    Raises `InputError` if an argument is not positive, or the noise's scale is above 2**40.

    Args:
        epsilon: A positive rational: an integer, a `Fraction`, text such as ``"1/10"``, or a float, which stands
            for the binary fraction it is.
        sensitivity: A positive integer.

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
        probabilities: Floats = math.tanh(r / 2) * np.exp(-r * np.abs(integers(value)))
        return probabilities

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

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        return signed(magnitudes(self.scale, tries, words), words)


@dataclass(frozen=True, slots=True, repr=False)
class Staircase(Noise):
    """Integer noise of probability a exp(-epsilon stair(|k|)), stairs of the sensitivity's width.

    With |k| = q sensitivity + j, the stair is q for j < step and q + 1 for the others. A shift by at most the
    sensitivity climbs at most one stair, so it is epsilon-private, and attains it. For sensitivity 1 it is
    `DiscreteLaplace`.

    Raises `InputError` if an argument is out of range.

    Args:
        epsilon: A positive rational; see `DiscreteLaplace`.
        sensitivity: A positive integer.
        step: 1 to ``sensitivity``; by default the one of least expected absolute noise.

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
        best = _best_step(float(self.parameter), self.sensitivity) if step is None else step
        object.__setattr__(self, "step", best)

    @property
    def epsilon(self) -> float:
        """The epsilon that was given, or the next float above."""
        return float_above(self.parameter)

    @property
    def variance(self) -> float:
        """The variance, in closed form."""
        return self._moments()[1]

    @property
    def absolute(self) -> float:
        """The expected absolute noise, in closed form."""
        return self._moments()[0]

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
        heights: Floats = _top(epsilon, self.sensitivity, self.step) * np.exp(
            -epsilon * (stairs + (within >= self.step))
        )
        return heights

    def _tail(self, value: int, epsilon: float) -> float:
        """Return P(noise >= k): the rest of one stair, then a geometric series of whole ones."""
        top, b = _top(epsilon, self.sensitivity, self.step), math.exp(-epsilon)
        q, j = divmod(value, self.sensitivity)
        high, low = max(self.step - j, 0), self.sensitivity - max(self.step, j)
        whole_stair = self.step + (self.sensitivity - self.step) * b
        return top * math.exp(-epsilon * q) * (high + low * b + whole_stair * b / -math.expm1(-epsilon))

    def _moments(self) -> tuple[float, float]:
        return _moments(float(self.parameter), self.sensitivity, self.step)


@dataclass(frozen=True, slots=True)
class StaircaseNoise(NoiseRecipe):
    """Add an integer k with probability proportional to exp(-epsilon stair(|k|)).

    With |k| = q width + j, 0 <= j < width, the stair is q for j < step and q + 1 beyond.
    """

    epsilon: Fraction
    width: int
    step: int

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        """Return a place in a stair, late ones with probability exp(-epsilon), and the stair's number."""
        place = below(self.width, tries, words)
        accepted = (place < self.step) | (stairs(self.epsilon, tries, words) > 0)
        place = place[accepted]
        return signed(stairs(self.epsilon, len(place), words) * self.width + place, words)


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


def _best_step(epsilon: float, width: int) -> int:
    """Return the step of least E |k|, near width / (1 + exp(epsilon / 2))."""
    near = int(width * math.exp(-epsilon / 2) / (1 + math.exp(-epsilon / 2)))
    return min(
        range(max(1, near - 1), min(width, near + 2) + 1), key=lambda step: _moments(epsilon, width, step)[0]
    )
