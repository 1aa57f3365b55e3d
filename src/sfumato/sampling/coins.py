"""Random words of the operating system, a seed or a secret key, and exact coins and integers from them.

The algorithms 1 and 2 are those of Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
2020.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Uints, Words
from ..core.arrays import integer
from ..errors import InputError

Integers = NDArray[Any]
Truths = NDArray[np.bool_]

_BLOCK: Final = 32  # words read at a time: about what one draw of planar noise needs
SECRET_BYTES: Final = 32  # of a key: 256 bits
_WORDS: Final = 8  # of 64 bits in one hash
_PURPOSE_BYTES: Final = 16


class SystemWords:
    """The cryptographic generator of the operating system: no seed, no state, no repetition.

    It stores nothing between calls, so processes that fork never share words.
    """

    __slots__ = ()

    def draw(self, count: int) -> Uints:
        """Return ``count`` fresh words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def __repr__(self) -> str:
        return "SystemWords: the operating system's cryptographic generator"


class SeededWords:
    """A reproducible generator (PCG64 DXSM), for tests and studies only.

    Anyone who knows or guesses the seed can undo the noise: never release reports drawn with it.

    Args:
        seed: A non-negative integer; there is no default.

    Raises:
        InputError: If the seed is not a non-negative integer.
    """

    __slots__ = ("_generator", "seed")

    def __init__(self, seed: int) -> None:
        number = integer(seed)
        if number is None or number < 0:
            raise InputError(f"the seed {seed!r} is not an integer of at least 0.", "use a number such as 7.")
        self.seed = number
        self._generator = np.random.PCG64DXSM(self.seed)

    def draw(self, count: int) -> Uints:
        """Return the next ``count`` words of the seed's sequence."""
        return self._generator.random_raw(count)

    def __repr__(self) -> str:
        return f"SeededWords(seed={self.seed}): for studies, never for release"


class UnevenWordsError(InputError):
    """A number of words that cannot be divided evenly among the rows."""


