"""One Newton system for both leaks: reports meet only in the rows' sums and the loss.

Per report z the matrix is H = diag(d) + A' M A, where M is diag(theta) less its part
along one vector v: M v = 0. With D = diag(1 / d) and Q = diag(1 / theta) + A D A',

    inverse of H = D - D A' X A D,   X = Q^-1 - Q^-1 v v' Q^-1 / (v' Q^-1 v),

which is of rank classes - 1 beside a diagonal. Where each secret has one class, Q is
diagonal, and the whole costs little more than one product of matrices.

Optima are degenerate, and plain steps stop at a gap of 1e-6. So each step solves the
problem with a little of the squared distance from the iterate added, to the mechanism
and to the prices of its rows and guesses (the proximal method of multipliers): this
bends the way, not the goal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...core.arrays import Floats
from .program import LeakProgram

PROXIMAL: Final = 1e-6  # the curvature that is added, relative to a secret's probability
_BLOCK: Final = 2**23  # entries held at once
_REFINEMENTS: Final = 2
_NUDGES: Final = (1e-15, 1e-13, 1e-11, 1e-9)  # of the diagonal; refinement takes back what they change


class Newton:
    """The factored system of one iterate.

    Args:
        program: The problem.
        inverse: D per report, array (n, m); zero where y may not be positive.
        theta_inverse: 1 / theta, array (k, m).
        null: v, array (k, m).
        slack: The slack of the limit of the loss over its price.

    Raises:
        LinAlgError: If rounding has made the system indefinite.
    """

    def __init__(
        self, program: LeakProgram, inverse: Floats, theta_inverse: Floats, null: Floats, slack: float
    ) -> None:
        self.program, self.inverse = program, inverse
        self._inner: Callable[[Floats], Floats]
        self._theta_inverse, self._null, self._slack = theta_inverse, null, slack
        self._damping = PROXIMAL / program.weights
        if program.kinds is None:
            schur = self._dense(theta_inverse, null)
        else:
            schur = self._functional(theta_inverse, null, program.kinds)
        n = len(inverse)
        schur[np.diag_indices(n)] += self._damping
        self._of_cost = self.solve(program.cost)
        system = np.empty((n + 1, n + 1))
        system[:n, :n] = schur
        system[n, :n] = system[:n, n] = -self._of_cost.sum(axis=1)
        system[n, n] = float((program.cost * self._of_cost).sum()) + slack
        # Scaled to a unit diagonal: secrets may differ in weight by many orders.
        self._scale = 1 / np.sqrt(system.diagonal())
        self._factor = _factored(self._scale[:, None] * system * self._scale)

    def solve(self, right: Floats) -> Floats:
        """Return the inverses of all H applied to the columns of an array (n, m)."""
        program = self.program
        scaled = self.inverse * right
        inner = self._inner(program.onto @ scaled)
        answer: Floats = scaled - self.inverse * (program.onto.T @ inner)
        return answer

    def directions(self, right: Floats, rows: Floats, spend: float) -> tuple[Floats, Floats, float]:
        """Return (dy, du, dt) with H dy = right + du - cost dt and the wanted sums.

        Args:
            right: Array (n, m), zero where y may not be positive.
            rows: The sums of the rows of dy, plus damping times du, array (n,).
            spend: The cost of dy, less slack times dt.
        """
        dy, du, dt = self._once(right, rows, spend)
        for _ in range(_REFINEMENTS):
            off = right + du[:, None] - dt * self.program.cost - self._applied(dy)
            spent = spend - float((self.program.cost * dy).sum()) + self._slack * dt
            missing = rows - dy.sum(axis=1) - self._damping * du
            more = self._once(np.where(self.program.open, off, 0.0), missing, spent)
            dy, du, dt = dy + more[0], du + more[1], dt + more[2]
        return dy, du, dt

    def _applied(self, dy: Floats) -> Floats:
        """Return H dy."""
        moved = self.program.onto @ dy
        b = self._null / self._theta_inverse
        along = (b * moved).sum(axis=0) / (b * self._null).sum(axis=0)
        inner = (moved - self._null * along) / self._theta_inverse
        applied: Floats = over(dy, self.inverse, self.program.open) + self.program.onto.T @ inner
        return applied

    def _once(self, right: Floats, rows: Floats, spend: float) -> tuple[Floats, Floats, float]:
        """Return the directions, as far as one factorisation is accurate."""
        first = self.solve(right)
        n = len(rows)
        wanted = np.empty(n + 1)
        wanted[:n] = rows - first.sum(axis=1)
        wanted[n] = float((self.program.cost * first).sum()) - spend
        found = self._scale * cho_solve(self._factor, self._scale * wanted)
        du, dt = found[:n], float(found[n])
        dy = first + self.solve(np.broadcast_to(du[:, None], first.shape)) - dt * self._of_cost
        return dy, du, dt

    def _functional(self, theta_inverse: Floats, null: Floats, kinds: NDArray[np.intp]) -> Floats:
        """Return the sum of the inverses of H where each secret has one class, so that Q is diagonal."""
        program, inverse, weights = self.program, self.inverse, self.program.weights
        masses = inverse * (weights * weights)[:, None]
        groups = [np.flatnonzero(kinds == kind) for kind in range(program.onto.shape[0])]
        q, others = np.empty_like(theta_inverse), np.empty_like(masses)
        for kind, members in enumerate(groups):
            q[kind], others[members] = _with_and_without(masses[members])
        q += theta_inverse
        share = null / q
        total = (null * share).sum(axis=0)
        self._inner = lambda t: t / q - share * ((share * t).sum(axis=0) / total)
        spread = inverse * weights[:, None]
        common = spread * (share / np.sqrt(total))[kinds]
        schur: Floats = common @ common.T
        diagonal = (inverse * ((theta_inverse[kinds] + others) / q[kinds])).sum(axis=1) + schur.diagonal()
        for kind, members in enumerate(groups):
            if len(members) > 1:
                part = spread[members] / np.sqrt(q[kind])
                schur[np.ix_(members, members)] -= part @ part.T
        schur[np.diag_indices(len(schur))] = diagonal
        return schur

    def _dense(self, theta_inverse: Floats, null: Floats) -> Floats:
        """Return the sum of the inverses of H, a few reports at a time."""
        onto, inverse = self.program.onto, self.inverse
        k, n = onto.shape
        m = inverse.shape[1]
        middle = np.empty((m, k, k))
        schur = np.diag(inverse.sum(axis=1))
        step = max(1, _BLOCK // (k * n))
        for first in range(0, m, step):
            part = slice(first, min(first + step, m))
            wide = onto * inverse.T[part, None, :]
            q = wide @ onto.T
            q[:, np.arange(k), np.arange(k)] += theta_inverse.T[part]
            root = np.linalg.inv(np.linalg.cholesky(q))
            unit = (root @ null.T[part, :, None])[..., 0]
            unit /= np.linalg.norm(unit, axis=1, keepdims=True)
            root -= unit[:, :, None] * (unit[:, None, :] @ root)
            middle[part] = root.transpose(0, 2, 1) @ root
            factor = (root @ wide).reshape(-1, n)
            schur -= factor.T @ factor
        self._inner = lambda t: (middle @ t.T[..., None])[..., 0].T
        return schur


def _with_and_without(masses: Floats) -> tuple[Floats, Floats]:
    """Return the sums of columns, and for each entry the sum of the others, without cancellation."""
    total = masses.sum(axis=0)
    others = total - masses
    largest, columns = np.argmax(masses, axis=0), np.arange(masses.shape[1])
    rest = masses.copy()
    rest[largest, columns] = 0.0
    others[largest, columns] = rest.sum(axis=0)
    return total, others


def _factored(system: Floats) -> tuple[Floats, bool]:
    """Return the Cholesky factor, of the system with a little more diagonal where rounding asks for it."""
    for nudge in _NUDGES:
        try:
            factor: tuple[Floats, bool] = cho_factor(system + nudge * np.eye(len(system)), lower=True)
            return factor
        except LinAlgError:
            continue
    raise LinAlgError("the system is indefinite")


def longest(value: Floats, change: Floats, where: NDArray[np.bool_] | None = None) -> float:
    """Return how far a positive array may go along a direction before an entry is zero; at most inf."""
    falling = change < 0 if where is None else (change < 0) & where
    if not falling.any():
        return np.inf
    return float((-value[falling] / change[falling]).min())


def single(value: float, change: float) -> float:
    """Return how far a positive number may go along a change before it is zero; at most inf."""
    return -value / change if change < 0 else np.inf


def over(top: Any, bottom: Floats, where: NDArray[np.bool_]) -> Floats:
    """Return a quotient where the bottom counts, and zero elsewhere."""
    quotient: Floats = np.divide(top, bottom, out=np.zeros(bottom.shape), where=where)
    return quotient
