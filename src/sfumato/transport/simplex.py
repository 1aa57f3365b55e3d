"""The transport simplex on exact integers: a spanning tree whose flow is never rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..rounding import UNIT

Bools = NDArray[np.bool_]

_BLOCK: Final = 16384  # entries that are priced before a pivot is taken from them


def exact_masses(first: Floats, second: Floats) -> tuple[list[int], list[int]]:
    """Return integers in the exact proportions of two arrays of floats, with equal sums.

    Floats are fractions of powers of two, so nothing is rounded: each array is
    multiplied by the other's sum.
    """
    rows, columns = [[Fraction(x) for x in array.tolist()] for array in (first, second)]
    scale = max(x.denominator for x in rows + columns)
    a, b = [[int(x * scale) for x in array] for array in (rows, columns)]
    return [x * sum(b) for x in a], [x * sum(a) for x in b]


class Tree:
    """A basis of the transport problem: n rows and m columns joined to a tree.

    The masses are perturbed as by Orden (n + 1 times each mass, plus one for every row, all
    taken by the last column), so that no two parts of them balance: every pivot moves a
    positive mass, and the same tree carries the true masses without going negative. A
    pair enters only where its reduced cost is negative beyond all rounding, so that the
    exact cost falls with every pivot and none can cycle.

    Args:
        rows: Positive integers.
        columns: Positive integers with the same sum.
        cost: Array (n, m) that the first tree is chosen by: cheap pairs first.
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
        """Pivot until no allowed pair would lower the cost, and return the potentials.

        Args:
            cost: Array (n, m) of finite numbers.
            allowed: The pairs that may enter the tree; all by default. Pairs already in
                the tree stay.

        Returns:
            Arrays u (n,) and v (m,) with u + v = cost on the tree and u + v <= cost on
            allowed pairs, up to rounding (exact for small integers).
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
