"""Loss rows that couple all observables, beyond the rows that sum to one.

One row per limited secret (worst-case loss) or one row in all (expected loss). Row r reads

    sum_o sum_s D_o[r, s] x_o[s] + w_r (- t) = rhs_r

with a slack w_r > 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ._arrays import Floats, Ints


class LossRows(Protocol):
    """What Newton's method needs of the coupling rows D_o."""

    count: int

    def apply(self, point: Floats) -> Floats:
        """Return sum_o D_o x_o, array (count,), for a point (m, size)."""
        ...

    def adjoint(self, weights: Floats) -> Floats:
        """Return D_o' v for every o, array (m, size), for weights (count,)."""
        ...

    def schur(self, o: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return K D_o' and D_o K D_o' for a full symmetric K, array (size, size)."""
        ...


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
