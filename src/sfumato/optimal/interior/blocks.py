"""Factors of the blocks H_o, dense or banded, and their Schur complement: docs/proofs/interior-point.md.

With B the block without its anchor k, v the rest of H_o u_o, B = L L', w = L^{-1} v and p = lam_o' z_o - w' w,

    H_o^{-1} = B^{-1} + q q' / p,    q = u_o - L^{-T} w        (the latter zero at k)

In panels of columns L = [D; E], with F = E D^{-1}, the inverse Z follows from the last panel to the first:

    Z[after, panel] = -Z[after, reached] F
    Z[panel, panel] = (D D')^{-1} - F' Z[reached, panel]

As in `lapack`, matrices are C-ordered with the upper triangle meaningful.

Source:
    Takahashi, Fagan and Chin, "Formation of a sparse bus impedance matrix" (1973).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...core.arrays import Floats
from . import lapack
from .block_form import BreakdownError, Form, Iterate, Rows
from .lapack import Workers
from .pair_rows import Bools, Ints

CHUNK = 32
TILE = 512
PANEL = 48
WORTHWHILE = 0.8
STALE = 1.2
_UPPER = np.triu(np.ones((PANEL, PANEL), dtype=np.bool_))
# Where rounding spoils a pivot, a block's diagonal is raised by the least relative shift that saves it.
FIRST_SHIFT, LAST_SHIFT = 1e-15, 1e-6

Panels = tuple[tuple[int, int, int], ...]


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


class WeightedRows(NamedTuple):
    """Rows with their weights lam / z, the diagonals of all H_o, and H_o u_o with u_o' H_o u_o of every block."""

    rows: Rows
    weights: Floats
    diagonals: Floats
    image: Floats
    energy: Floats


class Blocks(ABC):
    """Factors of all blocks; their memory is reused in every iteration."""

    def __init__(self, form: Form, workers: Workers) -> None:
        self._form, self._workers = form, workers
        self._along = np.zeros((form.blocks, form.size))
        self._anchor = np.zeros(form.blocks, dtype=np.int64)

    def factor(self, rows: Rows, point: Iterate, z: Floats) -> Floats:
        """Factor every block and return sum_o k_o C_o H_o^{-1} C_o', or raise `BreakdownError`."""
        form, weights = self._form, rows.weights(point, z)
        self._along, self._anchor = point.u, point.u[:, : form.secrets].argmax(axis=1)
        diagonals = rows.pairs.diagonals(weights[: rows.pairs.count])
        weighted = WeightedRows(rows, weights, diagonals, rows.adjoint(point.lam), rows.sums(point.lam * z))
        shares = [part.whole() for part in self._workers.share(partial(self._factor_share, weighted), form.blocks)]
        whole = shares[0]
        while len(shares) > 1:
            whole += shares.pop()
        # Only plain problems, without loss rows, have symmetries.
        return whole if form.losses is not None else form.symmetry.average_matrix(whole)

    @abstractmethod
    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o (blocks, size) as (rest, share): the solution is rest + share * u_o."""

    @abstractmethod
    def _factor_share(self, weighted: WeightedRows, share: range) -> Sum:
        """Factor a worker's share of the blocks and return its part of the Schur complement."""


