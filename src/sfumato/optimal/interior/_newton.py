"""One Newton system: block factors, the Schur complement of the coupling rows, directions.

    block o     H_o du_o = C_o' dmu + r_o,    H_o = G_o' diag(lam / z) G_o
    coupling    (sum_o k_o C_o H_o^{-1} C_o' + w / omega) dmu = rhs

bordered by the column of the free variable. The blocks are `_blocks`' work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ._arrays import Floats
from ._blocks import Blocks
from ._rows import BreakdownError, Point, Rows


@dataclass(frozen=True, slots=True)
class Direction:
    """A step of everything in a `Point`, with the slacks' step z."""

    u: Floats
    w: Floats
    v: float
    lam: Floats
    mu: Floats
    z: Floats


class System:
    """The factored Newton system at one iterate.

    Args:
        rows: The inequality rows.
        point: The iterate.
        z: Array (rows,), the slacks at the iterate.
        blocks: Holds the factors, overwritten.

    Raises:
        BreakdownError: If no factor could be computed.
    """

    def __init__(self, rows: Rows, point: Point, z: Floats, blocks: Blocks) -> None:
        self._rows, self._point, self._z, self._blocks = rows, point, z, blocks
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
            self._schur = cho_factor(schur, lower=True, overwrite_a=True)
        except (LinAlgError, ValueError) as error:
            raise BreakdownError("the coupling system is not positive definite") from error
        self._border = None if form.free is None else cho_solve(self._schur, form.free)

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

        rest = self._primal_residual - left(self._whole(self._blocks.solve(right)), slack_right / stiffness)
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
        dz, along = rows.slack(step[0], w), rows.repeat(step[1])
        along *= z
        dz += along
        change = np.multiply(lam, dz, out=along)
        np.subtract(wanted, change, out=change)
        change /= z
        return Direction(self._whole(step), w, v, change, mu, dz)

    def _whole(self, step: tuple[Floats, Floats]) -> Floats:
        return step[0] + step[1][:, None] * self._point.u

    def _apply(
        self, right: Floats, slack_right: Floats, stiffness: Floats, mu: Floats
    ) -> tuple[tuple[Floats, Floats], Floats]:
        size = self._rows.form.size
        return self._blocks.solve(right + self._rows.form.spread(mu)), (slack_right + mu[size:]) / stiffness
