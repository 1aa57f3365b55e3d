"""Cheap upper bounds of divergences between all rows, by matrix products and by maxima in single precision.

Each is above what floats make of the divergence by more than either computation can be off
(docs/proofs/rounding-of-notions.md, "Pairs that are left out").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    HockeyStick,
    Renyi,
)
from .rows import Mask
from .search import Limits, Positions

_SLACK: Final = 1e-7  # rows of arrays sum to one within 1e-9, and sums of products keep ten digits
_LARGEST: Final = 600.0  # floats hold e to this
_SINGLE: Final = 2.0**-21  # relative rounding of logarithms and their differences in single precision
_ENDS: Final = (1 / 64, 1 / 12, 1 / 3, 1.0, 3.0)  # orders less one at which all pairs are looked at
_TILE: Final = (32, 2**11)  # pairs whose maxima are taken together: they stay in the cache


def ratio_limits(matrix: Floats, *, turned: bool = False) -> Limits:
    """Return bounds of the largest ln(p(o|s) / p(o|t)) over o of each pair (s, t), or of (t, s).

    Args:
        matrix: Array (n, m).
        turned: Whether the bounds are for the other order of each pair.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(matrix[:, matrix.any(axis=0)])
    sizes = np.abs(logs[np.isfinite(logs)])
    slack = _SINGLE * (1 + float(sizes.max(initial=0.0)))
    heights = -logs if turned else logs
    with np.errstate(invalid="ignore"):
        gaps = heights - heights.min(axis=0)
    gaps[np.isnan(gaps)] = -np.inf
    columns = np.ascontiguousarray(heights.T, dtype=np.float32)

    def of(rows: Positions) -> Floats:
        found = np.full((len(rows), len(matrix)), -np.inf, dtype=np.float32)
        for top in range(0, len(rows), _TILE[0]):
            for left in range(0, len(matrix), _TILE[1]):
                tile = found[top : top + _TILE[0], left : left + _TILE[1]]
                part = columns[:, left : left + _TILE[1]]
                room = np.empty_like(tile)
                for own, others in zip(columns[:, rows[top : top + _TILE[0]], None], part, strict=True):
                    with np.errstate(invalid="ignore"):
                        np.subtract(own, others, out=room)
                    np.fmax(tile, room, out=tile)  # what neither makes is no number, and left out
        return found.astype(np.float64) + slack

    return Limits(of, gaps.max(axis=1) + slack)


def range_limits(matrix: Floats) -> Limits:
    """Return bounds of the largest log-ratio of each pair plus that of its other order."""
    one, other = ratio_limits(matrix), ratio_limits(matrix, turned=True)
    rows = None if one.of_rows is None or other.of_rows is None else one.of_rows + other.of_rows
    return Limits(lambda rows: one.of(rows) + other.of(rows), rows)


