"""One Newton system: block factors, the Schur complement of the coupling rows, directions.

    block o     H_o du_o = C_o' dmu + r_o,    H_o = G_o' diag(lam / z) G_o
    coupling    (sum_o k_o C_o H_o^{-1} C_o' + w / omega) dmu = rhs

bordered by the column of the free variable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...core.arrays import Floats
from .banded import BandedBlocks
from .blocks import Blocks, DenseBlocks
from .form import BreakdownError, Iterate, Rows
from .order import fixed
from .workers import Workers

BANDED_FROM = 384


@dataclass(frozen=True, slots=True)
class Direction:
    """A step of everything in an `Iterate`, with the slacks' step z."""

    u: Floats
    w: Floats
    v: float
    lam: Floats
    mu: Floats
    z: Floats

    def plus(
        self, other: Direction, primal: float, dual: float, workers: Workers, *, last: bool = False
    ) -> Direction:
        """Return this direction with shares of another one's primal and dual parts added.

        Args:
            other: The other.
            primal: The share of its primal part.
            dual: The share of its dual part.
            workers: The pool.
            last: Whether the other is not needed any more: then its memory is used.
        """
        lam, z = (other.lam, other.z) if last else (np.empty_like(self.lam), np.empty_like(self.z))

        def add(part: slice) -> None:
            for one, more, share, out in ((self.lam, other.lam, dual, lam), (self.z, other.z, primal, z)):
                np.multiply(more[part], share, out=out[part])
                out[part] += one[part]

        workers.pieces(add, len(lam))
        return Direction(
            self.u + primal * other.u,
            self.w + primal * other.w,
            self.v + primal * other.v,
            lam,
            self.mu + dual * other.mu,
            z,
        )


class System:
    """The factored Newton system at one iterate.

    Args:
        rows: The inequality rows.
        point: The iterate.
        z: Array (rows,), the slacks at the iterate.
        blocks: Holds the factors, overwritten.
        workers: The pool.

    Raises:
        BreakdownError: If no factor could be computed.
    """

    def __init__(self, rows: Rows, point: Iterate, z: Floats, blocks: Blocks, workers: Workers) -> None:
        self._rows, self._point, self._z, self._blocks, self._workers = rows, point, z, blocks, workers
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
        schur = blocks.factor(rows, point, z)
        if form.losses is not None:
            tail = np.arange(form.size, len(schur))
            schur[tail, tail] += point.w / point.lam[rows.cut :]
        try:
            # Transposed it is laid out as LAPACK wants it, so that no copy is made.
            self._schur = cho_factor(schur.T, lower=True, overwrite_a=True)
        except (LinAlgError, ValueError) as error:
            raise BreakdownError("the coupling system is not positive definite") from error
        self._border = None if form.free is None else cho_solve(self._schur, form.free, check_finite=False)

    def _coupled(self, right: Floats, free: float) -> tuple[Floats, float]:
        """Solve M dmu + a dv = right, a' dmu = free."""
        step = np.asarray(cho_solve(self._schur, right, check_finite=False))
        form = self._rows.form
        if form.free is None or self._border is None:
            return step, 0.0
        v = (float(form.free @ step) - free) / float(form.free @ self._border)
        return step - v * self._border, v

    def direction(self, wanted: Floats) -> Direction:
        """Return Newton's direction, which also removes all residuals.

        Args:
            wanted: Array (rows,), the change of z * lam asked for, to first order.
        """
        rows, z = self._rows, self._z
        right = rows.adjoint(wanted / z) - self.dual_residual
        slack_right = wanted[rows.cut :] / z[rows.cut :] - self._slack_residual
        rest = self._primal_residual - self._left(*self._apply(right, slack_right, None))
        mu, v = self._coupled(rest, self._free_residual)
        return self._complete(wanted, *self._apply(right, slack_right, mu), v, mu)

    def correction(self, wanted: Floats) -> Direction:
        """Return the direction that changes z * lam as asked, to first order, and leaves all residuals.

        Directions and corrections add up: a direction plus any shares of corrections removes all residuals too.

        Args:
            wanted: Array (rows,), the change asked for.
        """
        rows, z = self._rows, self._z
        right, slack_right = rows.adjoint(wanted / z), wanted[rows.cut :] / z[rows.cut :]
        mu, v = self._coupled(-self._left(*self._apply(right, slack_right, None)), 0.0)
        step, w = self._apply(right, slack_right, mu)
        return self._complete(wanted, step, w, v, mu)

    def refined(self, direction: Direction) -> Direction:
        """Return the direction with what rounding left in the coupling rows removed.

        The row sums must not drift, they are never renormalised on the way.
        """
        form = self._rows.form
        rest = self._primal_residual - form.total(direction.u)
        rest[form.size :] -= direction.w
        free = self._free_residual
        if form.free is not None:
            rest -= form.free * direction.v
            free -= float(form.free @ direction.mu)
        mu, v = self._coupled(rest, free)
        nothing = np.zeros(self._rows.count)
        step, w = self._apply(np.zeros_like(direction.u), nothing[self._rows.cut :], mu)
        return direction.plus(self._complete(nothing, step, w, v, mu), 1.0, 1.0, self._workers, last=True)

    def _complete(self, wanted: Floats, step: tuple[Floats, Floats], w: Floats, v: float, mu: Floats) -> Direction:
        rows, z, lam = self._rows, self._z, self._point.lam
        dz, along = rows.slack(step[0], w), rows.repeat(step[1])

        def finish(part: slice) -> None:
            some, step_of = along[part], dz[part]
            some *= z[part]
            step_of += some
            np.multiply(lam[part], step_of, out=some)
            np.subtract(wanted[part], some, out=some)
            some /= z[part]

        self._workers.pieces(finish, len(dz))
        return Direction(self._whole(step), w, v, along, mu, dz)

    def _left(self, step: tuple[Floats, Floats], w: Floats) -> Floats:
        form = self._rows.form
        out = form.total(self._whole(step))
        out[form.size :] += w
        return out

    def _whole(self, step: tuple[Floats, Floats]) -> Floats:
        return step[0] + step[1][:, None] * self._point.u

    def _apply(
        self, right: Floats, slack_right: Floats, mu: Floats | None
    ) -> tuple[tuple[Floats, Floats], Floats]:
        """Return the blocks' and the slacks' answer to right-hand sides and coupling multipliers."""
        rows = self._rows
        stiffness = self._point.lam[rows.cut :] / self._z[rows.cut :]
        if mu is None:
            return self._blocks.solve(right), slack_right / stiffness
        size = rows.form.size
        return self._blocks.solve(right + rows.form.spread(mu)), (slack_right + mu[size:]) / stiffness


def factors(rows: Rows, workers: Workers) -> Blocks:
    """Return factors near the diagonal for large blocks, dense ones else.

    Distortion rows fill the blocks, and smaller blocks gain nothing (measured at 196 secrets). Where edges are
    known all blocks have their rows, in the order of the secrets.
    """
    form = rows.form
    if form.columns.edges is not None and form.guesses is None:
        return BandedBlocks(form, workers, fixed(*rows.pairs.ends(0), form.size))
    if form.guesses is None and form.size >= BANDED_FROM:
        return BandedBlocks(form, workers)
    return DenseBlocks(form, workers)
