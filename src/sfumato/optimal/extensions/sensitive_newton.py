"""Newton systems for both leaks: reports meet only in the rows' sums and the loss (docs/proofs/sensitive.md).

Per report z the matrix is H = diag(d) + A' M A, where M is diag(theta) less its part along one vector v: M v = 0.
With D = diag(1 / d) and Q = diag(1 / theta) + A D A',

    inverse of H = D - D A' X A D,   X = Q^-1 - Q^-1 v v' Q^-1 / (v' Q^-1 v),

which is diagonal plus a matrix of rank classes - 1. Where each secret has one class, Q is diagonal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...core.arrays import Floats
from .sensitive_problem import LeakProgram

PROXIMAL: Final = 1e-6  # the curvature that is added, relative to a secret's probability, at first
_SPOILED: Final = 1e-4  # a step this short is rounding's work: the curvature is then
_FIRMER: Final = 10.0  # times as large
_BLOCK: Final = 2**23  # entries held at once
_REFINEMENTS: Final = 2
_NUDGES: Final = (1e-15, 1e-13, 1e-11, 1e-9)  # of the diagonal; refinement takes back what they change
_BACK = 0.995  # of the way to the nearest bound
_FLOOR = 1e-9  # of the even mass of a report: no class starts as impossible
_FAR = 4.0  # nats: a step that would move a belief much further is shortened
_ABOVE = 1.05  # times the largest mass of a report: where its guess starts


class Newton:
    """The factored system of one iterate.

    ``inverse`` is D, array (n, m), zero where y may not be positive; ``theta_inverse`` 1 / theta and ``null`` v,
    arrays (k, m); ``slack`` that of the limit of the loss over its price.
    """

    def __init__(
        self,
        program: LeakProgram,
        inverse: Floats,
        theta_inverse: Floats,
        null: Floats,
        slack: float,
        proximal: float = PROXIMAL,
    ) -> None:
        self.program, self.inverse = program, inverse
        self._inner: Callable[[Floats], Floats]
        self._theta_inverse, self._null, self._slack = theta_inverse, null, slack
        self._damping = proximal / program.weights
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
        self._factor = _factor_system(self._scale[:, None] * system * self._scale)

    def solve(self, right: Floats) -> Floats:
        """Return the inverses of all H applied to the columns of an array (n, m)."""
        program = self.program
        scaled = self.inverse * right
        inner = self._inner(program.onto @ scaled)
        return np.asarray(scaled - self.inverse * (program.onto.T @ inner))

    def directions(self, right: Floats, rows: Floats, spend: float) -> tuple[Floats, Floats, float]:
        """Return (dy, du, dt) with H dy = right + du - cost dt.

        ``rows`` (n,) are the sums of dy plus damping times du; ``spend`` is the cost of dy, less slack times dt.
        """
        dy, du, dt = self._once(right, rows, spend)
        for _ in range(_REFINEMENTS):
            off = right + du[:, None] - dt * self.program.cost - self._apply_hessian(dy)
            cost = spend - float((self.program.cost * dy).sum()) + self._slack * dt
            missing = rows - dy.sum(axis=1) - self._damping * du
            more = self._once(np.where(self.program.open, off, 0.0), missing, cost)
            dy, du, dt = dy + more[0], du + more[1], dt + more[2]
        return dy, du, dt

    def _apply_hessian(self, dy: Floats) -> Floats:
        """Return H dy."""
        image = self.program.onto @ dy
        b = self._null / self._theta_inverse
        along = (b * image).sum(axis=0) / (b * self._null).sum(axis=0)
        inner = (image - self._null * along) / self._theta_inverse
        return np.asarray(over(dy, self.inverse, self.program.open) + self.program.onto.T @ inner)

    def _once(self, right: Floats, rows: Floats, spend: float) -> tuple[Floats, Floats, float]:
        """Return the directions to the accuracy of one factorisation."""
        first = self.solve(right)
        n = len(rows)
        target = np.empty(n + 1)
        target[:n] = rows - first.sum(axis=1)
        target[n] = float((self.program.cost * first).sum()) - spend
        solution = self._scale * cho_solve(self._factor, self._scale * target)
        du, dt = solution[:n], float(solution[n])
        dy = first + self.solve(np.broadcast_to(du[:, None], first.shape)) - dt * self._of_cost
        return dy, du, dt

    def _functional(self, theta_inverse: Floats, null: Floats, kinds: NDArray[np.intp]) -> Floats:
        """Return the sum of the inverses of H where each secret has one class, so that Q is diagonal."""
        program, inverse, weights = self.program, self.inverse, self.program.weights
        masses = inverse * (weights * weights)[:, None]
        groups = [np.flatnonzero(kinds == kind) for kind in range(program.onto.shape[0])]
        q, sums = np.empty_like(theta_inverse), np.empty_like(masses)
        for kind, members in enumerate(groups):
            q[kind], sums[members] = _with_and_without(masses[members])
        q += theta_inverse
        share = null / q
        total = (null * share).sum(axis=0)
        self._inner = lambda t: t / q - share * ((share * t).sum(axis=0) / total)
        spread = inverse * weights[:, None]
        common = spread * (share / np.sqrt(total))[kinds]
        schur: Floats = common @ common.T
        diagonal = (inverse * ((theta_inverse[kinds] + sums) / q[kinds])).sum(axis=1) + schur.diagonal()
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
    sums = total - masses
    largest, columns = np.argmax(masses, axis=0), np.arange(masses.shape[1])
    rest = masses.copy()
    rest[largest, columns] = 0.0
    sums[largest, columns] = rest.sum(axis=0)
    return total, sums


def _factor_system(system: Floats) -> tuple[Floats, bool]:
    """Return the Cholesky factor, with a slightly larger diagonal where rounding needs it."""
    for nudge in _NUDGES:
        with suppress(LinAlgError):
            factor: tuple[Floats, bool] = cho_factor(system + nudge * np.eye(len(system)), lower=True)
            return factor
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
    """Return a quotient where ``where`` is set, and zero elsewhere."""
    return np.asarray(np.divide(top, bottom, out=np.zeros(bottom.shape), where=where))


Respond = Callable[[Floats], tuple[Floats, Callable[[Floats], Floats]]]


class LeakSteps(ABC):
    """A primal-dual iterate of a leak program.

    ``y`` (n, m) is p(z|w), ``guesses`` (k, m) the adversary's strategy q(x|z), ``price`` that of the loss in the
    program's scale.
    """

    guesses: Floats
    _s: Floats  # array (k, m), slacks of the rows whose prices are the guesses; (0, m) without such rows

    def __init__(self, program: LeakProgram) -> None:
        self.program, self._proximal = program, PROXIMAL
        self.y, self.price = program.start()
        self._slack = program.limit - float((program.cost * self.y).sum())
        parts = self._begin(program.onto @ self.y)
        back = self._back()
        self._u = np.where(program.open, back, np.inf).min(axis=1) - program.weights / parts
        self._r = np.where(program.open, back - self._u[:, None], 1.0)
        further = program.shape[1] if len(self._s) else 0
        self._count = float(program.weights @ program.open.sum(axis=1)) + further + 1

    def advance(self) -> None:
        """Take one predictor-corrector step; raise `LinAlgError` where rounding has made the system indefinite."""
        program, y, r, s = self.program, self.y, self._r, self._s
        free, q = program.open, self.guesses[: len(s)]
        near = self._proximal * program.weights[:, None]
        curved = over(1.0, over(r, y, free) + near, free)
        theta_inverse, null, respond = self._model()
        newton = Newton(program, curved, theta_inverse, null, self._slack / self.price, self._proximal)
        dual = np.where(free, self._back() - self._u[:, None] - r, 0.0)
        rows = 1.0 - y.sum(axis=1)
        loss = program.limit - float((program.cost * y).sum()) - self._slack

        def towards(local: Floats, guess: Floats, cost: float) -> tuple[Any, ...]:
            """Return the changes of y, s, slack, u, r, price and gain for changes of slacks times prices."""
            push, pull = respond(guess)
            right = np.where(free, over(local, y, free) - dual - program.onto.T @ push, 0.0)
            dy, du, dt = newton.directions(right, rows, loss - cost / self.price)
            dq = pull(program.onto @ dy)
            dr = np.where(free, program.onto.T @ dq + dt * program.cost - du[:, None] + dual + near * dy, 0.0)
            ds = (guess - s * dq[: len(s)]) / q
            return dy, ds, (cost - self._slack * dt) / self.price, du, dr, dt, dq

        local, guess, cost = -y * r * free, -s * q, -self._slack * self.price
        dy, ds, dslack, _, dr, dt, dq = towards(local, guess, cost)
        here = (float((y * r).sum() + (s * q).sum()) + self._slack * self.price) / self._count
        a = min(1.0, longest(y, dy, free), longest(s, ds), single(self._slack, dslack))
        b = min(1.0, longest(r, dr, free), longest(q, dq[: len(s)]), single(self.price, dt))
        after = float(((y + a * dy) * (r + b * dr) * free).sum() + ((s + a * ds) * (q + b * dq[: len(s)])).sum())
        after = (after + (self._slack + a * dslack) * (self.price + b * dt)) / self._count
        centre = here * (after / here) ** 3
        dy, ds, dslack, du, dr, dt, dq = towards(
            (local + centre * program.weights[:, None] - dy * dr) * free,
            guess + centre / max(len(s), 1) - ds * dq[: len(s)],
            cost + centre - dslack * dt,
        )
        a = min(1.0, _BACK * min(longest(y, dy, free), longest(s, ds), single(self._slack, dslack)))
        b = min(1.0, _BACK * min(longest(r, dr, free), longest(q, dq[: len(s)]), single(self.price, dt)))
        if max(a, b) < _SPOILED:
            self._proximal *= _FIRMER
            return
        b = self._guess(a, b, dq)
        self.y, self._s, self._slack = y + a * dy, s + a * ds, self._slack + a * dslack
        self._u, self._r, self.price = self._u + b * du, r + b * dr, self.price + b * dt

    def _back(self) -> Floats:
        """Return the adversary's gain and the price of the loss, by entry of y."""
        return np.asarray(self.program.onto.T @ self._gain() + self.price * self.program.cost)

    @abstractmethod
    def _begin(self, joint: Floats) -> int:
        """Set the first guesses for A y, and return by what to divide the first slacks of the dual rows."""

    @abstractmethod
    def _gain(self) -> Floats:
        """Return the adversary's gain for each class and report, array (k, m)."""

    @abstractmethod
    def _model(self) -> tuple[Floats, Floats, Respond]:
        """Return 1 / theta and v of `Newton`, and what the guesses answer to a change of their products with s.

        The answer is what they add to the residual of A y, and the change of the gain by that of A y.
        """

    @abstractmethod
    def _guess(self, primal: float, dual: float, change: Floats) -> float:
        """Change the guesses, and return the dual step length, which may be shortened."""


