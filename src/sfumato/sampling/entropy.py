"""Sources of randomness: whole 64-bit words, of the operating system, a seed or a secret key."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from ..core.arrays import integer
from ..core.recipe import Uints
from ..errors import InputError

SECRET_BYTES: Final = 32
"""The bytes of a secret: 256 bits."""

_WORDS: Final = 8  # of 64 bits in one hash
_PURPOSE_BYTES: Final = 16


class SystemWords:
    """The cryptographic generator of the operating system: no seed, no state, no repetition.

    Nothing is held back between calls, so that processes which fork never share words.
    """

    __slots__ = ()

    def draw(self, count: int) -> Uints:
        """Return ``count`` fresh words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def __repr__(self) -> str:
        return "SystemWords: the operating system's cryptographic generator"


class SeededWords:
    """A reproducible generator (PCG64 DXSM), for tests and studies only.

    Anyone who knows or guesses the seed can undo the noise: never release what it drew.

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
    """As many words were asked for as cannot be shared out evenly among the rows."""


class KeyedWords:
    """Words that belong to rows: each row has a stream of its own, made of a secret and the row's key alone.

    It is the one exception to randomness that cannot be repeated, for engines that run a task again when a
    machine fails. Block j of a row's stream is BLAKE2b, keyed with the secret, of the number j and the row's key.
    To whoever does not know the secret these words look like independent, uniform ones (reports are equal in law
    up to the cipher); whoever knows it can undo the noise. So draw the secret from the operating system, and
    throw it away.

    Rows keep their streams however they are batched: n rows at a time are given m n words, the next m of each
    row, row by row.

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
        each, over = divmod(count, len(self._rows)) if self._rows else (0, count)
        if over:
            raise UnevenWordsError(
                f"{count:,} words cannot be shared out among {len(self._rows):,} rows.",
                "draw for one row at a time.",
            )
        begin, end = self._used, self._used + each
        known = self._table.shape[1]
        if end > known:
            self._table = np.hstack([self._table, self._blocks(known // _WORDS, -(-end // _WORDS))])
        self._used = end
        return self._table[:, begin:end].reshape(-1)

    def _blocks(self, first: int, last: int) -> Uints:
        """Return these blocks of every row's stream, array (rows, words)."""
        numbers = [number.to_bytes(8, "little") for number in range(first, last)]
        words = np.frombuffer(b"".join(self._digests(numbers)), dtype="<u8").astype(np.uint64)
        return words.reshape(len(self._rows), _WORDS * len(numbers))

    def _digests(self, numbers: Sequence[bytes]) -> Iterable[bytes]:
        for row in self._rows:
            for number in numbers:
                block = self._hash.copy()
                block.update(number + row)
                yield block.digest()

    def __repr__(self) -> str:
        return f"KeyedWords of {len(self._rows):,} rows: repeatable with a secret that is not shown"
