"""Drawing tuples: the true report at a uniformly random place among dummies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..mechanisms.tupling import Tupling
from .alias import AliasTables
from .discrete import below
from .entropy import SeededWords, SystemWords, Words

_BLOCK = 1 << 18  # reports at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TupleSampler:
    """Draws tuples of k + 1 reports with the operating system's randomness.

    The true report and the dummies have the probabilities of the mechanism's integers
    exactly, and the true report's place is exactly uniform. Dummies being independent and
    alike, a tuple and any permutation of it are then equally likely: the order tells
    nothing. It takes no seed, and whatever the secret is, equally much is drawn and done.

    Args:
        tupling: The mechanism.

    Attributes:
        tupling: The mechanism.

    Example:
        >>> from sfumato.core import Mechanism
        >>> keep = Mechanism([[1.0, 0.0], [0.0, 1.0]])
        >>> TupleSampler(Tupling(keep, 4, [0.5, 0.5])).draw([0, 1, 1]).shape
        (3, 5)

    Source:
        Kawamoto and Murakami, ESORICS 2019, algorithm 1; docs/proofs/tupling.md.
    """

    tupling: Tupling
    _inner: AliasTables
    _dummies: AliasTables
    _words: SystemWords

    def __init__(self, tupling: Tupling) -> None:
        _set(self, tupling, SystemWords())

    def draw(self, indices: ArrayLike) -> NDArray[np.intp]:
        """Return one tuple per secret, fresh and independent.

        Args:
            indices: Positions of secrets, integers of any shape.

        Returns:
            Positions of observables, of the same shape followed by k + 1.

        Raises:
            InputError: If the indices are not integers, or not positions of secrets.
        """
        return _drawn(self.tupling, self._inner, self._dummies, self._words, indices)

    def __repr__(self) -> str:
        return f"TupleSampler of a {self.tupling!r}: exact, cryptographic"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TupleSimulator:
    """Draws reproducible tuples, for tests and studies; never for release.

    Args:
        tupling: The mechanism.
        seed: A non-negative integer; whoever knows it can tell the true report.

    Attributes:
        tupling: The mechanism.
        seed: The seed.
    """

    tupling: Tupling
    seed: int
    _inner: AliasTables
    _dummies: AliasTables
    _words: SeededWords

    def __init__(self, tupling: Tupling, seed: int) -> None:
        words = SeededWords(seed)
        object.__setattr__(self, "seed", words.seed)
        _set(self, tupling, words)

    def draw(self, indices: ArrayLike) -> NDArray[np.intp]:
        """Return one simulated tuple per secret; see `TupleSampler.draw`."""
        return _drawn(self.tupling, self._inner, self._dummies, self._words, indices)

    def __repr__(self) -> str:
        return f"TupleSimulator(seed={self.seed}) of a {self.tupling!r}: for studies, never for release"


def _set(target: TupleSampler | TupleSimulator, tupling: Tupling, words: Words) -> None:
    object.__setattr__(target, "tupling", tupling)
    object.__setattr__(target, "_inner", AliasTables.of(tupling.inner))
    object.__setattr__(target, "_dummies", AliasTables.of(tupling.source))
    object.__setattr__(target, "_words", words)


def _drawn(
    tupling: Tupling, inner: AliasTables, dummies: AliasTables, words: Words, indices: ArrayLike
) -> NDArray[np.intp]:
    rows = _checked(indices, tupling.inner.shape[0])
    flat, size = rows.reshape(-1), tupling.queries
    tuples = np.empty((flat.size, size), dtype=np.intp)
    step = max(1, _BLOCK // size)
    for start in range(0, flat.size, step):
        own = inner.draw(flat[start : start + step], words)
        count = own.size
        # A dummy is drawn for every place, so that the true report's place is chosen by one index alone.
        block = dummies.draw(np.zeros(count * size, dtype=np.intp), words).reshape(count, size)
        block[np.arange(count), below(size, count, words)] = own
        tuples[start : start + step] = block
    return tuples.reshape(*rows.shape, size)


def _checked(indices: ArrayLike, secrets: int) -> NDArray[np.intp]:
    array = np.asarray(indices)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.intp)
    if array.dtype.kind not in "iu" or int(array.min()) < 0 or int(array.max()) >= secrets:
        raise InputError(
            "the indices are not all positions of secrets.",
            f"pass integers from 0 to {secrets - 1}; Space.positions(labels) gives them.",
        )
    return array.astype(np.intp, copy=False)
