"""Trade-off functions: the least type II error at each type I error, with custom and Laplace curves."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from ...core.arrays import Bools, Floats, numbers
from ...core.bracket import bisect, double
from ...errors import InputError
from ...rounding import UNIT, up
from ..rows import check_delta, check_epsilon
from .errors_of_tests import Errors


class Curve(ABC):
    """A trade-off function f: convex and falling, with f(a) <= 1 - a for type I errors a from 0 to 1.

    Source:
        Dong, Roth and Su, "Gaussian differential privacy", 2022, definition 2.1 and proposition 2.2.
    """

    __slots__ = ()

    @abstractmethod
    def errors(self, alphas: Floats, confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements, two arrays of the shape of the alphas.

        The confidences are 1 - alpha, computed without cancellation.
        """

    @property
    def precision(self) -> float:
        """The error of a value beyond a few roundings."""
        return 0.0

    @final
    def __call__(self, alpha: ArrayLike) -> Floats:
        """Return the least type II error at each type I error, array of the same shape.

        Raises `InputError` if a type I error is not between 0 and 1.
        """
        at = numbers(alpha, "alpha")
        if not ((at >= 0) & (at <= 1)).all():
            raise InputError("a type I error is not between 0 and 1.", "pass probabilities.")
        # Sums of probabilities may round beyond 1.
        return np.asarray(np.minimum(self.errors(at, 1.0 - at)[0], 1.0))

    @final
    def gaps(self, tests: Errors) -> Floats:
        """Return f minus the type II errors of tests, array of their shape: positive where a test beats f."""
        beta, power = self.errors(tests.alphas, tests.confidences)
        return np.where(tests.powers < tests.betas, tests.powers - power, beta - tests.betas)


