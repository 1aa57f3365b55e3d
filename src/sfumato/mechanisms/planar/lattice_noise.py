"""Planar geometric noise on a fine square lattice: exact draws, nearest points, and sums of exp(-rate |z|).

Draws need coins of probability exp(-x) for x = (sqrt(N) - A) / D with integers. Floats decide where their error
cannot matter: they use +, *, / and square roots only, which IEEE 754 rounds correctly. Otherwise
`RootExponent.digits` gives as many binary digits of x / k as needed, in integers: docs/proofs/planar-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, lcm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core import Bracket, Words
from ...core.arrays import Floats
from ...core.bracket import bisect
from ...core.immutable import Immutable, assign
from ...errors import InputError
from ...sampling import ScalarCoins
from ..discrete_noise import LaplaceNoise
from ..noise import check_scale

_BLOCK: Final = 1 << 15  # tries at a time: what a block needs stays in the processor's cache
_FINE: Final = 1 << 10  # how finely the scale of the proposal is chosen

Integers = NDArray[np.signedinteger[Any]]
Truths = NDArray[np.bool_]

_RELATIVE: Final = 2.0**-47  # of the two terms of x: what their floats may be off by, and more
_ABSOLUTE: Final = 2.0**-52  # of 64 random bits as a float, and more

_CUBES: Final = 9.03362168310096  # 4 zeta(3/2) beta(3/2), the sum of |k|**-3, rounded up
_SMALL: Final = Fraction(1, 8)  # rates up to it are summed by Poisson's formula, others term by term
_DEEP: Final = 45.0  # exponents to which terms are added
_STEEP: Final = 500.0  # rates up to it have exponentials, others are so steep that hardly any noise is left
_ROUNDING: Final = 1e-12  # of sums of positive terms, of exponentials and of the formulas here

_FARTHEST: Final = 2.0**40  # steps: noise added to such positions fits a word by far
_NEAR_A_BORDER: Final = 2.0**-10  # in steps: more than the rounding of a quotient up to the farthest


@dataclass(frozen=True, slots=True)
class LatticeNoise(Immutable):
    """Noise z = (i, j) in whole steps with probability exp(-rate |z|) / Z, |z| the Euclidean length.

    Both coordinates are discrete Laplace noise of a rational slope just below rate / sqrt(2). The pair is accepted
    with probability exp(-(rate |z| - slope (|i| + |j|))), whose exponent is never negative, as |i| + |j| <=
    sqrt(2) |z|. About pi / 4 of all pairs are accepted where the rate is small. No float decides about a draw,
    whose time depends on the noise alone. The rate is per step, ``exponent`` that of the acceptance, and
    ``proposal`` the noise of each coordinate. Raises `InputError` if the rate is not positive, or too small for
    the words that samplers use.

    Source:
        docs/proofs/planar-noise.md; the coins are those of Canonne, Kamath and Steinke, "The discrete Gaussian for
        differential privacy", 2020.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.sampling import SeededWords
        >>> LatticeNoise(Fraction(1, 500)).noise(2, SeededWords(7))
        array([[...]])
    """

    rate: Fraction
    exponent: RootExponent = field(init=False, repr=False, compare=False)
    proposal: LaplaceNoise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise InputError(f"the rate {self.rate} is not positive.", "use a number above 0.")
        s, p, q = max(1, math.ceil(self.rate * _FINE)), self.rate.numerator, self.rate.denominator
        scale = Fraction(isqrt((2 * s * s * q * q - 1) // (p * p)) + 1, s)  # at least sqrt(2) / rate, and near it
        check_scale(scale)
        assign(self, exponent=RootExponent(self.rate, 1 / scale), proposal=LaplaceNoise(scale))

    def noise(self, count: int, words: Words) -> NDArray[np.int64]:
        """Return independent noise in steps, array (count, 2)."""
        parts: list[NDArray[np.int64]] = []
        missing = count
        while missing > 0:
            tries = min(_BLOCK, missing + missing // 2 + 16)
            proposed = self.proposal.noise(2 * tries, words).reshape(tries, 2)
            parts.append(proposed[self.exponent.accepts(proposed, words)][:missing])
            missing -= len(parts[-1])
        return np.concatenate(parts) if parts else np.empty((0, 2), dtype=np.int64)

    def noise_one(self, coins: ScalarCoins) -> tuple[int, int]:
        """Return one noise in steps, drawn with plain integers; see `noise`."""
        while True:
            i, j = coins.laplace(self.proposal.scale), coins.laplace(self.proposal.scale)
            if self.exponent.accepted_one(i, j, coins):
                return i, j

    def length_above(self, failure: float) -> float:
        """Return a length in steps that noise exceeds with a probability of at most ``failure``, rounded up."""

        def rare(length: float) -> bool:
            return float(share_beyond(self.rate, np.array(length))) <= failure

        farthest = max(1.0, 1 / float(self.rate))
        while not rare(farthest):
            farthest *= 2
        return bisect(rare, fails=0.0, holds=farthest, relative=1e-9).holds

    @property
    def acceptance(self) -> Bracket:
        """The share of accepted proposals, Z tanh(slope / 2)**2, between proved bounds."""
        total = normaliser(self.rate)
        most = math.tanh(float(self.exponent.slope) / 2) ** 2
        return Bracket(total.lower * most * (1 - 1e-12), total.value * most, total.upper * most * (1 + 1e-12))


@dataclass(frozen=True, slots=True)
class RootExponent:
    """Exponents x(i, j) = rate sqrt(i**2 + j**2) - slope (|i| + |j|) >= 0, for slopes up to rate / sqrt(2)."""

    rate: Fraction
    slope: Fraction

    def whole_terms(self, i: int, j: int) -> tuple[int, int, int]:
        """Return integers (N, A, D) with x = (sqrt(N) - A) / D, D positive."""
        base = lcm(self.rate.denominator, self.slope.denominator)
        root = (self.rate * base).numerator ** 2 * (i * i + j * j)
        return root, (self.slope * base).numerator * (abs(i) + abs(j)), base

    def digits(self, i: int, j: int, divisor: int, count: int) -> int:
        """Return floor(2**count x / divisor), exactly."""
        root, less, base = self.whole_terms(i, j)
        return (isqrt(root << 2 * count) - (less << count)) // (base * divisor)

    def floats(self, offsets: Integers) -> tuple[Floats, Floats]:
        """Return x for offsets (n, 2) in floating point, and bounds of the errors by some thirteen roundings."""
        i, j = np.abs(offsets[:, 0]).astype(np.float64), np.abs(offsets[:, 1]).astype(np.float64)
        first, second = float(self.rate) * np.sqrt(i * i + j * j), float(self.slope) * (i + j)
        return np.maximum(first - second, 0.0), _RELATIVE * (first + second)

    def accepts(self, offsets: Integers, words: Words, doubt: float = 1.0) -> Truths:
        """Throw one coin of probability exp(-x) for each offset, array (n,): the product of t coins exp(-x / t).

        The whole number t above x depends on the offset alone. The error allowed for floats is multiplied by
        ``doubt``: every factor from 1 gives the same answer for given words, and for a huge one integers alone
        decide.
        """
        x, error = self.floats(offsets)
        times = 1 + np.floor(x + 0.25).astype(np.int64)
        accepted = np.ones(len(offsets), dtype=bool)
        alive, throws = np.arange(len(offsets)), 0
        while alive.size:
            odd = self._fails_odd(offsets[alive], x[alive], error[alive] * doubt, times[alive], words, doubt)
            accepted[alive[~odd]] = False
            alive, throws = alive[odd], throws + 1
            alive = alive[times[alive] > throws]
        return accepted

    def accepted_one(self, i: int, j: int, coins: ScalarCoins) -> bool:
        """Throw one coin of probability exp(-x(i, j)), by integers alone; see `accepts`."""
        x = float(self.rate) * math.hypot(i, j) - float(self.slope) * (abs(i) + abs(j))
        times = 1 + math.floor(max(x, 0.0) + 0.25)
        for _ in range(times):
            k = 1
            while self._is_below(i, j, times * k, coins.word(), coins.word):
                k += 1
            if k % 2 == 0:
                return False
        return True

    def _fails_odd(
        self, offsets: Integers, x: Floats, error: Floats, times: Integers, words: Words, doubt: float
    ) -> Truths:
        """Throw coins of probability exp(-x / t): whether x / t, x / 2t, ... first fail at an odd number."""
        odd = np.zeros(len(x), dtype=bool)
        alive, k = np.arange(len(x)), 1
        while alive.size:
            divisor = times[alive] * k
            word = words.draw(alive.size)
            margin = word * 2.0**-64 - x[alive] / divisor
            success = margin < 0
            unsure = np.flatnonzero(~(np.abs(margin) > error[alive] / divisor + _ABSOLUTE * doubt))
            for place in unsure.tolist():
                i, j = offsets[alive[place]].tolist()
                success[place] = self._is_below(
                    i, j, int(divisor[place]), int(word[place]), lambda: int(words.draw(1)[0])
                )
            odd[alive[~success]] = k % 2 == 1
            alive, k = alive[success], k + 1
        return odd

    def _is_below(self, i: int, j: int, divisor: int, word: int, more: Callable[[], int]) -> bool:
        """Return whether a uniform number, of which 64 bits are drawn, is below x / divisor."""
        count = 64
        while True:
            digits = self.digits(i, j, divisor, count)
            if word != digits:
                return word < digits
            word, count = word << 64 | more(), count + 64


def normaliser(rate: Fraction) -> Bracket:
    """Return Z, the sum of exp(-rate |z|) over all lattice points, between proved bounds."""
    a = float(rate)
    if rate <= _SMALL:
        first = 2 * math.pi / a**2
        return _widen(first, first * (1 + _CUBES * (a / (2 * math.pi)) ** 3))
    least, reach = _sum(a, 0)
    return _widen(least, least + _tail_sums(a, reach)[0])


def mean_length(rate: Fraction) -> Bracket:
    """Return the mean of |z| in steps, between proved bounds: about 2 / rate where the rate is small."""
    a, whole = float(rate), normaliser(rate)
    if rate <= _SMALL:
        most = 4 * math.pi / a**3
        sums = _widen(most - _CUBES / (2 * math.pi) ** 2, most)
    else:
        least, reach = _sum(a, 1)
        sums = _widen(least, least + _tail_sums(a, reach)[1])
    return _widen(sums.lower / whole.upper, sums.upper / whole.lower)


def share_beyond(rate: Fraction, distance: Floats) -> Floats:
    """Return bounds of the probability of noise longer than distances in steps, array of any shape.

    At most exp(rate / sqrt(2)) (1 + t) exp(-t) with t = rate (distance - 1 / sqrt(2)).
    """
    a = float(rate)
    t = np.maximum(a * (distance - math.sqrt(0.5)), 0.0)
    if a < _STEEP:
        decay = math.exp(a * math.sqrt(0.5)) * np.exp(-t)
    else:  # the first factor may be no float; rounding is on the larger side
        decay = np.exp(np.minimum(a * (math.sqrt(2) * (1 + 2.0**-50) - distance), 0.0))
    return np.minimum((1 + t) * decay * (1 + _ROUNDING), 1.0)


def _sum(a: float, power: int) -> tuple[float, int]:
    """Return the sum of |z|**power exp(-a |z|) over max(|i|, |j|) <= reach, and the reach."""
    reach = math.ceil(_DEEP / a)
    line = np.arange(reach + 1, dtype=np.float64)
    lengths = np.hypot(line[:, None], line)
    times = np.where(line == 0, 1.0, 2.0)
    return float(times @ (lengths**power * np.exp(-a * lengths)) @ times), reach


def _tail_sums(a: float, reach: int) -> tuple[float, float]:
    """Return bounds of the sums of exp(-a |z|) and |z| exp(-a |z|) over max(|i|, |j|) > reach.

    There are 8 r points of larger coordinate r, of length up to sqrt(2) r, and r**2 exp(-a r / 2) < 16 / (e a)**2.
    """
    missing = -math.expm1(-a / 2)
    rest = math.exp(-a * (reach + 1) / 2) / missing
    most = 16 / (math.e * a) / (math.e * a)
    return 8 * most * rest, 8 * math.sqrt(2) * most * rest


def _widen(lower: float, upper: float) -> Bracket:
    return Bracket.of_bounds(lower * (1 - _ROUNDING), upper * (1 + _ROUNDING))


def snap_one(place_m: float, step_m: Fraction) -> int:
    """Return the nearest lattice point along one axis in steps, as `snap` does, but unchecked."""
    quotient = place_m / float(step_m)
    position = math.floor(quotient + 0.5)
    if abs(abs(quotient - position) - 0.5) < _NEAR_A_BORDER:
        position = math.floor(Fraction(place_m) / step_m + Fraction(1, 2))
    return position


def snap(points_m: Floats, step_m: Fraction) -> NDArray[np.int64]:
    """Return the nearest lattice point of each finite place in steps, array (n, 2); on a border the upper one."""
    quotients = points_m / float(step_m)
    if not (np.abs(quotients) < _FARTHEST).all():
        raise InputError(
            f"a place is more than {_FARTHEST * float(step_m) / 1000:,.0f} km from the origin of the plane.",
            "centre the plane on the places.",
        )
    positions = np.floor(quotients + 0.5).astype(np.int64)
    unsure = np.argwhere(np.abs(np.abs(quotients - positions) - 0.5) < _NEAR_A_BORDER)
    for row, axis in unsure.tolist():
        positions[row, axis] = math.floor(Fraction(float(points_m[row, axis])) / step_m + Fraction(1, 2))
    return positions
