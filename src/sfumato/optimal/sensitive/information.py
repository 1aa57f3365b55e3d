"""Interior-point steps for the least mutual information, a convex program."""

from __future__ import annotations

import numpy as np

from ...core.arrays import Floats
from .newton import PROXIMAL, Newton, longest, over, single
from .program import LeakProgram

_BACK = 0.995  # of the way to the nearest bound
_FLOOR = 1e-9  # of the even mass of a report: no class starts as impossible
_FAR = 4.0  # nats: a step that would move a belief much further is shortened


class InformationSteps:
    """The primal-dual iterate of: minimise sum over x, z of a ln(a / (P(x) P(z))), a = A y.

    The derivative is A' ln(P(x|z) / P(x)); the second one, A' (diag(1 / a) - 1 1' / sum of a) A
    per report, has the shape that `Newton` solves. The adversary's beliefs q(x|z) are kept
    beside y, which they meet at the optimum, q = a / sum of a: where masses vanish, the
    logarithm of a posterior moves too fast for Newton's steps, and that of q does not.

    Attributes:
        y: p(z|w), array (n, m).
        guesses: q(x|z), array (k, m).
        price: The price of the loss, in the program's scale.
    """

    def __init__(self, program: LeakProgram) -> None:
        self.program = program
        self.y, self.price = program.start()
        self._slack = program.limit - float((program.cost * self.y).sum())
        reached = program.onto @ self.y + _FLOOR / program.shape[1] * program.classes[:, None]
        self.guesses = reached / reached.sum(axis=0)
        back = self._back()
        self._u = np.where(program.open, back, np.inf).min(axis=1) - program.weights
        self._r = np.where(program.open, back - self._u[:, None], 1.0)
        self._count = float(program.weights @ program.open.sum(axis=1)) + 1

    @property
    def complementarity(self) -> float:
        """The mean product of slacks and prices, each relative to the probability it belongs to."""
        return (float((self.y * self._r).sum()) + self._slack * self.price) / self._count

    def advance(self) -> None:
        """Take one predictor-corrector step.

        Raises:
            LinAlgError: If rounding has made the system indefinite.
        """
        program, y, r, q = self.program, self.y, self._r, self.guesses
        free = program.open
        reached = program.onto @ y
        # A report that no secret may use has no mass, and its guess no meaning.
        mass = np.where(program.open.any(axis=0), reached.sum(axis=0), 1.0)
        believed = q * mass
        off = reached / believed - 1
        near = PROXIMAL * program.weights[:, None]
        curved = over(1.0, over(r, y, free) + near, free)
        newton = Newton(program, curved, believed, believed, self._slack / self.price)
        dual = np.where(free, self._back() - self._u[:, None] - r, 0.0)
        rows = 1.0 - y.sum(axis=1)
        loss = program.limit - float((program.cost * y).sum()) - self._slack

        def towards(local: Floats, spent: float) -> tuple[Floats, Floats, float, Floats, Floats, float]:
            """Return the direction whose products of slack and price change as given."""
            right = np.where(free, over(local, y, free) - dual - program.onto.T @ off, 0.0)
            dy, du, dt = newton.directions(right, rows, loss - spent / self.price)
            moved = program.onto @ dy
            gain = moved / believed - moved.sum(axis=0) / mass + off
            dr = np.where(free, program.onto.T @ gain + dt * program.cost - du[:, None] + dual + near * dy, 0.0)
            return dy, du, dt, gain, dr, (spent - self._slack * dt) / self.price

        local, spent = -y * r * free, -self._slack * self.price
        dy, _, dt, _, dr, dslack = towards(local, spent)
        here = self.complementarity
        a, b = self._lengths(dy, dr, dslack, dt, 1.0)
        after = float(((y + a * dy) * (r + b * dr) * free).sum())
        after = (after + (self._slack + a * dslack) * (self.price + b * dt)) / self._count
        centre = here * (after / here) ** 3
        dy, du, dt, gain, dr, dslack = towards(
            (local + centre * program.weights[:, None] - dy * dr) * free, spent + centre - dslack * dt
        )
        a, b = self._lengths(dy, dr, dslack, dt, _BACK)
        b = min(b, _FAR / float(np.abs(gain).max() + _FAR))
        self.y, self._slack = y + a * dy, self._slack + a * dslack
        self._u, self._r, self.price = self._u + b * du, r + b * dr, self.price + b * dt
        beliefs = q * np.exp(b * gain)
        self.guesses = beliefs / beliefs.sum(axis=0)

    def _back(self) -> Floats:
        """Return the adversary's gain and the price of the loss, by entry of y."""
        gain = np.log(self.guesses / self.program.classes[:, None])
        back: Floats = self.program.onto.T @ gain + self.price * self.program.cost
        return back

    def _lengths(self, dy: Floats, dr: Floats, dslack: float, dt: float, back: float) -> tuple[float, float]:
        free = self.program.open
        primal = min(longest(self.y, dy, free), single(self._slack, dslack))
        dual = min(longest(self._r, dr, free), single(self.price, dt))
        return min(1.0, back * primal), min(1.0, back * dual)