class DenseBlocks(Blocks):
    """Factors of full blocks."""

    def __init__(self, form: Form, workers: Workers) -> None:
        super().__init__(form, workers)
        self._store = np.empty((form.blocks, form.size, form.size))

    def _factor_share(self, weighted: WeightedRows, share: range) -> Sum:
        rows, weights, diagonals, image, energy = weighted
        form, store, along, anchor = self._form, self._store, self._along, self._anchor
        size, pairs, dense, copies = form.size, rows.pairs, form.dense, form.symmetry.copies
        pair_weights, dense_weights = weights[: pairs.count], weights[pairs.count : rows.slack_start]
        out = Sum(form)
        total = np.zeros((size, size))
        inverse, plain = np.empty((size, size)), np.empty((size, size))
        columns = np.empty((len(share), size))
        for place, o in enumerate(share):
            self._workers.check()
            block, k = store[o], int(anchor[o])
            pairs.fill(o, pair_weights, diagonals, plain)
            if dense is not None:
                dense.add(o, dense_weights, plain)
            _replace(plain, k, image[o], float(energy[o]))
            _factor_block(plain, block)
            inverse[:] = block
            lapack.invert(inverse)
            column = np.concatenate([inverse[:k, k], inverse[k, k:]])
            if not np.isfinite(column).all():
                raise BreakdownError("a block's inverse overflows")
            columns[place] = column
            columns[place, k] = 0.0
            columns[place] += 0.5 * column[k] * along[o]
            _replace(inverse, k, np.zeros(size), 0.0)
            if copies[o] != 1:
                inverse *= copies[o]
            total += inverse
            if form.losses is not None:
                full = np.triu(inverse) + np.triu(inverse, 1).T
                full += np.outer(along[o], columns[place]) + np.outer(columns[place], along[o])
                out.couple(o, full)
        outer = (along[share.start : share.stop] * copies[share.start : share.stop, None]).T @ columns
        out.total += np.triu(total) + np.triu(total, 1).T + outer + outer.T
        return out

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o as (rest, share); see `Blocks.solve`."""
        out, every = np.array(right, order="C"), np.arange(len(right))
        out[every, self._anchor] = np.einsum("oi,oi->o", self._along, right)

        def part(share: range) -> None:
            for o in share:
                lapack.sweep_dense(self._store[o], out[o], False)
                lapack.sweep_dense(self._store[o], out[o], True)

        self._workers.share(part, len(out))
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


class BandedBlocks(Blocks):
    """Factors near the diagonal, without dense rows; ``order`` is that of all blocks with the same rows."""

    def __init__(self, form: Form, workers: Workers, order: Order | None = None) -> None:
        super().__init__(form, workers)
        self._fixed_order = order
        self._orders: list[Order | None] = [None] * form.blocks
        self._factors: list[Floats] = [np.empty((0, 0))] * form.blocks
        self._secrets = np.tile(np.arange(form.size), (form.blocks, 1))
        self._border = np.empty((form.blocks, form.size))
        self._pivot = np.empty(form.blocks)

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o as (rest, share); see `Blocks.solve`."""
        every = np.arange(len(right))
        share_right = np.einsum("oi,oi->o", self._along, right)
        plain = right.copy()
        plain[every, self._anchor] = 0.0
        vectors = np.take_along_axis(plain, self._secrets, axis=1)

        def part(share: range) -> None:
            for o in share:
                self._sweep(o, vectors[o], False)
                share_right[o] = (share_right[o] - self._border[o] @ vectors[o]) / self._pivot[o]
                vectors[o] -= share_right[o] * self._border[o]
                self._sweep(o, vectors[o], True)

        self._workers.share(part, len(right))
        np.put_along_axis(plain, self._secrets, vectors, axis=1)
        return plain, share_right

    def _sweep(self, o: int, vector: Floats, backward: bool) -> None:
        order = self._orders[o]
        if order is None or order.secrets is None:
            lapack.sweep_dense(self._factors[o], vector, backward)
        else:
            lapack.sweep_banded(self._factors[o], vector, backward)

    def _factor_share(self, weighted: WeightedRows, share: range) -> Sum:
        form = self._form
        size, sums = form.size, Sum(form)
        # Twice the length: a band that is read off the matrix runs past its end.
        scratch = np.zeros(2 * size * size)[: size * size].reshape(size, size)
        inverse, natural = np.zeros((size, size)), np.zeros((size, size))
        pasts = np.empty((len(share), size))
        for o in share:
            self._workers.check()
            order = self._arrange(o, weighted.rows)
            self._factor_one(o, order, weighted, scratch)
            vector = self._border[o].copy()
            self._sweep(o, vector, True)
            past = self._along[o].copy()
            past[self._secrets[o]] -= vector
            pasts[o - share.start] = past
            if order.secrets is None:
                inverse[:] = scratch
                lapack.invert(inverse)
            else:
                invert_band(scratch, order, inverse)
            place = int(order.position[order.anchor])
            inverse[place, place] = 0.0
            if not np.isfinite(inverse[place - 1 if place else size - 1]).all():
                raise BreakdownError("a block's inverse overflows")
            if form.losses is not None:
                natural[:] = 0.0
                add_placed(natural, inverse, order)
                full = natural + natural.T
                full.reshape(-1)[:: size + 1] *= 0.5
                full += np.outer(past, past / self._pivot[o])
                sums.couple(o, full)
            if form.symmetry.copies[o] != 1:
                inverse *= form.symmetry.copies[o]
            add_placed(sums.total, inverse, order)
            order.clear(scratch)
        del inverse, natural, scratch
        fold(sums.total)
        cut = slice(share.start, share.stop)
        multiples = pasts * (form.symmetry.copies[cut] / self._pivot[cut])[:, None]
        for start in range(0, size, TILE):
            sums.total[start : start + TILE] += multiples[:, start : start + TILE].T @ pasts
        return sums

    def _arrange(self, o: int, rows: Rows) -> Order:
        """Return block o's order, the last one if its rows and its anchor are still the same."""
        cut, anchor, known = rows.pairs.block_slice(o), int(self._anchor[o]), self._orders[o]
        # Rows only ever join, so as many rows are the same rows.
        if known is None or known.anchor != anchor or len(known.entries) != cut.stop - cut.start:
            if self._fixed_order is None:
                known = arrange(*rows.pairs.ends(o), anchor, self._form.size, known)
            else:
                known = replace(self._fixed_order, anchor=anchor)
            self._orders[o] = known
            self._secrets[o] = np.arange(self._form.size) if known.secrets is None else known.secrets
            shape = (self._form.size, self._form.size if known.secrets is None else known.width + 1)
            if self._factors[o].shape != shape:
                self._factors[o] = np.empty(shape)
        return known

    def _factor_one(self, o: int, order: Order, weighted: WeightedRows, scratch: Floats) -> None:
        """Store B_o's factor, border and pivot, and leave the factor in ``scratch``, unpacked."""
        rows, weights, diagonals, image, energy = weighted
        weight, border = weights[rows.pairs.block_slice(o)], image[o].copy()
        border[order.anchor] = 0.0
        shift = 0.0
        while shift <= LAST_SHIFT:
            if shift:
                order.clear(scratch)
            order.fill(weight, diagonals[o], scratch)
            order.isolate(scratch)
            if shift:
                scratch.reshape(-1)[:: len(scratch) + 1] *= 1 + shift
            if order.secrets is None:
                positive = lapack.factor(scratch)
                self._factors[o][:] = scratch
            else:
                positive = factor_band(scratch, order)
                pack_band(scratch, order, self._factors[o])
            if positive:
                vector = border[self._secrets[o]]
                self._sweep(o, vector, False)
                self._border[o] = vector
                self._pivot[o] = float(energy[o]) * (1 + shift) - float(vector @ vector)
                if self._pivot[o] > 0:
                    return
            shift = 10 * shift or FIRST_SHIFT
        raise BreakdownError("a block is not positive definite")


