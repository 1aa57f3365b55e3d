"""Distortion rows: sum_s prior[s] d(g,s) x_o[s] - y_o >= 0 for every observable o and guess g.

Source:
    Shokri, "Privacy Games", programs 21 and 24.
"""

from __future__ import annotations

import numpy as np

from ._arrays import Floats


class GuessRows:
    """The same dense rows in every block, with y_o stored after the n probabilities.

    Args:
        weighted: Array (guesses, n) of prior[s] d(g, s).
        blocks: The number of blocks m.
    """

    def __init__(self, weighted: Floats, blocks: int) -> None:
        guesses, n = weighted.shape
        self.count, self.blocks, self.size = guesses * blocks, blocks, n + 1
        self._columns = np.concatenate([np.flatnonzero(weighted.any(axis=0)), [n]]).astype(np.int64)
        rows = np.concatenate([weighted, -np.ones((guesses, 1))], axis=1)
        self._rows = np.ascontiguousarray(rows[:, self._columns])
        self._shape = (blocks, guesses)
        self._grid = np.ix_(self._columns, self._columns)

    def slack(self, point: Floats) -> Floats:
        """Return the slacks, flattened from (m, guesses)."""
        return np.asarray(point[:, self._columns] @ self._rows.T).ravel()

    def adjoint(self, weights: Floats) -> Floats:
        """Return the transpose times a flattened (m, guesses) vector, array (m, n + 1)."""
        out = np.zeros((self.blocks, self.size))
        out[:, self._columns] = weights.reshape(self._shape) @ self._rows
        return out

    def add(self, o: int, weights: Floats, out: Floats) -> None:
        """Add block o of A' diag(w) A to ``out``, array (n + 1, n + 1)."""
        weight = weights.reshape(self._shape)[o]
        out[self._grid] += self._rows.T @ (weight[:, None] * self._rows)
