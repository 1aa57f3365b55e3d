"""Corners of trade-off functions in fractions, for curves that floats hold only up to rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Final

from ...core.arrays import Floats
from ...intervals import exp_below_exact
from ..exact import integer_rows
from ..relation import Relation, relation_on
from ..rows import AnyMechanism, channel

Corner = tuple[Fraction, Fraction]
"""Type I and type II error."""

Corners = list[Corner]
"""The corners of a convex falling curve by rising type I error, the last at (1, 0)."""

Enclosure = tuple[Corners, Corners]
"""A curve that is nowhere above and one that is nowhere below; the same where all corners are fractions."""

MakeCorners = Callable[[], Enclosure | None]
"""A call that returns the corners; None where they are too many."""

_MOST: Final = 1 << 14  # tests that are compared in fractions: a tenth of a second
_END: Final = (Fraction(1), Fraction(0))


def of_points(alphas: Sequence[float] | Floats, betas: Sequence[float] | Floats) -> Enclosure | None:
    """Return the corners of the largest convex curve below points and (1, 0); floats count as what they are.

    Args:
        alphas: Type I errors, array (k,).
        betas: Type II errors there; above 1 - alpha they count as that.
    """
    if len(alphas) > _MOST:
        return None
    points = [(Fraction(a), Fraction(b)) for a, b in zip(map(float, alphas), map(float, betas), strict=True)]
    found = _hull((a, min(b, 1 - a)) for a, b in points)
    return found, found


def of_rows(p: Floats, q: Floats) -> Enclosure | None:
    """Return the corners of the trade-off function of two rows; each counts as divided by its exact sum."""
    if len(p) > _MOST:
        return None
    rows = [[Fraction(mass) for mass in row.tolist()] for row in (p, q)]
    found = _hull(_tests(*rows))
    return found, found


def of_promise(epsilon: float, delta: float) -> Enclosure:
    """Return the corners of the curve of an epsilon and a delta, with e**epsilon between two fractions."""
    left = 1 - Fraction(delta)
    if math.isinf(epsilon):
        found = _hull([(Fraction(0), Fraction(0))])
        return found, found
    bounds = [_exponential(epsilon, upper=upper) for upper in (True, False)]
    below, above = (
        _hull([(Fraction(0), left), (left / (1 + t), left / (1 + t)), (left, Fraction(0))]) for t in bounds
    )
    return below, above


def of_mechanism(mechanism: AnyMechanism, relation: Relation | None) -> Enclosure | None:
    """Return the corners of the largest curve that a mechanism satisfies, from its integers."""
    matrix, whole = channel(mechanism).matrix, integer_rows(mechanism)
    pairs = relation_on(relation, len(matrix)).pairs
    if whole is None or len(pairs) * matrix.shape[1] > _MOST:
        return None
    rows = [[Fraction(weight) for weight in row] for row in whole.array.tolist()]
    found = _hull(test for s, t in pairs.tolist() for test in _tests(rows[s], rows[t]))
    return found, found


def of_curves(curves: Sequence[MakeCorners]) -> Enclosure | None:
    """Return the corners of the largest convex curve below several."""
    found = [make() for make in curves]
    if any(each is None for each in found):
        return None
    below, above = (_hull(corner for each in found if each for corner in each[side]) for side in (0, 1))
    return below, above


def inverted(make: MakeCorners) -> Enclosure | None:
    """Return the corners of the inverse of a curve."""
    found = make()
    if found is None:
        return None
    below, above = (_hull((b, a) for a, b in corners) for corners in found)
    return below, above


def _tests(p: list[Fraction], q: list[Fraction]) -> Iterable[Corner]:
    """Yield the errors of the likelihood-ratio tests of p against q, by rising type I error."""
    one, other = sum(p), sum(q)
    used = sorted(((a, b) for a, b in zip(p, q, strict=True) if a or b), key=lambda each: each[0] / sum(each))
    alphas, powers = (accumulate(masses) for masses in zip(*used, strict=True))
    yield Fraction(0), Fraction(1)
    for alpha, power in zip(alphas, powers, strict=True):
        yield alpha / one, 1 - power / other


def _hull(points: Iterable[Corner]) -> Corners:
    """Return the lower convex hull of points, (0, 1) and (1, 0), by rising type I error."""
    hull: Corners = []
    for here in sorted({*points, (Fraction(0), Fraction(1)), _END}):
        if hull and here[0] == hull[-1][0]:
            continue  # straight above the last one
        while len(hull) > 1 and _cross(hull[-2], hull[-1], here) <= 0:
            hull.pop()
        hull.append(here)
    return hull


def _cross(first: Corner, middle: Corner, last: Corner) -> Fraction:
    """Return a number above 0 where the middle point lies strictly below the line through the others."""
    return (middle[0] - first[0]) * (last[1] - first[1]) - (last[0] - first[0]) * (middle[1] - first[1])


def _exponential(epsilon: float, *, upper: bool) -> Fraction:
    if epsilon == 0:
        return Fraction(1)
    top, bits = exp_below_exact(-epsilon if upper else epsilon, 1.0)
    found = Fraction(top, 1 << bits)
    return 1 / found if upper else found
