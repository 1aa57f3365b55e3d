"""Guarantees of distribution privacy against attackers with slightly wrong beliefs.

All proofs are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket, Randomizer
from ...core.arrays import Bools, Floats, Positions, readonly
from ...divergences import MaxDivergence, max_divergence
from ...errors import InputError
from ...intervals import exact, upper_end
from ...rounding import UNIT, at_most
from ..rows import channel, check_delta, list_matrix
from .distribution import DistributionPrivacy, MetricDistributionPrivacy
from .family import Family
from .family_reports import epsilon_below, reports_of
from .preprocessing import after_steps
from .promise import Promise, cite

_SOURCE: Final = "Kawamoto and Murakami, section III-F"
_LARGEST: Final = 600.0  # a larger exponent leaves too little room in floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorstBeliefs:
    """The pair of beliefs within a distance of the true distributions that a report separates most.

    Attributes:
        epsilon: The least epsilon that is enough for all beliefs within the distance: the floating-point value for
            the two beliefs, between proved bounds.
        pair: Positions of the true distributions in the family.
        first: Array (n,), the belief in place of the first.
        second: Array (n,), the belief in place of the second.
        outputs: The reports that separate them.
        radius: The total variation within which beliefs lie.
        delta: The allowed delta.
        closed: Whether the two bounds meet up to rounding; if not, the search was cut short.
    """

    epsilon: Bracket
    pair: tuple[int, int]
    first: Floats
    second: Floats
    outputs: Positions
    radius: float
    delta: float
    closed: bool

    def __repr__(self) -> str:
        return f"WorstBeliefs within {self.radius:g}: epsilon {self.epsilon}"


def close_beliefs(promise: Promise, beliefs: Sequence[str]) -> Promise:
    """Return the remaining guarantee against attackers who believe in slightly wrong distributions.

    If (b0, l0), (l0, l1) and (l1, b1) are pairs of the family, then
    A#(b0)[R] <= e**(3 epsilon) A#(b1)[R] + delta (1 + e**epsilon + e**(2 epsilon)).

    For metric distribution privacy the exponent is epsilon times the sum of the three distances. Measuring the
    believed distributions is tighter where they are known; `worst_beliefs` bounds all beliefs within a total
    variation. The beliefs are names of the family along which to step, each a pair with the next; the answer
    compares the first with the last, in this order. Raises `InputError` if the promise is of another kind, or some
    step is not a pair of the family.

    Source:
        Kawamoto and Murakami, section III-F; with delta proved here.
    """
    notion = promise.notion
    if not isinstance(notion, DistributionPrivacy | MetricDistributionPrivacy):
        raise InputError(f"a guarantee of {notion.title} was given.", "pass a guarantee of distribution privacy.")
    family = notion.family
    path = [family.position(name) for name in beliefs]
    compared = {(int(i), int(j)) for i, j in family.pairs}
    steps = [pair for pair in itertools.pairwise(path) if pair[0] != pair[1]]
    missing = [pair for pair in steps if pair not in compared]
    if missing or not steps or path[0] == path[-1]:
        chain = " to ".join(family.names[k] for k in (missing[0] if missing else path))
        raise InputError(f"the family compares no pair {chain}.", "let each name and the next be a pair.")
    exponents = [promise.value] * len(steps)
    if isinstance(notion, MetricDistributionPrivacy):
        exponents = [_product(promise.value, float(notion.distance.array[pair])) for pair in steps]
    if np.isinf(exponents).any():
        raise InputError("a step is infinitely long.", "step between distributions at finite distance.")
    epsilon = upper_end(lambda: sum((exact(exponent) for exponent in exponents), exact(0.0)))
    delta = after_steps(notion.delta, exponents)
    names = family.names[path[0]], family.names[path[-1]]
    ends = Family(dict(zip(names, family.distributions[[path[0], path[-1]]], strict=True)), [names])
    form = f"{len(steps)} steps, {' to '.join(beliefs)}: ({at_most(epsilon, 9)}, {at_most(delta, 9)})"
    reason = cite("close beliefs", form, "close-beliefs", _SOURCE)
    return Promise(DistributionPrivacy(ends, delta), epsilon, (*promise.reasons, reason))


def worst_beliefs(
    mechanism: Randomizer | ArrayLike, family: Family, radius: float, delta: float = 0.0, *, most_nodes: int = 2000
) -> WorstBeliefs:
    """Return the largest epsilon that any beliefs near the distributions of a family need.

    max over the pairs (lam, mu) and over b0, b1 with TV(b0, lam) <= radius, TV(b1, mu) <= radius
    of the (approximate) max divergence of A#(b0) and A#(b1)

    For delta = 0 a single report decides, and for each report the two beliefs are fractional knapsacks. For delta
    > 0 branch and bound searches the sets of reports; cut short, the answer is an interval. The radius is a total
    variation, and ``most_nodes`` limits the nodes of each branch and bound. Raises `InputError` if the radius or
    delta is not between 0 and 1, or sizes do not fit.

    Example:
        >>> import numpy as np
        >>> groups = Family({"day": [1.0, 0.0], "night": [0.5, 0.5]})
        >>> found = worst_beliefs(np.array([[0.75, 0.25], [0.25, 0.75]]), groups, 0.1)
        >>> round(found.epsilon.value, 6), found.pair, found.first
        (0.788457, (1, 0), array([0.4, 0.6]))

    Source:
        Kawamoto and Murakami, section III-F, bound it by three steps; the exact value is derived here.
    """
    listing = list_matrix(mechanism)
    check_delta(delta)
    if not 0 <= radius <= 1:
        raise InputError(f"the radius {radius} is not between 0 and 1.", "pass a total variation, such as 0.05.")
    reports_of(listing, family)  # sizes, and probabilities too small for floats
    matrix = channel(listing).matrix
    balls = [Ball(row, radius) for row in family.distributions]
    answers = [_by_single_reports(matrix, balls[i], balls[j]) for i, j in family.pairs]
    if delta:
        answers = [
            _by_sets(matrix, balls[i], balls[j], delta, upper, most_nodes)
            for (i, j), (_, upper) in zip(family.pairs, answers, strict=True)
        ]
    images = [(readonly(left @ matrix), readonly(right @ matrix)) for (left, right), _ in answers]
    lowers = [epsilon_below(p, q, delta, len(matrix)) for p, q in images]
    worst, upper = int(np.argmax(lowers)), max(answer[1] for answer in answers)
    lower = lowers[worst]
    first, second = answers[worst][0]
    i, j = (int(position) for position in family.pairs[worst])
    divergence = max_divergence(*images[worst], delta)
    epsilon = Bracket(lower, min(max(divergence.value, lower), upper), upper)
    closed = upper == lower or upper - lower <= 1e-9 * max(1.0, upper)
    return WorstBeliefs(epsilon, (i, j), first, second, divergence.outputs, radius, delta, closed)


def _by_single_reports(matrix: Floats, first: Ball, second: Ball) -> tuple[tuple[Floats, Floats], float]:
    """Return the worst beliefs for the max divergence, and a proved bound of it."""
    best, upper, beliefs = -math.inf, 0.0, (first.centre, second.centre)
    error = 0.0 if first.radius == 0 else 8 * (len(matrix) + 4) * UNIT
    relative = 4 * (len(matrix) + 4) * UNIT
    for column in matrix.T:
        if not column.any():
            continue
        left, right = first.highest(column), second.lowest(column)
        high, low = float(left @ column), float(right @ column)
        top = high * (1 + relative) + error * float(column.max())
        bottom = low * (1 - relative) - error * float(column.max())
        if top > 0:
            upper = max(upper, _ratio_above(top, bottom))
        value = -math.inf if high <= 0 else math.inf if low <= 0 else math.log(high) - math.log(low)
        if value > best:
            best, beliefs = value, (left, right)
    return beliefs, upper


def _by_sets(
    matrix: Floats, first: Ball, second: Ball, delta: float, most: float, most_nodes: int
) -> tuple[tuple[Floats, Floats], float]:
    """Return the worst beliefs for a delta, and a proved bound of the epsilon, at most ``most``."""
    epsilon, beliefs = 0.0, (first.centre, second.centre)
    # At their own epsilon the best beliefs exceed delta by rounding, which must not end the search.
    beyond = delta + 1e-13
    search = largest_excess(matrix, first, second, epsilon, beyond, most_nodes)
    while search.value > beyond and epsilon < _LARGEST:
        # These beliefs need the larger epsilon at which their excess is delta.
        beliefs = search.first, search.second
        least = float(MaxDivergence(delta)(beliefs[0] @ matrix, beliefs[1] @ matrix))
        if not least > epsilon * (1 + 2.0**-50):
            break
        epsilon = least
        if epsilon < _LARGEST:
            search = largest_excess(matrix, first, second, epsilon, beyond, most_nodes)
    step = 1e-13
    while epsilon + step < min(most, _LARGEST):
        at = epsilon + step
        nodes = most_nodes if step < 1e-6 else 1  # for larger steps the first bound is nearly as good, and cheaper
        if largest_excess(matrix, first, second, at, delta, nodes).bound <= delta:
            return beliefs, min(at, most)
        step *= 4
    return beliefs, most


def _ratio_above(top: float, bottom: float) -> float:
    if bottom <= 0:
        return math.inf
    a, b = math.log(top), math.log(bottom)
    return a - b + 16 * (1 + abs(a) + abs(b)) * UNIT


def _product(a: float, b: float) -> float:
    return upper_end(lambda: exact(a) * exact(b)) if math.isfinite(b) else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Ball:
    """All distributions within total variation ``radius`` of a centre, array (n,)."""

    centre: Floats
    radius: float

    def highest(self, scores: Floats) -> Floats:
        """Return the distribution of the ball with the largest expected score, a fractional knapsack."""
        order = np.argsort(scores, kind="stable")
        mass = self.centre[order]
        left = np.minimum(mass, np.maximum(self.radius - (np.cumsum(mass) - mass), 0.0))
        left[-1] = 0.0
        masses = mass - left
        masses[-1] += left.sum()
        answer = np.empty_like(mass)
        answer[order] = masses
        return readonly(answer)

    def lowest(self, scores: Floats) -> Floats:
        """Return the distribution of the ball with the least expected score, array (n,)."""
        return self.highest(-scores)


def largest_excess(
    matrix: Floats, first: Ball, second: Ball, epsilon: float, enough: float, most_nodes: int
) -> _Search:
    """Return the largest of max over R of A#(l0)[R] - e**epsilon A#(l1)[R], for l0 and l1 in two balls.

    The search ends with a value above ``enough``, with a bound at most ``enough`` or attained up to rounding, or
    after ``most_nodes`` sets of decided reports. Epsilon is at most 600.
    """
    search = _Search(matrix, first, second, epsilon)
    undecided = np.full(matrix.shape[1], -1, dtype=np.int8)
    bound = search.look(undecided)
    queue = [(-bound, 0, undecided)]
    nodes = 1
    while search.value <= enough and nodes < most_nodes:
        if -queue[0][0] <= max(enough, search.value + 4 * search.error):
            break
        _, _, decided = heapq.heappop(queue)
        # The open report whose chord is furthest above its excess.
        where = int(np.argmax(np.where((decided < 0) & search.open, search.raised, -1.0)))
        for choice in (1, 0):
            child = decided.copy()
            child[where] = choice
            heapq.heappush(queue, (-search.look(child), nodes, child))
            nodes += 1
    search.bound = -queue[0][0]
    return search


class _Search:
    """State of branch and bound: balls, bounds of each report's difference, best pair, and proved bound."""

    def __init__(self, matrix: Floats, first: Ball, second: Ball, epsilon: float) -> None:
        self.matrix, self.balls, self.factor = matrix, (first, second), math.exp(epsilon)
        self.relative = 8 * (sum(matrix.shape) + 8) * UNIT
        # Mass moved by a knapsack is a difference of sums, with an absolute error.
        self.shifts = [0.0 if ball.radius == 0 else 8 * (len(matrix) + 4) * UNIT for ball in self.balls]
        self.error, self.bound = 0.0, math.inf
        highs, lows = np.empty(matrix.shape[1]), np.empty(matrix.shape[1])
        for o, column in enumerate(matrix.T):
            most, least = first.highest(column) @ column, first.lowest(column) @ column
            over, under = second.highest(column) @ column, second.lowest(column) @ column
            slack = self.rounding(float(most), float(over), float(column.max()))
            highs[o], lows[o] = most - self.factor * under + slack, least - self.factor * over - slack
        # Reports whose sign is known are decided; for the others the chord from 0 to the top bounds the excess.
        self.open: Bools = (lows < 0) & (highs > 0)
        width = np.where(self.open, highs - lows, 1.0)
        self.chord = np.where(self.open, highs / width, (lows >= 0).astype(np.float64))
        self.raised = np.where(self.open, -lows * self.chord, 0.0)
        self.value, self.first, self.second = -math.inf, first.centre, second.centre
        self.improve(first.centre, second.centre)

    def look(self, decided: NDArray[np.int8]) -> float:
        """Return the bound of a node, and try the distributions that attain it."""
        free = decided < 0
        scores = self.matrix @ np.where(free, self.chord, decided.astype(np.float64))
        left, right = self.balls[0].highest(scores), self.balls[1].lowest(scores)
        self.improve(left, right)
        gain, loss, lift = float(left @ scores), float(right @ scores), float(self.raised[free].sum())
        self.error = max(self.error, self.rounding(gain + lift, loss, float(scores.max())))
        return gain - self.factor * loss + lift + self.error

    def rounding(self, gain: float, loss: float, top: float) -> float:
        """Return the largest error of gain - factor * loss, for scores of at most top."""
        shift = self.shifts[0] + self.factor * self.shifts[1]
        return self.relative * (gain + self.factor * loss) + shift * top

    def improve(self, left: Floats, right: Floats) -> None:
        """Try a pair, then the best pair for its best set of reports, repeatedly while it improves."""
        while True:
            p, q = left @ self.matrix, right @ self.matrix
            value = float(np.maximum(p - self.factor * q, 0.0).sum())
            if not value > self.value:
                return
            self.value, self.first, self.second = value, left, right
            scores = self.matrix @ (p > self.factor * q).astype(np.float64)
            left, right = self.balls[0].highest(scores), self.balls[1].lowest(scores)
