"""One Newton system: block factors, the Schur complement of the coupling rows, directions.

    block o     H_o du_o = C_o' dmu + r_o,    H_o = G_o' diag(lam / z) G_o
    coupling    (sum_o k_o C_o H_o^{-1} C_o' + w / omega) dmu = rhs

bordered by the column of the free variable.

H_o is nearly singular along u_o itself (H_o u_o = G_o' lam, u_o' H_o u_o = lam_o' z_o,
both small). So each block is factored in the basis where its largest coordinate is
replaced by u_o: those entries are then known without cancellation, and a step along u_o
changes the slacks by exactly that multiple of z_o. Solves go through the factors, not
through inverses, which would lose the dual residual to rounding (measured: 1e-4 against
1e-12).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from . import _lapack
from ._arrays import Floats
from ._form import Form
from ._pairs import PairRows
from ._workers import Workers

FIRST_SHIFT = 1e-15
LAST_SHIFT = 1e-6


class BreakdownError(ArithmeticError):
    """A matrix that is positive definite in exact arithmetic is not so in floating point."""


@dataclass(frozen=True, slots=True)
class Point:
    """A primal and dual iterate.

    Attributes:
        u: Array (blocks, size), the primal blocks.
        w: Array (loss rows,), slacks of the loss rows.
        v: The free variable.
        lam: Array (rows,), multipliers of pairs, guesses and w, in this order.
        mu: Array (size + loss rows,), coupling multipliers.
    """

    u: Floats
    w: Floats
    v: float
    lam: Floats
    mu: Floats


@dataclass(frozen=True, slots=True)
class Direction:
    """A step of everything in a `Point`, with the slacks' step z."""

    u: Floats
    w: Floats
    v: float
    lam: Floats
    mu: Floats
    z: Floats


