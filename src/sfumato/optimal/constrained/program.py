"""Demands as a linear program, with some of the rows of metric privacy.

The variables, in this order: p(o|s) row by row; for each attacker their error y(o) per observable; and where there
are several expected losses, the largest of them. In the program of the room, which asks how well the constraints
can be kept, the last variable is how much the worst-kept one lacks, as a share of its scale; this is to be least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...core.arrays import Floats
from ...evidence import ManyMultipliers, Multipliers
from ..linear import LinearProgram, wide
from ..triples import Triples
from .demands import Demands


@dataclass(frozen=True, slots=True, eq=False)
class GeneralProgram:
    """The program of some demands.

    Attributes:
        demands: The demands.
        triples: The rows of metric privacy in it.
        kept_back: By how much of its scale each constraint is asked for more strictly.
        of_room: Whether the room of the constraints is asked for, and not the least loss.
    """

    demands: Demands
    triples: Triples
    kept_back: float = 0.0
    of_room: bool = False

    @property
    def program(self) -> LinearProgram:
        """The linear program."""
        d, (n, m) = self.demands, self.demands.shape
        size, attackers = n * m, len(d.attackers)
        several = self._several or self.of_room
        columns = size + attackers * m + several
        built = _Rows(columns)
        built.add(sparse.kron(sparse.identity(n), np.ones((1, m))), 1.0, 1.0)
        scales = d.scales
        for j, attacker in enumerate(d.attackers):
            seen = d.prior.probabilities * attacker.distance.array / scales[j]
            here = size + j * m
            guesses = len(seen)
            rows = wide(sparse.kron(seen, sparse.identity(m)), columns, 0) - wide(
                sparse.kron(np.ones((guesses, 1)), sparse.identity(m)), columns, here
            )
            built.add(rows, 0.0, np.inf)
            total = sparse.csr_array(np.ones((1, m)))
            built.add(self._slackened(total, columns, here, 1.0), self._least(attacker.minimum, scales[j]), np.inf)
        for k, constraint in enumerate(d.constraints):
            scale = scales[attackers + k]
            row = sparse.csr_array(constraint.coefficients.reshape(1, -1) / scale)
            most = constraint.at_most / scale - (0.0 if self.of_room else self.kept_back)
            built.add(self._slackened(row, columns, 0, -1.0), -np.inf, most)
        cost, floor = np.zeros(columns), np.zeros(columns)
        if self.of_room:
            cost[-1], floor[-1] = 1.0, -np.inf
        elif self._several:
            cost[-1] = 1.0
            flat = sparse.csr_array((d.loss / d.loss_scale).reshape(1, -1))
            spread = sparse.csr_array(sparse.kron(sparse.csr_array(d.masses), np.ones((1, m)))) * flat
            top = wide(sparse.csr_array(np.ones((len(d.masses), 1))), columns, columns - 1)
            built.add(wide(spread, columns, 0) - top, -np.inf, 0.0)
        else:
            cost[:size] = (d.masses[0][:, None] * d.loss / d.loss_scale).ravel()
        if len(self.triples):
            t, count = self.triples, len(self.triples)
            small, row = np.exp(-d.exponents[t.secrets, t.others]), np.arange(count)
            entries = np.concatenate([small, -np.ones(count)])
            places = np.concatenate([t.secrets * m + t.observables, t.others * m + t.observables])
            block = sparse.csr_array((entries, (np.concatenate([row, row]), places)), shape=(count, columns))
            built.add(block, -np.inf, 0.0)
        return built.program(cost, floor)

    def matrix(self, x: Floats) -> Floats:
        """Return the mechanism in an answer, array (n, m)."""
        n, m = self.demands.shape
        return x[: n * m].reshape(n, m)

    def prices(self, duals: Floats) -> ManyMultipliers:
        """Return the row duals of an answer as prices of the demands."""
        d, (n, m) = self.demands, self.demands.shape
        unit = 1.0 if self.of_room else d.loss_scale
        scales, position = d.scales, n
        guesses = []
        for j, attacker in enumerate(d.attackers):
            count = len(attacker.distance.array)
            guesses.append(duals[position : position + count * m].reshape(count, m) * (unit / scales[j]))
            position += count * m + 1
        limits = -duals[position : position + len(d.constraints)] * unit / scales[len(d.attackers) :]
        position += len(d.constraints)
        masses = np.ones(len(d.masses))
        if self._several and not self.of_room:
            masses = -duals[position : position + len(d.masses)]
            position += len(d.masses)
        t = self.triples
        exponents = d.exponents[t.secrets, t.others]
        local = -duals[position:] * np.exp(-exponents) * unit
        rows = Multipliers(t.secrets, t.others, t.observables, local, exponents)
        return ManyMultipliers(rows, masses, tuple(guesses), limits)

    @property
    def _several(self) -> bool:
        return len(self.demands.masses) > 1

    def _least(self, minimum: float, scale: float) -> float:
        return minimum / scale + (0.0 if self.of_room else self.kept_back)

    def _slackened(self, row: sparse.csr_array, columns: int, offset: int, sign: float) -> sparse.csr_array:
        """Return a row in its place, with the missing room beside it where that is asked for."""
        placed = wide(row, columns, offset)
        if not self.of_room:
            return placed
        return placed + wide(sparse.csr_array(np.array([[sign]])), columns, columns - 1)


class _Rows:
    """Rows of a program, block by block."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.blocks: list[Any] = []
        self.lower: list[Floats] = []
        self.upper: list[Floats] = []

    def add(self, block: Any, low: float, high: float) -> None:
        """Add rows between two bounds; where they are narrower, they begin at the first column."""
        self.blocks.append(wide(block, self.columns, 0))
        count = block.shape[0]
        self.lower.append(np.full(count, low))
        self.upper.append(np.full(count, high))

    def program(self, cost: Floats, floor: Floats) -> LinearProgram:
        """Return the program of all rows."""
        stacked = sparse.csr_array(sparse.vstack(self.blocks, format="csr"))
        stacked.eliminate_zeros()
        return LinearProgram(cost, stacked, np.concatenate(self.lower), np.concatenate(self.upper), floor)
