"""Sources of randomness: whole 64-bit words."""

from __future__ import annotations

import os

import numpy as np

from ..core.arrays import integer
from ..core.recipe import Uints
from ..errors import InputError


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
        given = integer(seed)
        if given is None or given < 0:
            raise InputError(f"the seed {seed!r} is not an integer of at least 0.", "use a number such as 7.")
        self.seed = given
        self._generator = np.random.PCG64DXSM(self.seed)

    def draw(self, count: int) -> Uints:
        """Return the next ``count`` words of the seed's sequence."""
        return self._generator.random_raw(count)

    def __repr__(self) -> str:
        return f"SeededWords(seed={self.seed}): for studies, never for release"
