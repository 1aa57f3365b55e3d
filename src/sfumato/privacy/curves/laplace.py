"""The trade-off function of Laplace noise: as hard to tell apart as two shifted Laplace distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError
from ...rounding import up
from ..rows import check_epsilon
from .curve import Curve


@final
@dataclass(frozen=True, slots=True)
class LaplaceTradeOff(Curve):
    """The trade-off function of Laplace noise of scale 1 and the same shifted by epsilon.

    f(a) = 1 - e**epsilon a            where a is below e**-epsilon / 2,
           e**-epsilon / (4 a)         from there to 1/2,
           e**-epsilon (1 - a)         above.

    It is above that of all mechanisms of epsilon-differential privacy: Laplace noise
    promises more than its epsilon.

    Attributes:
        epsilon: The shift in scales of the noise, at least 0; ``inf`` hides nothing.

    Raises:
        InputError: If epsilon is negative or NaN.

    Example:
        >>> round(LaplaceTradeOff(1.0).delta(0.5), 6)
        0.221199

    Source:
        Dong, Roth and Su, "Gaussian differential privacy", 2022, proposition A.6.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise InputError(f"epsilon is {self.epsilon}.", "the shift of Laplace noise is at least 0.")

    def errors(self, alphas: Floats, confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements."""
        if math.isinf(self.epsilon):
            return np.zeros_like(alphas), np.ones_like(alphas)
        with np.errstate(divide="ignore", over="ignore"):
            grown = np.exp(self.epsilon + np.log(alphas))  # in one step: e**epsilon itself may not be a float
            middle = 0.25 / grown
        low, high = grown <= 0.5, alphas >= 0.5
        beta = np.where(low, 1 - grown, np.where(high, math.exp(-self.epsilon) * confidences, middle))
        return beta, np.where(low, grown, 1 - beta)

    def delta(self, epsilon: float) -> float:
        """Return the least delta that goes with an epsilon of at least 0, rounded up.

        delta = 1 - e**((epsilon - shift) / 2) below the shift, and 0 from there on.

        Raises:
            InputError: If epsilon is negative or NaN.
        """
        check_epsilon(epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        return min(1.0, up(-math.expm1((epsilon - self.epsilon) / 2) * (1 + 2.0**-50)))