class KeyedWords:
    """Words that belong to rows: each row has its own stream, a function of a secret and the row's key alone.

    It is the one source of randomness that can be repeated, for engines that run a task again when a machine
    fails. Block j of a row's stream is BLAKE2b, keyed with the secret, of the number j and the row's key. Without
    the secret these words look independent and uniform (reports are equal in law up to the cipher); with it the
    noise can be undone. So draw the secret from the operating system, and delete it afterwards.

    Streams do not depend on batches: n rows at a time are given m n words, the next m of each row, row by row.

    Args:
        secret: 32 bytes from the operating system, never used for another release.
        rows: The keys of the rows, no two of them equal.
        purpose: At most 16 bytes; streams of different purposes are independent.

    Raises:
        InputError: If the secret or the purpose is of another length.

    Source:
        RFC 7693 (BLAKE2b, its keys and personalisation).
    """

    __slots__ = ("_hash", "_rows", "_table", "_used")

    def __init__(self, secret: bytes, rows: Sequence[bytes], purpose: bytes = b"") -> None:
        if len(secret) != SECRET_BYTES:
            raise InputError(
                f"a secret of {len(secret)} bytes was given.",
                f"draw {SECRET_BYTES} with os.urandom({SECRET_BYTES}).",
            )
        if len(purpose) > _PURPOSE_BYTES:
            raise InputError(
                f"a purpose of {len(purpose)} bytes was given.", f"use at most {_PURPOSE_BYTES} bytes."
            )
        self._rows = rows
        self._hash = hashlib.blake2b(digest_size=8 * _WORDS, key=secret, person=purpose)
        self._table = np.empty((len(rows), 0), dtype=np.uint64)
        self._used = 0

    def draw(self, count: int) -> Uints:
        """Return the next words of every row, those of one row next to each other.

        Raises:
            UnevenWordsError: If the count is not a multiple of the number of rows.
        """
        if count == 0:
            return np.empty(0, dtype=np.uint64)
        share, over = divmod(count, len(self._rows)) if self._rows else (0, count)
        if over:
            raise UnevenWordsError(
                f"{count:,} words cannot be shared out among {len(self._rows):,} rows.",
                "draw for one row at a time.",
            )
        begin, end = self._used, self._used + share
        known = self._table.shape[1]
        if end > known:
            self._table = np.hstack([self._table, self._blocks(known // _WORDS, -(-end // _WORDS))])
        self._used = end
        return self._table[:, begin:end].reshape(-1)

    def _blocks(self, first: int, last: int) -> Uints:
        """Return these blocks of every row's stream, array (rows, words)."""
        digests = []
        for row in self._rows:
            for number in range(first, last):
                block = self._hash.copy()
                block.update(number.to_bytes(8, "little") + row)
                digests.append(block.digest())
        words = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
        return words.reshape(len(self._rows), _WORDS * (last - first))

    def __repr__(self) -> str:
        return f"KeyedWords of {len(self._rows):,} rows: repeatable with a secret that is not shown"


class ScalarCoins:
    """Integers and coins one at a time, with plain integers: the algorithms below, faster for a single draw.

    Words are read in blocks; the rest of a block is never used. Make one for each draw: processes that fork then
    share no words.

    Args:
        words: The source of the randomness.
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

    def draw_below(self, bound: int) -> int:
        """Return a uniform integer from 0 to bound - 1."""
        bits = (bound - 1).bit_length()
        while bits:
            number = self.word() >> (-bits % 64)
            for _ in range((bits - 1) // 64):
                number = number << 64 | self.word()
            if number < bound:
                return number
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
            u = self.draw_below(t)
            if self.decay(u, t):
                break
        v = 0
        while self.decay(1, 1, 2):
            v += 1
        return (u + t * v) // s

    def laplace(self, scale: Fraction) -> int:
        """Return an integer k with probability proportional to exp(-|k| / scale)."""
        while True:
            size, negative = self.magnitude(scale), self.word() >> 63
            if size or not negative:
                return -size if negative else size


def magnitudes(scale: Fraction, tries: int, words: Words) -> Integers:
    """Return k >= 0 with probability proportional to exp(-k / scale), accepted out of ``tries`` (algorithm 2).

    For the scale t / s it is floor((u + t v) / s): u below t is accepted with probability exp(-u / t), and v + 1
    coins of probability exp(-1) are thrown.
    """
    t, s = scale.numerator, scale.denominator
    u = draw_below(t, tries, words)
    u = u[decays(u, t, words)]
    v = successes(len(u), words)
    if max(t, s).bit_length() + int(v.max(initial=0)).bit_length() > 61:
        u, v = u.astype(object), v.astype(object)
    sizes: Integers = (u + t * v) // s
    if len(sizes) and int(sizes.max()) >= 1 << 62:
        raise InputError("noise of more than 2**62 was drawn.", "use a coarser unit.")
    return sizes.astype(np.int64)


def stairs(epsilon: Fraction, count: int, words: Words) -> Integers:
    """Return k >= 0 with probability proportional to exp(-epsilon k), array (count,)."""
    steps = np.empty(0, dtype=np.int64)
    while len(steps) < count:
        more = magnitudes(1 / epsilon, 2 * (count - len(steps)) + 16, words)
        steps = np.concatenate([steps, more])
    return steps[:count]


def add_signs(magnitude: Integers, words: Words) -> NDArray[np.int64]:
    """Return the magnitudes with random signs; of both zeros one is rejected."""
    negative = words.draw(len(magnitude)) >> np.uint64(63) == 1
    numbers: NDArray[np.int64] = np.where(negative, -magnitude, magnitude)[~(negative & (magnitude == 0))]
    return numbers


def successes(count: int, words: Words) -> NDArray[np.int64]:
    """Return how many coins of probability exp(-1) succeed in a row, array (count,)."""
    counts = np.zeros(count, dtype=np.int64)
    alive = np.arange(count)
    while alive.size:
        alive = alive[decays(np.ones(alive.size, dtype=np.int64), 1, words, start=2)]
        counts[alive] += 1
    return counts


def decays(numerators: Integers, denominator: int, words: Words, start: int = 1) -> Truths:
    """Throw coins of probability exp(-n / d), 0 <= n < d; with n = d = 1 for a start of 2 (algorithm 1).

    The first failure among coins of probability n / d, n / (2 d), n / (3 d), ... has an odd number with this
    probability.
    """
    odd = np.zeros(len(numerators), dtype=bool)
    alive, k = np.arange(len(numerators)), start
    while alive.size:
        success = coins(numerators[alive], denominator * k, words)
        odd[alive[~success]] = k % 2 == 1
        alive, k = alive[success], k + 1
    return odd


def coins(numerators: Integers, denominator: int, words: Words) -> Truths:
    """Throw coins of probability n / d, 0 <= n < d: random digits in base 2**64 against those of n / d."""
    digits, rest = _digit(numerators, denominator)
    word = words.draw(len(digits))
    success: Truths = word < digits
    tie = np.flatnonzero(word == digits)
    if tie.size:
        success[tie] = coins(rest[tie], denominator, words)
    return success


def _digit(numerators: Integers, denominator: int) -> tuple[NDArray[np.uint64], Integers]:
    """Return floor(2**64 n / d) and the remainder, by exact integers."""
    if denominator < 1 << 32:
        d, half = np.uint64(denominator), np.uint64(32)
        high, rest = np.divmod(numerators.astype(np.uint64) << half, d)
        low, rest = np.divmod(rest << half, d)
        return high << half | low, rest
    distinct, where = np.unique(numerators, return_inverse=True)
    parts = [divmod(int(numerator) << 64, denominator) for numerator in distinct.tolist()]
    digits = np.array([digit for digit, _ in parts], dtype=np.uint64)
    return digits[where], np.array([rest for _, rest in parts], dtype=object)[where]


def draw_below(bound: int, count: int, words: Words) -> Integers:
    """Return uniform integers from 0 to bound - 1, array (count,): int64, or Python's where bound needs them."""
    bits = (bound - 1).bit_length()
    if bits == 0:
        return np.zeros(count, dtype=np.int64)
    numbers = _bits(bits, count, words)
    bad = np.flatnonzero(np.asarray(numbers >= bound, dtype=bool))
    while bad.size:
        numbers[bad] = _bits(bits, bad.size, words)
        bad = bad[np.asarray(numbers[bad] >= bound, dtype=bool)]
    return numbers


def _bits(bits: int, count: int, words: Words) -> Integers:
    if bits <= 62:
        return (words.draw(count) >> np.uint64(64 - bits)).astype(np.int64)
    number = words.draw(count).astype(object) >> (-bits % 64)
    for _ in range((bits - 1) // 64):
        number = (number << 64) | words.draw(count).astype(object)
    return number
