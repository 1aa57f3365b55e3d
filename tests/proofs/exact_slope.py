"""The slope of the logarithm of likelihoods at points, in integers: another route than `steepest`.

On a triangle it is attained at a corner. On a square, num f**2 - den |grad f|**2 is a polynomial with integer
coefficients for the slope sqrt(num / den). It is at least 0 where its Bernstein coefficients are, and boxes where
one is negative are halved.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.core import Mechanism
from sfumato.core.units import factor
from sfumato.geo import Lattice

_ELEVATED = {0: [1], 1: [1, 1], 2: [1, 2, 1]}
_LEVEL = np.array([12, 3, 2, 3, 12], dtype=object)  # 12 / binomial(4, k)
_WEIGHTS = ((1, 0, 0), (1, 2, 1), (0, 0, 1))  # Bernstein coefficients of twice the splines, u = t + 1/2


def slope_is_at_most(mechanism: Mechanism, slope: Fraction, deepest: int = 60) -> bool:
    """Return whether |grad log M(x, o)| <= slope, per step of the lattice, at all points x served: exactly.

    Args:
        mechanism: On the vertices of a lattice.
        slope: A rational number.
        deepest: How often squares are halved before the answer is no.
    """
    lattice = mechanism.secrets
    assert isinstance(lattice, Lattice)
    if lattice.kind == "triangular":
        return largest_on_triangles(mechanism) <= slope**2
    boxes = np.array([_polynomial(f, slope**2) for f in _columns(mechanism, lattice)])
    for depth in range(deepest):
        # A corner's coefficient is the value there.
        if any((boxes[:, i, j] < 0).any() for i, j in itertools.product((0, 4), repeat=2)):
            return False
        boxes = boxes[(boxes < 0).any(axis=(1, 2))]
        if not len(boxes):
            return True
        boxes = _halved(boxes, 1 + depth % 2)
    return False


def largest_on_triangles(mechanism: Mechanism) -> Fraction:
    """Return the supremum of |grad log M|**2 per step on a triangular lattice, exactly."""
    lattice = mechanism.secrets
    assert isinstance(lattice, Lattice)
    found = Fraction(0)
    for corners in lattice.pieces:
        for column in mechanism.weights[corners].T.tolist():
            a, b, c = map(int, column)
            if (p := b - a) or c - a:
                q = c - a
                assert min(a, b, c) > 0, "a report is possible at one corner and impossible at another"
                found = max(found, Fraction(4 * (p * p - p * q + q * q), 3 * min(a, b, c) ** 2))
    return found


def promised_slope(lattice: Lattice, epsilon: float, unit: str = "km") -> Fraction:
    """Return the slope per step that an epsilon on the ground allows: divided by the stretch of the plane."""
    per_m = Fraction(epsilon) * Fraction(1, round(factor(unit, "m")))
    return per_m * Fraction(lattice.spacing_m) / Fraction(lattice.stretch)


def weights_at(lattice: Lattice, a: int, b: int) -> dict[int, int]:
    """Return the integer weights of a point in fine steps (2**20 in a step), by position of the vertex."""
    lookup = {(int(p), int(q)): k for k, (p, q) in enumerate(lattice.vertices)}
    one = 2**20
    if lattice.kind == "square":
        near = [(c + one // 2) // one for c in (a, b)]
        axes = []
        for c, middle in zip((a, b), near, strict=True):
            offset, half = Fraction(c - middle * one, one), Fraction(1, 2)
            axes.append([(half - offset) ** 2 / 2, Fraction(3, 4) - offset**2, (half + offset) ** 2 / 2])
        total = 2**82
        found = {
            (near[0] - 1 + i, near[1] - 1 + j): int(axes[0][i] * axes[1][j] * total)
            for i, j in itertools.product(range(3), repeat=2)
        }
    else:
        p, q = a // one, b // one
        s, t = a - p * one, b - q * one
        if s + t <= one:
            found = {(p, q): one - s - t, (p + 1, q): s, (p, q + 1): t}
        else:
            found = {(p + 1, q + 1): s + t - one, (p, q + 1): one - s, (p + 1, q): one - t}
    return {lookup[vertex]: weight for vertex, weight in found.items() if weight}


def likelihoods_at(mechanism: Mechanism, a: int, b: int) -> list[int]:
    """Return M(x, o) for all o, up to a factor that is the same for all points: integers."""
    lattice = mechanism.secrets
    assert isinstance(lattice, Lattice)
    rows = weights_at(lattice, a, b)
    total = [0] * mechanism.shape[1]
    for position, weight in rows.items():
        for o, value in enumerate(mechanism.weights[position].tolist()):
            total[o] += weight * int(value)
    return total


def keeps(mechanism: Mechanism, one: tuple[int, int], other: tuple[int, int], epsilon: float) -> bool:
    """Return whether two points, in fine steps, keep an epsilon per km on the ground, by interval arithmetic.

    Args:
        mechanism: On the vertices of a lattice.
        one: A point that is served.
        other: Another.
        epsilon: Per km; the stretch of the plane is divided out.
    """
    from flint import arb, ctx, fmpq

    lattice = mechanism.secrets
    assert isinstance(lattice, Lattice)
    ctx.prec = 200
    x, y = (p - q for p, q in zip(one, other, strict=True))
    square = x * x + y * y + (x * y if lattice.kind == "triangular" else 0)
    slope = promised_slope(lattice, epsilon) / 2**20
    limit = arb(fmpq(slope.numerator, slope.denominator)) * arb(square).sqrt()
    for f, g in zip(likelihoods_at(mechanism, *one), likelihoods_at(mechanism, *other), strict=True):
        if (f == 0) != (g == 0):
            return False
        if f == g:
            continue
        ratio = Fraction(max(f, g), min(f, g))
        if not arb(fmpq(ratio.numerator, ratio.denominator)).log() <= limit:
            return False
    return True


def _columns(mechanism: Mechanism, lattice: Lattice) -> list[Any]:
    blocks = mechanism.weights[lattice.pieces].astype(object)  # (pieces, 9, reports)
    columns = blocks.transpose(0, 2, 1).reshape(-1, 3, 3)
    return [column for column in columns if column.any()]


def _polynomial(column: Any, square: Fraction) -> Any:
    """Return Bernstein coefficients of num f**2 - den |grad f|**2 on the unit square, times a positive integer."""
    value = sum(
        int(column[i, j]) * np.outer(_scaled(_WEIGHTS[i]), _scaled(_WEIGHTS[j]))
        for i, j in itertools.product(range(3), repeat=2)
    )
    east = sum(
        int(column[i, j]) * np.outer(_slope(_WEIGHTS[i]), _scaled(_WEIGHTS[j]))
        for i, j in itertools.product(range(3), repeat=2)
    )
    north = sum(
        int(column[i, j]) * np.outer(_scaled(_WEIGHTS[i]), _slope(_WEIGHTS[j]))
        for i, j in itertools.product(range(3), repeat=2)
    )
    steep = _raised(_product(east, east)) + _raised(_product(north, north))
    scaled = square.numerator * _product(value, value) - square.denominator * steep
    return scaled * _LEVEL[:, None] * _LEVEL[None, :]


def _scaled(coefficients: tuple[int, ...]) -> Any:
    """Return coefficients of u**k (1 - u)**(n - k)."""
    n = len(coefficients) - 1
    return np.array([math.comb(n, k) * c for k, c in enumerate(coefficients)], dtype=object)


def _slope(coefficients: tuple[int, ...]) -> Any:
    return np.array([2 * (b - a) for a, b in itertools.pairwise(coefficients)], dtype=object)


def _product(a: Any, b: Any) -> Any:
    found = np.zeros((a.shape[0] + b.shape[0] - 1, a.shape[1] + b.shape[1] - 1), dtype=object)
    for (i, j), value in np.ndenumerate(a):
        found[i : i + b.shape[0], j : j + b.shape[1]] += value * b
    return found


def _raised(a: Any) -> Any:
    """Return the same polynomial in degree 4 of each variable."""
    ones = np.outer(_ELEVATED[5 - a.shape[0]], _ELEVATED[5 - a.shape[1]]).astype(object)
    return _product(a, ones)


def _halved(boxes: Any, axis: int) -> Any:
    """Return Bernstein coefficients on both halves along an axis, times 16 (de Casteljau)."""
    level = np.moveaxis(boxes, axis, 1)
    low, high = [], []
    for k in range(5):
        low.append(level[:, 0] * 2 ** (4 - k))
        high.append(level[:, -1] * 2 ** (4 - k))
        level = level[:, :-1] + level[:, 1:]
    halves = np.concatenate([np.stack(low, axis=1), np.stack(high[::-1], axis=1)])
    return np.moveaxis(halves, 1, axis)
