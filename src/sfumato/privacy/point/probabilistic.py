"""Likelihood ratios of single reports: bounded except on a set of small probability, or as odds of two secrets."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ...core import Bracket
from ...core.arrays import Floats, Positions
from ...rounding import at_least, at_most, factor_at_most, log_errors, mass_error
from ..exact import FEW, IntegerRows, Pair, integer_rows, largest_of_pairs, least_step, round_down
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, pair_name, related_rows, relation_on
from ..rows import AnyMechanism, Mask, channel, largest, span
from ..search import ratio_limits
from .differential import DifferentialPrivacy
from .least_epsilon import leaks, shared_limits

_LARGEST: Final = sys.float_info.max  # every finite logarithm is below


@final
@dataclass(frozen=True, slots=True)
class ProbabilisticDifferentialPrivacy(Notion):
    """Probabilistic (epsilon, delta)-differential privacy: the least epsilon at a given delta.

    For all related s, s' the set V of observables with |ln(p(o|s) / p(o|s'))| > epsilon has p[V | s] <= delta and
    p[V | s'] <= delta.

    V is the least set that may be left out. Both orders of a pair count, even if the relation has only one. As
    epsilon grows V shrinks in steps: the least epsilon is one of the logarithms, or 0. Raises `InputError` if
    delta is not between 0 and 1.
    """

    description = Description(
        "probabilistic-differential-privacy",
        "probabilistic differential privacy",
        ("epsilon", "delta"),
        question="By which factor can reports favour one secret over another, except some of probability delta?",
        promise=(
            "except for reports that together have a probability of at most {delta}, no report is more than "
            "e^{epsilon} times as likely for one of {about} as for the other"
        ),
        source="Machanavajjhala et al., ICDE 2008; Kawamoto and Murakami, section II",
        context=("relation",),
        defaults={"delta": 0.0},
    )

    delta: float
    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, array = related_rows(mechanism, self.relation)
        bounds, pair = last_step(mechanism, array, self.delta)
        if pair is None:
            return Finding(self, 0.0, bounds.upper, Witness())
        outputs = np.flatnonzero(log_sizes(matrix[pair[0]], matrix[pair[1]]) >= bounds.value - log_error(matrix))
        return Finding.of_bounds(self, bounds, Witness(pair, outputs))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return (
                f"Reports that only one of {pair_name(self.relation)} can make have a probability above "
                f"{at_least(self.delta)}: no epsilon is enough."
            )
        aside = f", except for reports that together have a probability of at most {at_most(self.delta)}"
        rest = aside if self.delta else ""
        return (
            f"No report is more than {factor_at_most(value)} times as likely from one as from the other of "
            f"{pair_name(self.relation)}{rest} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class DeltaOfProbabilisticDifferentialPrivacy(Notion):
    """Probabilistic (epsilon, delta)-differential privacy: the least delta at a given epsilon.

    delta = max over related s, s' (in both orders) of p[V | s], with V where |ln(p(o|s) / p(o|s'))| > epsilon

    Delta falls in steps as epsilon grows. Where epsilon equals a likelihood ratio up to rounding, `Finding.upper`
    counts the observable, and `Finding.value` may not. Raises `InputError` if epsilon is negative or NaN.

    Attributes:
        epsilon: At least 0; ``inf`` leaves the mass of reports that only one secret can make.
    """

    description = ProbabilisticDifferentialPrivacy.description
    parameter = "delta"
    on_request = True

    epsilon: float
    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, array = related_rows(mechanism, self.relation)
        error, epsilon = log_error(matrix), min(self.epsilon, _LARGEST)
        exact = _exact_masses(mechanism, array, epsilon, error)
        if exact is not None:
            (value, rounding), pair = round_down(*exact[:2]), exact[2]
        else:
            masses = [_masses_beyond(matrix, array, epsilon + shift) for shift in (0.0, -error, error)]
            (value, pair), (above, _), (below, _) = (largest(mass, np.triu(array | array.T)) for mass in masses)
            rounding = max(above - value, value - below) + mass_error(above, matrix.shape[1])
        outputs = np.empty(0, dtype=np.intp)
        if pair is not None:
            outputs = np.flatnonzero(log_sizes(matrix[pair[0]], matrix[pair[1]]) > epsilon)
        return Finding(self, min(value, 1.0), rounding, Witness(pair, outputs), most=1.0)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(self.epsilon):
            alone = f"Reports that only one of {pair_name(self.relation)} can make"
            return f"{alone} have together a probability of at most {at_most(value)}."
        return (
            f"A report that is more than {factor_at_most(self.epsilon)} times as likely from one as from the "
            f"other of {pair_name(self.relation)} occurs with probability at most {at_most(value)}."
        )


@final
@dataclass(frozen=True, slots=True)
class IndistinguishablePrivacy(Notion):
    """Indistinguishable privacy: no report changes the odds of two related secrets by more than e**epsilon.

    epsilon = max over related s, s' and reports o of |ln(p(o|s) / p(o|s'))|

    For a prior probability p of one of the two, p / (p + (1-p) e**epsilon) <= posterior <= p / (p + (1-p)
    e**-epsilon). It is differential privacy of the pairs in both orders, and is measured as such.

    Source:
        Desfontaines, 2.2.6 and proposition 1.
    """

    description = Description(
        "indistinguishable",
        "indistinguishable privacy",
        question="By which factor can a report move the odds of two secrets? (As for differential privacy.)",
        promise="no report changes the odds between {about} by more than a factor e^{epsilon}",
        source="Desfontaines, 2.2.6",
        context=("relation",),
    )
    on_request = True

    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        relation = relation_on(self.relation, len(channel(mechanism).matrix))
        both_orders = Relation(relation.array | relation.array.T, relation.name)
        finding = DifferentialPrivacy(both_orders).measure(mechanism)
        return replace(finding, notion=self)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Some report rules out one of {pair_name(self.relation)}: no epsilon is enough."
        half = at_most(1 / (1 + math.exp(-value)) * (1 + 2.0**-50))
        return (
            f"Someone who is unsure between {pair_name(self.relation)} has, after any report, odds of at most "
            f"{factor_at_most(value)} times what they were: a belief of 1/2 becomes at most {half} "
            f"(epsilon {at_most(value)})."
        )


def _masses_beyond(matrix: Floats, array: Mask, epsilon: float) -> Floats:
    """Return max(p[V], q[V]) of the unordered pairs, in the upper triangle of an array (n, n)."""
    unordered = np.triu(array | array.T)
    answer = np.zeros(unordered.shape)
    for s in np.flatnonzero(unordered.any(axis=1)):
        targets = np.flatnonzero(unordered[s])
        rows = matrix[targets]
        beyond = log_sizes(matrix[s], rows) > epsilon
        answer[s, targets] = np.maximum(beyond @ matrix[s], (beyond * rows).sum(axis=1))
    return answer


def _exact_masses(
    mechanism: AnyMechanism, array: Mask, epsilon: float, error: float
) -> tuple[Fraction, Fraction, Pair] | None:
    """Return bounds of the largest max(p[V], q[V]) of the related pairs, and the first pair that attains it."""
    # Logarithms may be off by the error; at epsilon 0 the set V is where p and q differ.
    rows, matrix, pairs = integer_rows(mechanism), channel(mechanism).matrix, np.argwhere(np.triu(array | array.T))
    if rows is None or not rows.holds(2 * len(pairs)):
        return None
    best: list[int] = [0, 0]
    attains: list[Pair] = [None, None]
    for block, p, q in rows.blocks(pairs):
        sizes = log_sizes(matrix[block[:, 0]], matrix[block[:, 1]])
        for side, shift in enumerate((error, -error)):
            beyond = p != q if epsilon == 0 else sizes > epsilon + shift
            sums = np.maximum(np.where(beyond, p, 0).sum(axis=1), np.where(beyond, q, 0).sum(axis=1))
            k = int(sums.argmax())
            if sums[k] > best[side]:
                best[side], attains[side] = int(sums[k]), (int(block[k, 0]), int(block[k, 1]))
    return Fraction(best[0], rows.unit), Fraction(best[1], rows.unit), attains[0] or attains[1]


_SMALL: Final = 2.0**-64  # replaces a nonzero logarithm that floats round to 0
_ENTRIES: Final = 2**20  # entries of pairs per block


def last_step(mechanism: AnyMechanism, array: Mask, delta: float) -> tuple[Bracket, Pair]:
    """Return bounds of the least epsilon at which reports with larger |ln(p/q)| have at most delta in each row.

    The pair that needs it is None where 0 is enough.
    """
    exact = _in_integers(mechanism, array, delta) if delta else None
    if exact is not None:
        below, above, pair = exact
        return Bracket(below, below, above), pair
    matrix = channel(mechanism).matrix
    slack, error = mass_error(1.0, matrix.shape[1]) if delta else 0.0, log_error(matrix)
    steps = _last_steps(matrix, array, (delta, max(0.0, delta - slack), delta + slack))
    value, above, below = (step.epsilon for step in steps)
    return Bracket(below - error, value, above + error), steps[0].pair


def log_sizes(p: Floats, q: Floats) -> Floats:
    """Return |ln(p/q)| along the last axis: -inf where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(np.log(p) - np.log(q))
    sizes[np.isnan(sizes)] = -np.inf
    return np.asarray(sizes)