def affinity_limits(matrix: Floats, factor: float = 1.0) -> Limits:
    """Return bounds of the sum over o of max(0, p(o|s) - factor p(o|t)), by the Bhattacharyya coefficient B.

    With the root of (factor + 1)**2 - 4 factor B**2, which bounds the sum of |p - factor q|, it is half of the
    root's excess over factor - 1.

    Args:
        matrix: Array (n, m).
        factor: At least 1; ``inf`` for the mass of what only s can report.
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
    """Return bounds of a divergence of the package; None of another.

    Args:
        divergence: The divergence.
        matrix: Array (n, m).
    """
    if divergence == TOTAL_VARIATION:
        return affinity_limits(matrix)
    if divergence == HELLINGER:
        roots = np.sqrt(matrix)
        return Limits(lambda rows: 1 - roots[rows] @ roots.T + _SLACK)
    if divergence in (KL, REVERSE_KL):
        return _mean_limits(matrix, turned=divergence == REVERSE_KL)
    if isinstance(divergence, HockeyStick) and divergence.epsilon >= 0:
        return affinity_limits(matrix, math.exp(min(divergence.epsilon, _LARGEST)))
    if divergence == CHI_SQUARED and holds_powers(matrix, 2.0):
        squares = power_sums(matrix, 2.0)
        return Limits(lambda rows: squares(rows) - 1)
    if isinstance(divergence, Renyi):
        return _renyi_limits(matrix, divergence.order)
    return None


def _renyi_limits(matrix: Floats, order: float) -> Limits:
    """Return bounds of the Rényi divergence of an order: it grows with the order."""
    if order <= 1:
        return _mean_limits(matrix)
    if not holds_powers(matrix, order):
        return ratio_limits(matrix)
    sums = power_sums(matrix, order)
    return Limits(lambda rows: np.log(np.maximum(sums(rows), 1.0)) / (order - 1))


def holds_powers(matrix: Floats, order: float) -> bool:
    """Return whether floats hold the positive entries to the power of -a, with room to spare."""
    return -order * math.log(float(matrix[matrix > 0].min())) < _LARGEST / 2


def power_sums(matrix: Floats, order: float) -> Callable[[Positions], Floats]:
    """Return bounds of the sum over o of p(o|s)**a p(o|t)**(1 - a), for rows s, array (b,), and all t.

    Args:
        matrix: Array (n, m), which `holds_powers` of the order.
        order: The order a, above 1.
    """
    alone = _alone(matrix)
    with np.errstate(divide="ignore"):
        under = np.where(matrix > 0, matrix ** (1 - order), 0.0)
    over = matrix**order

    def of(rows: Positions) -> Floats:
        found = over[rows] @ under.T
        return np.where(alone(rows), np.inf, found * (1 + _SLACK) + _SLACK * order)

    return of


def rho_limits(matrix: Floats) -> Limits:
    """Return bounds of the largest D_a / a over all orders a > 1 of each pair.

    With K(t) = t D of order 1 + t, wanted is K(t) / (t (1 + t)). K is convex and 0 at 0: between two orders it is
    below its chord, before the first K(t) / t is at most what it is there, and after the last at most the largest
    logarithm.

    Args:
        matrix: Array (n, m), whose rows have the same support.
    """
    ends = [t for t in _ENDS if holds_powers(matrix, 1 + t)]
    sums = [power_sums(matrix, 1 + t) for t in ends]
    one, other = ratio_limits(matrix).of_rows, ratio_limits(matrix, turned=True).of_rows

    def of(rows: Positions) -> Floats:
        if one is None or other is None:
            found = np.full((len(rows), len(matrix)), np.inf)
        else:
            found = np.minimum(one[rows, None], other) / (1 + (ends[-1] if ends else 0.0))
        before, log_before = 0.0, np.zeros((len(rows), len(matrix)))
        for t, sum_ in zip(ends, sums, strict=True):
            log = np.log(np.maximum(sum_(rows), 1.0))
            found = np.maximum(found, log / t if before == 0 else _of_chord(before, log_before, t, log))
            before, log_before = t, log
        return found

    return Limits(of)


def _of_chord(a: float, at_a: Floats, b: float, at_b: Floats) -> Floats:
    """Return the largest k(t) / (t (1 + t)) over t from a to b, where k is the line through two points.

    It is infinite where a point is.
    """
    known = np.isfinite(at_a) & np.isfinite(at_b)
    at_a, at_b = np.where(known, at_a, 0.0), np.where(known, at_b, 0.0)
    slope = (at_b - at_a) / (b - a)
    level = np.minimum(at_a - slope * a, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = (-level + np.sqrt(level * level - level * slope)) / slope
    t = np.clip(np.nan_to_num(peak, nan=b, posinf=b), a, b)
    return np.where(known, (at_a + slope * (t - a)) / (t * (1 + t)) * (1 + _SLACK), np.inf)


def _mean_limits(matrix: Floats, *, turned: bool = False) -> Limits:
    """Return bounds of the sum of p ln(p/q), for p of the row s, or else of t."""
    alone = _alone(matrix, turned=turned)
    logs = np.log(matrix, where=matrix > 0, out=np.zeros_like(matrix))
    own = (matrix * logs).sum(axis=1)
    slack = _SLACK * (1 + float(np.abs(logs).max()))

    def of(rows: Positions) -> Floats:
        found = own - logs[rows] @ matrix.T if turned else own[rows, None] - matrix[rows] @ logs.T
        return np.where(alone(rows), np.inf, found + slack)

    return Limits(of)


def _alone(matrix: Floats, *, turned: bool = False) -> Callable[[Positions], Mask]:
    """Return which pairs (s, t) have a report that s makes and t does not, or the other way round."""
    makes, not_ = (matrix > 0).astype(np.float32), (matrix == 0).astype(np.float32)
    if turned:
        makes, not_ = not_, makes
    if not (matrix == 0).any():
        return lambda rows: np.zeros((len(rows), len(matrix)), dtype=np.bool_)
    return lambda rows: np.asarray(makes[rows] @ not_.T > 0)
