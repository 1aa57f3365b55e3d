"""Least epsilon of all related pairs at a delta: in floats, and in integers for leaks of about delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from ...core.arrays import Bools, Floats, Positions
from ...divergences import MaxDivergence
from ...rounding import inversion_error, log_error, mass_errors
from .. import exact
from ..exact import FEW, IntegerRows, Pair, Pairs
from ..rows import AnyMechanism, Mask, channel, scale_by_exp, span
from ..search import Errors, Limits, Top, affinity_limits, ratio_limits, search

_ENTRIES: Final = 2**20  # bounds per block
_LARGEST_EXPONENT: Final = 700.0  # floats hold e to this
_TINY: Final = 2.0**-20  # an epsilon that rounding alone may make positive


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Positive factors of the epsilon of each pair, such as distances, and their range."""

    of: Callable[[Positions, Positions], Floats]
    least: float = 1.0
    most: float = 1.0

    @classmethod
    def ones(cls) -> Scales:
        """Return the scale 1 of every pair."""
        return cls(lambda s, _t: np.ones(len(s)))

    @classmethod
    def distances(cls, array: Floats, mask: Mask) -> Scales:
        """Return the distances of an array (n, n) as scales of the pairs in a mask."""
        least = float(np.min(array, where=mask, initial=math.inf))
        return cls(lambda s, t: array[s, t], least, float(np.max(array, where=mask, initial=0.0)))

    def over(self, limits: Limits) -> Limits:
        """Return limits of values over their scales."""
        if self.least == self.most == 1.0:
            return limits

        def of(rows: Positions) -> Floats:
            bounds = limits.of(rows)
            columns = np.arange(bounds.shape[1])
            scales = self.of(rows[:, None], columns[None, :])
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                return np.asarray(np.where(scales > 0, bounds / scales * (1 + 2.0**-40), np.inf))

        return Limits(of)


class LeastEpsilon(NamedTuple):
    """The least epsilon at a delta, the pair that needs it (None where 0 is enough), and its error."""

    value: float
    pair: Pair
    rounding: float


def largest_ratio(matrix: Floats, mask: Mask, scales: Scales, errors: Errors | None = None) -> Top:
    """Return the largest ln(p(o|s) / p(o|t)) over its scale of the pairs in a mask."""

    def values(s: Positions, t: Positions) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(MaxDivergence().rows(matrix[s], matrix[t]) / scales.of(s, t))

    return search(mask, values, scales.over(ratio_limits(matrix)), errors)


def least_epsilon(mechanism: AnyMechanism, mask: Mask, scales: Scales, delta: float) -> LeastEpsilon:
    """Return the least epsilon >= 0 with excess at most delta at epsilon times the scale, for all pairs.

    Integers decide whether any epsilon is enough: the mass of reports that one secret alone makes must be at most
    delta. Where it is almost delta, the ratios of shared reports decide; the other pairs are solved in floats.
    Scales are positive and finite on the mask; delta is above 0.
    """
    matrix = channel(mechanism).matrix
    slack = inversion_error(matrix.shape[1], span(matrix))
    rows = exact.integer_rows(mechanism)
    if rows is None:
        return _by_floats(matrix, mask, scales, delta, slack)
    leaking = leaks(rows, mask, delta, 2 * slack)
    if leaking.beyond is not None:
        return LeastEpsilon(math.inf, leaking.beyond, 0.0)
    least = _by_floats(matrix, leaking.rest, scales, delta, slack)
    if len(leaking.pairs):
        low, high, pair = needed_at(rows, leaking, scales.of(*leaking.pairs.T), delta)
        lower = max(low, least.value - least.rounding, 0.0)
        upper = max(high, least.value + least.rounding)
        least = LeastEpsilon(lower, least.pair if least.value > high else pair, upper - lower)
    if least.value - least.rounding <= 0 < least.rounding < _TINY:
        return _near_zero(mechanism, mask, scales, delta, least)
    return least


def _by_floats(matrix: Floats, mask: Mask, scales: Scales, delta: float, slack: float) -> LeastEpsilon:
    """Return the answer of `least_epsilon` from floats."""
    # A pair needs no more than its largest logarithm: those count whose logarithm is above what one pair needs.
    # The same is computed for a little less and a little more delta, by the rounding; the truth lies between.
    top = largest_ratio(matrix, mask, scales)
    if top.pair is None:
        return LeastEpsilon(0.0, None, 0.0)
    deltas = delta, max(0.0, delta - slack), min(1.0, delta + slack)
    floor = _of_pair(matrix, top.pair, scales, deltas[2])
    candidates = _pairs_above(mask, scales.over(ratio_limits(matrix)), floor)
    (value, pair), (above, _), (below, _) = (
        (max(0.0, top.value), top.pair) if level == 0 else _worst_pair(matrix, candidates, scales, level, top.pair)
        for level in deltas
    )
    if math.isinf(value):
        return LeastEpsilon(value, pair, 0.0 if math.isinf(below) else math.inf)
    if math.isinf(above):
        return LeastEpsilon(value, pair, math.inf)
    rounding = max(above - value, value - below) + log_error(above * scales.most) / scales.least
    return LeastEpsilon(value, pair, rounding)


