"""Factors of blocks H_o that are mostly zeros, and what the coupling rows need of their inverses.

H_o is nearly singular along u_o itself: H_o u_o = G_o' lam_o and u_o' H_o u_o = lam_o' z_o
are both small. So each block is written in the basis where its largest coordinate k, the
anchor, is replaced by u_o. Those entries are then known without cancellation, and a step
along u_o changes the slacks by exactly that multiple of z_o. With B the block without k,
v the rest of H_o u_o, B = L L', w = L^{-1} v and p = lam_o' z_o - w' w,

    H_o^{-1} = B^{-1} + q q' / p,    q = u_o - L^{-T} w        (the latter zero at k)

(p from B^{-1} v instead of w would not be backward stable: a gap of 1.2e-6 where this reaches 4e-7.)
Only B is factored: near its diagonal where its rows allow it, else densely. Solves go
through the factors, not through inverses, which would lose the dual residual to rounding
(measured: 1e-4 against 1e-12).
"""

from __future__ import annotations

import numpy as np

from . import _banded, _lapack
from ._arrays import Floats
from ._form import Form
from ._order import Order, arrange
from ._rows import BreakdownError, Point, Rows
from ._workers import Workers

FIRST_SHIFT = 1e-15
LAST_SHIFT = 1e-6


