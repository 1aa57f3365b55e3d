"""The Schur complement of the coupling rows, summed over the blocks by several workers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._arrays import Floats
from ._form import Form
from ._workers import Workers

# Where rounding spoils a pivot, a block's diagonal is raised by the least relative shift that saves it.
FIRST_SHIFT = 1e-15
LAST_SHIFT = 1e-6


class Sum:
    """One worker's share of sum_o k_o C_o H_o^{-1} C_o', symmetric.

    Args:
        form: The program in block-angular form.
    """

    def __init__(self, form: Form) -> None:
        size, extra = form.size, form.slack_rows
        self._losses = form.losses
        self.total = np.zeros((size, size))
        self._cross, self._corner = np.zeros((size, extra)), np.zeros((extra, extra))

    def couple(self, o: int, inverse: Floats) -> None:
        """Add what the loss rows need of block o's inverse, a full symmetric array (size, size)."""
        if self._losses is not None:
            wide, square = self._losses.schur(o, inverse)
            self._cross += wide
            self._corner += square

    def whole(self) -> Floats:
        """Return the share, the coupling of the loss rows included."""
        if self._losses is None:
            return self.total
        return np.block([[self.total, self._cross], [self._cross.T, self._corner]])


def assemble(form: Form, workers: Workers, part: Callable[[range], Sum]) -> Floats:
    """Return the sum over all blocks, averaged over the symmetries.

    Args:
        form: The program in block-angular form.
        workers: The pool.
        part: Returns the sum over a share of the blocks.
    """
    shares = [share.whole() for share in workers.share(part, form.blocks)]
    whole = sum(shares[1:], shares[0])
    # Only plain programs, without loss rows, have symmetries.
    return whole if form.losses is not None else form.symmetry.average_matrix(whole)
