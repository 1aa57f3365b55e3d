"""Sums of exp(-rate |z|) over the square lattice: the total, the mean length and the tails, between bounds.

By Poisson's formula the total is the sum over whole vectors k of 2 pi rate / (rate**2 + w**2)**1.5
with w = 2 pi |k|. The term k = 0 is the planar Laplace's, and all others together are below
E (rate / 2 pi)**3 of it, E being the sum of |k|**-3 over k other than 0. docs/proofs/planar-noise.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from ...core import Bracket
from ...core.arrays import Floats

_CUBES: Final = 9.03362168310096  # 4 zeta(3/2) beta(3/2), the sum of |k|**-3, rounded up
_SMALL: Final = Fraction(1, 8)  # rates up to it are summed by Poisson's formula, others term by term
_DEEP: Final = 45.0  # exponents to which terms are added
_STEEP: Final = 500.0  # rates up to it have exponentials, others are so steep that hardly any noise is left
_ROUNDING: Final = 1e-12  # of sums of positive terms, of exponentials and of the formulas here


def total(rate: Fraction) -> Bracket:
    """Return Z, the sum of exp(-rate |z|) over all lattice points, between proved bounds."""
    a = float(rate)
    if rate <= _SMALL:
        first = 2 * math.pi / a**2
        return _widened(first, first * (1 + _CUBES * (a / (2 * math.pi)) ** 3))
    least, reach = _summed(a, 0)
    return _widened(least, least + _beyond(a, reach)[0])


def mean_length(rate: Fraction) -> Bracket:
    """Return the mean of |z| in steps, between proved bounds: about 2 / rate where the rate is small."""
    a, whole = float(rate), total(rate)
    if rate <= _SMALL:
        most = 4 * math.pi / a**3
        lengths = _widened(most - _CUBES / (2 * math.pi) ** 2, most)
    else:
        least, reach = _summed(a, 1)
        lengths = _widened(least, least + _beyond(a, reach)[1])
    return Bracket.between(
        lengths.lower / whole.upper * (1 - _ROUNDING), lengths.upper / whole.lower * (1 + _ROUNDING)
    )


def share_beyond(rate: Fraction, distance: Floats) -> Floats:
    """Return upper bounds of the probability of noise longer than some distances.

    At most exp(rate / sqrt(2)) (1 + t) exp(-t) with t = rate (distance - 1 / sqrt(2)).

    Args:
        rate: Per step.
        distance: In steps, an array of any shape.
    """
    a = float(rate)
    t = np.maximum(a * (distance - math.sqrt(0.5)), 0.0)
    if a < _STEEP:
        decay = math.exp(a * math.sqrt(0.5)) * np.exp(-t)
    else:  # the first factor may be no float; rounding is on the larger side
        decay = np.exp(np.minimum(a * (math.sqrt(2) * (1 + 2.0**-50) - distance), 0.0))
    share: Floats = np.minimum((1 + t) * decay * (1 + _ROUNDING), 1.0)
    return share


def _summed(a: float, power: int) -> tuple[float, int]:
    """Return the sum of |z|**power exp(-a |z|) over max(|i|, |j|) <= reach, and the reach."""
    reach = math.ceil(_DEEP / a)
    line = np.arange(reach + 1, dtype=np.float64)
    lengths = np.hypot(line[:, None], line)
    times = np.where(line == 0, 1.0, 2.0)
    return float(times @ (lengths**power * np.exp(-a * lengths)) @ times), reach


def _beyond(a: float, reach: int) -> tuple[float, float]:
    """Return bounds of the sums of exp(-a |z|) and |z| exp(-a |z|) over max(|i|, |j|) > reach.

    There are 8 r points whose larger coordinate is r, of length r to sqrt(2) r, and
    r**2 exp(-a r / 2) is below 16 / (e a)**2.
    """
    missing = -math.expm1(-a / 2)
    rest = math.exp(-a * (reach + 1) / 2) / missing
    most = 16 / (math.e * a) / (math.e * a)
    return 8 * most * rest, 8 * math.sqrt(2) * most * rest


def _widened(lower: float, upper: float) -> Bracket:
    return Bracket.between(lower * (1 - _ROUNDING), upper * (1 + _ROUNDING))
