"""Repairs far from an observable's own place, so that a few rows there neither stop a step nor spoil a bound.

Far out, where a column p(o|.) is tiny, its entries sit on lower bounds x_o(t) >= e^{-E(s,t)} x_o(s)
that entries further in set. There are many such rows, they turn from loose to tight at every
scale of the path parameter, and they matter to neither the loss nor the prices. But a single one
that a step breaks cuts the whole step, and a single multiplier that would become negative spoils
the price of a secret for all observables. Both are mended in order of size:

- Costs travel inward (`_flow`). Where a reduced cost is negative, less is carried inward from
  there, and what then lacks further in is less by e^{-E} at every hop.
- Probabilities travel outward. An entry below one of its lower bounds is raised to it, which may
  raise entries further out. What a secret's entries then have too much is taken from its entries
  with room, so that rows still sum to one.
"""

from __future__ import annotations

import numpy as np

from ._arrays import Floats
from ._flow import Flow
from ._newton import Direction
from ._rows import Point, Rows

# Rounds in which blocks that still lack something may divert what their secrets carry, and what a block may lack
# without another round, as a share of what all lack per secret.
ROUNDS = 6
NEGLIGIBLE = 0.01
LENGTHS = (0.9, 0.8, 0.7)
# A lifted step leaves each row at least this share of its slack, and as much as keeps its product with the
# multiplier above a share of the mean if it had that or comes to it, up to the tolerance. Without the second
# rule a row that is mended again and again ends at a slack of 1e-17.
KEPT = 0.2
CENTRAL = 0.1
TOLERANCE = 1e-3
PASSES = 40
# The share of the room at a secret that may be taken to make up for raised entries.
TAKEN = 0.3


class Tails:
    """The repairs at one iterate.

    Args:
        rows: The inequality rows.
        point: The iterate; its probabilities give the order.
        z: Array (rows,), the slacks there.
    """

    def __init__(self, rows: Rows, point: Point, z: Floats) -> None:
        self._rows, self._point, self._z = rows, point, z
        self._x = point.u[:, : rows.form.secrets]
        self._flow = Flow(rows.pairs, self._x, np.arange(rows.form.blocks))

    def carry(self, lam: Floats, reduced: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Carry costs inward until reduced costs are no smaller than the prices, as far as that goes.

        Args:
            lam: Array (pair rows,), multipliers, not negative.
            reduced: Array (blocks, n), cost minus what the multipliers of all rows take.
            mu: Array (n,), the prices aimed at.

        Returns:
            Multipliers, not negative, and the reduced costs that they leave, up to rounding.
        """
        lam, left = lam.copy(), reduced - mu
        self._flow.inward(lam, left)
        for _ in range(ROUNDS):
            lacking = np.maximum(-left, 0.0)
            few = NEGLIGIBLE * float(lacking.max(axis=0).mean())
            hurt = np.flatnonzero((lacking > few).any(axis=1))
            if len(hurt) == 0:
                break
            part = Flow(self._rows.pairs, self._x, hurt)
            some, there = lam[part.rows], left[hurt]
            part.divert(some, there)
            part.inward(some, there)
            better = np.maximum(-there, 0.0).sum(axis=1) < (1 - NEGLIGIBLE) * lacking[hurt].sum(axis=1)
            if not better.any():
                break
            kept = better[part.block]
            lam[part.rows[kept]] = some[kept]
            left[hurt[better]] = there[better]
        return lam, left + mu

    def lift(self, direction: Direction, primal: float) -> tuple[Floats, float] | None:
        """Return the end of a step longer than ``primal``, with broken rows mended, and the step's length.

        Only for programs whose rows are all rows of privacy.

        Args:
            direction: Where to go.
            primal: The step that needs no repair.

        Returns:
            Array (blocks, n) strictly inside all rows present, and the length; or None where no longer step can be
            mended.
        """
        for length in LENGTHS:
            if length <= primal:
                return None
            end = self._lifted(direction, length)
            if end is not None:
                return end, length
        return None

    def _lifted(self, direction: Direction, length: float) -> Floats | None:
        pairs, form = self._rows.pairs, self._rows.form
        plain = self._point.u + length * direction.u
        end = plain.copy()
        flat = end.reshape(-1)
        slack = self._z + length * direction.z
        central = CENTRAL * float(self._point.lam @ self._z) / len(self._z) / self._point.lam
        least = np.maximum(KEPT * self._z, np.minimum(central, np.maximum(self._z, slack)))
        hurt = np.zeros(form.blocks, dtype=np.bool_)
        hurt[pairs.lower[slack < least] // pairs.size] = True
        rows = pairs.among(hurt)
        upper, lower, root, least = pairs.upper[rows], pairs.lower[rows], pairs.root[rows], least[rows]
        some = np.arange(len(rows))
        for _ in range(PASSES):
            lack = least[some] - (root[some] * flat[lower[some]] - flat[upper[some]] / root[some])
            short = lack > TOLERANCE * least[some]
            some, lack = some[short], lack[short]
            if len(some) == 0:
                break
            entries = lower[some]
            np.maximum.at(flat, entries, flat[entries] + lack / root[some])
            # What was raised may now break the rows in which it is the upper end.
            moved = np.zeros(end.size, dtype=np.bool_)
            moved[entries] = True
            some = np.flatnonzero(moved[upper])
        else:
            return None
        raised = end - plain
        room = np.full(end.size, np.inf)
        np.minimum.at(room, pairs.lower, pairs.slack(end) / pairs.root)
        free = (raised.reshape(-1) == 0) & np.isfinite(room)
        spare = np.where(free, np.minimum(room, flat), 0.0).reshape(end.shape)
        excess, there = form.total(raised), form.total(spare)
        if (excess > TAKEN * there).any():
            return None
        taken: Floats = spare * np.divide(excess, there, out=np.zeros_like(excess), where=there > 0)
        return end - taken
