"""The problem of a least leak as it is solved: possible values only, losses scaled, and a start inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core import units
from ...core.arrays import Floats
from ...errors import InfeasibleError
from .problem import SensitiveProblem

_TIGHT: Final = 1e-9  # of the scale: a bound nearer to the least loss leaves no room for an interior
_TIE: Final = 1e-13  # of the scale: losses that differ by less are equal, but for rounding
_START_SHARE: Final = 0.5  # of the room for loss that the exponential mechanism of the start takes,
_LATER_SHARE: Final = 0.9  # and that it takes after being mixed with even rows
_LEAST_PRICE: Final = 1e-4  # of the loss, in the scale of the program, where the search for the start begins
_PRICE_STEP: Final = 1.2
_EVEN: Final = 0.05  # the even rows' share in the start, at most


@dataclass(frozen=True, slots=True, eq=False)
class LeakProgram:
    """Minimise a leak over y >= 0 with rows of sum one and sum of cost y at most `limit`.

    Attributes:
        onto: P(x, w) of possible classes and secrets, (k, n): an array, or sparse where `kinds` is set.
        kinds: The class of each secret where it determines its class, else None.
        cost: Array (n, m), P(w) l(w, z) less its least entry per row, scaled to at most 1;
            zero where `tight`.
        limit: The bound on the scaled cost.
        open: Array (n, m): where y may be positive.
        nearest: Array (n, m): the rows of least loss, evenly over the reports that lose least.
        tight: Whether the bound is the least loss itself, so that `open` alone keeps it.
        classes: Array (k,), P(x).
        weights: Array (n,), P(w).
        unit_of_cost: What one of the scaled cost is in the unit of the loss.
        rows: The positions of the possible secrets.
        kept: The positions of the possible classes.
    """

    onto: Any
    kinds: NDArray[np.intp] | None
    cost: Floats
    limit: float
    open: NDArray[np.bool_]
    nearest: Floats
    tight: bool
    classes: Floats
    weights: Floats
    unit_of_cost: float
    rows: NDArray[np.intp]
    kept: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of possible secrets and of reports."""
        n, m = self.cost.shape
        return n, m

    def within(self, y: Floats) -> Floats:
        """Return rows scaled to sum one, mixed with the nearest ones just enough to keep the bound."""
        found: Floats = y / y.sum(axis=1, keepdims=True)
        spent = float((self.cost * found).sum())
        if spent > self.limit:
            share = min(1.0, (1 - self.limit / spent) * (1 + 1e-12))
            found = (1 - share) * found + share * self.nearest
        return found

    def start(self) -> tuple[Floats, float]:
        """Return rows inside the bounds and a price that suits them.

        They are an exponential mechanism of some loss, mixed with even rows.
        """
        even = self.open / self.open.sum(axis=1, keepdims=True)
        steps = self.cost / self.weights[:, None]
        high = _LEAST_PRICE
        while self._spent(even, steps, high) > _START_SHARE * self.limit:
            high *= _PRICE_STEP
        rows = self._exponential(even, steps, high)
        spent = float((self.cost * rows).sum())
        excess = float((self.cost * even).sum()) - spent
        share = min(_EVEN, (_LATER_SHARE * self.limit - spent) / excess) if excess > 0 else _EVEN
        return (1 - share) * rows + share * even, high

    def _exponential(self, even: Floats, steps: Floats, price: float) -> Floats:
        weights = even * np.exp(-price * steps)
        rows: Floats = weights / weights.sum(axis=1, keepdims=True)
        return rows

    def _spent(self, even: Floats, steps: Floats, price: float) -> float:
        return float((self.cost * self._exponential(even, steps, price)).sum())


def leak_program(problem: SensitiveProblem) -> LeakProgram:
    """Return the form to solve.

    Raises:
        InfeasibleError: If every mechanism loses more than the bound.
    """
    rows, kept = np.flatnonzero(problem.weights), np.flatnonzero(problem.classes)
    weights, loss = problem.weights[rows], problem.loss.array[rows]
    best = loss.min(axis=1)
    above = loss - best[:, None]
    scale = float((weights[:, None] * above).max())
    least = float(weights @ best)
    size = float(weights @ np.abs(loss).max(axis=1))
    room, rounding = problem.max_loss - least, problem.rounding
    if room < -rounding or (room < 0 and size == 0):
        unit = problem.loss.unit
        raise InfeasibleError(
            f"no mechanism with these reports loses at most {units.show(problem.max_loss, unit)} on average: "
            f"the least possible with them is {units.show(least, unit)}.",
            f"allow at least {least + rounding:.17g}, or add observables that lose less.",
        )
    tight = room <= _TIGHT * size + rounding
    ties = above <= _TIE * float(np.abs(loss).max())
    unit_of_cost = scale if scale > 0 else 1.0
    joint = problem.joint[np.ix_(kept, rows)]
    alone = bool(((joint > 0).sum(axis=0) == 1).all())
    return LeakProgram(
        sparse.csr_array(joint) if alone else joint,
        np.argmax(joint, axis=0) if alone else None,
        np.zeros_like(above) if tight else weights[:, None] * above / unit_of_cost,
        1.0 if tight else (room - rounding) / unit_of_cost,
        ties if tight else np.ones_like(ties),
        ties / ties.sum(axis=1, keepdims=True),
        tight,
        problem.classes[kept],
        weights,
        unit_of_cost,
        rows,
        kept,
    )
