"""Newton systems: block factors, the Schur complement of the coupling rows, directions.

    block o     H_o du_o = C_o' dmu + r_o,    H_o = G_o' diag(lam / z) G_o
    coupling    (sum_o k_o C_o H_o^{-1} C_o' + w / omega) dmu = rhs

Source:
    Mehrotra, SIAM J. Optim. 2 (1992); Gondzio, Comput. Optim. Appl. 6 (1996); Colombo and Gondzio, Comput. Optim.
    Appl. 41 (2008); docs/proofs/interior-point.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...core.arrays import Floats
from .block_form import BreakdownError, Iterate, Rows
from .blocks import BandedBlocks, Blocks, DenseBlocks, natural_order
from .lapack import Workers

BANDED_FROM = 384
CORRECTORS, GOOD_STEP, GAIN = 5, 0.95, 0.02
AHEAD, POWER = 0.5, 4
SHARES = (1.0, 0.75, 0.5, 0.25, 0.1)
BAND = (0.1, 10.0)
TO_BOUNDARY = 0.995


@dataclass(frozen=True, slots=True)
class Direction:
    """A step of an `Iterate`, with the slacks' step z."""

    u: Floats
    w: Floats
    v: float
    lam: Floats
    mu: Floats
    z: Floats

    def plus(
        self, other: Direction, primal: float, dual: float, workers: Workers, *, last: bool = False
    ) -> Direction:
        """Return this direction plus shares of another one's primal and dual parts; ``last`` reuses its memory."""
        lam, z = (other.lam, other.z) if last else (np.empty_like(self.lam), np.empty_like(self.z))

        def add(part: slice) -> None:
            for start, change, share, out in ((self.lam, other.lam, dual, lam), (self.z, other.z, primal, z)):
                np.multiply(change[part], share, out=out[part])
                out[part] += start[part]

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
    """The factored Newton system at one iterate with slacks z (rows,); ``blocks`` is overwritten."""

    def __init__(self, rows: Rows, point: Iterate, z: Floats, blocks: Blocks, workers: Workers) -> None:
        self._rows, self._point, self._z, self._blocks, self._workers = rows, point, z, blocks, workers
        form = rows.form
        self.dual_residual = form.objective - form.spread(point.mu) - rows.adjoint(point.lam)
        self._slack_residual = -point.mu[form.size :] - point.lam[rows.slack_start :]
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
            schur[tail, tail] += point.w / point.lam[rows.slack_start :]
        try:
            # Transposed it is laid out as LAPACK wants it, so that no copy is made.
            self._schur = cho_factor(schur.T, lower=True, overwrite_a=True)
        except (LinAlgError, ValueError) as error:
            raise BreakdownError("the coupling system is not positive definite") from error
        self._border = None if form.free is None else cho_solve(self._schur, form.free, check_finite=False)

    def _solve_coupling(self, right: Floats, free: float) -> tuple[Floats, float]:
        """Solve M dmu + a dv = right, a' dmu = free."""
        step = np.asarray(cho_solve(self._schur, right, check_finite=False))
        form = self._rows.form
        if form.free is None or self._border is None:
            return step, 0.0
        v = (float(form.free @ step) - free) / float(form.free @ self._border)
        return step - v * self._border, v

    def direction(self, target: Floats) -> Direction:
        """Return Newton's direction for a change of z * lam (rows,) that also removes all residuals."""
        rows, z = self._rows, self._z
        right = rows.adjoint(target / z) - self.dual_residual
        slack_right = target[rows.slack_start :] / z[rows.slack_start :] - self._slack_residual
        rest = self._primal_residual - self._row_totals(*self._apply(right, slack_right, None))
        mu, v = self._solve_coupling(rest, self._free_residual)
        return self._complete(target, *self._apply(right, slack_right, mu), v, mu)

    def correction(self, target: Floats) -> Direction:
        """Return the direction that changes z * lam (rows,) to first order, and preserves all residuals."""
        rows, z = self._rows, self._z
        right, slack_right = rows.adjoint(target / z), target[rows.slack_start :] / z[rows.slack_start :]
        mu, v = self._solve_coupling(-self._row_totals(*self._apply(right, slack_right, None)), 0.0)
        step, w = self._apply(right, slack_right, mu)
        return self._complete(target, step, w, v, mu)

    def refine_direction(self, direction: Direction) -> Direction:
        """Return the direction without the rounding errors of its coupling rows, which are never renormalised."""
        form = self._rows.form
        rest = self._primal_residual - form.total(direction.u)
        rest[form.size :] -= direction.w
        free = self._free_residual
        if form.free is not None:
            rest -= form.free * direction.v
            free -= float(form.free @ direction.mu)
        mu, v = self._solve_coupling(rest, free)
        zeros = np.zeros(self._rows.count)
        step, w = self._apply(np.zeros_like(direction.u), zeros[self._rows.slack_start :], mu)
        return direction.plus(self._complete(zeros, step, w, v, mu), 1.0, 1.0, self._workers, last=True)

    def _complete(self, target: Floats, step: tuple[Floats, Floats], w: Floats, v: float, mu: Floats) -> Direction:
        rows, z, lam = self._rows, self._z, self._point.lam
        dz, along = rows.slack(step[0], w), rows.repeat(step[1])

        def finish(part: slice) -> None:
            block, step_of = along[part], dz[part]
            block *= z[part]
            step_of += block
            np.multiply(lam[part], step_of, out=block)
            np.subtract(target[part], block, out=block)
            block /= z[part]

        self._workers.pieces(finish, len(dz))
        return Direction(self._whole(step), w, v, along, mu, dz)

    def _row_totals(self, step: tuple[Floats, Floats], w: Floats) -> Floats:
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
        stiffness = self._point.lam[rows.slack_start :] / self._z[rows.slack_start :]
        if mu is None:
            return self._blocks.solve(right), slack_right / stiffness
        size = rows.form.size
        return self._blocks.solve(right + rows.form.spread(mu)), (slack_right + mu[size:]) / stiffness


