"""A transport problem between the supports of two distributions, solved by layers of costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from .coupling import Coupling
from .inputs import Distribution, distribution
from .simplex import Bools, Tree, exact_masses

ROUNDING = 1e-12
"""Mass that is taken for the rounding of the distributions, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The potentials of one layer: u + v <= cost wherever the layers above allow a pair."""

    u: Floats
    v: Floats


class TransportProblem:
    """Two distributions, cut to their supports, and the tree that couples them.

    Args:
        first: Array (n,), a distribution.
        second: Array (m,), a distribution.
    """

    def __init__(self, first: Distribution, second: Distribution) -> None:
        self.first = distribution(first, "the first distribution")
        self.second = distribution(second, "the second distribution")
        self.shape = len(self.first), len(self.second)
        self.rows: NDArray[np.intp] = np.flatnonzero(self.first)
        self.columns: NDArray[np.intp] = np.flatnonzero(self.second)
        self._masses = exact_masses(self.first[self.rows], self.second[self.columns])
        self._total = sum(self._masses[0])
        self._tree: Tree | None = None

    def cut(self, array: Floats) -> Floats:
        """Return the part of an array (n, m) that lies between the supports."""
        return np.asarray(array[np.ix_(self.rows, self.columns)])

    def cut_relation(self, relation: Bools) -> Bools:
        """Return the part of a relation (n, m) that lies between the supports."""
        return np.asarray(relation[np.ix_(self.rows, self.columns)])

    def begin(self, order: Floats) -> Tree:
        """Couple the distributions greedily, pairs of low ``order`` (between the supports) first."""
        self._tree = Tree(*self._masses, order)
        return self._tree

    def solve(self, costs: Sequence[Floats]) -> list[Layer]:
        """Minimise the expected first cost, then the second among the optima of the first, and so on.

        All costs but the last must be 0 or 1, so that their potentials are exact.

        Args:
            costs: Arrays between the supports, of finite numbers.
        """
        tree = self._tree or self.begin(costs[0] * (1 + costs[-1].max(initial=0.0)) + costs[-1])
        allowed: Bools | None = None
        layers = []
        for cost in costs:
            u, v = tree.minimise(cost, allowed)
            layers.append(Layer(u, v))
            if len(layers) < len(costs):
                tight = cost - u[:, None] - v == 0
                allowed = tight if allowed is None else allowed & tight
        return layers

    def mass(self, where: Bools) -> float:
        """Return the mass that the current coupling puts on pairs between the supports, rounded once."""
        return sum(amount for pair, amount in self._flow().items() if where[pair]) / self._total

    def uses(self, where: Bools) -> bool:
        """Return whether the current coupling puts any mass on pairs between the supports, however little."""
        return any(where[pair] for pair in self._flow())

    def expected(self, cost: Floats) -> float:
        """Return the expected cost of the current coupling, cost between the supports."""
        return float(sum(amount / self._total * cost[pair] for pair, amount in self._flow().items()))

    def coupling(self) -> Coupling:
        """Return the current coupling."""
        joint = np.zeros(self.shape)
        for (i, j), amount in self._flow().items():
            joint[self.rows[i], self.columns[j]] = amount / self._total
        return Coupling(joint, self.first, self.second)

    def _flow(self) -> dict[tuple[int, int], int]:
        return {} if self._tree is None else self._tree.masses()