def _near_zero(
    mechanism: AnyMechanism, mask: Mask, scales: Scales, delta: float, least: LeastEpsilon
) -> LeastEpsilon:
    """Return 0 where integers prove that it is enough; else the given bounds, raised to what a pair needs."""
    mass = exact.largest_mass(mechanism, largest_excess(channel(mechanism).matrix, mask, 0.0), mask)
    if mass is None:
        return least
    if mass[0] <= delta or mass[1] is None:
        return LeastEpsilon(0.0, None, 0.0)
    pair = np.array([mass[1]])
    answer = exact.largest_of_pairs(
        mechanism, pair, partial(exact.least_factor, delta=Fraction(delta)), scales.of(*pair.T)
    )
    if answer is None:
        return least
    half = max((least.value + least.rounding) / 2, answer[1])
    return LeastEpsilon(answer[0] + half, mass[1], half * (1 + 2.0**-50))


def largest_excess(matrix: Floats, mask: Mask, epsilon: float) -> Top:
    """Return the largest sum over o of max(0, p(o|s) - e**epsilon p(o|t)) of the pairs in a mask."""
    limits, ones = scale_by_exp(matrix, epsilon), np.ones(matrix.shape[1])

    def masses(s: Positions, t: Positions) -> Floats:
        gaps = matrix[s] - limits[t]
        return np.asarray(np.maximum(gaps, 0.0, out=gaps) @ ones)

    return search(
        mask,
        masses,
        affinity_limits(matrix, math.exp(epsilon) if epsilon < _LARGEST_EXPONENT else math.inf),
        lambda gaps, _s, _t: mass_errors(gaps, matrix.shape[1]),
    )


def _of_pair(matrix: Floats, pair: tuple[int, int], scales: Scales, delta: float) -> float:
    """Return the epsilon that one pair needs."""
    s, t = pair
    scale = float(scales.of(np.array([s]), np.array([t]))[0])
    return MaxDivergence(delta)(matrix[s], matrix[t]) / scale