class BandedBlocks:
    """Factors near the diagonal; their orders and memory are used again while the method runs.

    Not for forms with distortion rows, which fill the blocks.

    Args:
        form: The program in block-angular form.
        workers: The pool.
    """

    def __init__(self, form: Form, workers: Workers) -> None:
        self._form, self._workers = form, workers
        self._orders: list[Order | None] = [None] * form.blocks
        self._factors: list[Floats] = [np.empty((0, 0))] * form.blocks
        self._anchor = np.zeros(form.blocks, dtype=np.int64)
        self._along = np.zeros((form.blocks, form.size))
        self._secrets = np.tile(np.arange(form.size), (form.blocks, 1))
        self._border = np.empty((form.blocks, form.size))
        self._pivot = np.empty(form.blocks)

    def factor(self, rows: Rows, point: Point, z: Floats) -> Floats:
        """Factor every block and return sum_o k_o C_o H_o^{-1} C_o', without the loss rows' slacks.

        Args:
            rows: The inequality rows.
            point: The iterate.
            z: Array (rows,), the slacks at the iterate.

        Raises:
            BreakdownError: If a block is not positive definite in floating point.
        """
        form, pairs = self._form, rows.pairs
        weights = rows.weights(point, z)
        self._along, self._anchor = point.u, point.u[:, : form.secrets].argmax(axis=1)
        image, energy = rows.adjoint(point.lam), rows.sums(point.lam * z)
        diagonals = pairs.diagonals(weights[: pairs.count])

        def part(share: range) -> tuple[Floats, Floats, Floats]:
            return self._factor_share(share, rows, weights, diagonals, image, energy)

        parts = self._workers.share(part, form.blocks)
        total = form.symmetry.average_matrix(sum((p[0] for p in parts[1:]), parts[0][0]))
        if form.losses is None:
            return total
        cross = sum((p[1] for p in parts[1:]), parts[0][1])
        corner = sum((p[2] for p in parts[1:]), parts[0][2])
        return np.block([[total, cross], [cross.T, corner]])

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o as (rest, share): the solution is rest + share * u_o.

        Args:
            right: Array (blocks, size).
        """
        every = np.arange(len(right))
        share_right = np.einsum("oi,oi->o", self._along, right)
        plain = right.copy()
        plain[every, self._anchor] = 0.0
        placed = np.take_along_axis(plain, self._secrets, axis=1)

        def part(share: range) -> None:
            for o in share:
                self._sweep(o, placed[o], False)
                share_right[o] = (share_right[o] - self._border[o] @ placed[o]) / self._pivot[o]
                placed[o] -= share_right[o] * self._border[o]
                self._sweep(o, placed[o], True)

        self._workers.share(part, len(right))
        np.put_along_axis(plain, self._secrets, placed, axis=1)
        return plain, share_right

    def _sweep(self, o: int, placed: Floats, backward: bool) -> None:
        order = self._orders[o]
        if order is None or order.secrets is None:
            _lapack.sweep_dense(self._factors[o], placed, backward)
        else:
            _lapack.sweep_banded(self._factors[o], placed, backward)

    def _factor_share(
        self, share: range, rows: Rows, weights: Floats, diagonals: Floats, image: Floats, energy: Floats
    ) -> tuple[Floats, Floats, Floats]:
        form = self._form
        size, losses = form.size, form.losses
        total = np.zeros((size, size))
        cross, corner = np.zeros((size, form.slack_rows)), np.zeros((form.slack_rows, form.slack_rows))
        # Twice the length: a band that is read off the matrix runs past its end.
        scratch = np.zeros(2 * size * size)[: size * size].reshape(size, size)
        inverse, half, moved = np.zeros((size, size)), np.empty((size, size)), np.empty((size, size))
        pasts = np.empty((len(share), size))
        for o in share:
            order = self._arrange(o, rows)
            if order.secrets is not None:
                self._secrets[o] = order.secrets
            self._factor_one(o, order, rows, weights, diagonals[o], image[o], float(energy[o]), scratch)
            placed = self._border[o].copy()
            self._sweep(o, placed, True)
            past = self._along[o].copy()
            past[self._secrets[o]] -= placed
            pasts[o - share.start] = past
            if order.secrets is None:
                inverse[:] = scratch
                _lapack.invert(inverse)
            else:
                _banded.invert(scratch, order, inverse)
            place = int(order.position[order.anchor])
            inverse[place, place] = 0.0
            if not np.isfinite(inverse[place - 1 if place else size - 1]).all():
                raise BreakdownError("a block's inverse overflows")
            natural = inverse
            if order.secrets is not None:
                np.take(inverse, order.position, axis=0, out=half, mode="clip")
                np.take(half, order.position, axis=1, out=moved, mode="clip")
                natural = moved
            if losses is not None:
                full = natural + natural.T
                full.reshape(-1)[:: size + 1] *= 0.5
                full += np.outer(past, past / self._pivot[o])
                wide, square = losses.schur(o, full)
                cross += wide
                corner += square
            if form.symmetry.copies[o] != 1:
                natural *= form.symmetry.copies[o]
            total += natural
        out = total + total.T
        out.reshape(-1)[:: size + 1] *= 0.5
        cut = slice(share.start, share.stop)
        out += (pasts * (form.symmetry.copies[cut] / self._pivot[cut])[:, None]).T @ pasts
        return out, cross, corner

    def _arrange(self, o: int, rows: Rows) -> Order:
        """Return block o's order, the last one if its rows and its anchor are still the same."""
        cut, anchor, known = rows.pairs.cut(o), int(self._anchor[o]), self._orders[o]
        # Rows only ever join, so as many rows are the same rows.
        if known is None or known.anchor != anchor or len(known.entries) != cut.stop - cut.start:
            pairs = rows.pairs
            upper, lower, size = pairs.upper[cut], pairs.lower[cut], self._form.size
            known = arrange(upper, lower, anchor, size, known)
            self._orders[o] = known
            self._secrets[o] = np.arange(self._form.size) if known.secrets is None else known.secrets
            shape = (self._form.size, self._form.size if known.secrets is None else known.width + 1)
            if self._factors[o].shape != shape:
                self._factors[o] = np.empty(shape)
        return known

    def _factor_one(
        self,
        o: int,
        order: Order,
        rows: Rows,
        weights: Floats,
        diagonal: Floats,
        image: Floats,
        energy: float,
        scratch: Floats,
    ) -> None:
        """Keep B_o's factor, border and pivot, and leave the factor in ``scratch``, unpacked.

        Where rounding spoils a pivot, the diagonal is raised by the least relative shift that saves it.
        """
        pairs = rows.pairs
        border = image.copy()
        border[order.anchor] = 0.0
        shift = 0.0
        while shift <= LAST_SHIFT:
            order.fill(weights[pairs.cut(o)], diagonal, scratch)
            order.isolate(scratch)
            if shift:
                scratch.reshape(-1)[:: len(scratch) + 1] *= 1 + shift
            if order.secrets is None:
                positive = _lapack.factor(scratch)
                self._factors[o][:] = scratch
            else:
                positive = _banded.factor(scratch, order)
                _banded.pack(scratch, order, self._factors[o])
            if positive:
                placed = border[self._secrets[o]]
                self._sweep(o, placed, False)
                self._border[o] = placed
                self._pivot[o] = energy * (1 + shift) - float(placed @ placed)
                if self._pivot[o] > 0:
                    return
            shift = 10 * shift or FIRST_SHIFT
        raise BreakdownError("a block is not positive definite")