@dataclass(frozen=True, slots=True)
class Rows:
    """All inequality rows of a form: pairs, guesses and the slacks of the loss rows."""

    form: Form
    pairs: PairRows

    @property
    def cut(self) -> int:
        """Where the multipliers of w begin."""
        return self.pairs.count + (0 if self.form.guesses is None else self.form.guesses.count)

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.cut + self.form.slack_rows

    def slack(self, u: Floats, w: Floats) -> Floats:
        """Return the slack of every row, array (rows,)."""
        parts = [self.pairs.slack(u)]
        if self.form.guesses is not None:
            parts.append(self.form.guesses.slack(u))
        if self.form.losses is not None:
            parts.append(w)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the block rows' values in each block, array (blocks,)."""
        out = np.bincount(self.pairs.block, values[: self.pairs.count], self.form.blocks).astype(np.float64)
        if self.form.guesses is not None:
            out += values[self.pairs.count : self.cut].reshape(self.form.blocks, -1).sum(axis=1)
        return out

    def repeat(self, share: Floats) -> Floats:
        """Return one number per block, repeated for its rows; zero for w."""
        parts = [share[self.pairs.block]]
        if self.form.guesses is not None:
            parts.append(np.repeat(share, self.form.guesses.count // self.form.blocks))
        return np.concatenate([*parts, np.zeros(self.form.slack_rows)])

    def adjoint(self, weights: Floats) -> Floats:
        """Return the transpose of the block rows (not of w) times weights, array (blocks, size)."""
        out = self.pairs.adjoint(weights[: self.pairs.count])
        if self.form.guesses is not None:
            out = out + self.form.guesses.adjoint(weights[self.pairs.count : self.cut])
        return out


class System:
    """The factored Newton system at one iterate.

    Args:
        rows: The inequality rows.
        point: The iterate.
        z: Array (rows,), the slacks at the iterate.
        store: Array (blocks, size, size), scratch for the factors, overwritten.
        workers: The pool.

    Raises:
        BreakdownError: If no factor could be computed.
    """

    def __init__(self, rows: Rows, point: Point, z: Floats, store: Floats, workers: Workers) -> None:
        self._rows, self._point, self._z, self._store, self._workers = rows, point, z, store, workers
        form = rows.form
        self.dual_residual = form.objective - form.spread(point.mu) - rows.adjoint(point.lam)
        self._slack_residual = -point.mu[form.size :] - point.lam[rows.cut :]
        self._primal_residual = form.target - form.total(point.u)
        self._free_residual = 0.0
        if form.losses is not None:
            self._primal_residual[form.size :] -= point.w
        if form.free is not None:
            self._primal_residual -= form.free * point.v
            self._free_residual = form.free_cost - float(form.free @ point.mu)
        self._along = point.u
        self._anchor = point.u[:, : form.secrets].argmax(axis=1)
        with np.errstate(over="ignore"):
            weights = point.lam / z
        if not np.isfinite(weights).all():
            raise BreakdownError("a slack is too small beside its multiplier")
        schur = self._factor(weights)
        if form.losses is not None:
            tail = np.arange(form.size, len(schur))
            schur[tail, tail] += point.w / point.lam[rows.cut :]
        try:
            self._schur = cho_factor(schur, lower=True, overwrite_a=True)
        except (LinAlgError, ValueError) as error:
            raise BreakdownError("the coupling system is not positive definite") from error
        self._border = None if form.free is None else cho_solve(self._schur, form.free)

    def _factor(self, weights: Floats) -> Floats:
        """Fill ``store`` with the factors and return the Schur complement."""
        rows, form, store = self._rows, self._rows.form, self._store
        size, extra = form.size, form.slack_rows
        pairs, guesses, losses, copies = rows.pairs, form.guesses, form.losses, form.symmetry.copies
        diagonals = pairs.diagonals(weights[: pairs.count])
        pair_weights, guess_weights = weights[: pairs.count], weights[pairs.count : rows.cut]

        image = rows.adjoint(self._point.lam)
        energy = rows.sums(self._point.lam * self._z)
        along, anchor = self._along, self._anchor

        def part(share: range) -> tuple[Floats, Floats, Floats]:
            total = np.zeros((size, size))
            cross, corner = np.zeros((size, extra)), np.zeros((extra, extra))
            inverse, plain = np.empty((size, size)), np.empty((size, size))
            mixed = np.empty((len(share), size))
            for place, o in enumerate(share):
                block, k = store[o], int(anchor[o])
                pairs.fill(o, pair_weights, diagonals, plain)
                if guesses is not None:
                    guesses.add(o, guess_weights, plain)
                _replace(plain, k, image[o], float(energy[o]))
                _factor_block(plain, block)
                inverse[:] = block
                _lapack.invert(inverse)
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
                if losses is not None:
                    full = np.triu(inverse) + np.triu(inverse, 1).T
                    full += np.outer(along[o], mixed[place]) + np.outer(mixed[place], along[o])
                    wide, square = losses.schur(o, full)
                    cross += wide
                    corner += square
            outer = (along[share.start : share.stop] * copies[share.start : share.stop, None]).T @ mixed
            return np.triu(total) + np.triu(total, 1).T + outer + outer.T, cross, corner

        parts = self._workers.share(part, form.blocks)
        total = form.symmetry.average_matrix(sum((p[0] for p in parts[1:]), parts[0][0]))
        if losses is None:
            return total
        cross = sum((p[1] for p in parts[1:]), parts[0][1])
        corner = sum((p[2] for p in parts[1:]), parts[0][2])
        return np.block([[total, cross], [cross.T, corner]])

    def _blocks(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o as (rest, share): the solution is rest + share * u_o."""
        out, every = np.array(right, order="C"), np.arange(len(right))
        out[every, self._anchor] = np.einsum("oi,oi->o", self._along, right)
        self._workers.share(lambda share: _lapack.solve_each(self._store, out, share), len(out))
        along = out[every, self._anchor].copy()
        out[every, self._anchor] = 0.0
        return out, along

    def _coupled(self, right: Floats, free: float) -> tuple[Floats, float]:
        """Solve M dmu + a dv = right, a' dmu = free."""
        step = np.asarray(cho_solve(self._schur, right))
        form = self._rows.form
        if form.free is None or self._border is None:
            return step, 0.0
        v = (float(form.free @ step) - free) / float(form.free @ self._border)
        return step - v * self._border, v

    def direction(self, wanted: Floats, refine: bool = True) -> Direction:
        """Return Newton's direction, which also removes all residuals.

        Args:
            wanted: Array (rows,), the change of z * lam asked for, to first order.
            refine: Whether the coupling rows are refined once.
        """
        rows, form, z, lam = self._rows, self._rows.form, self._z, self._point.lam
        right = rows.adjoint(wanted / z) - self.dual_residual
        stiffness = lam[rows.cut :] / z[rows.cut :]
        slack_right = wanted[rows.cut :] / z[rows.cut :] - self._slack_residual

        def left(u: Floats, w: Floats) -> Floats:
            out = form.total(u)
            out[form.size :] += w
            return out

        rest = self._primal_residual - left(self._whole(self._blocks(right)), slack_right / stiffness)
        mu, v = self._coupled(rest, self._free_residual)
        step, w = self._apply(right, slack_right, stiffness, mu)
        if refine:
            # One refinement: the row sums must not drift, they are never renormalised on the way.
            rest = (
                self._primal_residual - left(self._whole(step), w) - (0.0 if form.free is None else form.free * v)
            )
            free = self._free_residual - (0.0 if form.free is None else float(form.free @ mu))
            more, more_v = self._coupled(rest, free)
            mu, v = mu + more, v + more_v
            step, w = self._apply(right, slack_right, stiffness, mu)
        dz = rows.slack(step[0], w) + rows.repeat(step[1]) * z
        return Direction(self._whole(step), w, v, (wanted - lam * dz) / z, mu, dz)

    def _whole(self, step: tuple[Floats, Floats]) -> Floats:
        return step[0] + step[1][:, None] * self._along

    def _apply(
        self, right: Floats, slack_right: Floats, stiffness: Floats, mu: Floats
    ) -> tuple[tuple[Floats, Floats], Floats]:
        size = self._rows.form.size
        return self._blocks(right + self._rows.form.spread(mu)), (slack_right + mu[size:]) / stiffness


def _replace(upper: Floats, k: int, vector: Floats, corner: float) -> None:
    """Overwrite row and column k of a matrix kept in its upper triangle."""
    upper[:k, k] = vector[:k]
    upper[k, k:] = vector[k:]
    upper[k, k] = corner


def _factor_block(plain: Floats, out: Floats) -> None:
    out[:] = plain
    shift = FIRST_SHIFT
    while not _lapack.factor(out):
        if shift > LAST_SHIFT or not np.isfinite(plain).all():
            raise BreakdownError("a block is not positive definite")
        out[:] = plain
        out.reshape(-1)[:: len(out) + 1] *= 1 + shift
        shift *= 10
