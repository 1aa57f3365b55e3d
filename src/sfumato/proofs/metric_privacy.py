"""Proof of metric privacy over the integers of a mechanism, for all pairs or for listed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import intervals
from ..core import Mechanism, MetricPrivacy
from ..core.arrays import Floats, Positions
from ..core.immutable import CompactRepr
from ..rounding import up

_AT_ONCE: Final = 1 << 21  # quotients at a time
_TILE: Final = (16, 2**10)  # pairs at a time: their ratios stay in the cache
_RATIO_ERROR = 2.0**-50  # two conversions, a reciprocal and a product round by less


@dataclass(frozen=True, slots=True, repr=False)
class EpsilonProof(CompactRepr):
    """A proof of p(o|s) <= exp(epsilon d(s, s')) p(o|s').

    ``upper`` is a proved upper bound on the mechanism's true epsilon, per unit of the metric as the ``claimed``
    one; ``inf`` if a pair at finite distance has an infinite likelihood ratio. The secrets (s, s') and the
    observable at ``worst_...`` attain it. ``holds`` is whether the claim is proved.
    """

    claimed: float
    upper: float
    holds: bool
    worst_pair: tuple[int, int]
    worst_observable: int
    unit: str
    guarantee: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairRatios(CompactRepr):
    """The largest likelihood ratios of pairs of secrets."""

    ratios: Floats  # array (k,), max over o of p(o|s) / p(o|s')
    distances: Floats  # array (k,), d(s, s')
    pair: Callable[[int], tuple[int, int]]  # from a position in these arrays to its pair (s, s')


def worst_ratios(mechanism: Mechanism) -> tuple[Floats, Positions]:
    """Return max over o of p(o|s) / p(o|s') and the o that attains it, arrays (n, n).

    The ratios carry a relative error below 2**-50. A zero denominator gives ``inf``; observables that neither
    secret produces are left out.
    """
    weights, inverse, used = _possible_reports(mechanism)
    zeros = bool(np.isinf(inverse).any())
    n = len(weights)
    ratios, where = np.empty((n, n)), np.empty((n, n), dtype=np.intp)
    rows = np.arange(n)
    for s in range(n):
        with np.errstate(invalid="ignore"):
            quotient = weights[s] * inverse
        if zeros:
            quotient[np.isnan(quotient)] = 0.0
        where[s] = quotient.argmax(axis=1)
        ratios[s] = quotient[rows, where[s]]
    return ratios, used[where]


def ratios_of(mechanism: Mechanism, s: Positions, t: Positions, distances: Floats) -> PairRatios:
    """Return the largest likelihood ratios of listed pairs of secrets (k,); see `worst_ratios` for all pairs."""
    weights, inverse, used = _possible_reports(mechanism)
    ratios = np.empty(len(s))
    size = max(1, _AT_ONCE // len(used))
    for begin in range(0, len(s), size):
        part = slice(begin, begin + size)
        with np.errstate(invalid="ignore"):
            quotient = weights[s[part]] * inverse[t[part]]
        np.nan_to_num(quotient, copy=False, nan=0.0, posinf=np.inf)
        ratios[part] = quotient.max(axis=1)
    return PairRatios(ratios, distances, lambda k: (int(s[k]), int(t[k])))


def _all_ratios(mechanism: Mechanism) -> Floats:
    """Return the largest likelihood ratios of all pairs, array (n, n); 1 on the diagonal."""
    weights, inverse, _ = _possible_reports(mechanism)
    columns, inverses = np.ascontiguousarray(weights.T), np.ascontiguousarray(inverse.T)
    n = len(weights)
    ratios = np.zeros((n, n))
    for top in range(0, n, _TILE[0]):
        for left in range(0, n, _TILE[1]):
            tile = ratios[top : top + _TILE[0], left : left + _TILE[1]]
            room = np.empty_like(tile)
            block = columns[:, top : top + _TILE[0], None]
            for weight, under in zip(block, inverses[:, left : left + _TILE[1]], strict=True):
                with np.errstate(invalid="ignore"):
                    np.multiply(weight, under, out=room)
                np.fmax(tile, room, out=tile)  # NaN where neither is possible
    np.fill_diagonal(ratios, 1.0)
    return ratios


def prove_metric_privacy(mechanism: Mechanism, guarantee: MetricPrivacy) -> EpsilonProof:
    """Prove a bound on the epsilon of a mechanism, over all pairs and observables.

    The likelihood ratios of the integers are compared with exponentials that interval arithmetic rounds down.
    Where floats cannot decide the claim, exact integers do. The origin of the mechanism is not used. Raises
    `InputError` if the claim is for other secrets.
    """
    guarantee.check_secrets(mechanism.secrets)
    ratios, n = _all_ratios(mechanism), mechanism.shape[0]
    pairs = PairRatios(ratios.ravel(), guarantee.metric.array.ravel(), lambda k: divmod(k, n))
    return prove_pairs(mechanism, pairs, guarantee.epsilon, guarantee.metric.unit, str(guarantee))


def prove_pairs(mechanism: Mechanism, pairs: PairRatios, epsilon: float, unit: str, name: str) -> EpsilonProof:
    """Prove a bound on the epsilon of a mechanism over listed pairs, with their ratios, and all observables."""
    upper, worst = _upper(mechanism, pairs)
    holds = upper <= epsilon
    if not holds and np.isfinite(upper) and not _refutes(pairs, epsilon):
        holds = _holds_exactly(mechanism, pairs, epsilon)
        upper = epsilon if holds else upper
    s, t = pairs.pair(worst)
    if pairs.distances[worst] == 0 and s != t:  # floats may not separate integers that differ
        observable = int(np.argmax(mechanism.weights[s] > mechanism.weights[t]))
    else:
        weights, inverse, used = _possible_reports(mechanism)
        with np.errstate(invalid="ignore"):
            quotient = weights[s] * inverse[t]
        observable = int(used[np.argmax(np.nan_to_num(quotient, nan=0.0, posinf=np.inf))])
    return EpsilonProof(epsilon, upper, holds, (s, t), observable, unit, name)


def _possible_reports(mechanism: Mechanism) -> tuple[Floats, Floats, Positions]:
    """Return the weights of the observables that can be reported, their inverses, and their positions."""
    used = np.flatnonzero((mechanism.weights != 0).any(axis=0))
    weights = mechanism.weights[:, used].astype(np.float64)
    with np.errstate(divide="ignore"):
        return weights, 1.0 / weights, used


def _upper(mechanism: Mechanism, pairs: PairRatios) -> tuple[float, int]:
    """Return a proved bound on the tight epsilon and the position of the pair that attains it."""
    for k in np.flatnonzero(pairs.distances == 0).tolist():
        s, t = pairs.pair(k)
        if s != t and not np.array_equal(mechanism.weights[s], mechanism.weights[t]):
            return float("inf"), k
    worst, tight = 0, -np.inf
    for begin, logs, distances in _logarithms(pairs):
        with np.errstate(over="ignore"):  # a quotient beyond all floats is infinite, which is a bound
            rates = np.where(np.isfinite(distances), logs / distances, -np.inf)
        if rates.max() > tight:
            worst, tight = begin + int(np.argmax(rates)), float(rates.max())
    if tight == np.inf:
        return float("inf"), worst
    # The logarithms only propose a bound; the exponentials then prove it.
    for margin in (1e-14, 1e-13, 1e-12, 1e-10):
        bound = 0.0
        for _, logs, distances in _logarithms(pairs):
            slack = margin * (1 + np.abs(logs))
            with np.errstate(over="ignore"):
                bound = float(np.max((logs + slack) / distances, initial=bound))
        if bound == np.inf:
            break
        bound = up(bound)
        if not _doubtful(pairs, bound).size:
            return bound, worst
    return float("inf"), worst


def _logarithms(pairs: PairRatios) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield parts of the pairs: start, ln of the ratios, and distances, infinite without a constraint."""
    for begin in range(0, len(pairs.ratios), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(pairs.ratios))
        d = pairs.distances[begin:end]
        protected = (d > 0) & np.isfinite(d)
        with np.errstate(divide="ignore"):
            logs = np.where(protected, np.log(pairs.ratios[begin:end]), 0.0)
        yield begin, logs, np.where(protected, d, np.inf)


def _doubtful(pairs: PairRatios, epsilon: float) -> Positions:
    """Return the positions of pairs that floats cannot prove."""
    open_ = _open(pairs, epsilon)
    limit = intervals.exp_below(epsilon, pairs.distances[open_]) * (1 - _RATIO_ERROR)
    return open_[~(pairs.ratios[open_] <= limit)]


def _refutes(pairs: PairRatios, epsilon: float) -> bool:
    """Return whether floats suffice to show that a pair's ratio is too large."""
    open_ = np.union1d(_open(pairs, epsilon), np.flatnonzero(pairs.distances == 0))
    with np.errstate(over="ignore"):
        limit = intervals.exp_below(epsilon, pairs.distances[open_]) * (1 + 4 * _RATIO_ERROR)
    return bool((pairs.ratios[open_] > limit).any())


def _open(pairs: PairRatios, epsilon: float) -> Positions:
    """Return the positions of pairs at a positive and finite distance that (1 + x/k)**k < e**x does not prove.

    With k = 2**20 this takes 20 squarings, each right to a relative 2**-53, so their product is right to 2**-31.
    """
    parts = []
    for begin in range(0, len(pairs.ratios), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        d = pairs.distances[part]
        mask = (d > 0) & np.isfinite(d)
        with np.errstate(over="ignore", invalid="ignore"):
            power = 1 + np.minimum(epsilon * d, 600.0) * (1 - 2.0**-50) * 2.0**-20
            for _ in range(20):
                np.multiply(power, power, out=power)
        is_proved = pairs.ratios[part] <= power * (1 - 2.0**-30)
        parts.append(begin + np.flatnonzero(mask & ~is_proved))
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])


def _holds_exactly(mechanism: Mechanism, pairs: PairRatios, epsilon: float) -> bool:
    """Decide with exact integers the pairs that floats leave open."""
    for position in _doubtful(pairs, epsilon).tolist():
        s, t = pairs.pair(position)
        if np.array_equal(mechanism.weights[s], mechanism.weights[t]):
            continue  # also where exp(epsilon d) is nearer to one than intervals can resolve
        p, k = intervals.exp_below_exact(epsilon, float(pairs.distances[position]))
        for a, b in zip(mechanism.weights[s].tolist(), mechanism.weights[t].tolist(), strict=True):
            if a << k > p * b:
                return False
    return True