def _pairs_above(mask: Mask, limits: Limits, floor: float) -> Mask:
    """Return the pairs of a mask whose limit is above a number, array (n, n)."""
    above = np.zeros_like(mask)
    rows = np.arange(len(mask))
    if limits.of_rows is not None:
        rows = rows[limits.of_rows > floor]
    size = max(1, _ENTRIES // len(mask))
    for begin in range(0, len(rows), size):
        part = rows[begin : begin + size]
        above[part] = mask[part] & (limits.of(part) > floor)
    return above


def _worst_pair(
    matrix: Floats, candidates: Mask, scales: Scales, delta: float, first: tuple[int, int]
) -> tuple[float, Pair]:
    """Return the least epsilon of the candidates and the pair that needs it, from a first pair on."""
    active = candidates.copy()
    epsilon, worst = 0.0, None
    pair: Pair = first
    while pair is not None:
        active[pair] = False
        value = _of_pair(matrix, pair, scales, delta)
        if value > epsilon:
            epsilon, worst = value, pair
        if math.isinf(epsilon):
            break
        pair = _largest_beyond(matrix, active, scales, epsilon, delta)
    return epsilon, worst


def _largest_beyond(matrix: Floats, active: Bools, scales: Scales, epsilon: float, delta: float) -> Pair:
    """Return the pair of largest excess above delta at an epsilon; pairs with at most delta become inactive."""
    most, pair = delta, None
    ones = np.ones(matrix.shape[1])
    for s in np.flatnonzero(active.any(axis=1)):
        targets = np.flatnonzero(active[s])
        with np.errstate(over="ignore"):  # a product beyond all floats is infinite: all is allowed
            exponents = epsilon * scales.of(np.full(len(targets), s), targets)
        gaps = scale_by_exp(matrix[targets], exponents[:, None])
        np.subtract(matrix[s], gaps, out=gaps)
        masses = np.maximum(gaps, 0.0, out=gaps) @ ones
        active[s, targets] = masses > delta
        best = int(np.argmax(masses))
        if masses[best] > most:
            most, pair = float(masses[best]), (int(s), int(targets[best]))
    return pair


_CLOSE: Final = 2.0**-40  # limits within this relative distance of a value count as reached
_ROUNDED: Final = 2.0**-47  # relative error of a quotient of floats, its logarithm and that over a scale


class Leaks(NamedTuple):
    """Leaks of the pairs of secrets, the mass of reports that s alone makes, compared with a delta in integers.

    ``beyond`` is the pair with the largest leak, if above delta. ``pairs`` leak almost or exactly delta, less by
    ``room``: 0 exactly where it is delta. ``rest`` is the mask of the other pairs.
    """

    beyond: Pair
    pairs: Pairs
    room: Floats
    rest: Mask


def leaks(rows: IntegerRows, mask: Mask, delta: float, slack: float) -> Leaks:
    """Return the pairs of a mask that leak more than delta, which is above 0, or less by no more than a slack."""
    rest, worst, beyond = mask.copy(), 0.0, None
    pairs, rooms = [np.empty((0, 2), dtype=np.intp)], [np.empty(0)]
    if not (rows.array == 0).any():
        return Leaks(None, pairs[0], rooms[0], rest)
    find, step = exact.room(rows, delta), max(1, _ENTRIES // len(mask))
    sources = np.flatnonzero(mask.any(axis=1))
    for begin in range(0, len(sources), step):
        part = sources[begin : begin + step]
        left = np.where(mask[part], find(part), math.inf)
        if left.min() < worst:
            first = np.unravel_index(int(left.argmin()), left.shape)
            worst, beyond = float(left[first]), (int(part[first[0]]), int(first[1]))
        at, t = np.nonzero(left < slack)
        pairs.append(np.stack([part[at], t], axis=1))
        rooms.append(left[at, t])
        rest[part[at], t] = False
    return Leaks(beyond, np.concatenate(pairs), np.concatenate(rooms), rest)


def needed_at(rows: IntegerRows, leaking: Leaks, distances: Floats, delta: float) -> tuple[float, float, Pair]:
    """Return bounds of the least epsilon for the pairs that leak about delta, with a pair.

    A pair that leaks all of delta needs the largest ratio of the reports that both make. With room r it needs no
    more, and at least (p(o|s) - r) / p(o|t) of each of these. Fractions decide where few pairs are open.
    """
    matrix, width = rows.array.astype(np.float64), rows.array.shape[1]
    limits = shared_limits(rows)[leaking.pairs[:, 0]] / distances * (1 + _ROUNDED)
    order = np.argsort(-limits, kind="stable")
    lower, skipped, step = 0.0, 0.0, max(1, _ENTRIES // 4 // width)
    highs, few = np.full(len(order), -math.inf), len(order) * width <= FEW
    for begin in range(0, len(order), step):
        part = order[begin : begin + step]
        limit = float(limits[part[0]])
        if limit <= (lower if few else lower * (1 + _CLOSE)):
            skipped = limit if limit > lower else 0.0
            break
        low, highs[part] = _ratios(rows, matrix, leaking.pairs[part], leaking.room[part], distances[part])
        lower = max(lower, float(low.max()))
    near = np.flatnonzero((highs >= lower) & (highs > 0))
    if len(near) == 0:
        return 0.0, skipped, None
    if len(near) * width <= FEW:
        pairs, factor = leaking.pairs[near], partial(exact.least_factor, delta=Fraction(delta))
        least = exact.largest_of_rows(exact.rows_of(rows, pairs), rows.unit, pairs, factor, distances[near])
        return least[0], max(least[1], skipped), least[2]
    first = leaking.pairs[near[0]]
    return lower, max(float(highs.max()), skipped), (int(first[0]), int(first[1]))


def shared_limits(rows: IntegerRows, *, inverse: bool = False) -> Floats:
    """Return upper bounds of ln(p(o|s) / p(o|t)) over all t and the reports that both make, array (n,).

    A bound is 0 only where no such ratio is above 1 in integers. ``inverse`` stands for the inverse ratios.
    """
    array, matrix = rows.array, rows.array.astype(np.float64)
    used = array > 0
    least = np.where(used, array, array.max()).min(axis=0)
    if inverse:
        larger, ratios = array < array.max(axis=0), matrix.max(axis=0) / np.where(used, matrix, math.inf)
    else:
        larger, ratios = array > least, matrix / np.maximum(least, 1).astype(np.float64)
    logs = np.log(np.maximum(np.where(used, ratios, 1.0).max(axis=1), 1.0))
    return np.where((used & larger).any(axis=1), logs * (1 + _ROUNDED) + _ROUNDED, 0.0)


def _ratios(
    rows: IntegerRows, matrix: Floats, pairs: Pairs, left: Floats, distances: Floats
) -> tuple[Floats, Floats]:
    """Return bounds of the least epsilon of pairs, two arrays (k,), from the reports that both make."""
    s, t = pairs.T
    p, q = matrix[s], matrix[t]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(q > 0, p / q, 0.0)
    best = ratios.argmax(axis=1)
    index = np.arange(len(best))
    largest, mass = np.maximum(ratios[index, best], 1.0), np.ldexp(p[index, best], -rows.bits)
    logs = np.log(largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = logs + np.log1p(-np.minimum(left * (1 + _ROUNDED) / mass, 1.0))
    lower = np.maximum(np.nan_to_num(lower - logs * _ROUNDED - _ROUNDED, nan=0.0, neginf=0.0), 0.0)
    upper = logs * (1 + _ROUNDED) + _ROUNDED
    for k in np.flatnonzero(largest <= 1 + _ROUNDED):
        first, second = rows.array[s[k]], rows.array[t[k]]
        if not ((second > 0) & (first > second)).any():
            upper[k] = 0.0
    return lower / distances * (1 - _ROUNDED), upper / distances * (1 + _ROUNDED)
