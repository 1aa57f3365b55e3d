"""The least epsilon such that the reports beyond it have at most delta, of all related pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from ...core.arrays import Floats
from ...rounding.errors import log_errors, mass_error
from ..exact import FEW, IntegerRows, Pair, Positions, integer_rows, largest_of_pairs, least_step
from ..limits import ratio_limits
from ..rows import AnyMechanism, Mask, channel, span
from .leak import leaks, shared_limits

_SMALL: Final = 2.0**-64  # stands for a logarithm that is not 0, and that floats do not tell from it
_ENTRIES: Final = 2**20  # entries of pairs that are looked at together


class LastStep(NamedTuple):
    """The least epsilon of all pairs.

    Attributes:
        lower: A lower bound.
        value: The epsilon.
        upper: An upper bound.
        pair: The pair that needs it; None where 0 is enough.
    """

    lower: float
    value: float
    upper: float
    pair: Pair


def last_step(mechanism: AnyMechanism, array: Mask, delta: float) -> LastStep:
    """Return the least epsilon such that the reports with |ln(p/q)| above it have at most delta in each row.

    Args:
        mechanism: A mechanism or array.
        array: The relation, array (n, n).
        delta: From 0 to 1.
    """
    exact = _in_integers(mechanism, array, delta) if delta else None
    if exact is not None:
        below, above, pair = exact
        return LastStep(below, below, above, pair)
    matrix = channel(mechanism).matrix
    slack, error = mass_error(1.0, matrix.shape[1]) if delta else 0.0, log_error(matrix)
    steps = _last_steps(matrix, array, (delta, max(0.0, delta - slack), delta + slack))
    value, above, below = (step.epsilon for step in steps)
    return LastStep(below - error, value, above + error, steps[0].pair)


def log_sizes(p: Floats, q: Floats) -> Floats:
    """Return |ln(p/q)| along the last axis: -inf where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(np.log(p) - np.log(q))
    sizes[np.isnan(sizes)] = -np.inf
    return np.asarray(sizes)


def log_error(matrix: Floats) -> float:
    """Return the most by which a computed |ln(p/q)| may be off."""
    return 2 * float(log_errors(np.array([span(matrix)]))[0])


class _Step(NamedTuple):
    """The least epsilon at one delta, and the pair that needs it."""

    epsilon: float
    pair: tuple[int, int] | None

    def or_first(self, other: _Step) -> _Step:
        """Return the larger of two steps, of equal ones above 0 the one whose pair is first."""
        larger = other.epsilon > self.epsilon
        before = other.pair is not None and self.pair is not None and other.pair < self.pair
        return other if larger or (other.epsilon == self.epsilon and before) else self


def _in_integers(mechanism: AnyMechanism, array: Mask, delta: float) -> tuple[float, float, Pair] | None:
    """Return bounds of the least epsilon of the related pairs and the pair that needs it, from exact masses.

    Only pairs matter whose reports beyond the largest epsilon so far have more than delta; of these the ratios are
    sorted. Those near the largest are solved again in fractions, where they are few.

    Args:
        mechanism: A mechanism or array.
        array: The relation, array (n, n).
        delta: Above 0.

    Returns:
        None where it would take too long.
    """
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
    limits = np.maximum(shared_limits(rows), shared_limits(rows, turned=True))
    step = max(1, _ENTRIES // width)
    for s in np.argsort(-limits, kind="stable"):
        if limits[s] <= best.epsilon:
            break
        everyone = np.flatnonzero(unordered[s])
        for targets in np.array_split(everyone, 1 + len(everyone) // step):
            few = len(near) * width <= FEW
            floor = max(0.0, best.epsilon - 2 * error) if few else best.epsilon
            others, found = _needed(rows, matrix, int(s), targets, floor, most)
            if not len(others):
                continue
            k = int(found.argmax())
            best = best.or_first(_Step(float(found[k]), (int(s), int(others[k]))))
            near = np.concatenate([near, np.stack([np.full_like(others, s), others], axis=1)])
            needs = np.concatenate([needs, found])
            near, needs = near[needs >= best.epsilon - 2 * error], needs[needs >= best.epsilon - 2 * error]
    if best.epsilon == 0:
        return 0.0, 0.0, None
    if len(near) * width <= FEW:
        return largest_of_pairs(mechanism, near, lambda p, q, unit: least_step(p, q, unit, allowed))
    return max(0.0, best.epsilon - error), best.epsilon + error, best.pair


def _needed(
    rows: IntegerRows, matrix: Floats, s: int, targets: Positions, floor: float, most: int
) -> tuple[Positions, Floats]:
    """Return the targets t that with s need an epsilon above a floor, and which epsilon, two arrays (k,).

    In falling order of |ln(p/q)|, the first observable whose inclusion brings either mass above delta is the one
    that epsilon must cover. Reports of the same integers have the logarithm 0, others a larger one.
    """
    p, q = rows.array[s], rows.array[targets]
    sizes = log_sizes(matrix[s], matrix[targets])
    sizes[(sizes == 0) & (p != q)] = _SMALL
    beyond = sizes > floor
    masses = np.maximum(np.where(beyond, p, 0).sum(axis=1), np.where(beyond, q, 0).sum(axis=1))
    over = masses > most
    q, sizes = q[over], sizes[over]
    order = np.argsort(-sizes, axis=1)
    first = np.cumsum(p[order], axis=1)
    second = np.cumsum(np.take_along_axis(q, order, axis=1), axis=1)
    at = (np.maximum(first, second) > most).argmax(axis=1)
    needed = np.take_along_axis(sizes, np.take_along_axis(order, at[:, None], axis=1), axis=1)[:, 0]
    return targets[over], needed


def _last_steps(matrix: Floats, array: Mask, deltas: tuple[float, ...]) -> list[_Step]:
    """Return the least epsilon of the related pairs for each delta.

    In falling order of |ln(p/q)|, the first observable whose inclusion brings either mass
    above delta is the one that epsilon must cover. No row needs more than its largest
    |ln(p/q)|, so those come first whose is largest.
    """
    unordered = np.triu(array | array.T)
    best = [_Step(0.0, None) for _ in deltas]
    one, other = ratio_limits(matrix).of_rows, ratio_limits(matrix, turned=True).of_rows
    limits = np.full(len(matrix), np.inf) if one is None or other is None else np.maximum(one, other)
    for s in np.argsort(-limits, kind="stable"):
        if limits[s] < min(step.epsilon for step in best):
            break
        targets = np.flatnonzero(unordered[s])
        if not len(targets):
            continue
        sizes = log_sizes(matrix[s], matrix[targets])
        order = np.argsort(-sizes, axis=1)
        sizes = np.take_along_axis(sizes, order, axis=1)
        first = np.cumsum(matrix[s][order], axis=1)
        second = np.cumsum(np.take_along_axis(matrix[targets], order, axis=1), axis=1)
        masses = np.maximum(first, second)
        for k, delta in enumerate(deltas):
            exceeds = masses > delta
            needed = np.where(exceeds.any(axis=1), sizes[np.arange(len(targets)), exceeds.argmax(axis=1)], 0.0)
            j = int(needed.argmax())
            best[k] = best[k].or_first(_Step(float(needed[j]), (int(s), int(targets[j]))))
    return best
