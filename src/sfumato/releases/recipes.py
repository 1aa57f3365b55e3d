"""Drawing from families whose matrix is too large: encodings, hashes and subsets, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..mechanisms import Bits, FrequencyOracle, Hashed, Row, Subset
from .alias import AliasTables
from .discrete import below
from .entropy import SystemWords, Words

_BLOCK = 1 << 20  # entries of reports at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OracleSampler:
    """Draws reports of a frequency oracle with the operating system's randomness, without its matrix.

    All choices are uniform integers or integer mechanisms, so every probability is exact.

    Args:
        family: Such as `UnaryEncoding`, `LocalHashing` or `SubsetSelection`.

    Attributes:
        family: The family.
    """

    family: FrequencyOracle
    _steps: Row | Bits | Hashed | Subset
    _tables: AliasTables
    _words: Words

    def __init__(self, family: FrequencyOracle) -> None:
        steps = family.steps()
        if isinstance(steps, Row):
            inner = steps.mechanism
        elif isinstance(steps, Bits):
            inner = steps.bit
        elif isinstance(steps, Hashed):
            inner = steps.response
        elif isinstance(steps, Subset):
            inner = steps.coin
        else:
            raise InputError(f"{family.name} is not on categories.", "use NoiseSampler for noise on integers.")
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "_steps", steps)
        object.__setattr__(self, "_tables", AliasTables.of(inner))
        object.__setattr__(self, "_words", SystemWords())

    def draw(self, indices: ArrayLike) -> NDArray[np.int64]:
        """Return one report per secret, fresh and independent.

        Args:
            indices: Positions of secrets, integers, array (count,).

        Returns:
            Array (count, width). A row is the report's position (width 1) for randomised
            response; k bits for unary encodings; (a, b, bucket) for local hashing; d
            positions, in rising order, for subset selection.

        Raises:
            InputError: If the indices are not positions of secrets.
        """
        rows, k = np.asarray(indices), len(self.family.space)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (rows.size and not 0 <= rows.min() <= rows.max() < k):
            raise InputError(
                "the indices are not a list of positions of secrets.", f"use integers from 0 to {k - 1}."
            )
        width = k if isinstance(self._steps, Bits | Subset) else 3
        size = max(1, _BLOCK // width)
        blocks = [
            self._block(rows[start : start + size].astype(np.intp)) for start in range(0, max(1, len(rows)), size)
        ]
        return np.concatenate(blocks)

    def _block(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        steps, words = self._steps, self._words
        if isinstance(steps, Bits):
            own = (rows[:, None] == np.arange(steps.count)).astype(np.intp)
            return self._tables.draw(own.ravel(), words).reshape(own.shape).astype(np.int64)
        if isinstance(steps, Hashed):
            a, b = 1 + below(steps.prime - 1, len(rows), words), below(steps.prime, len(rows), words)
            bucket = (a * rows + b) % steps.prime % steps.response.shape[0]
            return np.column_stack([a, b, self._tables.draw(bucket, words)])
        if isinstance(steps, Subset):
            return self._subsets(steps, rows)
        return self._tables.draw(rows, words)[:, None].astype(np.int64)

    def _subsets(self, steps: Subset, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Shuffle the other categories as far as needed (Fisher and Yates); add the own where the coin says."""
        n, k, d = len(rows), steps.count, steps.size
        others = np.tile(np.arange(k - 1), (n, 1))
        others += others >= rows[:, None]
        every = np.arange(n)
        for place in range(min(d, k - 1)):
            chosen = place + below(k - 1 - place, n, self._words)
            swapped = others[every, chosen]
            others[every, chosen] = others[:, place]
            others[:, place] = swapped
        sets = others[:, :d].copy()
        inside = self._tables.draw(np.zeros(n, dtype=np.intp), self._words) == 1
        sets[inside, d - 1] = rows[inside]
        return np.sort(sets, axis=1)