def fold(total: Floats) -> None:
    """Overwrite T with T + T', its diagonal once: entries off the diagonal may stand on either side of it."""
    size = len(total)
    for start in range(0, size, TILE):
        rows = slice(start, start + TILE)
        near = total[rows, rows]
        near += np.tril(near, -1).T + np.triu(near, 1).T
        for begin in range(start + TILE, size, TILE):
            columns = slice(begin, begin + TILE)
            total[rows, columns] += total[columns, rows].T
            total[columns, rows] = total[rows, columns].T


def add_placed(total: Floats, inverse: Floats, order: Order) -> None:
    """Add a matrix in the order's positions, zero below its diagonal, to one in the natural order."""
    size = len(total)
    if order.natural:
        for start in range(0, size, TILE):
            total[start : start + TILE, start:] += inverse[start : start + TILE, start:]
        return
    rows, block = np.empty((CHUNK, size)), np.empty((CHUNK, size))
    # A few rows at a time, which stay in the cache.
    for start in range(0, size, CHUNK):
        stop = min(start + CHUNK, size)
        near, far = rows[: stop - start], block[: stop - start]
        np.take(inverse, order.position[start:stop], axis=0, out=near, mode="clip")
        np.take(near, order.position, axis=1, out=far, mode="clip")
        total[start:stop] += far


def factor_band(matrix: Floats, order: Order) -> bool:
    """Overwrite a matrix in a banded order with its Cholesky factor; False where that breaks down."""
    return all(lapack.factor_panel(matrix, *panel) for panel in order.panels)


def pack_band(factored: Floats, order: Order, out: Floats) -> None:
    """Copy the band of a factor, whose buffer is longer by width, to ``out`` (size, width + 1), as LAPACK's."""
    size, step = len(factored), factored.strides[1]
    out[:] = np.lib.stride_tricks.as_strided(
        factored, (size, order.width + 1), ((size + 1) * step, step), writeable=False
    )


def invert_band(factored: Floats, order: Order, out: Floats) -> None:
    """Write an inverse's upper triangle to ``out``, zero below, and destroy the factor of `factor_band`."""
    for start, end, stop in reversed(order.panels):
        lapack.invert_panel(factored, out, start, end, stop)
        size = end - start
        np.copyto(out[start:end, start:end], factored[start:end, start:end], where=_UPPER[:size, :size])


