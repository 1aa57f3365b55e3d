"""The discrete Laplace distribution: two-sided geometric noise on all integers."""

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
from ..rounding import float_above, float_below
from ..sampling.coins import magnitudes, signed
from .formulas import geometric
from .noise import Noise, NoiseRecipe, check_scale, integers, rational, whole


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