def factors(rows: Rows, workers: Workers) -> Blocks:
    """Return factors near the diagonal for large blocks without dense rows, which fill them; else dense."""
    form = rows.form
    if form.columns.edges is not None and form.dense is None:
        return BandedBlocks(form, workers, natural_order(*rows.pairs.ends(0), form.size))
    if form.dense is None and form.size >= BANDED_FROM:
        return BandedBlocks(form, workers)
    return DenseBlocks(form, workers)


@dataclass(frozen=True, slots=True)
class Step:
    """A direction with its primal and dual step lengths, short of the boundary."""

    direction: Direction  # where the iterate moves
    central: Direction  # keeps the mean of slack times multiplier: its dual step is seldom cut, and proves a bound
    primal: float  # length of the primal step
    dual: float  # length of the dual step


def end(point: Iterate, step: Step, share: float) -> Iterate:
    """Return the end of a whole dual step, multipliers clipped at zero; the direction's share is ``share``."""
    direction, central = step.direction, step.central
    lam = point.lam + share * direction.lam + (1 - share) * central.lam
    mu = point.mu + share * direction.mu + (1 - share) * central.mu
    return Iterate(point.u, point.w, point.v, np.maximum(lam, 0.0, out=lam), mu)


def length(change: Floats, value: Floats, workers: Workers) -> float:
    """Return the longest step in [0, 1] that keeps value + step * change non-negative."""
    lows = workers.pieces(lambda part: float((change[part] / value[part]).min()), len(value))
    return step_length(float(np.min(lows)))


def step_length(least: float) -> float:
    """Return the longest step in [0, 1] by the least of change over value."""
    return min(1.0, 1 / max(-least, 1e-300))


def best_share(
    change: Floats, extra: Floats, value: Floats, least: float, workers: Workers
) -> tuple[float, float]:
    """Return the share of ``extra`` (rows,) with the longest step that stays positive, and that step."""

    def lows(part: slice) -> list[float]:
        plain, more = change[part] / value[part], extra[part] / value[part]
        return [float((plain + share * more).min()) for share in SHARES]

    reaches = [step_length(low) for low in np.min(workers.pieces(lows, len(value)), axis=0)]
    best = int(np.argmax(reaches))
    return (SHARES[best], reaches[best]) if reaches[best] > least else (0.0, least)


def compute(system: System, point: Iterate, z: Floats, least: float, most: float, workers: Workers) -> Step:
    """Return the step to a mean of slack times multiplier from ``least`` to ``most`` times the present one."""
    lam = point.lam
    product = lam * z
    mean = float(product.sum()) / len(z)
    affine = system.direction(np.negative(product, out=product))
    del product
    primal, dual = length(affine.z, z, workers), length(affine.lam, lam, workers)
    after = float((lam + dual * affine.lam) @ (z + primal * affine.z)) / len(z)
    target = max(min(min(after / mean, 1.0) ** POWER, most) * mean, min(mean, least))
    centre = system.correction(np.full(len(z), mean))
    central = affine.plus(centre, 1.0, 1.0, workers)
    best = affine.plus(centre, target / mean, target / mean, workers, last=True)
    change = -affine.z * affine.lam
    del affine, centre
    primal, dual = length(best.z, z, workers), length(best.lam, lam, workers)
    for count in range(CORRECTORS + 1):
        if min(primal, dual) > GOOD_STEP:
            break
        if count:
            change = _correct_products(best, point, z, (primal, dual), target, workers)
        extra = system.correction(change)
        primal_share, longer = best_share(best.z, extra.z, z, primal, workers)
        dual_share, further = best_share(best.lam, extra.lam, lam, dual, workers)
        gain, primal, dual = longer - primal + further - dual, longer, further
        best = best.plus(extra, primal_share, dual_share, workers, last=True)
        del extra
        if count and gain < GAIN:
            break
    best = system.refine_direction(best)
    primal, dual = length(best.z, z, workers), length(best.lam, lam, workers)
    return Step(best, central, min(1.0, TO_BOUNDARY * primal), min(1.0, TO_BOUNDARY * dual))


def _correct_products(
    way: Direction, point: Iterate, z: Floats, lengths: tuple[float, float], target: float, workers: Workers
) -> Floats:
    """Return the change of products that brings them into the band around their target, half a step ahead."""
    primal, dual = (min(1.0, reach + AHEAD) for reach in lengths)
    out = np.empty_like(z)

    def lack(part: slice) -> None:
        products = (z[part] + primal * way.z[part]) * (point.lam[part] + dual * way.lam[part])
        np.clip(products, BAND[0] * target, BAND[1] * target, out=out[part])
        out[part] -= products
        np.maximum(out[part], -BAND[1] * target, out=out[part])

    workers.pieces(lack, len(z))
    return out
