"""Coins thrown one at a time, with plain integers: the algorithms of `coins`, faster for a single draw."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from ..core import Words

_BLOCK: Final = 32  # words read at a time: about what one draw of planar noise needs


class Thrown:
    """Integers and coins from a source of words, which is read in blocks; what is left of a block is never used.

    Make one for each draw: nothing is then held back, and processes that fork share no words.

    Args:
        words: Where the randomness comes from.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020,
        algorithms 1 and 2.
    """

    __slots__ = ("_left", "_words")

    def __init__(self, words: Words) -> None:
        self._words = words
        self._left: list[int] = []

    def word(self) -> int:
        """Return the next word of 64 bits."""
        if not self._left:
            self._left = self._words.draw(_BLOCK).tolist()[::-1]
        return self._left.pop()

    def below(self, bound: int) -> int:
        """Return a uniform integer from 0 to bound - 1."""
        bits = (bound - 1).bit_length()
        while bits:
            found = self.word() >> (-bits % 64)
            for _ in range((bits - 1) // 64):
                found = found << 64 | self.word()
            if found < bound:
                return found
        return 0

    def coin(self, numerator: int, denominator: int) -> bool:
        """Throw a coin of probability n / d, 0 <= n < d: random digits in base 2**64 against those of n / d."""
        while True:
            digit, numerator = divmod(numerator << 64, denominator)
            word = self.word()
            if word != digit:
                return word < digit

    def decay(self, numerator: int, denominator: int, start: int = 1) -> bool:
        """Throw a coin of probability exp(-n / d), 0 <= n < d; with n = d = 1 for a start of 2."""
        k = start
        while self.coin(numerator, denominator * k):
            k += 1
        return k % 2 == 1

    def magnitude(self, scale: Fraction) -> int:
        """Return k >= 0 with probability proportional to exp(-k / scale)."""
        t, s = scale.numerator, scale.denominator
        while True:
            u = self.below(t)
            if self.decay(u, t):
                break
        v = 0
        while self.decay(1, 1, 2):
            v += 1
        return (u + t * v) // s

    def signed(self, scale: Fraction) -> int:
        """Return an integer k with probability proportional to exp(-|k| / scale)."""
        while True:
            found, negative = self.magnitude(scale), self.word() >> 63
            if found or not negative:
                return -found if negative else found
