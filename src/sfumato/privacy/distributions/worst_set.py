"""The largest excess of mass that two balls of distributions allow, by branch and bound over sets of reports.

The bound and its proof are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats, readonly
from ...rounding import UNIT


@dataclass(frozen=True, slots=True, eq=False)
class Ball:
    """All distributions within total variation tau of a centre.

    Attributes:
        centre: Array (n,).
        radius: tau, from 0 to 1.
    """

    centre: Floats
    radius: float

    def highest(self, scores: Floats) -> Floats:
        """Return the distribution of the ball with the largest expected score, array (n,).

        A fractional knapsack: mass tau leaves the values of least score and goes to one of
        the largest.

        Args:
            scores: Array (n,).
        """
        order = np.argsort(scores, kind="stable")
        mass = self.centre[order]
        left = np.minimum(mass, np.maximum(self.radius - (np.cumsum(mass) - mass), 0.0))
        left[-1] = 0.0
        moved = mass - left
        moved[-1] += left.sum()
        answer = np.empty_like(mass)
        answer[order] = moved
        return readonly(answer)

    def lowest(self, scores: Floats) -> Floats:
        """Return the distribution of the ball with the least expected score, array (n,)."""
        return self.highest(-scores)


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """Results of the search.

    Attributes:
        value: The largest hockey-stick divergence found.
        first: The distribution of the first ball that attains it.
        second: The distribution of the second ball.
        bound: No distributions of the balls exceed it, rounding included.
    """

    value: float
    first: Floats
    second: Floats
    bound: float


def largest_excess(
    matrix: Floats, first: Ball, second: Ball, epsilon: float, enough: float, most_nodes: int
) -> Excess:
    """Return the largest of max over R of A#(l0)[R] - e**epsilon A#(l1)[R], for l0 and l1 in two balls.

    The search ends when a value above ``enough`` is found, when the bound is at most
    ``enough`` or is attained up to rounding, or after a number of nodes.

    Args:
        matrix: Array (n, m).
        first: Where l0 lives.
        second: Where l1 lives.
        epsilon: At most 600, so that its exponential is a float.
        enough: The excess of which it is asked whether it is exceeded.
        most_nodes: At most this many sets of decided reports are bounded.
    """
    search = _Search(matrix, first, second, epsilon)
    undecided = np.full(matrix.shape[1], -1, dtype=np.int8)
    bound = search.look(undecided)
    queue = [(-bound, 0, undecided)]
    nodes = 1
    while search.value <= enough and -queue[0][0] > search.settled(enough) and nodes < most_nodes:
        _, _, decided = heapq.heappop(queue)
        where = search.doubtful(decided)
        for choice in (1, 0):
            child = decided.copy()
            child[where] = choice
            heapq.heappush(queue, (-search.look(child), nodes, child))
            nodes += 1
    return Excess(search.value, search.first, search.second, -queue[0][0])


class _Search:
    """The balls, what each report can differ by at most and at least, and the best pair so far."""

    def __init__(self, matrix: Floats, first: Ball, second: Ball, epsilon: float) -> None:
        self.matrix, self.balls, self.factor = matrix, (first, second), math.exp(epsilon)
        self.relative = 8 * (sum(matrix.shape) + 8) * UNIT
        # Mass that a knapsack moved is a difference of sums: it errs absolutely.
        self.moved = [0.0 if ball.radius == 0 else 8 * (len(matrix) + 4) * UNIT for ball in self.balls]
        self.error = 0.0
        highs, lows = np.empty(matrix.shape[1]), np.empty(matrix.shape[1])
        for o, column in enumerate(matrix.T):
            most, least = first.highest(column) @ column, first.lowest(column) @ column
            over, under = second.highest(column) @ column, second.lowest(column) @ column
            slack = self.rounding(float(most), float(over), float(column.max()))
            highs[o], lows[o] = most - self.factor * under + slack, least - self.factor * over - slack
        # Reports whose sign is known are decided; for the others the chord from 0 to the top bounds the excess.
        self.open: NDArray[np.bool_] = (lows < 0) & (highs > 0)
        width = np.where(self.open, highs - lows, 1.0)
        self.chord = np.where(self.open, highs / width, (lows >= 0).astype(np.float64))
        self.raised = np.where(self.open, -lows * self.chord, 0.0)
        self.value, self.first, self.second = -math.inf, first.centre, second.centre
        self.improve(first.centre, second.centre)

    def look(self, decided: NDArray[np.int8]) -> float:
        """Return the bound of a node, and try the distributions that attain it."""
        free = decided < 0
        scores = self.matrix @ np.where(free, self.chord, decided.astype(np.float64))
        one, two = self.balls[0].highest(scores), self.balls[1].lowest(scores)
        self.improve(one, two)
        gained, lost, lifted = float(one @ scores), float(two @ scores), float(self.raised[free].sum())
        self.error = max(self.error, self.rounding(gained + lifted, lost, float(scores.max())))
        return gained - self.factor * lost + lifted + self.error

    def rounding(self, gained: float, lost: float, top: float) -> float:
        """Return the most by which gained - factor * lost may be off, for scores of at most top."""
        moved = self.moved[0] + self.factor * self.moved[1]
        return self.relative * (gained + self.factor * lost) + moved * top

    def settled(self, enough: float) -> float:
        """Return the bound at which nothing is left to search."""
        return max(enough, self.value + 4 * self.error)

    def doubtful(self, decided: NDArray[np.int8]) -> int:
        """Return the open report whose chord is furthest above its excess."""
        return int(np.argmax(np.where((decided < 0) & self.open, self.raised, -1.0)))

    def improve(self, one: Floats, two: Floats) -> None:
        """Try a pair, then the best pair for its best set of reports, and so on while it gets better."""
        while True:
            p, q = one @ self.matrix, two @ self.matrix
            value = float(np.maximum(p - self.factor * q, 0.0).sum())
            if not value > self.value:
                return
            self.value, self.first, self.second = value, one, two
            chosen = self.matrix @ (p > self.factor * q).astype(np.float64)
            one, two = self.balls[0].highest(chosen), self.balls[1].lowest(chosen)
