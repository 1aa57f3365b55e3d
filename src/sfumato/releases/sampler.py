"""Drawing reports: the exact cryptographic sampler, and the seeded one for studies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Mechanism
from ..errors import InputError
from .alias import AliasTables
from .entropy import SeededWords, SystemWords, Words

_BLOCK = 1 << 17  # draws at a time: what a block needs stays in the processor's cache


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sampler:
    """Draws reports from a mechanism's integers with the operating system's randomness.

    Every outcome has probability weights[s, o] / 2**bits exactly: no float lies between
    the kernel's words and the outcome. It takes no seed, and no two samplers repeat
    each other.

    Attributes:
        mechanism: The mechanism it draws from.
    """

    mechanism: Mechanism
    _tables: AliasTables
    _words: SystemWords

    def __init__(self, mechanism: Mechanism) -> None:
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "_tables", AliasTables.of(mechanism))
        object.__setattr__(self, "_words", SystemWords())

    def draw(self, indices: ArrayLike) -> NDArray[np.intp]:
        """Return the position of one report per secret, fresh and independent.

        Args:
            indices: Positions of secrets, integers of any shape.

        Returns:
            Positions of observables, of the same shape.

        Raises:
            InputError: If the indices are not integers, or not positions of secrets.
        """
        return _drawn(self._tables, self._words, indices)

    def __repr__(self) -> str:
        return f"Sampler of a {self.mechanism!r}: exact, cryptographic"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulator:
    """Draws reproducible reports, for tests and studies; never for release.

    The same seed gives the same noise, so whoever knows the seed can undo it.

    Attributes:
        mechanism: The mechanism it draws from.
        seed: The seed.
    """

    mechanism: Mechanism
    seed: int
    _tables: AliasTables
    _words: SeededWords

    def __init__(self, mechanism: Mechanism, seed: int) -> None:
        words = SeededWords(seed)
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "seed", words.seed)
        object.__setattr__(self, "_tables", AliasTables.of(mechanism))
        object.__setattr__(self, "_words", words)

    def draw(self, indices: ArrayLike) -> NDArray[np.intp]:
        """Return the position of one simulated report per secret; see `Sampler.draw`."""
        return _drawn(self._tables, self._words, indices)

    def __repr__(self) -> str:
        return f"Simulator(seed={self.seed}) of a {self.mechanism!r}: for studies, never for release"


def simulator(mechanism: Mechanism, seed: int) -> Simulator:
    """Return a seeded simulator of a mechanism, for studies and tests; never for release.

    Args:
        mechanism: The mechanism.
        seed: A non-negative integer.
    """
    return Simulator(mechanism, seed)


def _drawn(tables: AliasTables, words: Words, indices: ArrayLike) -> NDArray[np.intp]:
    rows = _checked(indices, len(tables.alias))
    flat = rows.reshape(-1)
    drawn = np.empty(flat.size, dtype=np.intp)
    for start in range(0, flat.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        drawn[block] = tables.draw(flat[block], words)
    return drawn.reshape(rows.shape)


def _checked(indices: ArrayLike, secrets: int) -> NDArray[np.intp]:
    array = np.asarray(indices)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise InputError(
            f"the indices are not integers but {array.dtype}.",
            "pass positions of secrets; Space.positions(labels) gives them.",
        )
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= secrets:
        raise InputError(
            f"the index {low if low < 0 else high} is not the position of a secret.",
            f"the mechanism has {secrets} secrets: use 0 to {secrets - 1}.",
        )
    return array.astype(np.intp, copy=False)