_EVEN: Final = np.linspace(0.0, 1.0, 1025)
_NEAR: Final = np.geomspace(1e-12, 1e-3, 64)
_CHECKED: Final = np.unique(np.concatenate([_EVEN, _NEAR, 1 - _NEAR]))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionTradeOff(Curve):
    """A custom trade-off function: any convex, falling f with f(a) <= 1 - a.

    A mechanism is compared with f at the vertices of the mechanism's own curve, without sampling. Convexity is
    checked at about a thousand points; in between you must know it. For a curve known at some points only, use
    `TradeOff.through` to require it, or `TradeOff.minorant` to guarantee it. Raises `InputError` if f is not a
    trade-off function at some checked point.

    Attributes:
        function: f, from an array of type I errors to one of type II errors.
        precision: The largest error of a value of f.

    Example:
        >>> FunctionTradeOff(lambda a: (1 - a) ** 2)(0.5)
        array(0.25)
    """

    function: Callable[[Floats], ArrayLike]
    precision: float = 2.0**-40

    def __post_init__(self) -> None:
        if not 0 <= self.precision < 1:
            raise InputError(f"a precision of {self.precision} was given.", "pass a small number, such as 1e-12.")
        values, slack = self.errors(_CHECKED, 1 - _CHECKED)[0], 2 * self.precision
        at = _first((values > 1 - _CHECKED + slack) | (values < -slack))
        if at is not None:
            raise InputError(
                f"the curve is {values[at]:g} at {_CHECKED[at]:g}, which is not between 0 and 1 - a.",
                "pass type II errors of the best tests: no curve is above that of pure guessing.",
            )
        at = _first(np.diff(values) > slack)
        if at is not None:
            raise InputError(f"the curve rises after {_CHECKED[at]:g}.", "the least type II error only falls.")
        # Not above the chords of the neighbours.
        x, y = _CHECKED, values
        chords = ((x[2:] - x[1:-1]) * y[:-2] + (x[1:-1] - x[:-2]) * y[2:]) / (x[2:] - x[:-2])
        at = _first(y[1:-1] > chords + slack)
        if at is not None:
            raise InputError(f"the curve is not convex at {x[at + 1]:g}.", "use TradeOff.minorant(alphas, betas).")

    def __repr__(self) -> str:
        return f"FunctionTradeOff of {getattr(self.function, '__name__', type(self.function).__name__)}"

    def errors(self, alphas: Floats, _confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements.

        Raises `InputError` if f does not give one finite number for each type I error.
        """
        try:
            # Sums of probabilities may exceed 1 by their rounding.
            betas = np.asarray(self.function(np.clip(alphas, 0.0, 1.0)), dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InputError(
                f"the curve cannot be called with an array: {problem}.",
                "write it with NumPy, or wrap it: np.vectorize(function).",
            ) from problem
        if betas.shape != alphas.shape or not np.isfinite(betas).all():
            raise InputError(
                f"the curve gave an array of shape {betas.shape} for one of shape {alphas.shape}"
                f"{'' if np.isfinite(betas).all() else ', not all of it finite'}.",
                "return one number for each type I error.",
            )
        return betas, 1.0 - betas


def _first(where: Bools) -> int | None:
    return int(where.argmax()) if where.any() else None


@final
@dataclass(frozen=True, slots=True)
class LaplaceTradeOff(Curve):
    """The trade-off function of Laplace noise of scale 1 and the same shifted by epsilon.

    f(a) = 1 - e**epsilon a            where a is below e**-epsilon / 2,
           e**-epsilon / (4 a)         from there to 1/2,
           e**-epsilon (1 - a)         above.

    It is above the curve of epsilon-differential privacy, so Laplace noise guarantees more than its epsilon.
    Raises `InputError` if an epsilon is negative or NaN.

    Attributes:
        epsilon: The shift in scales of the noise, at least 0; ``inf`` hides nothing.

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
            growth = np.exp(self.epsilon + np.log(alphas))  # in one step: e**epsilon itself may not be a float
            middle = 0.25 / growth
        low, high = growth <= 0.5, alphas >= 0.5
        beta = np.where(low, 1 - growth, np.where(high, math.exp(-self.epsilon) * confidences, middle))
        return beta, np.where(low, growth, 1 - beta)

    def delta(self, epsilon: float) -> float:
        """Return the least delta at an epsilon of at least 0, rounded up.

        delta = 1 - e**((epsilon - shift) / 2) below the shift, and 0 from there on.
        """
        check_epsilon(epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        return min(1.0, up(-math.expm1((epsilon - self.epsilon) / 2) * (1 + 2.0**-50)))


LARGEST: Final = 38.5
"""The largest quantile of any float above 0."""

QUANTILE_ERROR: Final = 16 * UNIT
"""The largest relative error of scipy's quantile; a test compares it with interval arithmetic."""


def quantile(probability: Floats, complement: Floats) -> Floats:
    """Return the normal quantile, to a small relative error near 0 and 1, given p and 1 - p."""
    z = ndtri(np.minimum(probability, complement))
    return np.asarray(np.where(probability <= complement, z, -z))


_LEAST = 1e-300  # below it exponentials lose their digits


@final
@dataclass(frozen=True, slots=True)
class GaussianTradeOff(Curve):
    """The trade-off function of N(0, 1) against N(mu, 1): G(a) = Phi(Phi^-1(1 - a) - mu).

    Raises `InputError` if mu is negative or NaN, and its methods if an epsilon is, or delta is
    not between 0 and 1.

    Attributes:
        mu: At least 0; ``inf`` hides nothing.

    Source:
        Dong, Roth and Su, definition 2.6 and corollary 2.13.
    """

    mu: float

    def __post_init__(self) -> None:
        if not self.mu >= 0:
            raise InputError(f"mu is {self.mu}.", "the shift of Gaussian differential privacy is at least 0.")

    @classmethod
    def of_epsilon(cls, epsilon: float) -> Self:
        """Return the least mu that every mechanism of epsilon-differential privacy satisfies.

        mu = 2 Phi^-1(e**epsilon / (1 + e**epsilon)), attained by binary randomised response.
        """
        check_epsilon(epsilon)
        return cls(-2 * float(ndtri_exp(-float(np.logaddexp(0.0, epsilon)))))

    @classmethod
    def compose(cls, curves: Iterable[Self]) -> Self:
        """Return the curve of several mechanisms used on the same secret: mu = sqrt(sum of mu**2)."""
        return cls(math.hypot(*(curve.mu for curve in curves)))

    def errors(self, alphas: Floats, confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements."""
        if math.isinf(self.mu):
            return np.zeros_like(alphas), np.ones_like(alphas)
        z = quantile(confidences, alphas) - self.mu
        return np.asarray(ndtr(z)), np.asarray(ndtr(-z))

    def delta(self, epsilon: float) -> float:
        """Return the least delta at an epsilon of at least 0, rounded up.

        delta = Phi(-epsilon/mu + mu/2) - e**epsilon Phi(-epsilon/mu - mu/2)
        """
        check_epsilon(epsilon)
        if self.mu == 0 or math.isinf(epsilon):
            return float(math.isinf(self.mu))
        if math.isinf(self.mu):
            return 1.0
        low = float(log_ndtr(-epsilon / self.mu - self.mu / 2)) + epsilon
        high = float(log_ndtr(-epsilon / self.mu + self.mu / 2))
        error = 16 * UNIT * (1 + abs(high) + abs(low) + 2 * epsilon)
        # As a product, so that a small difference of logarithms keeps its digits.
        delta = math.exp(high) * (-math.expm1(min(0.0, low - high)) + error)
        return min(1.0, math.nextafter(delta, 1.0))

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon of at least 0 at a delta, rounded up."""
        check_delta(delta)
        if self.delta(0.0) <= delta:
            return 0.0
        if math.isinf(self.mu) or delta < _LEAST:
            return math.inf

        def enough(epsilon: float) -> bool:
            return self.delta(epsilon) <= delta

        return bisect(enough, *double(enough, fails=0.0, holds=1.0), relative=1e-14).holds
