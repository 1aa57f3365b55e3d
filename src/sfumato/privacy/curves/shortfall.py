"""Shortfall of a mechanism against a trade-off function with finitely many corners, in integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from ..exact import Pair
from ..integers import IntegerRows, Pairs, integer_rows, weighted_masses
from ..rows import AnyMechanism
from .corners import Corners

_UNEVEN: Final = 2.0**-44  # by which the sum of a row may differ from 1: floats of rows that sum to 1


def largest_shortfall(mechanism: AnyMechanism, pairs: Pairs, corners: Corners) -> tuple[Fraction, Pair] | None:
    """Return by how much tests between rows beat a trade-off function f.

    f is the largest of the lines c - k a through its edges. Below such a line T(p, q) falls by at most
    c - 1 + sum over o of max(0, q(o) - k p(o)), which a test attains: no test needs to be sorted. Rows of an array
    count as divided by their exact sums.

    Args:
        mechanism: A mechanism or array.
        pairs: The pairs (s, t) of rows p and q, array (k, 2).
        corners: The corners of f.

    Returns:
        The largest f(a) - T(p, q)(a), at least 0, and a pair that attains it; None where an array has no rows that
        sum to 1 up to rounding, or it would take too long.
    """
    rows = integer_rows(mechanism)
    if rows is None or not rows.holds(len(pairs) * max(1, len(corners) - 1)):
        return None
    sums = [int(each) for each in rows.array.sum(axis=1)]
    if any(abs(each - rows.unit) > rows.unit * _UNEVEN for each in sums):
        return None
    best: tuple[Fraction, Pair] = Fraction(0), None
    for group in _alike(sums, pairs):
        p, q = (sums[at] for at in group[0].tolist())
        for (a, b), (c, d) in pairwise(corners):
            if b > d:
                slope = (b - d) / (c - a)
                found = _beyond(rows, group, slope, (p, q))
                best = max(best, (found[0] + b + slope * a - 1, found[1]), key=lambda each: each[0])
    return best


def _beyond(rows: IntegerRows, pairs: Pairs, slope: Fraction, sums: tuple[int, int]) -> tuple[Fraction, Pair]:
    """Return the largest sum over o of max(0, q(o) - slope p(o)), and its pair, of rows with these sums."""
    over, under = slope.denominator * sums[0], slope.numerator * sums[1]
    best, pair = -1, None
    for block, found in weighted_masses(rows, pairs[:, ::-1], over, under):
        k = max(range(len(found)), key=found.__getitem__)
        if found[k] > best:
            best, pair = found[k], (int(block[k, 1]), int(block[k, 0]))
    return Fraction(best, over * sums[1]), pair


def _alike(sums: list[int], pairs: Pairs) -> list[Pairs]:
    """Return the pairs in groups whose rows have the same sums."""
    if len(set(sums)) == 1:
        return [pairs] if len(pairs) else []
    groups: dict[tuple[int, int], list[int]] = {}
    for k, (s, t) in enumerate(pairs.tolist()):
        groups.setdefault((sums[s], sums[t]), []).append(k)
    return [pairs[np.array(each)] for each in groups.values()]
