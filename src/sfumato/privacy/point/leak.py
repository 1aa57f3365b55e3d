"""Pairs of secrets whose leak, the mass of reports that one of them alone makes, is about a delta."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from ...core.arrays import Floats
from ..exact import FEW, IntegerRows, Pair, Pairs, largest_of_rows, least_factor, room, rows_of
from ..rows import Mask

_ENTRIES: Final = 2**20  # entries of pairs that are looked at together
_CLOSE: Final = 2.0**-40  # limits that exceed a value by less, relatively, are as good
_ROUNDED: Final = 2.0**-47  # relative error of a quotient of floats, its logarithm and that over a scale


class Leaks(NamedTuple):
    """Leaks of the pairs of secrets, compared with a delta in integers.

    Attributes:
        beyond: The pair with the largest leak, where that is above delta; else None.
        pairs: The pairs (s, t) of which s alone makes reports of almost delta or exactly delta, array (k, 2).
        room: How much less it is, array (k,): 0 exactly where it is delta.
        others: The other pairs of the mask, array (n, n).
    """

    beyond: Pair
    pairs: Pairs
    room: Floats
    others: Mask


def leaks(rows: IntegerRows, mask: Mask, delta: float, slack: float) -> Leaks:
    """Return which pairs of a mask leak more than delta, or about delta.

    Args:
        rows: The rows.
        mask: The ordered pairs, array (n, n).
        delta: Above 0, at most 1.
        slack: How far below delta a leak is about delta.
    """
    others, worst, beyond = mask.copy(), 0.0, None
    pairs, rooms = [np.empty((0, 2), dtype=np.intp)], [np.empty(0)]
    if not (rows.array == 0).any():
        return Leaks(None, pairs[0], rooms[0], others)
    find, step = room(rows, delta), max(1, _ENTRIES // len(mask))
    chosen = np.flatnonzero(mask.any(axis=1))
    for begin in range(0, len(chosen), step):
        part = chosen[begin : begin + step]
        left = np.where(mask[part], find(part), math.inf)
        if left.min() < worst:
            first = np.unravel_index(int(left.argmin()), left.shape)
            worst, beyond = float(left[first]), (int(part[first[0]]), int(first[1]))
        at, t = np.nonzero(left < slack)
        pairs.append(np.stack([part[at], t], axis=1))
        rooms.append(left[at, t])
        others[part[at], t] = False
    return Leaks(beyond, np.concatenate(pairs), np.concatenate(rooms), others)


def needed_at(rows: IntegerRows, found: Leaks, distances: Floats, delta: float) -> tuple[float, float, Pair]:
    """Return bounds of the least epsilon that suffices for the pairs that leak about delta, with a pair.

    A pair that leaks all of delta needs the largest ratio of the reports that both make. With room r it needs no
    more, and at least (p(o|s) - r) / p(o|t) of each of these. Where few pairs are in question, fractions decide.

    Args:
        rows: The rows.
        found: The pairs, none of which leaks more than delta.
        distances: What the epsilon of each pair is multiplied by, array (k,).
        delta: The delta.
    """
    matrix, width = rows.array.astype(np.float64), rows.array.shape[1]
    limits = shared_limits(rows)[found.pairs[:, 0]] / distances * (1 + _ROUNDED)
    order = np.argsort(-limits, kind="stable")
    lower, skipped, step = 0.0, 0.0, max(1, _ENTRIES // 4 // width)
    highs, few = np.full(len(order), -math.inf), len(order) * width <= FEW
    for begin in range(0, len(order), step):
        part = order[begin : begin + step]
        limit = float(limits[part[0]])
        if limit <= (lower if few else lower * (1 + _CLOSE)):
            skipped = limit if limit > lower else 0.0
            break
        low, highs[part] = _ratios(rows, matrix, found.pairs[part], found.room[part], distances[part])
        lower = max(lower, float(low.max()))
    near = np.flatnonzero((highs >= lower) & (highs > 0))
    if len(near) == 0:
        return 0.0, skipped, None
    if len(near) * width <= FEW:
        allowed, pairs = Fraction(delta), found.pairs[near]
        chosen = rows_of(rows, pairs)
        least = largest_of_rows(
            chosen, rows.unit, pairs, lambda p, q, unit: least_factor(p, q, unit, allowed), distances[near]
        )
        return least[0], max(least[1], skipped), least[2]
    first = found.pairs[near[0]]
    return lower, max(float(highs.max()), skipped), (int(first[0]), int(first[1]))


def shared_limits(rows: IntegerRows, *, turned: bool = False) -> Floats:
    """Return what no ln(p(o|s) / p(o|t)) of a report that both make exceeds for any t, array (n,).

    It is 0 only where no such ratio is above 1 in integers.

    Args:
        rows: The rows.
        turned: Whether the bounds are for ln(p(o|t) / p(o|s)).
    """
    array, matrix = rows.array, rows.array.astype(np.float64)
    used = array > 0
    least = np.where(used, array, array.max()).min(axis=0)
    if turned:
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
    each = np.arange(len(best))
    largest, own = np.maximum(ratios[each, best], 1.0), np.ldexp(p[each, best], -rows.bits)
    logs = np.log(largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = logs + np.log1p(-np.minimum(left * (1 + _ROUNDED) / own, 1.0))
    lower = np.maximum(np.nan_to_num(lower - logs * _ROUNDED - _ROUNDED, nan=0.0, neginf=0.0), 0.0)
    upper = logs * (1 + _ROUNDED) + _ROUNDED
    for k in np.flatnonzero(largest <= 1 + _ROUNDED):
        one, other = rows.array[s[k]], rows.array[t[k]]
        if not ((other > 0) & (one > other)).any():
            upper[k] = 0.0
    return lower / distances * (1 - _ROUNDED), upper / distances * (1 + _ROUNDED)