def log_error(matrix: Floats) -> float:
    """Return the largest error of a computed |ln(p/q)|."""
    return 2 * float(log_errors(np.array([span(matrix)]))[0])


class _Step(NamedTuple):
    """The least epsilon at one delta, and the pair that needs it."""

    epsilon: float
    pair: tuple[int, int] | None

    def or_first(self, other: _Step) -> _Step:
        """Return the larger of two steps; of equal ones above 0 the one with the first pair."""
        larger = other.epsilon > self.epsilon
        before = other.pair is not None and self.pair is not None and other.pair < self.pair
        return other if larger or (other.epsilon == self.epsilon and before) else self


def _in_integers(mechanism: AnyMechanism, array: Mask, delta: float) -> tuple[float, float, Pair] | None:
    """Return bounds of the least epsilon of the related pairs and the pair that needs it, from exact masses."""
    rows, matrix = integer_rows(mechanism), channel(mechanism).matrix
    unordered = np.triu(array | array.T)
    if rows is None or not rows.holds(int(unordered.sum())):
        return None
    beyond = leaks(rows, unordered | unordered.T, delta, 0.0).beyond
    if beyond is not None:
        return math.inf, math.inf, (min(beyond), max(beyond))
    allowed = Fraction(delta)
    most, error, width = int(allowed * rows.unit), log_error(matrix), matrix.shape[1]
    best, near = _Step(0.0, None), np.empty((0, 2), dtype=np.intp)
    needs = np.empty(0)
    limits = np.maximum(shared_limits(rows), shared_limits(rows, inverse=True))
    step = max(1, _ENTRIES // width)
    for s in np.argsort(-limits, kind="stable"):
        if limits[s] <= best.epsilon:
            break
        candidates = np.flatnonzero(unordered[s])
        for targets in np.array_split(candidates, 1 + len(candidates) // step):
            few = len(near) * width <= FEW
            floor = max(0.0, best.epsilon - 2 * error) if few else best.epsilon
            partners, epsilons = _least_epsilons(rows, matrix, int(s), targets, floor, most)
            if not len(partners):
                continue
            k = int(epsilons.argmax())
            best = best.or_first(_Step(float(epsilons[k]), (int(s), int(partners[k]))))
            near = np.concatenate([near, np.stack([np.full_like(partners, s), partners], axis=1)])
            needs = np.concatenate([needs, epsilons])
            near, needs = near[needs >= best.epsilon - 2 * error], needs[needs >= best.epsilon - 2 * error]
    if best.epsilon == 0:
        return 0.0, 0.0, None
    if len(near) * width <= FEW:
        return largest_of_pairs(mechanism, near, partial(least_step, delta=allowed))
    return max(0.0, best.epsilon - error), best.epsilon + error, best.pair


def _least_epsilons(
    rows: IntegerRows, matrix: Floats, s: int, targets: Positions, floor: float, most: int
) -> tuple[Positions, Floats]:
    """Return the targets t that with s need an epsilon above a floor, and which epsilon, two arrays (k,)."""
    p, q = rows.array[s], rows.array[targets]
    sizes = log_sizes(matrix[s], matrix[targets])
    sizes[(sizes == 0) & (p != q)] = _SMALL
    beyond = sizes > floor
    masses = np.maximum(np.where(beyond, p, 0).sum(axis=1), np.where(beyond, q, 0).sum(axis=1))
    over = masses > most
    sizes, masses = _falling(sizes[over], p, q[over])
    return targets[over], sizes[np.arange(len(sizes)), (masses > most).argmax(axis=1)]


def _falling(sizes: Floats, p: NDArray[Any], q: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """Return sizes in falling order, array (k, m), and the larger mass of p (m,) and of q (k, m) up to each."""
    order = np.argsort(-sizes, axis=1)
    first, second = np.cumsum(p[order], axis=1), np.cumsum(np.take_along_axis(q, order, axis=1), axis=1)
    return np.take_along_axis(sizes, order, axis=1), np.maximum(first, second)


def _last_steps(matrix: Floats, array: Mask, deltas: tuple[float, ...]) -> list[_Step]:
    """Return the least epsilon of the related pairs for each delta."""
    unordered = np.triu(array | array.T)
    best = [_Step(0.0, None) for _ in deltas]
    forward, backward = ratio_limits(matrix).of_rows, ratio_limits(matrix, inverse=True).of_rows
    limits = np.full(len(matrix), np.inf) if forward is None or backward is None else np.maximum(forward, backward)
    for s in np.argsort(-limits, kind="stable"):
        if limits[s] < min(step.epsilon for step in best):
            break
        targets = np.flatnonzero(unordered[s])
        if not len(targets):
            continue
        sizes, masses = _falling(log_sizes(matrix[s], matrix[targets]), matrix[s], matrix[targets])
        for k, delta in enumerate(deltas):
            exceeds = masses > delta
            epsilons = np.where(exceeds.any(axis=1), sizes[np.arange(len(targets)), exceeds.argmax(axis=1)], 0.0)
            j = int(epsilons.argmax())
            best[k] = best[k].or_first(_Step(float(epsilons[j]), (int(s), int(targets[j]))))
    return best
