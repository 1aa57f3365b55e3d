"""Accuracy of noise on whole numbers: the largest likely error from epsilon, and back, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Final

from scipy.special import ndtri

from ..core.arrays import integer
from ..core.bracket import bisect, double
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..intervals import Interval, negative, rational_interval
from ..rounding import about, at_least, at_most, float_below
from .discrete_noise import DiscreteLaplace, Staircase
from .noise import Noise

_FARTHEST: Final = 1 << 40
_OUTWARD: Final = 1 + 1e-10  # more than the rounding of a tail that is summed in floating point


@dataclass(frozen=True, slots=True, repr=False)
class NoiseAccuracy(CompactRepr):
    """Noise on whole numbers, with the error of its reports.

    ``off_by`` is the least k for which a report's error is proved to be at most k with probability at least 1 -
    ``failure``.
    """

    noise: Noise
    off_by: int
    failure: Fraction

    @property
    def epsilon(self) -> float:
        """The noise's epsilon for numbers that differ by at most its sensitivity; ``inf`` for Gaussian noise."""
        return self.noise.epsilon

    @property
    def sentences(self) -> tuple[str, ...]:
        """The accuracy in words."""
        sure = at_least(float_below(100 * (1 - self.failure)), 6)
        apart = f"true numbers that differ by at most {self.noise.sensitivity:,}"
        of = f"epsilon {at_most(self.epsilon, 6)} for {apart}" if math.isfinite(self.epsilon) else f"{apart}"
        name = self.noise.name[0].upper() + self.noise.name[1:]
        exact = isinstance(self.noise, DiscreteLaplace | Staircase)
        least = "A smaller number would not do." if exact else "No smaller number is proved to do."
        return (
            f"{name} ({of}): with a probability of at least {sure} %, a report is off by at most {self.off_by:,}. "
            f"{least}",
            f"On average a report is off by about {about(self.noise.absolute, 3)}. Both hold for one report, "
            "for every true number.",
        )

    def __repr__(self) -> str:
        return self.sentences[0]


def noise_accuracy(
    noise: Noise | None = None,
    *,
    epsilon: Rational | float | str | None = None,
    off_by: int | None = None,
    sensitivity: int = 1,
    failure: float = 0.05,
) -> NoiseAccuracy:
    """Return the largest likely error of noise on whole numbers, or the epsilon for such an error.

    One of ``noise``, ``epsilon`` and ``off_by`` is given. For noise, or discrete Laplace noise of epsilon, the
    least k is found such that |noise| > k has a probability of at most ``failure``, the decimal number that it
    prints as. For ``off_by`` = k the least epsilon among floats is found with which discrete Laplace noise
    achieves this. For discrete Laplace and staircase noise both are exact, by interval arithmetic with as many
    bits as the comparison needs. A tail of Gaussian noise is summed in floating point and rounded up by a part in
    10**10: its k suffices, too. Without noise the sensitivity is the largest difference of two true numbers that
    are protected from each other.

    For discrete Laplace noise with r = epsilon / sensitivity, P(|noise| > k) = 2 exp(-r (k + 1)) / (1 + exp(-r)).

    Raises `InputError` if not one of the three is given, or an argument is out of range.

    Source:
        OpenDP's ``accuracy_to_discrete_laplacian_scale``, whose accuracy is the real number a such that noise is a
        or farther from 0 with probability alpha: k = ceil(a) - 1.

    Example:
        >>> import sfumato as sf
        >>> sf.noise_accuracy(epsilon="1/2").off_by
        6
        >>> sf.noise_accuracy(off_by=6).epsilon
        0.4569...
    """
    count = sum(option is not None for option in (noise, epsilon, off_by))
    if count != 1:
        raise InputError(
            f"one of {argument('noise')}, {argument('epsilon')} and {argument('off_by')} is needed, but {count} "
            "were given.",
            "give one of them.",
        )
    if not 0 < failure < 1:
        raise InputError(
            f"{argument('failure', failure)} is not between 0 and 1.", f"use {argument('failure', 0.05)} for 5 %."
        )
    risk = Fraction(repr(float(failure)))
    if off_by is not None:
        reach = integer(off_by)
        if reach is None or not 0 <= reach <= _FARTHEST:
            raise InputError(
                f"{argument('off_by', off_by)} is not a whole number from 0 to {_FARTHEST:,}.",
                "say how far a report may be off.",
            )
        noise = DiscreteLaplace(_epsilon_for(reach, sensitivity, risk), sensitivity)
        return NoiseAccuracy(noise, reach, risk)
    if noise is None:
        noise = DiscreteLaplace(epsilon or 0, sensitivity)
    elif sensitivity != 1:
        raise InputError(
            f"{argument('sensitivity', sensitivity)} was given with noise, which has its own.", "leave it out."
        )
    return NoiseAccuracy(noise, _off_by(noise, risk), risk)


def _off_by(noise: Noise, failure: Fraction) -> int:
    def enough(reach: int) -> bool:
        return _has_small_tail(noise, reach, failure)

    if enough(0):
        return 0
    guess = int(-ndtri(min(0.5, float(failure) / 2)) * math.sqrt(noise.variance))
    low, high = max(0, guess - 2), guess + 2
    if low == 0 or enough(low) or not enough(high):  # not nearly normal
        low, high = double(enough, fails=0, holds=1)
    return bisect(enough, low, high).holds


def _epsilon_for(off_by: int, sensitivity: int, failure: Fraction) -> float:
    """Return the least float that is enough, or raise if the noise's scale would be too large."""

    def enough(epsilon: float) -> bool:
        return _has_small_tail(DiscreteLaplace(epsilon, sensitivity), off_by, failure)

    least = math.nextafter(sensitivity / _FARTHEST, math.inf)
    if enough(least):
        raise InputError(f"noise that may be off by {off_by:,} has a scale above 2**40.", "use a coarser unit.")
    return bisect(enough, *double(enough, fails=least, holds=2 * least)).holds


def _has_small_tail(noise: Noise, reach: int, failure: Fraction) -> bool:
    """Return whether P(|noise| > reach) is proved to be at most ``failure``."""
    if isinstance(noise, DiscreteLaplace):
        return negative(lambda: _laplace_excess(noise, reach, failure))
    if isinstance(noise, Staircase):
        return negative(lambda: _staircase_excess(noise, reach, failure))
    return 2 * noise.tail(reach + 1) * _OUTWARD + 1e-300 <= float_below(failure)


def _laplace_excess(noise: DiscreteLaplace, reach: int, failure: Fraction) -> Interval:
    """Return 2 exp(-r (k + 1)) - failure (1 + exp(-r)), which is never 0: e to a rational is transcendental."""
    allowed = rational_interval(failure) * (1 + rational_interval(-noise.rate).exp())
    return 2 * rational_interval(-noise.rate * (reach + 1)).exp() - allowed


def _staircase_excess(noise: Staircase, reach: int, failure: Fraction) -> Interval:
    """Return P(|noise| > k) - failure: the rest of one stair, then a geometric series of whole ones."""
    width, step = noise.sensitivity, noise.step
    stairs, within = divmod(reach + 1, width)
    high, low = max(step - within, 0), width - max(step, within)
    b = rational_interval(-noise.parameter).exp()
    whole = (step + (width - step) * b) / (1 - b)
    top = 1 / (2 * whole - 1)
    tail = top * rational_interval(-noise.parameter * stairs).exp() * (high + low * b + whole * b)
    return 2 * tail - rational_interval(failure)
