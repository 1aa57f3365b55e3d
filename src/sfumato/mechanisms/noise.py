"""Noise added to a query's answer: shared properties, integer noise on a range, and recipes."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Capability, Integers, LocalPrivacy, Mechanism, Metric, MetricPrivacy, Recipe, Space, Words
from ..core.arrays import Floats, any_array, integer
from ..core.immutable import assign
from ..errors import InputError
from .family import MechanismFamily, check_listable

_BLOCK: Final = 1 << 16  # tries at a time
_LARGEST: Final = 1 << 40  # noise of 2**23 times this scale does not fit a signed word


class AdditiveNoise(MechanismFamily):
    """Noise on a query's answer; ``sensitivity`` is the largest difference of two answers that are protected."""

    __slots__ = ()
    sensitivity: float
    secrets = observables = None  # numbers

    @property
    def stated_guarantees(self) -> tuple[LocalPrivacy, ...]:
        """None that could be proved of reports."""
        return ()

    def supports(self, capability: Capability) -> bool:  # noqa: ARG002
        """Return False: it has no capability."""
        return False

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise."""

    @property
    @abstractmethod
    def absolute(self) -> float:
        """The expected absolute noise."""


class Noise(AdditiveNoise):
    """Noise on all integers, added to a query's answer: p(o|s) = pmf(o - s)."""

    __slots__ = ()
    sensitivity: int

    @property
    def stated_guarantees(self) -> tuple[LocalPrivacy, ...]:
        """The epsilon between answers that differ by at most the sensitivity; infinite where there is none."""
        return (LocalPrivacy(self.epsilon, self.sensitivity),)

    def supports(self, capability: Capability) -> bool:
        """Return whether the capability is reports for whole numbers."""
        return capability is Capability.NUMBERS

    @abstractmethod
    def pmf(self, value: ArrayLike) -> Floats:
        """Return the probability of noise k, an integer array of any shape, in floating point."""

    @abstractmethod
    def tail(self, value: int) -> float:
        """Return the probability of noise of at least k, for k >= 1, in floating point."""

    @property
    def hamming_loss(self) -> float:
        """The probability that the noise is not 0."""
        return 1 - float(self.pmf(0))

    def estimate_variance(self, reports: int) -> float:
        """Return the variance of the mean of at least one independent report about the mean of the answers."""
        if reports < 1:
            raise InputError(f"{reports} reports were given.", "an estimate needs at least one.")
        return self.variance / reports

    @abstractmethod
    def on_range(self, space: Space) -> Mechanism:
        """Return the mechanism on successive integers that moves reports beyond an end to it."""

    def mechanism(self) -> Mechanism:
        """Raise `InputError`: there are infinitely many reports."""
        raise InputError(
            f"{self.name} on all integers has infinitely many reports.",
            "use clamped(low, high) for a range, or draw from it with sf.sampler.",
        )

    def clamp(self, low: int, high: int) -> Clamped:
        """Return the family on low, ..., high that moves reports there; `InputError` if empty or too large."""
        return Clamped(self, low, high)