class InformationSteps(LeakSteps):
    """The iterate of: minimise sum over x, z of a ln(a / (P(x) P(z))), a = A y.

    The adversary's beliefs q(x|z) are variables too: where masses vanish, a posterior moves too fast.
    """

    def _begin(self, joint: Floats) -> int:
        program = self.program
        self._s = np.zeros((0, program.shape[1]))
        joint = joint + _FLOOR / program.shape[1] * program.classes[:, None]
        self.guesses = joint / joint.sum(axis=0)
        return 1

    def _gain(self) -> Floats:
        return np.asarray(np.log(self.guesses / self.program.classes[:, None]))

    def _model(self) -> tuple[Floats, Floats, Respond]:
        joint = self.program.onto @ self.y
        # A report that no secret may use has no mass, and its guess no meaning.
        mass = np.where(self.program.open.any(axis=0), joint.sum(axis=0), 1.0)
        believed = self.guesses * mass
        off = joint / believed - 1
        return believed, believed, lambda _: (off, lambda step: step / believed - step.sum(axis=0) / mass + off)

    def _guess(self, primal: float, dual: float, change: Floats) -> float:  # noqa: ARG002
        dual = min(dual, _FAR / float(np.abs(change).max() + _FAR))
        beliefs = self.guesses * np.exp(dual * change)
        self.guesses = beliefs / beliefs.sum(axis=0)
        return dual


