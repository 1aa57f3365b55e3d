"""Couplings: joint distributions with two given marginals, by the north-west corner rule or transport simplex.

The transport simplex works on exact integers, so its flow is never rounded, and minimises layers of costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import SUM_TOLERANCE, Metric, Prior
from ..core.arrays import Floats, any_array, floats, readonly
from ..core.immutable import assign
from ..errors import InputError
from ..rounding import UNIT

Distribution = Prior | ArrayLike
Distances = Metric | ArrayLike

Bools = NDArray[np.bool_]
Entry = TypeVar("Entry", np.float64, np.bool_)

_MONGE_SLACK: Final = 1e-12  # of the largest cost
ROUNDING: Final = 1e-12
"""Default mass that counts as rounding of the distributions."""
_BLOCK: Final = 16384  # entries priced before each pivot


def distribution(value: Distribution, subject: str) -> Floats:
    """Return a checked distribution, array (n,); it is not renormalised."""
    if isinstance(value, Prior):
        return value.probabilities
    array = floats(value, subject, shape=(None,))
    if (array < 0).any():
        i = int(np.argmin(array))
        raise InputError(f"{subject} is negative at {i} ({array[i]:g}).", "use probabilities of at least 0.")
    total = float(array.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"{subject} sums to {total:.12g}, not to 1.", "pass a distribution; nothing is renormalised."
        )
    return array


def distances_between(value: Distances, shape: tuple[int, ...], p: float = 1.0) -> Floats:
    """Return checked distances, array of the given shape; ``inf`` is allowed."""
    if not p >= 1:
        raise InputError(f"the order p is {p}.", "use 1 for the earth mover's distance, at most inf.")
    array = (
        value.array if isinstance(value, Metric) else floats(value, "the distances", shape=shape, infinite=True)
    )
    if array.shape != shape:
        raise InputError(
            f"the metric is on {len(array)} values, but the distributions are on {shape[0]} and {shape[1]}.",
            "use a metric on the values of the distributions.",
        )
    if (array < 0).any():
        i, j = np.argwhere(array < 0)[0]
        raise InputError(f"the distance at ({i}, {j}) is negative: {array[i, j]:g}.", "distances are at least 0.")
    return array


def relation_between(value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a checked relation, array of truths of the given shape."""
    array = np.array(any_array(value, "the relation"))
    if array.shape != shape or array.dtype != np.bool_:
        raise InputError(
            f"the relation is an array of {array.dtype} of shape {array.shape}, but truths of shape {shape} are "
            "needed.",
            "pass True for the pairs in the relation, as in metric.array <= 1.",
        )
    return readonly(array)