@dataclass(frozen=True, slots=True, repr=False)
class Clamped(MechanismFamily):
    """Integer noise whose reports beyond a range are moved to its ends; secrets and reports are low, ..., high.

    Moving reports is post-processing, so the guarantee of the noise still holds.
    """

    name: ClassVar[str] = "clamped noise"
    noise: Noise
    low: int
    high: int

    def __init__(self, noise: Noise, low: int, high: int) -> None:
        if high < low:
            raise InputError(f"the range {low} to {high} is empty.", "put the smaller integer first.")
        check_listable(high - low + 1, high - low + 1, f"{noise.name} from {low} to {high}")
        assign(self, noise=noise, low=low, high=high)

    @property
    def space(self) -> Space:
        """The integers low, ..., high."""
        return Space.numbers(range(self.low, self.high + 1))

    @property
    def secrets(self) -> Space:
        """The integers low, ..., high."""
        return self.space

    @property
    def metric(self) -> Metric:
        """The distance of two secrets in units of the sensitivity, rounded up."""
        apart = np.ceil(self.space.metric("absolute").array / self.noise.sensitivity)
        return Metric(apart, name=f"steps of at most {self.noise.sensitivity}", triangle=True)

    @property
    def epsilon(self) -> float:
        """The epsilon between secrets one step apart: the noise's, if the range is as wide as its sensitivity.

        Gaussian noise has none, but on a range there is one, computed in floating point: ln of P(noise >= w -
        sensitivity) / P(noise >= w) for the range's width w.
        """
        width = self.high - self.low
        if math.isfinite(self.noise.epsilon) or width == 0:
            return self.noise.epsilon if width else 0.0
        near = width - min(self.noise.sensitivity, width)
        inner = self.noise.tail(near) if near else 0.5 * (2 - self.noise.hamming_loss)
        outer = self.noise.tail(width)
        return math.log(inner / outer) if outer > 0 else math.inf

    @property
    def hamming_loss(self) -> float:
        """The probability that the report is not the secret, for secrets that are uniform on the range."""
        n = self.high - self.low + 1
        truth = 1 - self.noise.hamming_loss
        return (1 - truth) * (n - 1) / n if n > 1 else 0.0

    def mechanism(self) -> Mechanism:
        """Return the truncated mechanism in integers; where the noise has an epsilon, it is stated per step."""
        matrix, epsilon = self.noise.on_range(self.space), self.noise.epsilon
        if not math.isfinite(epsilon):
            return matrix.promising(())
        return matrix.promising(MetricPrivacy(epsilon, self.metric))


class NoiseRecipe(Recipe):
    """Add independent noise to each answer, which is any integer.

    Coins have rational probabilities and compare random words with integers. The time of a draw depends on the
    noise, never on the answer.
    """

    __slots__ = ()
    secrets = None  # any integer

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return each answer plus independent noise."""
        return rows + self.noise(len(rows), words)

    def noise(self, count: int, words: Words) -> NDArray[np.int64]:
        """Return independent noise, array (count,)."""
        parts: list[NDArray[np.int64]] = []
        missing = count
        while missing > 0:
            parts.append(self._accepted_draws(min(_BLOCK, 2 * missing + 64), words)[:missing])
            missing -= len(parts[-1])
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    @abstractmethod
    def _accepted_draws(self, tries: int, words: Words) -> NDArray[np.int64]:
        """Return the draws that were accepted out of ``tries``."""


def rational(value: Rational | float | str, subject: str) -> Fraction:
    """Return a positive number as the exact fraction it is; `InputError` for anything else."""
    try:
        fraction = Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"{subject} {value!r} is not a number.", "use a number, or text such as '1/3'.") from None
    if fraction <= 0:
        raise InputError(f"{subject} must be positive, but {value} was given.", "use a number above 0.")
    return fraction


def check_scale(scale: Fraction) -> None:
    """Refuse noise that would not fit the samplers' words (`InputError`)."""
    if scale > _LARGEST:
        raise InputError(f"the noise has the scale {float(scale):.3g}, more than 2**40.", "use a coarser unit.")


def whole(value: int, subject: str) -> int:
    """Return an integer from 1 to 2**31; `InputError` for anything else."""
    number = integer(value)
    if number is None or not 1 <= number <= 1 << 31:
        raise InputError(f"{subject} {value!r} is not a positive integer.", "use 1, 2, ... up to 2**31.")
    return number


def integers(value: ArrayLike) -> NDArray[np.int64]:
    """Return an array of integers; `InputError` for anything else."""
    array = any_array(value, "value=")
    if array.dtype.kind not in "iu":
        raise InputError(f"the noise is given as {array.dtype}.", "pass integers.")
    return array.astype(np.int64)