class VulnerabilitySteps(LeakSteps):
    """The iterate of: minimise sum of v(z), v(z) >= (A y)(x, z) for every class x, with the guesses as prices."""

    def _begin(self, joint: Floats) -> int:
        k, m = joint.shape
        self._v = _ABOVE * joint.max(axis=0) + 0.1 / m
        self._s = self._v - joint
        self.guesses = np.full((k, m), 1.0 / k)
        return int(k)

    def _gain(self) -> Floats:
        return self.guesses

    def _model(self) -> tuple[Floats, Floats, Respond]:
        q = self.guesses
        theta = 1 / (self._s / q + self._proximal / self.y.shape[1])
        unspent, primal = 1.0 - q.sum(axis=0), self._v - self.program.onto @ self.y - self._s

        def respond(guess: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
            omega = theta * (guess / q - primal)
            lift = (omega.sum(axis=0) - unspent) / theta.sum(axis=0)

            def pull(change: Floats) -> Floats:
                self._dv = ((theta * change).sum(axis=0)) / theta.sum(axis=0) + lift
                return np.asarray(omega - theta * (self._dv - change))

            return omega - theta * lift, pull

        return 1 / theta, np.ones_like(q), respond

    def _guess(self, primal: float, dual: float, change: Floats) -> float:
        self._v, self.guesses = self._v + primal * self._dv, self.guesses + dual * change
        return dual
