"""Spread of the privacy loss: zero-concentrated privacy and bounded range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np

from ...core.arrays import Bools, Floats, Positions
from ...divergences import KL, MaxDivergence, max_divergence
from ...rounding import divergence_errors, log_error, log_errors
from ..exact import largest_factor
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, related_rows
from ..rows import AnyMechanism, Mask, span
from ..search import divergence_limits, falling, range_limits, rho_limits, search

_BLOCK: Final = 2**18  # entries of the rows of a block


@final
@dataclass(frozen=True, slots=True)
class ConcentratedPrivacy(Notion):
    """Zero-concentrated differential privacy: the least rho.

    D_a(p(.|s) || p(.|s')) <= a rho    for all orders a > 1 and all related (s, s')

    The least rho is the largest D_a / a, or the Kullback-Leibler divergence, its limit at order 1. All orders
    count, not only a grid: some order attains the value, and the upper bound is larger by at most one part in a
    billion and the rounding. It is proved interval by interval of the orders, in
    docs/proofs/rounding-of-notions.md.

    Source:
        Bun and Steinke, TCC 2016, definition 1.1.
    """

    description = Description(
        "concentrated-privacy",
        "zero-concentrated privacy",
        ("rho",),
        question="Are all Rényi divergences at most rho times their order?",
        promise="the Rényi divergence of every order a > 1 between reports of {about} is at most a times {rho}",
        source="Bun and Steinke, TCC 2016",
        context=("relation",),
    )
    parameter = "rho"

    certainty = "Some report rules out one of {related}: no rho is enough."
    limit = (
        "For {related}, the Rényi divergence of every order between their reports is at most {value} times the "
        "order, as with normal noise."
    )

    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, mask = related_rows(mechanism, self.relation)
        impossible = _distinguishing_report(matrix, mask)
        if impossible is not None:
            return Finding(self, math.inf, 0.0, impossible)
        progress, best, order = Search(), None, 0.0
        for pairs in _pairs(matrix, mask, lambda: progress.upper):
            peak = progress.improve(matrix[pairs[:, 0]], matrix[pairs[:, 1]])
            if peak is not None:
                best, order = (int(pairs[peak[0], 0]), int(pairs[peak[0], 1])), peak[1]
        rounding = (
            progress.upper
            - progress.value
            + 2 * float(divergence_errors(np.asarray(progress.upper), matrix.shape[1], span(matrix)))
        )
        if best is None:
            return Finding(self, 0.0, rounding, Witness())
        note = "in the limit of order 1" if order == 1 else f"at order {order:.6g}"
        return Finding(self, progress.value, rounding, Witness(best, note=note))


def _distinguishing_report(matrix: Floats, mask: Mask) -> Witness | None:
    """Return a pair and a report that only its first secret can make."""
    possible = matrix > 0
    if possible.all():
        return None
    for s in np.flatnonzero(mask.any(axis=1)):
        targets = np.flatnonzero(mask[s])
        only = possible[s] & ~possible[targets]
        if only.any():
            row, column = np.argwhere(only)[0]
            return Witness((int(s), int(targets[row])), np.array([column]))
    return None


def _pairs(matrix: Floats, mask: Mask, known: Callable[[], float]) -> Iterator[Positions]:
    """Yield the pair of largest KL divergence, then those that may need more than is known, mostly falling."""
    top = search(mask, lambda s, t: KL.rows(matrix[s], matrix[t]), divergence_limits(KL, matrix))
    if top.pair is not None:
        yield np.array([top.pair], dtype=np.intp)
    size = max(1, _BLOCK // matrix.shape[1])
    yield from falling(mask, np.flatnonzero(mask.any(axis=1)), rho_limits(matrix).of, known, size)


@final
@dataclass(frozen=True, slots=True)
class BoundedRange(Notion):
    """Bounded range: the least eta.

    L(o) - L(o') <= eta for all related (s, s') and observables o, o', with L(o) = ln(p(o|s) / p(o|s'))

    Eta is the sum of the max divergences of the two orders, so both orders have the same. It implies
    eta-differential privacy, and epsilon-differential privacy implies eta = 2 epsilon. The exponential mechanism
    of weights e**(epsilon u / (2 sensitivity)) has an eta of only epsilon.
    """

    description = Description(
        "bounded-range",
        "bounded range",
        ("eta",),
        question="How far apart are the largest and the least privacy loss of two secrets?",
        promise="over all reports the privacy loss between {about} varies by at most {eta}",
        source="Durfee and Rogers, NeurIPS 2019",
        context=("relation",),
    )
    parameter = "eta"
    certainty = "Some report gives away one of {related} for certain: no eta is enough."
    limit = "Between two reports, the odds of {related} differ by at most a factor of {factor} (eta {value})."

    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, mask = related_rows(mechanism, self.relation)

        def ranges(s: Positions, t: Positions) -> Floats:
            p, q = matrix[s], matrix[t]
            return MaxDivergence().rows(p, q) + MaxDivergence().rows(q, p)

        # Each max divergence is at most eta, so three errors of eta are above the errors of both.
        top = search(mask, ranges, range_limits(matrix), lambda values, _s, _t: 3 * log_errors(values))
        value, pair = top.value, top.pair
        if pair is None:
            return Finding(self, value, 0.0, Witness())
        p, q = matrix[pair[0]], matrix[pair[1]]
        ends = [int(max_divergence(p, q).outputs[0]), int(max_divergence(q, p).outputs[0])]
        witness = Witness(pair, np.array(ends, dtype=np.intp))
        if math.isfinite(value):
            factor = largest_factor(mechanism, top, mask, both=True)
            if factor is not None:
                return Finding.of_factor(self, factor, witness)
        return Finding(self, max(0.0, value), 3 * log_error(value), witness)


_TOLERANCE: Final = 1e-9  # relative gap of the bounds
_PASSES: Final = 60  # halvings before a coarser bound closes the rest
_COARSE: Final = (0.5, 1.0, 3.0, 7.0)  # t at which all pairs are computed
_LEAST: Final = 1e-300
_LIVE: Final = 2**22  # numbers per block


Peak = tuple[int, float] | None
"""The row of a block and the order of the largest value."""


class Moments(NamedTuple):
    """K(t) / t and the first two derivatives of K, arrays (k,)."""

    divergence: Floats
    mean: Floats
    variance: Floats


class OpenIntervals(NamedTuple):
    """Open intervals of t and their rows, arrays (k,)."""

    row: Positions
    low: Floats
    high: Floats

    def take(self, positions: Positions) -> OpenIntervals:
        """Return some of them."""
        return OpenIntervals(self.row[positions], self.low[positions], self.high[positions])


class Search:
    """The largest g of all pairs of rows so far, ``value``, with an upper bound.

    With L = ln(p / q) and K(t) = ln sum of p e**(t L), the divergence of order 1 + t is K(t) / t, and g(t) = K(t)
    / (t (1 + t)). K is convex, its second derivative is the variance of L under weights p e**(t L), and over a
    distance h it changes by at most a factor e**(eta h), where eta is the range of L. So around a point m

    K(t) <= K(m) + K'(m) (t - m) + e**(eta |t - m|) K''(m) (t - m)**2 / 2,

    and a parabola decides whether this stays below c t (1 + t) on an interval.
    """

    def __init__(self) -> None:
        self.value = 0.0
        self._closed = 0.0

    @property
    def upper(self) -> float:
        """An upper bound of g at any t for all pairs so far, up to rounding."""
        return max(self._closed, self.value * (1 + _TOLERANCE))

    def improve(self, p: Floats, q: Floats) -> Peak:
        """Return where pairs of rows, q positive where p is, last raised the value, or None."""
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.where(p > 0, np.log(p) - np.log(q), 0.0)
        top = np.where(p > 0, losses, -np.inf).max(axis=1)
        span = top - np.where(p > 0, losses, np.inf).min(axis=1)
        start = _moments(p, losses, np.zeros(len(p)))
        peak = self._raise(start.mean, np.arange(len(p)), np.zeros(len(p)), None)
        # By Hoeffding's lemma K(t) <= t K'(0) + t**2 span**2 / 8; and K(t) / t grows up to the largest loss.
        most, before = np.maximum(start.mean, span**2 / 8), 0.0
        coarse = np.zeros(len(p))
        for after in _COARSE:
            there = _divergences(p, losses, np.full(len(p), after))
            peak = self._raise(there / (1 + after), np.arange(len(p)), np.full(len(p), after), peak)
            coarse, before = np.maximum(coarse, there / (1 + before)), after
        coarse = np.maximum(coarse, top / (1 + before))
        rows = np.flatnonzero(np.minimum(most, coarse) > self.upper)
        open_ = self._first(rows, span, top)
        for _ in range(_PASSES):
            if not len(open_.row):
                return peak
            rest = []
            size = max(1, _LIVE // p.shape[1])
            for begin in range(0, len(open_.row), size):
                part = open_.take(np.arange(begin, min(begin + size, len(open_.row))))
                middle = np.where(part.low > 0, (part.low + part.high) / 2, part.high)
                moments = _moments(p[part.row], losses[part.row], middle)
                peak = self._raise(moments.divergence / (1 + middle), part.row, middle, peak)
                is_proved = np.where(
                    part.low > 0,
                    self._below_parabola(part, middle, moments, span[part.row]),
                    self._below_at_zero(part, start, span[part.row]),
                )
                open_part = ~is_proved & (part.low < top[part.row] / self.upper - 1)
                left = part.take(np.flatnonzero(open_part))
                middle = (left.low + left.high) / 2
                rest += [left._replace(high=middle), left._replace(low=middle)]
            open_ = OpenIntervals(*(np.concatenate(column) for column in zip(*rest, strict=True)))
        if len(open_.row):  # the divergence at the larger end, which grows, over the smaller order
            far = _moments(p[open_.row], losses[open_.row], open_.high).divergence
            self._closed = max(self._closed, float((far / (1 + open_.low)).max()))
        return peak

    def _raise(self, values: Floats, rows: Positions, at: Floats, peak: Peak) -> Peak:
        best = int(values.argmax())
        if values[best] > self.value:
            self.value = float(values[best])
            return int(rows[best]), 1 + float(at[best])
        return peak

    def _first(self, rows: Positions, span: Floats, top: Floats) -> OpenIntervals:
        """Return intervals from 0 on, each twice as long as the last, to where g is certainly below."""
        near = 2.0**-6 / np.maximum(span[rows], 1.0)
        ends = np.maximum(top[rows] / max(self.upper, _LEAST), near)
        steps = math.ceil(math.log2(float((ends / near).max(initial=1.0)))) + 1
        edges = near[:, None] * 2.0 ** np.arange(steps)
        low = np.concatenate([np.zeros((len(rows), 1)), edges[:, :-1]], axis=1)
        used = low < ends[:, None]
        owner = np.broadcast_to(rows[:, None], low.shape)
        return OpenIntervals(owner[used], low[used], edges[used])

    def _below_parabola(self, part: OpenIntervals, middle: Floats, moments: Moments, span: Floats) -> Bools:
        """Return where the bound of K stays below upper * t (1 + t) on the whole interval."""
        half, c = (part.high - part.low) / 2, self.upper
        with np.errstate(over="ignore", invalid="ignore"):
            bend = moments.variance / 2 * np.exp(span * half) - c
            slope = moments.mean - c * (1 + 2 * middle)
            level = middle * (moments.divergence - c * (1 + middle))
            ends = level + bend * half**2 + np.abs(slope) * half
            inside = (bend < 0) & (np.abs(slope) < -2 * bend * half)
            crest = level - np.divide(slope**2, 4 * bend, out=np.zeros_like(bend), where=inside)
        return np.where(inside, crest, ends) <= 0

    def _below_at_zero(self, part: OpenIntervals, start: Moments, span: Floats) -> Bools:
        """Return where g stays below upper on an interval from 0 on, by a monotone bound."""
        with np.errstate(over="ignore", invalid="ignore"):
            bend = start.variance[part.row] / 2 * np.exp(span * part.high)
            value = (start.mean[part.row] + part.high * bend) / (1 + part.high)
        return np.asarray((start.mean[part.row] <= self.upper) & (value <= self.upper))


def _moments(p: Floats, losses: Floats, t: Floats) -> Moments:
    """Return K(t) / t, at 0 its limit, with the derivatives of K, for t of at least 0, array (k,)."""
    exponents = t[:, None] * losses
    weights = p * np.exp(exponents - _top(p, exponents)[:, None])
    total = weights.sum(axis=1)
    mean = (weights * losses).sum(axis=1) / total
    variance = (weights * (losses - mean[:, None]) ** 2).sum(axis=1) / total
    return Moments(np.where(t > 0, _divergences(p, losses, t), mean), mean, variance)


def _divergences(p: Floats, losses: Floats, t: Floats) -> Floats:
    """Return K(t) / t for t above 0, array (k,)."""
    exponents = t[:, None] * losses
    top = _top(p, exponents)
    far = np.abs(exponents).max(axis=1, where=p > 0, initial=0.0) > 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Near 0 the sum is close to 1: log1p of the difference is more exact.
        near = np.log1p((p * np.expm1(np.minimum(exponents, 1.0))).sum(axis=1)) / t
        logs = (top + np.log((p * np.exp(exponents - top[:, None])).sum(axis=1))) / t
    return np.asarray(np.where(far, logs, near))


def _top(p: Floats, exponents: Floats) -> Floats:
    return np.asarray(np.where(p > 0, exponents, -np.inf).max(axis=1))