def check_tolerance(tolerance: float) -> None:
    """Raise InputError unless the tolerance is a mass below 1."""
    if not 0 <= tolerance < 1:
        raise InputError(f"the tolerance {tolerance} is not a mass from 0 to below 1.", "use 0 to ignore nothing.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coupling:
    """A joint distribution whose marginals are two given distributions.

    Raises `InputError` if an entry is negative or NaN, or a marginal is another one.

    Attributes:
        joint: Array (n, m), non-negative; rows sum to ``first``, columns to ``second`` (within 1e-9).
        first: Array (n,), the row marginal.
        second: Array (m,), the column marginal.

    Example:
        >>> Coupling([[0.5, 0.0], [0.25, 0.25]], [0.5, 0.5], [0.75, 0.25])
        Coupling of 2 x 2 values on 3 pairs

    Source:
        Kawamoto and Murakami, definition 7.
    """

    joint: Floats
    first: Floats
    second: Floats

    def __init__(self, joint: ArrayLike, first: Distribution, second: Distribution) -> None:
        rows, columns = distribution(first, "the first marginal"), distribution(second, "the second marginal")
        array = floats(joint, "the joint distribution", shape=(len(rows), len(columns)))
        if (array < 0).any():
            i, j = np.argwhere(array < 0)[0]
            raise InputError(
                f"the joint distribution is negative at ({i}, {j}): {array[i, j]:g}.",
                "a probability is at least 0.",
            )
        for sums, marginal, kind in ((array.sum(axis=1), rows, "row"), (array.sum(axis=0), columns, "column")):
            error = np.abs(sums - marginal)
            if (error > SUM_TOLERANCE).any():
                k = int(np.argmax(error))
                raise InputError(
                    f"{kind} {k} of the joint distribution sums to {sums[k]:.12g}, but its marginal is "
                    f"{marginal[k]:.12g}.",
                    "a coupling has exactly the two distributions as its marginals.",
                )
        assign(self, joint=array, first=rows, second=columns)

    @classmethod
    def independent(cls, first: Distribution, second: Distribution) -> Coupling:
        """Return the coupling of independent values, the product of the marginals."""
        rows, columns = distribution(first, "the first marginal"), distribution(second, "the second marginal")
        return cls(np.outer(rows, columns), rows, columns)

    def __repr__(self) -> str:
        n, m = self.joint.shape
        return f"Coupling of {n} x {m} values on {int(self.support.sum())} pairs"

    @property
    def support(self) -> NDArray[np.bool_]:
        """The pairs of positive probability, array (n, m)."""
        return readonly(self.joint > 0)

    def expected_distance(self, distances: Distances, p: float = 1.0) -> float:
        """Return the p-th root of the expected p-th power of the distance; for ``inf`` the largest distance.

        The distances are an array (n, m) or a metric, and p is at least 1. Raises `InputError` if the distances do
        not fit, or p is below 1.
        """
        d = distances_between(distances, self.joint.shape, p)[self.support]
        top = float(d.max())
        if np.isinf(p) or top == 0 or np.isinf(top):
            return top
        mean = float(self.joint[self.support] @ (d / top) ** p)
        return top * math.pow(mean, 1 / p)

    def mass_outside(self, relation: ArrayLike) -> float:
        """Return the probability of the pairs outside a relation, array (n, m) of truths."""
        return float(self.joint[~relation_between(relation, self.joint.shape)].sum())


def exact_masses(first: Floats, second: Floats) -> tuple[list[int], list[int]]:
    """Return integers in the exact proportions of two arrays of floats, with equal sums."""
    rows, columns = [[Fraction(x) for x in array.tolist()] for array in (first, second)]
    scale = max(x.denominator for x in rows + columns)
    a, b = [[int(x * scale) for x in array] for array in (rows, columns)]
    return [x * sum(b) for x in a], [x * sum(a) for x in b]


def north_west_corner(first: Distribution, second: Distribution, distances: Distances, p: float = 1.0) -> Coupling:
    """Return the coupling of the north-west corner rule, which is optimal for a Monge cost.

    From the first pair on, as much mass as possible is moved and the exhausted side advances. In the order of the
    values the cost d**p must be Monge,

        c(i, j) + c(i', j') <= c(i, j') + c(i', j)    for i < i', j < j'

    and for p = inf the same with max in place of the sums. Distances ``|x - x'|`` on the line are, for every p, in
    the order of x; distances in the plane are not. The masses are the exact proportions of the given floats.
    Distances are finite, an array (n, m) or a metric, and p is at least 1 or ``inf``. Raises `InputError` if an
    argument does not fit, or the cost is not Monge.

    Example:
        >>> import numpy as np
        >>> line = np.abs(np.arange(3)[:, None] - np.arange(3))
        >>> north_west_corner([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], line).expected_distance(line)
        1.0

    Source:
        Hoffman, "On simple linear programming problems", 1963; Burkard, Klinz and Rudolf, Discrete Applied
        Mathematics 70, 1996 (Monge and bottleneck Monge arrays).
    """
    rows, columns = distribution(first, "the first distribution"), distribution(second, "the second distribution")
    d = distances_between(distances, (len(rows), len(columns)), p)
    if np.isinf(d).any():
        raise InputError("a distance is infinite.", "use wasserstein(), which allows it.")
    violation = _not_bottleneck_monge(d) if np.isinf(p) else _not_monge(d, p)
    if violation is not None:
        i, i2, j, j2 = violation
        sign, name = ("max", "bottleneck Monge") if np.isinf(p) else ("sum", "Monge")
        raise InputError(
            f"the distances at p = {p:g} are not {name} in this order: the {sign} over ({i}, {j}) and ({i2}, {j2})"
            f" exceeds that over ({i}, {j2}) and ({i2}, {j}), so the north-west corner rule need not be optimal.",
            "order the values along a line, or use wasserstein(), which needs no order.",
        )
    joint, (left, right), i, j = np.zeros(d.shape), exact_masses(rows, columns), 0, 0
    total = sum(left)
    while i < len(left) and j < len(right):
        mass = min(left[i], right[j])
        joint[i, j] = mass / total
        left[i] -= mass
        right[j] -= mass
        if left[i] == 0:
            i += 1
        else:
            j += 1
    return Coupling(joint, rows, columns)


def _not_monge(d: Floats, p: float) -> tuple[int, int, int, int] | None:
    """Return rows i < i' and columns j < j' that violate the condition; neighbours decide."""
    top = float(d.max())
    cost = (d / top if top > 0 else d) ** p
    excess = cost[:-1, :-1] + cost[1:, 1:] - cost[:-1, 1:] - cost[1:, :-1]
    if excess.size == 0 or excess.max() <= _MONGE_SLACK:
        return None
    i, j = divmod(int(excess.argmax()), excess.shape[1])
    return i, i + 1, j, j + 1


def _not_bottleneck_monge(d: Floats) -> tuple[int, int, int, int] | None:
    """Return rows i < i' and columns j < j' with max(a_j, b_j') > max(a_j', b_j), a and b the two rows."""
    # Either a_j exceeds b_j and some later a, or b_j' exceeds a_j' and some earlier b; running minima find both.
    n, m = d.shape
    if m < 2:
        return None
    later = np.minimum.accumulate(d[:, ::-1], axis=1)[:, ::-1]
    earlier = np.minimum.accumulate(d, axis=1)
    slack = _MONGE_SLACK * float(d.max())
    for i in range(n - 1):
        a, b = d[i], d[i + 1 :]
        by_a = (a[:-1] > later[i, 1:] + slack) & (a[:-1] > b[:, :-1] + slack)
        by_b = (b[:, 1:] > a[1:] + slack) & (b[:, 1:] > earlier[i + 1 :, :-1] + slack)
        if by_a.any():
            k, j = (int(x) for x in np.argwhere(by_a)[0])
            return i, i + 1 + k, j, j + 1 + int(np.argmin(a[j + 1 :]))
        if by_b.any():
            k, j = (int(x) for x in np.argwhere(by_b)[0])
            return i, i + 1 + k, int(np.argmin(b[k, : j + 1])), j + 1
    return None


class Tree:
    """A basis of the transport problem: a tree of n rows and m columns, cheap pairs first.

    The masses are positive integers with equal sums. They are perturbed as by Orden (n + 1 times each mass, plus
    one for every row, all taken by the last column), so that no two parts of them balance. Every pivot then moves
    a positive mass, and the same tree carries the true masses without going negative. A pair enters only where its
    reduced cost is negative beyond all rounding, so the exact cost falls with every pivot and no pivot cycles.
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
            mass = min(left[i], right[j])
            left[i] -= mass
            right[j] -= mass
            done_rows += left[i] == 0
            done_columns += right[j] == 0
            self._join(i, j, mass)
            if done_rows == n and done_columns == m:
                break
        self._parent = [-1] * (n + m)
        self._depth = [0] * (n + m)
        self._potential = np.zeros(n + m)
        self._error = np.zeros(n + m)  # bounds of the rounding in the potentials
        self._lowered = np.zeros(n + m)  # potentials minus their errors

    def minimise(self, cost: Floats, allowed: Bools | None = None) -> tuple[Floats, Floats]:
        """Pivot until no allowed pair would lower the finite cost (n, m), and return the potentials.

        They are arrays u (n,) and v (m,) with u + v = cost on the tree and u + v <= cost on allowed pairs (all by
        default), up to rounding; exact for small integers. Pairs in the tree stay.
        """
        n, m = self.shape
        self._hang(0, -1, cost)
        priced = cost + 8 * UNIT * np.abs(cost)
        u, v = self._lowered[:n], self._lowered[n:]
        height = max(1, _BLOCK // m)
        start, quiet = 0, 0
        while quiet < n:
            stop = min(start + height, n)
            reduced_costs = priced[start:stop] - u[start:stop, None] - v
            if allowed is not None:
                reduced_costs[~allowed[start:stop]] = 0.0
            i, j = divmod(int(reduced_costs.argmin()), m)
            if reduced_costs[i, j] < 0:
                self._pivot(start + i, j, cost)
                quiet = 0
            else:
                quiet += stop - start
                start = stop % n
        return self._potential[:n].copy(), self._potential[n:].copy()

    def masses(self) -> dict[tuple[int, int], int]:
        """Return the flow of the true masses along the tree, in their units."""
        rows, columns = self._masses
        rest = rows + columns
        n = self.shape[0]
        flow: dict[tuple[int, int], int] = {}
        for node in sorted(range(1, len(rest)), key=self._depth.__getitem__, reverse=True):
            above, amount = self._parent[node], rest[node]
            flow[(node, above - n) if node < n else (above, node - n)] = amount
            rest[above] -= amount
        return {pair: amount for pair, amount in flow.items() if amount}

    def _join(self, i: int, j: int, amount: int) -> None:
        self._flow[i, j] = amount
        self._near[i].add(self.shape[0] + j)
        self._near[self.shape[0] + j].add(i)

    def _hang(self, top: int, above: int, cost: Floats) -> None:
        """Set parents, depths and potentials of the subtree of ``top`` below ``above``."""
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
        """Let the pair (i, j) enter the tree, and the emptied pair leave it."""
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
        mass = flow[out_i, out_j]
        for loser_i, loser_j, _ in losing:
            flow[loser_i, loser_j] -= mass
        for pair in gaining:
            flow[pair] += mass
        del flow[out_i, out_j]
        self._near[out_i].remove(n + out_j)
        self._near[n + out_j].remove(out_i)
        self._join(i, j, mass)
        # The detached part contains the end of (i, j) on the side of the leaving pair.
        self._hang(*((a, b) if from_row else (b, a)), cost)


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

    def restrict(self, array: NDArray[Entry]) -> NDArray[Entry]:
        """Return the part of an array (n, m) between the supports."""
        return np.asarray(array[np.ix_(self.rows, self.columns)])

    def begin(self, order: Floats) -> Tree:
        """Couple the distributions greedily, pairs of low ``order`` (between the supports) first."""
        self._tree = Tree(*self._masses, order)
        return self._tree

    def solve(self, costs: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
        """Minimise the expected first cost, then the second among the optima of the first, and so on.

        Costs are finite arrays between the supports; all but the last are 0 or 1, so that their potentials are
        exact. The potentials of each layer are returned: u + v <= cost on all pairs that the layers above allow.
        """
        tree = self._tree or self.begin(costs[0] * (1 + costs[-1].max(initial=0.0)) + costs[-1])
        allowed: Bools | None = None
        layers = []
        for cost in costs:
            u, v = tree.minimise(cost, allowed)
            layers.append((u, v))
            if len(layers) < len(costs):
                tight = cost - u[:, None] - v == 0
                allowed = tight if allowed is None else allowed & tight
        return layers

    def mass(self, where: Bools) -> float:
        """Return the mass of the current coupling on pairs between the supports, rounded once."""
        return sum(amount for pair, amount in self._flow().items() if where[pair]) / self._total

    def uses(self, where: Bools) -> bool:
        """Return whether the current coupling puts any mass on pairs between the supports."""
        return any(where[pair] for pair in self._flow())

    def expected_cost(self, cost: Floats) -> float:
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
