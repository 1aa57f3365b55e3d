"""Coins of probability exp(-x) for x = (sqrt(N) - A) / D with integers: exact though x is irrational.

A coin of probability x / k, for k = 1, 2, ..., compares a uniform number with x / k. Floats
decide where their error cannot matter: they add, multiply, divide and take square roots, which
IEEE 754 rounds correctly, and no exponential. Otherwise `digits` gives as many binary digits of
x / k as the comparison needs, in integers. docs/proofs/planar-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core import Words
from ...core.arrays import Floats
from ...sampling import ScalarCoins

Integers = NDArray[np.signedinteger[Any]]
Truths = NDArray[np.bool_]

_RELATIVE: Final = 2.0**-47  # of the two terms of x: what their floats may be off by, and more
_ABSOLUTE: Final = 2.0**-52  # of 64 random bits as a float, and more


@dataclass(frozen=True, slots=True)
class RootExponent:
    """The exponents x(i, j) = rate sqrt(i**2 + j**2) - slope (|i| + |j|) >= 0.

    Attributes:
        rate: A positive rational number.
        slope: A rational number from 0 to rate / sqrt(2), so that no x is negative.
    """

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
        """Return x for offsets (n, 2) in floating point, and by how much each may be off.

        Thirteen roundings, of squares, sum, root, both products, their factors and the
        difference, err by less than 2**-47 times the sum of both terms.
        """
        i, j = np.abs(offsets[:, 0]).astype(np.float64), np.abs(offsets[:, 1]).astype(np.float64)
        first, second = float(self.rate) * np.sqrt(i * i + j * j), float(self.slope) * (i + j)
        return np.maximum(first - second, 0.0), _RELATIVE * (first + second)

    def accepted(self, offsets: Integers, words: Words, doubt: float = 1.0) -> Truths:
        """Throw one coin of probability exp(-x) for each offset, array (n,).

        exp(-x) is the product of t coins of probability exp(-x / t), where t is a whole
        number above x. Which t is taken depends on the offset alone and changes nothing.

        Args:
            offsets: Integers i, j, array (n, 2).
            words: Where the randomness comes from.
            doubt: By which to multiply the error that is allowed for floats; the answer
                for given words is the same for every factor from 1, and integers alone
                decide for a huge one.
        """
        x, error = self.floats(offsets)
        times = 1 + np.floor(x + 0.25).astype(np.int64)
        kept = np.ones(len(offsets), dtype=bool)
        alive, thrown = np.arange(len(offsets)), 0
        while alive.size:
            odd = self._first_failure_odd(
                offsets[alive], x[alive], error[alive] * doubt, times[alive], words, doubt
            )
            kept[alive[~odd]] = False
            alive, thrown = alive[odd], thrown + 1
            alive = alive[times[alive] > thrown]
        return kept

    def accepted_one(self, i: int, j: int, coins: ScalarCoins) -> bool:
        """Throw one coin of probability exp(-x(i, j)), by integers alone; see `accepted`."""
        x = float(self.rate) * math.hypot(i, j) - float(self.slope) * (abs(i) + abs(j))
        times = 1 + math.floor(max(x, 0.0) + 0.25)
        for _ in range(times):
            k = 1
            while self._below(i, j, times * k, coins.word(), coins.word):
                k += 1
            if k % 2 == 0:
                return False
        return True

    def _first_failure_odd(
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
                success[place] = self._below(
                    i, j, int(divisor[place]), int(word[place]), lambda: int(words.draw(1)[0])
                )
            odd[alive[~success]] = k % 2 == 1
            alive, k = alive[success], k + 1
        return odd

    def _below(self, i: int, j: int, divisor: int, word: int, more: Callable[[], int]) -> bool:
        """Return whether a uniform number, of which 64 bits are drawn, is below x / divisor."""
        count = 64
        while True:
            digits = self.digits(i, j, divisor, count)
            if word != digits:
                return word < digits
            word, count = word << 64 | more(), count + 64
