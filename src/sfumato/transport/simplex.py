"""Transport simplex on exact integers, whose flow is never rounded, and layers of costs that it minimises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..rounding import UNIT
from .coupling import Coupling, Distribution, distribution, exact_masses

Bools = NDArray[np.bool_]
Entry = TypeVar("Entry", np.float64, np.bool_)

_BLOCK: Final = 16384  # entries that are priced before a pivot is taken from them


class Tree:
    """A basis of the transport problem: n rows and m columns joined to a tree, cheap pairs first.

    The masses are positive integers with equal sums. They are perturbed as by Orden (n + 1 times each
    mass, plus one for every row, all taken by the last column), so that no two parts of them balance:
    every pivot moves a positive mass, and the same tree carries the true masses without going
    negative. A pair enters only where its reduced cost is negative beyond all rounding, so that the
    exact cost falls with every pivot and none can cycle.
    """

    def __init__(self, rows: list[int], columns: list[int], cost: Floats) -> None:
        n, m = len(rows), len(columns)
        self.shape = n, m
        self._masses = rows, columns
        factor = n + 1
        left = [factor * x + 1 for x in rows]
        right = [factor * x for x in columns]
        right[-1] += n
        self._flow: dict[tuple[int, int], int] = {}
        self._near: list[set[int]] = [set() for _ in range(n + m)]
        done_rows, done_columns = 0, 0
        for place in np.argsort(cost, axis=None, kind="stable").tolist():
            i, j = divmod(place, m)
            if left[i] == 0 or right[j] == 0:
                continue
            moved = min(left[i], right[j])
            left[i] -= moved
            right[j] -= moved
            done_rows += left[i] == 0
            done_columns += right[j] == 0
            self._join(i, j, moved)
            if done_rows == n and done_columns == m:
                break
        self._parent = [-1] * (n + m)
        self._depth = [0] * (n + m)
        self._potential = np.zeros(n + m)
        self._error = np.zeros(n + m)  # bounds of the rounding in the potentials
        self._lowered = np.zeros(n + m)  # the potentials less their errors

    def minimise(self, cost: Floats, allowed: Bools | None = None) -> tuple[Floats, Floats]:
        """Pivot until no allowed pair would lower the finite cost (n, m), and return the potentials.

        They are arrays u (n,) and v (m,) with u + v = cost on the tree and u + v <= cost on allowed
        pairs (all by default), up to rounding; exact for small integers. Pairs in the tree stay.
        """
        n, m = self.shape
        self._hang(0, -1, cost)
        priced = cost + 8 * UNIT * np.abs(cost)
        u, v = self._lowered[:n], self._lowered[n:]
        height = max(1, _BLOCK // m)
        start, quiet = 0, 0
        while quiet < n:
            stop = min(start + height, n)
            reduced = priced[start:stop] - u[start:stop, None] - v
            if allowed is not None:
                reduced[~allowed[start:stop]] = 0.0
            i, j = divmod(int(reduced.argmin()), m)
            if reduced[i, j] < 0:
                self._pivot(start + i, j, cost)
                quiet = 0
            else:
                quiet += stop - start
                start = stop % n
        return self._potential[:n].copy(), self._potential[n:].copy()

    def masses(self) -> dict[tuple[int, int], int]:
        """Return the flow of the true masses along the tree, in the units of the masses given."""
        rows, columns = self._masses
        rest = rows + columns
        n = self.shape[0]
        found: dict[tuple[int, int], int] = {}
        for node in sorted(range(1, len(rest)), key=self._depth.__getitem__, reverse=True):
            above, amount = self._parent[node], rest[node]
            found[(node, above - n) if node < n else (above, node - n)] = amount
            rest[above] -= amount
        return {pair: amount for pair, amount in found.items() if amount}

    def _join(self, i: int, j: int, amount: int) -> None:
        self._flow[i, j] = amount
        self._near[i].add(self.shape[0] + j)
        self._near[self.shape[0] + j].add(i)

    def _hang(self, top: int, above: int, cost: Floats) -> None:
        """Set parents, depths and potentials of what hangs below ``above`` from ``top`` on."""
        n = self.shape[0]
        parent, depth, near = self._parent, self._depth, self._near
        potential, error, lowered = self._potential, self._error, self._lowered
        stack = [(top, above)]
        while stack:
            node, up = stack.pop()
            parent[node] = up
            if up < 0:
                depth[node], potential[node], error[node], lowered[node] = 0, 0.0, 0.0, 0.0
            else:
                depth[node] = depth[up] + 1
                value = float(cost[node, up - n] if node < n else cost[up, node - n]) - float(potential[up])
                doubt = float(error[up]) + 8 * UNIT * abs(value)
                potential[node], error[node], lowered[node] = value, doubt, value - doubt
            stack.extend((below, node) for below in near[node] if below != up)

    def _pivot(self, i: int, j: int, cost: Floats) -> None:
        """Let the pair (i, j) enter the tree, and the pair that runs empty leave it."""
        n = self.shape[0]
        a, b = i, n + j
        # Along the cycle through (i, j), pairs gain and lose in turn; from either end the first one loses.
        losing: list[tuple[int, int, bool]] = []
        gaining: list[tuple[int, int]] = []
        x, y, steps_x, steps_y = a, b, 0, 0
        while x != y:
            from_row = self._depth[x] >= self._depth[y]
            node, steps = (x, steps_x) if from_row else (y, steps_y)
            up = self._parent[node]
            pair = (node, up - n) if node < n else (up, node - n)
            if steps % 2 == 0:
                losing.append((*pair, from_row))
            else:
                gaining.append(pair)
            if from_row:
                x, steps_x = up, steps_x + 1
            else:
                y, steps_y = up, steps_y + 1
        flow = self._flow
        out_i, out_j, from_row = min(losing, key=lambda entry: flow[entry[0], entry[1]])
        moved = flow[out_i, out_j]
        for loser_i, loser_j, _ in losing:
            flow[loser_i, loser_j] -= moved
        for pair in gaining:
            flow[pair] += moved
        del flow[out_i, out_j]
        self._near[out_i].remove(n + out_j)
        self._near[n + out_j].remove(out_i)
        self._join(i, j, moved)
        # The part that was cut off contains the end of (i, j) on the side of the pair that left.
        self._hang(*((a, b) if from_row else (b, a)), cost)


ROUNDING = 1e-12
"""Mass that is taken for the rounding of the distributions, unless told otherwise."""


class Layer(NamedTuple):
    """The potentials of one layer: u + v <= cost wherever the layers above allow a pair."""

    u: Floats
    v: Floats


class TransportProblem:
    """Two distributions, cut to their supports, and the tree that couples them."""

    def __init__(self, first: Distribution, second: Distribution) -> None:
        self.first = distribution(first, "the first distribution")
        self.second = distribution(second, "the second distribution")
        self.shape = len(self.first), len(self.second)
        self.rows: NDArray[np.intp] = np.flatnonzero(self.first)
        self.columns: NDArray[np.intp] = np.flatnonzero(self.second)
        self._masses = exact_masses(self.first[self.rows], self.second[self.columns])
        self._total = sum(self._masses[0])
        self._tree: Tree | None = None

    def cut(self, array: NDArray[Entry]) -> NDArray[Entry]:
        """Return the part of an array (n, m) that lies between the supports."""
        return np.asarray(array[np.ix_(self.rows, self.columns)])

    def begin(self, order: Floats) -> Tree:
        """Couple the distributions greedily, pairs of low ``order`` (between the supports) first."""
        self._tree = Tree(*self._masses, order)
        return self._tree

    def solve(self, costs: Sequence[Floats]) -> list[Layer]:
        """Minimise the expected first cost, then the second among the optima of the first, and so on.

        Costs are arrays of finite numbers between the supports; all but the last must be 0 or 1, so
        that their potentials are exact.
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