@dataclass(frozen=True, slots=True)
class Order:
    """The elimination order of a block's secrets, and the places of its entries; the anchor is left out.

    Source:
        George and Liu, "Computer Solution of Large Sparse Positive Definite Systems" (1981).
    """

    anchor: int  # the secret left out
    secrets: Ints | None  # array (size,), the secret at each position; None for a dense factor in natural order
    position: Ints  # array (size,), the position of each secret
    entries: npt.NDArray[np.int32]  # array (rows,), the entry row * size + column, row < column, of each pair row
    descending: Bools  # array (rows,), whether each pair row meets its entry from below; entries of a kind differ
    panels: Panels  # (start, end, end of the rows that its columns reach) each; empty for a dense factor
    width: int  # how far the factor reaches below its diagonal
    ordered: int  # how many pair rows there were when the secrets were ordered
    natural: bool  # whether every secret is at its own position

    def clear(self, out: Floats) -> None:
        """Zero the entries of ``out`` (size, size) that `fill` and the factor write."""
        if self.secrets is None:
            out[:] = 0.0
        for start, end, stop in self.panels:
            out[start:end, start:stop] = 0.0

    def fill(self, weights: Floats, diagonal: Floats, out: Floats) -> None:
        """Write G' diag(w) G of the block's pair rows into the upper triangle of ``out``, zero before."""
        flat = out.reshape(-1)
        flat[self.entries[self.descending]] = -weights[self.descending]
        ascending = ~self.descending
        flat[self.entries[ascending]] -= weights[ascending]
        flat[:: len(diagonal) + 1] = diagonal if self.secrets is None else diagonal[self.secrets]

    def isolate(self, out: Floats) -> None:
        """Make the anchor's row and column those of the identity, in the upper triangle."""
        k = int(self.position[self.anchor])
        out[:k, k] = 0.0
        out[k, k:] = 0.0
        out[k, k] = 1.0


def arrange(upper: Ints, lower: Ints, anchor: int, size: int, known: Order | None) -> Order:
    """Return a block's order, near the diagonal where that saves work; secrets stay while few rows have joined."""
    free = (upper != anchor) & (lower != anchor)
    first, second = upper[free], lower[free]
    if known is not None and known.anchor == anchor and len(upper) <= STALE * known.ordered:
        secrets, ordered = known.secrets, known.ordered
    else:
        secrets, ordered = cuthill_mckee(first, second, size), len(upper)
    if secrets is not None:
        position = np.argsort(secrets)
        reach = _reach(position[first], position[second], size)
        panels = _panels(reach)
        if _operations(panels, size) < WORTHWHILE * size**3:
            width = int((reach - np.arange(size)).max())
            return _order(anchor, secrets, upper, lower, panels, width, ordered)
    return _order(anchor, None, upper, lower, (), size - 1, ordered)


def natural_order(upper: Ints, lower: Ints, size: int) -> Order:
    """Return the natural order of secrets whose pair rows, the same in each block, lie near the diagonal."""
    secrets = np.arange(size)
    reach = _reach(upper, lower, size)
    width = int((reach - secrets).max())
    return _order(-1, secrets, upper, lower, _panels(reach), width, len(upper))


def cuthill_mckee(first: Ints, second: Ints, size: int) -> Ints:
    """Return secrets in the reverse Cuthill-McKee order of the graph of some pairs."""
    heads, tails = np.concatenate([first, second]), np.concatenate([second, first])
    shape = (size, size)
    graph = sparse.csr_matrix((np.ones(len(heads)), (heads.astype(np.int32), tails.astype(np.int32))), shape=shape)
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)


def _order(
    anchor: int, secrets: Ints | None, upper: Ints, lower: Ints, panels: Panels, width: int, ordered: int
) -> Order:
    every = np.arange(width + 1 if secrets is None else len(secrets))
    position = every if secrets is None else np.argsort(secrets)
    up, down = position[upper], position[lower]
    entries = np.minimum(up, down) * len(position) + np.maximum(up, down)
    natural = secrets is None or np.array_equal(secrets, every)
    return Order(anchor, secrets, position, entries.astype(np.int32), up > down, panels, width, ordered, natural)


def _reach(first: Ints, second: Ints, size: int) -> Ints:
    last = np.arange(size)
    np.maximum.at(last, np.minimum(first, second), np.maximum(first, second))
    return np.maximum.accumulate(last)


def _panels(reach: Ints) -> Panels:
    size = len(reach)
    edges = [*range(0, size, PANEL), size]
    return tuple((a, b, max(b, int(reach[b - 1]) + 1)) for a, b in itertools.pairwise(edges))


def _operations(panels: Panels, size: int) -> int:
    """Return about how many multiplications and additions factor and inverse take; densely it is size ** 3."""
    total = 0
    for start, end, stop in panels:
        columns, below = end - start, stop - end
        total += columns * (columns + below) ** 2 + columns * columns * (columns + below)
        total += 2 * columns * below * (size - start)
    return total
