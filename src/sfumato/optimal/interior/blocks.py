"""The blocks H_o: what Newton's method needs of them, their Schur complement, and dense factors.

Each block is factored in the basis where its largest coordinate is replaced by u_o, along which it is nearly
singular; see `banded`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...core.arrays import Floats
from . import lapack
from .block_form import BreakdownError, Form, Iterate, Rows
from .workers import Workers

# Where rounding spoils a pivot, a block's diagonal is raised by the least relative shift that saves it.
FIRST_SHIFT = 1e-15
LAST_SHIFT = 1e-6


class Blocks(Protocol):
    """Parts of its blocks that a Newton system needs."""

    def factor(self, rows: Rows, point: Iterate, z: Floats) -> Floats:
        """Factor every block and return the Schur complement of the coupling rows."""

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o as (rest, share): the solution is rest + share * u_o."""


class Sum:
    """One worker's share of sum_o k_o C_o H_o^{-1} C_o', symmetric."""

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
    """Return the sum over all blocks, of a part for each worker, averaged over the symmetries."""
    shares = [share.whole() for share in workers.share(part, form.blocks)]
    whole = shares[0]
    while len(shares) > 1:
        whole += shares.pop()
    # Only plain problems, without loss rows, have symmetries.
    return whole if form.losses is not None else form.symmetry.average_matrix(whole)


class DenseBlocks:
    """Factors of full blocks; their memory is used again in every iteration."""

    def __init__(self, form: Form, workers: Workers) -> None:
        self._workers = workers
        self._store = np.empty((form.blocks, form.size, form.size))
        self._along = np.zeros((form.blocks, form.size))
        self._anchor = np.zeros(form.blocks, dtype=np.int64)

    def factor(self, rows: Rows, point: Iterate, z: Floats) -> Floats:
        """Factor every block; see `BandedBlocks.factor`."""
        form, store = rows.form, self._store
        self._along, self._anchor = point.u, point.u[:, : form.secrets].argmax(axis=1)
        weights = rows.weights(point, z)
        size, pairs, guesses, copies = form.size, rows.pairs, form.guesses, form.symmetry.copies
        diagonals = pairs.diagonals(weights[: pairs.count])
        pair_weights, guess_weights = weights[: pairs.count], weights[pairs.count : rows.cut]

        image = rows.adjoint(point.lam)
        energy = rows.sums(point.lam * z)
        along, anchor = self._along, self._anchor

        def part(share: range) -> Sum:
            out = Sum(form)
            total = np.zeros((size, size))
            inverse, plain = np.empty((size, size)), np.empty((size, size))
            mixed = np.empty((len(share), size))
            for place, o in enumerate(share):
                self._workers.check()
                block, k = store[o], int(anchor[o])
                pairs.fill(o, pair_weights, diagonals, plain)
                if guesses is not None:
                    guesses.add(o, guess_weights, plain)
                _replace(plain, k, image[o], float(energy[o]))
                _factor_block(plain, block)
                inverse[:] = block
                lapack.invert(inverse)
                column = np.concatenate([inverse[:k, k], inverse[k, k:]])
                if not np.isfinite(column).all():
                    raise BreakdownError("a block's inverse overflows")
                mixed[place] = column
                mixed[place, k] = 0.0
                mixed[place] += 0.5 * column[k] * along[o]
                _replace(inverse, k, np.zeros(size), 0.0)
                if copies[o] != 1:
                    inverse *= copies[o]
                total += inverse
                if form.losses is not None:
                    full = np.triu(inverse) + np.triu(inverse, 1).T
                    full += np.outer(along[o], mixed[place]) + np.outer(mixed[place], along[o])
                    out.couple(o, full)
            outer = (along[share.start : share.stop] * copies[share.start : share.stop, None]).T @ mixed
            out.total += np.triu(total) + np.triu(total, 1).T + outer + outer.T
            return out

        return assemble(form, self._workers, part)

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o (blocks, size) as (rest, share): the solution is rest + share * u_o."""
        out, every = np.array(right, order="C"), np.arange(len(right))
        out[every, self._anchor] = np.einsum("oi,oi->o", self._along, right)
        self._workers.share(lambda share: lapack.solve_each(self._store, out, share), len(out))
        along = out[every, self._anchor].copy()
        out[every, self._anchor] = 0.0
        return out, along


def _replace(upper: Floats, k: int, vector: Floats, corner: float) -> None:
    """Overwrite row and column k of a matrix kept in its upper triangle."""
    upper[:k, k] = vector[:k]
    upper[k, k:] = vector[k:]
    upper[k, k] = corner


def _factor_block(plain: Floats, out: Floats) -> None:
    out[:] = plain
    shift = FIRST_SHIFT
    while not lapack.factor(out):
        if shift > LAST_SHIFT or not np.isfinite(plain).all():
            raise BreakdownError("a block is not positive definite")
        out[:] = plain
        out.reshape(-1)[:: len(out) + 1] *= 1 + shift
        shift *= 10
