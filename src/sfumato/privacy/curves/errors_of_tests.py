"""Error rates of the best tests between two rows, in floats and fractions, and the curves of their points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, Positions, numbers
from ...divergences import log_ratios
from ...errors import InputError
from ...intervals import exp_below_exact
from ..exact import integer_rows
from ..notion import Witness
from ..relation import Relation, relation_on
from ..rows import AnyMechanism, channel

_SAFE = 1e-290  # a quotient of larger probabilities neither overflows nor vanishes


class Errors(NamedTuple):
    """Error rates of the likelihood-ratio tests, arrays (..., m + 1), by rising type I error.

    ``alphas`` (type I) and ``powers`` are the masses of p and q where the test rejects p, ``confidences`` and
    ``betas`` (type II) those where it does not. Each is summed from its own end, so small ones keep their digits.
    """

    alphas: Floats
    confidences: Floats
    betas: Floats
    powers: Floats


def errors(p: Floats, q: Floats) -> Errors:
    """Return the error rates of the tests that reject p on the outputs of largest q/p, of arrays (..., m)."""
    order = np.argsort(_keys(p, q), axis=-1)
    null = np.take_along_axis(p, order, axis=-1)
    alternative = np.take_along_axis(q, order, axis=-1)
    return in_order(null, alternative)


def in_order(null: Floats, alternative: Floats) -> Errors:
    """Return the error rates of outputs in falling order of q/p."""
    return Errors(_front(null), _rest(null), _rest(alternative), _front(alternative))


def witness_of_test(rows: Floats, pair: Positions, rates: Errors, vertex: int) -> Witness:
    """Return the witness of the test at one vertex of the error rates, arrays (m + 1,), of two rows."""
    p, q = rows[pair]
    order = np.argsort(_keys(p, q))[:vertex]
    rejected = np.sort(order[(p[order] > 0) | (q[order] > 0)])
    note = f"a test with errors {rates.alphas[vertex]:.4g} and {rates.betas[vertex]:.4g}"
    return Witness((int(pair[0]), int(pair[1])), rejected, note=note)


def _keys(p: Floats, q: Floats) -> Floats:
    """Return keys that rise as q/p falls."""
    if min(np.min(p, initial=1.0, where=p > 0), np.min(q, initial=1.0, where=q > 0)) < _SAFE:
        return log_ratios(p, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(p / q)


def _front(masses: Floats) -> Floats:
    sums = np.zeros((*masses.shape[:-1], masses.shape[-1] + 1))
    np.cumsum(masses, axis=-1, out=sums[..., 1:])
    return sums


def _rest(masses: Floats) -> Floats:
    sums = np.zeros((*masses.shape[:-1], masses.shape[-1] + 1))
    sums[..., :-1] = np.cumsum(masses[..., ::-1], axis=-1)[..., ::-1]
    return sums


_Point = tuple[float, float, float, float]


def envelope(points: Errors) -> Errors:
    """Return the vertices of the lower convex envelope of points (k,), which include those of a whole curve."""
    order = np.lexsort((points.betas, -points.confidences, points.alphas))
    hull: list[_Point] = []
    for here in zip(*(values[order].tolist() for values in points), strict=True):
        while hull and _rise(hull[-1], here) <= 0 < _fall(hull[-1], here):
            hull.pop()
        while len(hull) > 1:
            first, middle = hull[-2:]
            if _fall(first, middle) * _rise(middle, here) > _fall(middle, here) * _rise(first, middle):
                break  # the middle point is strictly below the line through the others
            hull.pop()
        # A point above the last one at the same alpha is no vertex.
        if not hull or _rise(hull[-1], here) > 0:
            hull.append(here)
    return Errors(*(np.array(column, dtype=np.float64) for column in zip(*hull, strict=True)))


def steps(points: Errors) -> tuple[Floats, Floats]:
    """Return the masses (k - 1,) between consecutive points, of the null and of the alternative."""
    null = _differences(points.alphas[:-1], points.alphas[1:], points.confidences[:-1], points.confidences[1:])
    other = _differences(points.powers[:-1], points.powers[1:], points.betas[:-1], points.betas[1:])
    return null, other


def _differences(front: Floats, front_next: Floats, rest: Floats, rest_next: Floats) -> Floats:
    # The smaller sums carry the smaller errors.
    return np.where(front_next <= rest, front_next - front, rest - rest_next)


def _rise(first: _Point, second: _Point) -> float:
    return second[0] - first[0] if second[0] <= first[1] else first[1] - second[1]


def _fall(first: _Point, second: _Point) -> float:
    return second[3] - first[3] if second[3] <= first[2] else first[2] - second[2]


_SAME: Final = 2.0**-40  # differences of type II errors that count as rounding


def through(alphas: ArrayLike, betas: ArrayLike) -> Errors:
    """Return the vertices of the polygon through points and (0, 1) and (1, 0); they must lie on one curve."""
    x, y = _read_points(alphas, betas)
    if x[0] > 0:
        x, y = np.concatenate([[0.0], x]), np.concatenate([[1.0], y])
    if x[-1] < 1:
        x, y = np.concatenate([x, [1.0]]), np.concatenate([y, [0.0]])
    elif y[-1] > _SAME:
        raise InputError(f"the type II error at 1 is {y[-1]:g}.", "it is 0 where a test always rejects.")
    hull = envelope(Errors(x, 1 - x, y, 1 - y))
    above = y - np.interp(x, hull.alphas, hull.betas)
    worst = int(above.argmax())
    if above[worst] > _SAME:
        raise InputError(
            f"the points are not convex: at {x[worst]:g} one is {above[worst]:.3g} above a line of others.",
            "use TradeOff.minorant(alphas, betas) for a curve that is certain to hold.",
        )
    return hull


def minorant(alphas: ArrayLike, betas: ArrayLike) -> Errors:
    """Return the vertices of a curve below all trade-off functions that reach the points.

    After a point no such function falls faster than from (0, 1) to it, and before a point none is flatter than
    from it to (1, 0) (docs/proofs/trade-off.md).
    """
    x, y = _read_points(alphas, betas)
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.where(x > 0, (1 - y) / x, np.inf)
        flat = np.where(x < 1, y / (1 - x), 0.0)
    steep = np.concatenate([[np.inf], np.minimum.accumulate(fall)])
    shallow = np.concatenate([np.maximum.accumulate(flat[::-1])[::-1], [0.0]])
    low, high = np.concatenate([[0.0], x]), np.concatenate([x, [1.0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.where(steep > shallow, (1 - shallow) / (steep - shallow), low)
        corner = np.clip(crossing, low, high)
        lines = np.stack([shallow * (1 - corner), np.where(np.isinf(steep), 0.0, 1 - steep * corner)])
    bound = np.maximum(lines.max(axis=0) - 8 * _SAME, 0.0)
    corner, bound = np.concatenate([corner, [1.0]]), np.concatenate([bound, [0.0]])
    return envelope(Errors(corner, 1 - corner, bound, 1 - bound))


def _read_points(alphas: ArrayLike, betas: ArrayLike) -> tuple[Floats, Floats]:
    x, y = numbers(alphas, "alphas"), numbers(betas, "betas")
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError(
            f"points of a curve were given as arrays of shapes {x.shape} and {y.shape}.",
            "pass two arrays (k,) of at least one number.",
        )
    if not ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all() or (np.diff(x) <= 0).any():
        raise InputError("the points are not probabilities with rising type I errors.", "sort them by alpha.")
    over = np.flatnonzero(y > 1 - x + _SAME)
    if len(over):
        raise InputError(
            f"the type II error {y[over[0]]:g} at {x[over[0]]:g} is above 1 - alpha.",
            "a coin that rejects with probability alpha misses with 1 - alpha: no best test is worse.",
        )
    return x, np.minimum(y, 1 - x)


Corner = tuple[Fraction, Fraction]
"""Type I and type II error."""

Corners = list[Corner]
"""The corners of a convex falling curve by rising type I error, the last at (1, 0)."""

Enclosure = tuple[Corners, Corners]
"""A lower and an upper curve, the same where all corners are fractions."""

MakeCorners = Callable[[], Enclosure | None]
"""A function that returns the corners; None where they are too many."""

_MOST: Final = 1 << 14  # tests that are compared in fractions: a tenth of a second


def of_points(alphas: Sequence[float] | Floats, betas: Sequence[float] | Floats) -> Enclosure | None:
    """Return the corners of the largest convex curve below points, with beta at most 1 - alpha, and (1, 0)."""
    if len(alphas) > _MOST:
        return None
    points = [(Fraction(a), Fraction(b)) for a, b in zip(map(float, alphas), map(float, betas), strict=True)]
    hull = _hull((a, min(b, 1 - a)) for a, b in points)
    return hull, hull


def of_rows(p: Floats, q: Floats) -> Enclosure | None:
    """Return the corners of the trade-off function of two rows, each divided by its exact sum."""
    if len(p) > _MOST:
        return None
    rows = [[Fraction(mass) for mass in row.tolist()] for row in (p, q)]
    hull = _hull(_tests(*rows))
    return hull, hull


def of_promise(epsilon: float, delta: float) -> Enclosure:
    """Return the corners of the curve of an epsilon and a delta, with e**epsilon between two fractions."""
    left = 1 - Fraction(delta)
    if math.isinf(epsilon):
        hull = _hull([(Fraction(0), Fraction(0))])
        return hull, hull
    # 1 over a lower bound of e**-epsilon is an upper bound of e**epsilon.
    (over, over_bits), (under, under_bits) = (exp_below_exact(exponent, 1.0) for exponent in (-epsilon, epsilon))
    bounds = (Fraction(1 << over_bits, over), Fraction(under, 1 << under_bits)) if epsilon else (1, 1)
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
    hull = _hull(test for s, t in pairs.tolist() for test in _tests(rows[s], rows[t]))
    return hull, hull


def of_curves(curves: Sequence[MakeCorners]) -> Enclosure | None:
    """Return the corners of the largest convex curve below several."""
    enclosures = [make() for make in curves]
    if any(enclosure is None for enclosure in enclosures):
        return None
    below, above = (
        _hull(corner for enclosure in enclosures if enclosure for corner in enclosure[side]) for side in (0, 1)
    )
    return below, above


def invert(make: MakeCorners) -> Enclosure | None:
    """Return the corners of the inverse of a curve."""
    enclosure = make()
    if enclosure is None:
        return None
    below, above = (_hull((b, a) for a, b in corners) for corners in enclosure)
    return below, above


def _tests(p: list[Fraction], q: list[Fraction]) -> Iterable[Corner]:
    """Yield the errors of the likelihood-ratio tests of p against q, by rising type I error."""
    p_mass, q_mass = sum(p), sum(q)
    used = sorted(((a, b) for a, b in zip(p, q, strict=True) if a or b), key=lambda pair: pair[0] / sum(pair))
    alphas, powers = (accumulate(masses) for masses in zip(*used, strict=True))
    yield Fraction(0), Fraction(1)
    for alpha, power in zip(alphas, powers, strict=True):
        yield alpha / p_mass, 1 - power / q_mass


def _hull(points: Iterable[Corner]) -> Corners:
    """Return the lower convex hull of points, (0, 1) and (1, 0), by rising type I error."""
    hull: Corners = []
    for here in sorted({*points, (Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))}):
        if hull and here[0] == hull[-1][0]:
            continue  # above the last one at the same alpha
        while len(hull) > 1:
            (x, y), (middle, low) = hull[-2:]
            if (middle - x) * (here[1] - y) > (here[0] - x) * (low - y):
                break  # the middle point is strictly below the line through the others
            hull.pop()
        hull.append(here)
    return hull
