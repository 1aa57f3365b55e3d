"""Rows beyond those of privacy: of the distortion, within each block, and of the loss, across blocks.

For every observable o and guess g, with y_o the observable's error,

    sum_s prior[s] d(g,s) x_o[s] - y_o >= 0

and, one row per secret where the worst loss counts or one in all for the expected loss,

    sum_o sum_s D_o[r, s] x_o[s] + w_r (- t) = rhs_r

with a slack w_r > 0.

Source:
    Shokri, "Privacy Games", programs 21 and 24.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...core.arrays import Floats
from .pairs import Ints


class GuessRows:
    """The rows of the distortion: the same dense rows in every block, with y_o stored after the n probabilities.

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


class LossRows(Protocol):
    """Parts of the coupling rows D_o that Newton's method needs."""

    count: int

    def apply(self, point: Floats) -> Floats:
        """Return sum_o D_o x_o, array (count,), for a point (m, size)."""

    def adjoint(self, weights: Floats) -> Floats:
        """Return D_o' v for every o, array (m, size), for weights (count,)."""

    def schur(self, o: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return K D_o' and D_o K D_o' for a full symmetric K, array (size, size)."""


class ExpectedLoss:
    """One row: the expected loss.

    Args:
        loss: Array (m, size), prior-weighted loss of each block's entries, zero for a
            distortion variable.
    """

    def __init__(self, loss: Floats) -> None:
        self._loss = loss
        self.count = 1

    def apply(self, point: Floats) -> Floats:
        """Return the expected loss, array (1,)."""
        return np.array([float((self._loss * point).sum())])

    def adjoint(self, weights: Floats) -> Floats:
        """Return the loss times one weight, array (m, size)."""
        return np.asarray(self._loss * weights[0])

    def schur(self, o: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return the row's image under K, (size, 1), and its energy, (1, 1)."""
        image = inverse @ self._loss[o]
        return image[:, None], np.array([[float(self._loss[o] @ image)]])


class SecretLoss:
    """One row per secret: its own expected loss.

    Args:
        loss: Array (m, rows) of l(s, o).
        where: Array (rows,), position of each row's secret within a block.
        size: Length of a block.
    """

    def __init__(self, loss: Floats, where: Ints, size: int) -> None:
        self._loss, self._where, self._size = loss, where, size
        self.count = len(where)

    def apply(self, point: Floats) -> Floats:
        """Return each secret's own loss, array (rows,)."""
        return np.asarray(np.einsum("or,or->r", self._loss, point[:, self._where]))

    def adjoint(self, weights: Floats) -> Floats:
        """Return the weighted losses at their secrets' positions, array (m, size)."""
        out = np.zeros((self._loss.shape[0], self._size))
        np.add.at(out.T, self._where, (self._loss * weights).T)
        return out

    def schur(self, o: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return the rows' images under K, (size, rows), and their energies, (rows, rows)."""
        image = inverse[:, self._where] * self._loss[o]
        return image, self._loss[o][:, None] * image[self._where]
