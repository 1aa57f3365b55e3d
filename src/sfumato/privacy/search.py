"""Search for the largest value of many pairs of rows, without the pairs that a cheap upper bound rules out.

Each bound exceeds the floating-point value by more than the error of either computation
(docs/proofs/rounding-of-notions.md, "Pairs that are left out").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from ..core.arrays import Floats, Positions
from ..divergences import CHI_SQUARED, HELLINGER, KL, REVERSE_KL, TOTAL_VARIATION, Divergence, HockeyStick, Renyi
from .rows import Mask

Values = Callable[[Positions, Positions], Floats]
"""From the pairs (s, t), two arrays (k,), to their values, array (k,)."""

Errors = Callable[[Floats, Positions, Positions], Floats]
"""From values and their pairs to how far each may be off, array (k,)."""

_ENTRIES: Final = 2**20  # bounds per block
_AT_ONCE: Final = 2**11  # pairs whose values are computed together
_CLOSE: Final = 2**16  # pairs within rounding of the largest, for exact arithmetic


class Limits(NamedTuple):
    """Upper bounds of values plus their errors; infinite where the value is.

    ``of`` gives a bound for each pair (s, t) of rows s, array (b, n). ``of_rows`` bounds each s for any t, array
    (n,).
    """

    of: Callable[[Positions], Floats]
    of_rows: Floats | None = None


class Top(NamedTuple):
    """The largest value and the first pair with it, an upper bound of all values, and the pairs ``close`` to it.

    ``close`` is None where the pairs that may have the largest value are too many, or the value is infinite.
    """

    value: float
    pair: tuple[int, int] | None
    above: float
    close: Positions | None


def search(mask: Mask, values: Values, limits: Limits | None = None, errors: Errors | None = None) -> Top:
    """Return the largest value of the pairs in a mask.

    A pair is left out only if its limit is below another pair's value less its error. Without limits all pairs are
    computed; without errors values are exact.
    """
    state = _SearchState(values, errors)
    rows = np.flatnonzero(mask.any(axis=1))
    if limits is not None and limits.of_rows is not None and len(rows):
        state.look(mask, rows[[int(np.argmax(limits.of_rows[rows]))]], limits)
        if state.value == math.inf:
            state = _SearchState(values, errors)  # the first infinite pair is wanted, not the largest bound
    size = max(1, _ENTRIES // max(1, len(mask)))
    for begin in range(0, len(rows), size):
        part = rows[begin : begin + size]
        if limits is not None and limits.of_rows is not None:
            part = part[limits.of_rows[part] >= state.known]
        if len(part):
            state.look(mask, part, limits)
        if state.value == math.inf:
            break
    return state.top()


def falling(
    mask: Mask, rows: Positions, of: Callable[[Positions], Floats], known: Callable[[], float], size: int
) -> Iterator[Positions]:
    """Yield the pairs of a mask with limits above the known value, by falling limit within blocks of rows."""
    step = max(1, _ENTRIES // len(mask))
    for first in range(0, len(rows), step):
        part = rows[first : first + step]
        bounds = np.where(mask[part], of(part), -np.inf)
        at, targets = np.nonzero(bounds > known())
        order = np.argsort(-bounds[at, targets], kind="stable")
        at, targets = at[order], targets[order]
        for begin in range(0, len(at), size):
            if bounds[at[begin], targets[begin]] <= known():
                break
            here = slice(begin, begin + size)
            yield np.stack([part[at[here]], targets[here]], axis=1)


@dataclass(slots=True)
class _SearchState:
    """The state of a search."""

    values: Values
    errors: Errors | None
    value: float = -math.inf
    known: float = -math.inf  # a certain lower bound of the largest value
    above: float = -math.inf
    pair: tuple[int, int] | None = None
    dropped: float = -math.inf  # the largest value, error included, of a pair that was not kept
    candidates: list[tuple[Positions, Positions, Floats]] = field(default_factory=list)

    def look(self, mask: Mask, rows: Positions, limits: Limits | None) -> None:
        """Compute the values of the pairs of some rows."""
        if limits is None:
            at, targets = np.nonzero(mask[rows])
            self._all(rows[at], targets, None)
            return
        bounds = np.where(mask[rows], limits.of(rows), -np.inf)
        at, targets = np.nonzero(bounds == np.inf)
        if len(at):
            self._all(rows[at], targets, None)
            if self.value == math.inf:
                return
            bounds[at, targets] = -np.inf
        best = np.unravel_index(int(np.argmax(bounds)), bounds.shape)
        if bounds[best] < self.known or bounds[best] == -np.inf:
            return
        self._these(rows[best[0] : best[0] + 1], np.array([best[1]], dtype=np.intp))
        bounds[best] = -np.inf
        at, targets = np.nonzero((bounds >= self.known) & (bounds > -np.inf))
        order = np.argsort(-bounds[at, targets], kind="stable")
        self._all(rows[at[order]], targets[order], bounds[at[order], targets[order]])

    def top(self) -> Top:
        """Return the result."""
        if self.pair is None:
            return Top(0.0, None, 0.0, np.empty((0, 2), dtype=np.intp))
        if self.value == math.inf or self.dropped >= self.known:
            return Top(self.value, self.pair, self.above, None)
        self._forget()
        s, t, _ = (np.concatenate(column) for column in zip(*self.candidates, strict=True))
        return Top(self.value, self.pair, self.above, np.unique(np.stack([s, t], axis=1), axis=0))

    def _all(self, s: Positions, t: Positions, falling: Floats | None) -> None:
        """Compute the values of listed pairs, until their falling bounds are below the known value."""
        for begin in range(0, len(s), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            if falling is not None and falling[begin] < self.known:
                return
            self._these(s[part], t[part])
            if self.value == math.inf:
                return

    def _these(self, s: Positions, t: Positions) -> None:
        computed = self.values(s, t)
        top = float(computed.max())
        if top >= self.value:
            ties = np.flatnonzero(computed == top)
            first = ties[np.lexsort((t[ties], s[ties]))[0]]
            pair = int(s[first]), int(t[first])
            if top > self.value or self.pair is None or pair < self.pair:
                self.value, self.pair = top, pair
        if top == math.inf:
            self.above = math.inf
            return
        off = np.zeros_like(computed) if self.errors is None else self.errors(computed, s, t)
        with np.errstate(over="ignore"):
            upper, lower = computed + off, float((computed - off).max())
        self.above = max(self.above, float(upper.max()))
        self.known = max(self.known, lower)
        near = np.flatnonzero(upper >= self.known)
        if len(near):
            self.candidates.append((s[near], t[near], upper[near]))
            if sum(len(block[0]) for block in self.candidates) > _CLOSE:
                self._forget()

    def _forget(self) -> None:
        """Drop pairs below the known value; if too many are left, drop all."""
        s, t, upper = (np.concatenate(column) for column in zip(*self.candidates, strict=True))
        near = upper >= self.known
        self.candidates = [(s[near], t[near], upper[near])]
        if near.sum() > _CLOSE:
            self.dropped = max(self.dropped, float(upper[near].max()))
            self.candidates = [(s[:0], t[:0], upper[:0])]


_SLACK: Final = 1e-7  # rows of arrays sum to one within 1e-9, and sums of products keep ten digits
_LARGEST: Final = 600.0  # floats hold e to this
_SINGLE: Final = 2.0**-21  # relative rounding of logarithms and their differences in single precision
_ENDS: Final = (1 / 64, 1 / 12, 1 / 3, 1.0, 3.0)  # orders, less one, at which all pairs are computed
_TILE: Final = (32, 2**11)  # pairs whose maxima are taken together: they stay in the cache


def ratio_limits(matrix: Floats, *, inverse: bool = False) -> Limits:
    """Return bounds of the largest ln(p(o|s) / p(o|t)) over o of each pair (s, t), or if inverse of (t, s)."""
    with np.errstate(divide="ignore"):
        logs = np.log(matrix[:, matrix.any(axis=0)])
    sizes = np.abs(logs[np.isfinite(logs)])
    slack = _SINGLE * (1 + float(sizes.max(initial=0.0)))
    heights = -logs if inverse else logs
    with np.errstate(invalid="ignore"):
        gaps = heights - heights.min(axis=0)
    gaps[np.isnan(gaps)] = -np.inf
    columns = np.ascontiguousarray(heights.T, dtype=np.float32)

    def of(rows: Positions) -> Floats:
        bounds = np.full((len(rows), len(matrix)), -np.inf, dtype=np.float32)
        for top in range(0, len(rows), _TILE[0]):
            for left in range(0, len(matrix), _TILE[1]):
                tile = bounds[top : top + _TILE[0], left : left + _TILE[1]]
                part = columns[:, left : left + _TILE[1]]
                room = np.empty_like(tile)
                for row, column in zip(columns[:, rows[top : top + _TILE[0]], None], part, strict=True):
                    with np.errstate(invalid="ignore"):
                        np.subtract(row, column, out=room)
                    np.fmax(tile, room, out=tile)  # a report that neither makes gives NaN, which fmax ignores
        return bounds.astype(np.float64) + slack

    return Limits(of, gaps.max(axis=1) + slack)


def range_limits(matrix: Floats) -> Limits:
    """Return bounds of the largest log-ratio of each pair plus that of its other order."""
    forward, backward = ratio_limits(matrix), ratio_limits(matrix, inverse=True)
    rows = None if forward.of_rows is None or backward.of_rows is None else forward.of_rows + backward.of_rows
    return Limits(lambda rows: forward.of(rows) + backward.of(rows), rows)


def affinity_limits(matrix: Floats, factor: float = 1.0) -> Limits:
    """Return bounds of the sum over o of max(0, p(o|s) - factor p(o|t)), by the Bhattacharyya coefficient B.

    The root of (factor + 1)**2 - 4 factor B**2 bounds the sum of |p - factor q|, so half of its excess over factor
    - 1 bounds the sum. The factor is at least 1; ``inf`` stands for the mass of reports that only s can make.
    """
    if math.isinf(factor):
        alone = (matrix == 0).astype(np.float64)
        return Limits(lambda rows: matrix[rows] @ alone.T + _SLACK)
    roots, factor = np.sqrt(matrix), factor * (1 - _SLACK)

    def of(rows: Positions) -> Floats:
        gap = np.maximum(1 - (roots[rows] @ roots.T) ** 2, 0.0) + _SLACK
        root = np.hypot(factor - 1, 2 * np.sqrt(factor * gap))  # squares of large factors would overflow
        return np.asarray(2 * factor * gap / (root + factor - 1) + _SLACK)

    return Limits(of)


def divergence_limits(divergence: Divergence, matrix: Floats) -> Limits | None:
    """Return bounds of a divergence of the package; None for any other."""
    if divergence == TOTAL_VARIATION:
        return affinity_limits(matrix)
    if divergence == HELLINGER:
        roots = np.sqrt(matrix)
        return Limits(lambda rows: 1 - roots[rows] @ roots.T + _SLACK)
    if divergence in (KL, REVERSE_KL) or (isinstance(divergence, Renyi) and divergence.order <= 1):
        return _mean_limits(matrix, inverse=divergence == REVERSE_KL)
    if isinstance(divergence, HockeyStick) and divergence.epsilon >= 0:
        return affinity_limits(matrix, math.exp(min(divergence.epsilon, _LARGEST)))
    if divergence == CHI_SQUARED and holds_powers(matrix, 2.0):
        squares = power_sums(matrix, 2.0)
        return Limits(lambda rows: squares(rows) - 1)
    if not isinstance(divergence, Renyi):
        return None
    if not holds_powers(matrix, divergence.order):
        return ratio_limits(matrix)  # the divergence grows with the order
    excess, sums = divergence.order - 1, power_sums(matrix, divergence.order)
    return Limits(lambda rows: np.log(np.maximum(sums(rows), 1.0)) / excess)


def holds_powers(matrix: Floats, order: float) -> bool:
    """Return whether floats hold the positive entries to the power of -order, with room to spare."""
    return -order * math.log(float(matrix[matrix > 0].min())) < _LARGEST / 2


def power_sums(matrix: Floats, order: float) -> Callable[[Positions], Floats]:
    """Return bounds of the sum over o of p(o|s)**a p(o|t)**(1 - a), for rows s, array (b,), and all t.

    The order a is above 1, and `holds_powers` is true for it.
    """
    alone = _alone(matrix)
    with np.errstate(divide="ignore"):
        under = np.where(matrix > 0, matrix ** (1 - order), 0.0)
    over = matrix**order

    def of(rows: Positions) -> Floats:
        sums = over[rows] @ under.T
        return np.where(alone(rows), np.inf, sums * (1 + _SLACK) + _SLACK * order)

    return of


def rho_limits(matrix: Floats) -> Limits:
    """Return bounds of the largest D_a / a over all orders a > 1 of each pair of rows with the same support.

    With K(t) = t D of order 1 + t, this is the largest K(t) / (t (1 + t)). K is convex and 0 at 0: between two
    orders it is below its chord, before the first K(t) / t is at most its value there, and after the last at most
    the largest logarithm.
    """
    ends = [t for t in _ENDS if holds_powers(matrix, 1 + t)]
    sums = [power_sums(matrix, 1 + t) for t in ends]
    forward, backward = ratio_limits(matrix).of_rows, ratio_limits(matrix, inverse=True).of_rows

    def of(rows: Positions) -> Floats:
        if forward is None or backward is None:
            bounds = np.full((len(rows), len(matrix)), np.inf)
        else:
            bounds = np.minimum(forward[rows, None], backward) / (1 + (ends[-1] if ends else 0.0))
        before, log_before = 0.0, np.zeros((len(rows), len(matrix)))
        for t, sum_ in zip(ends, sums, strict=True):
            log = np.log(np.maximum(sum_(rows), 1.0))
            bounds = np.maximum(bounds, log / t if before == 0 else _of_chord(before, log_before, t, log))
            before, log_before = t, log
        return bounds

    return Limits(of)


def _of_chord(a: float, at_a: Floats, b: float, at_b: Floats) -> Floats:
    """Return the largest k(t) / (t (1 + t)) over t from a to b for the line k through two points, or ``inf``."""
    known = np.isfinite(at_a) & np.isfinite(at_b)
    at_a, at_b = np.where(known, at_a, 0.0), np.where(known, at_b, 0.0)
    slope = (at_b - at_a) / (b - a)
    level = np.minimum(at_a - slope * a, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = (-level + np.sqrt(level * level - level * slope)) / slope
    t = np.clip(np.nan_to_num(peak, nan=b, posinf=b), a, b)
    return np.where(known, (at_a + slope * (t - a)) / (t * (1 + t)) * (1 + _SLACK), np.inf)


def _mean_limits(matrix: Floats, *, inverse: bool = False) -> Limits:
    """Return bounds of the sum of p ln(p/q), for p the row of s, or if inverse of t."""
    alone = _alone(matrix, inverse=inverse)
    logs = np.log(matrix, where=matrix > 0, out=np.zeros_like(matrix))
    entropies = (matrix * logs).sum(axis=1)
    slack = _SLACK * (1 + float(np.abs(logs).max()))

    def of(rows: Positions) -> Floats:
        means = entropies - logs[rows] @ matrix.T if inverse else entropies[rows, None] - matrix[rows] @ logs.T
        return np.where(alone(rows), np.inf, means + slack)

    return Limits(of)


def _alone(matrix: Floats, *, inverse: bool = False) -> Callable[[Positions], Mask]:
    """Return a function that says which pairs (s, t) have a report of s alone, or if inverse of t alone."""
    makes, not_ = (matrix > 0).astype(np.float32), (matrix == 0).astype(np.float32)
    if inverse:
        makes, not_ = not_, makes
    if not (matrix == 0).any():
        return lambda rows: np.zeros((len(rows), len(matrix)), dtype=np.bool_)
    return lambda rows: np.asarray(makes[rows] @ not_.T > 0)
