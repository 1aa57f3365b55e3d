"""The steepest slope of a mechanism that rounds places to a square lattice by splines.

A place x is rounded to one of the nine vertices around it, with quadratic tensor B-spline weights, and reported
as that vertex is. The likelihood of a report is then a smooth function f of x. Where the vertices keep
f(v) <= exp(L d(v, w)) f(w) for the octile distance d (1 to the four neighbours, sqrt(2) to the diagonal ones), the
slope of log f is at most S(L) per step of the lattice. This file finds L for a wanted slope and proves it.
The theorem is in docs/proofs/coordinates.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..core.bisection import bisect

_BITS: Final = 128  # of the interval arithmetic
_DEEPEST: Final = 60  # halvings of the square; a few beyond what a margin of 1e-9 needs
_MARGINS: Final = (1e-10, 1e-9, 1e-7, 1e-5)  # by which floating point is mistrusted, until the proof succeeds
FLATTEST: Final = 1e-9  # slopes and exponents below are not looked at
_MISTRUST: Final = 1e-14  # of coefficients in floating point, relative to the largest
_STEEPEST: Final = 50.0  # nor above
_MOST_BOXES: Final = 4096  # parts of squares left open: a proof that needs more is given up
_ROOT: Final = math.sqrt(2)
_SIDES: Final = tuple((i, j) for i in range(3) for j in range(3))

# Bernstein coefficients on [0, 1] of the three weights along an axis, doubled, and of their derivatives.
_WEIGHTS: Final = ((1, 0, 0), (1, 2, 1), (0, 0, 1))
_SLOPES: Final = tuple(tuple(2 * (b - a) for a, b in pairwise(row)) for row in _WEIGHTS)


@lru_cache(maxsize=256)
def octile_exponent(slope: float) -> float:
    """Return an exponent L, close to the largest, with S(L) at most a slope, proved by interval arithmetic.

    Args:
        slope: The wanted bound of |grad log f|, per step of the lattice; above 0.

    Returns:
        L, about 0.9 times the slope, or less where the slope is steep; 0 where none is proved, as for slopes below
        a billionth.
    """
    if slope < FLATTEST:
        return 0.0
    steep = min(slope, _STEEPEST)
    believed = bisect(lambda exponent: _believed(exponent, steep), steep, 0.0, relative=1e-12).holds
    for margin in _MARGINS:
        found = believed * (1 - margin)
        if slope_holds(found, steep):
            return found
    return 0.0


@lru_cache(maxsize=256)
def octile_slope(exponent: float) -> float:
    """Return a slope close to S(exponent) and at least that large, proved by interval arithmetic; `inf` for none.

    Args:
        exponent: The exponent L of the rows, above 0.
    """
    if not FLATTEST <= exponent <= _STEEPEST:
        return math.inf
    gradient, value = gradient_and_value(_steepest_columns(exponent))

    def believed_at(slope: float) -> bool:
        return _positive(slope * slope * value - gradient, _MISTRUST)

    steep = exponent
    while not believed_at(steep):
        steep *= 2
        if steep > _STEEPEST:
            return math.inf
    believed = bisect(believed_at, 0.0, steep, relative=1e-12).holds
    for margin in _MARGINS:
        found = believed * (1 + margin)
        if slope_holds(exponent, found):
            return found
    return math.inf


def slope_holds(exponent: float, slope: float) -> bool:
    """Prove that S(exponent) <= slope, or return False where that is wrong or not proved.

    On a square, (slope f)**2 - |grad f|**2 is a polynomial for each extreme column f of the cone of columns that
    keep the rows; it is at least 0 where all its Bernstein coefficients are, and |grad f| <= slope f then holds
    for every column of the cone, since |grad f| - slope f is convex in f.
    """
    from flint import arb, ctx

    with ctx.workprec(_BITS):
        root, scale = arb(2).sqrt(), arb(exponent)
        values = {
            (a, b): (scale * (int(a) + int(b) * root)).exp()
            for a, b in np.unique(_columns().reshape(-1, 2), axis=0)
        }
        columns = np.array(
            [[[values[tuple(entry)] for entry in row] for row in column] for column in _columns().tolist()], object
        )
        return _positive(_excess(columns, arb(slope)), 0.0)


def _believed(exponent: float, slope: float) -> bool:
    """Return whether S(exponent) <= slope, as far as floating point can tell."""
    return _positive(_excess(_steepest_columns(exponent), slope), _MISTRUST)


def _steepest_columns(exponent: float) -> Floats:
    """Return the extreme columns at the nine vertices, array (k, 3, 3)."""
    columns: Floats = np.exp(exponent * (_columns()[..., 0] + _ROOT * _columns()[..., 1]))
    return columns


def _excess(columns: NDArray[Any], slope: Any) -> NDArray[Any]:
    """Return the Bernstein coefficients of (slope f)**2 - |grad f|**2 on the square, array (5, 5, k)."""
    steep, value = gradient_and_value(columns)
    excess: NDArray[Any] = slope * slope * value - steep
    return excess


def gradient_and_value(columns: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the Bernstein coefficients of |grad f|**2 and f**2 on the square, two arrays (5, 5, k).

    The many polynomials are the last axis, along which numpy is fast.

    Args:
        columns: Four times f at the nine vertices, west to east and within that south to north, array (k, 3, 3).
    """
    weights, slopes = np.array(_WEIGHTS), np.array(_SLOPES)
    east, north = _squared(slopes.T @ columns @ weights), _squared(weights.T @ columns @ slopes)
    for _ in range(2):
        east, north = _raised(east, 0), _raised(north, 1)
    return east + north, _squared(weights.T @ columns @ weights)


def _squared(polynomials: NDArray[Any]) -> NDArray[Any]:
    """Return the Bernstein coefficients of the squares of polynomials (k, a, b), array (2 a - 1, 2 b - 1, k)."""
    factors = np.ascontiguousarray(polynomials.transpose(1, 2, 0))
    a, b = factors.shape[0] - 1, factors.shape[1] - 1
    often, parts = np.outer(_binomials(a), _binomials(b)), np.outer(_binomials(2 * a), _binomials(2 * b))
    squares: NDArray[Any] = np.zeros((2 * a + 1, 2 * b + 1, 1), factors.dtype) + 0 * factors[:1, :1]
    for i, j in np.ndindex(a + 1, b + 1):
        squares[i : i + a + 1, j : j + b + 1] += factors[i, j] * factors * (often[i, j] * often)[..., None]
    squares /= parts[..., None]
    return squares


def _binomials(degree: int) -> list[int]:
    return [math.comb(degree, i) for i in range(degree + 1)]


def _raised(polynomials: NDArray[Any], axis: int) -> NDArray[Any]:
    """Return the same polynomials with coefficients of one degree more along an axis."""
    row = polynomials.swapaxes(0, axis)
    degree = len(row)
    k = np.arange(1, degree)[:, None, None]
    inner = (row[:-1] * k + row[1:] * (degree - k)) / degree
    raised: NDArray[Any] = np.concatenate([row[:1], inner, row[-1:]]).swapaxes(0, axis)
    return raised


def _positive(coefficients: NDArray[Any], margin: float) -> bool:
    """Return whether polynomials on the square are at least 0, by halving it where coefficients are not."""
    for depth in range(_DEEPEST):
        if (coefficients[::4, ::4] < 0).any():  # values at corners
            return False
        scale = margin * coefficients.max(axis=(0, 1)) if margin else 0
        open_ = np.flatnonzero(~(coefficients >= scale).all(axis=(0, 1)).astype(bool))
        if not len(open_):
            return True
        if len(open_) > _MOST_BOXES:
            return False
        coefficients = np.concatenate(halved(coefficients.take(open_, axis=-1), depth % 2), axis=-1)
    return False


def halved(polynomials: NDArray[Any], axis: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the coefficients (a, b, k) on both halves of the square along an axis, by de Casteljau's scheme."""
    row = polynomials.swapaxes(0, axis)
    left, right = np.empty_like(row), np.empty_like(row)
    for k in range(len(left)):
        left[k], right[-1 - k] = row[0], row[-1]
        row = (row[:-1] + row[1:]) / 2
    return left.swapaxes(0, axis), right.swapaxes(0, axis)


@lru_cache(maxsize=1)
def _columns() -> NDArray[np.intp]:
    """Return the extreme columns on nine vertices, one of each class of symmetry: array (k, 3, 3, 2).

    Their logarithms are L (a + b sqrt(2)) with integers a and b: the corners of the polytope of potentials p with
    p(v) - p(w) <= d(v, w) for neighbours and p = 0 in the middle. From one corner, every edge raises a set of
    vertices together until another row is met, so that a search along such steps finds all. Numbers a + b sqrt(2)
    of this size lie apart by more than 1/100, and floating point tells them apart.
    """
    distance = np.full((9, 9, 2), -1, dtype=np.intp)
    for v, (i, j) in enumerate(_SIDES):
        for w, (k, m) in enumerate(_SIDES):
            if max(abs(i - k), abs(j - m)) == 1:
                distance[v, w] = (0, 1) if abs(i - k) == abs(j - m) else (1, 0)
    neighbours = distance[..., 0] >= 0
    subsets = np.array([[bool(mask >> v & 1) for v in range(9)] for mask in range(1, 511)])
    crossing = (subsets[:, :, None] & ~subsets[:, None, :]) & neighbours  # (sets, from, to)
    # Octile distances from one corner of the block.
    start = np.array([(abs(i - j), min(i, j) - 1) for i, j in _SIDES], dtype=np.intp)
    found = {image.tobytes(): image for image in _images(start)}
    frontier = [start]
    while frontier:
        corner = frontier.pop()
        slack = distance - (corner[:, None] - corner[None, :])
        gaps = np.where(crossing, _value(slack), np.inf).reshape(len(subsets), -1)
        nearest, steps = gaps.argmin(axis=1), gaps.min(axis=1)
        raised = (steps > 1e-6) & (steps < np.inf)
        moved = corner + subsets[raised, :, None] * slack.reshape(-1, 2)[nearest[raised], None]
        moved -= moved[:, 4:5]
        for each in moved[_are_corners(moved, distance, neighbours)]:
            if each.tobytes() not in found:
                for image in _images(each):
                    found[image.tobytes()] = image
                frontier.append(each)
    classes = {min(image.tobytes() for image in _images(corner)): corner for corner in found.values()}
    return np.array([corner.reshape(3, 3, 2) for _, corner in sorted(classes.items())])


def _value(exact: NDArray[np.intp]) -> Floats:
    value: Floats = exact[..., 0] + _ROOT * exact[..., 1]
    return value


def _are_corners(
    potentials: NDArray[np.intp], distance: NDArray[np.intp], neighbours: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether potentials (k, 9, 2) keep all rows, and the rows that each meets connect all vertices."""
    apart = potentials[:, :, None] - potentials[:, None, :]
    room = np.where(neighbours, _value(distance - apart), np.inf)
    met = room < 1e-6
    reached = (met | met.transpose(0, 2, 1) | np.eye(9, dtype=bool)).astype(float)
    for _ in range(3):  # paths of up to eight steps
        reached = np.minimum(reached @ reached, 1.0)
    kept: NDArray[np.bool_] = (room.min(axis=(1, 2)) >= -1e-6) & (reached[:, 4] > 0).all(axis=1)
    return kept


def _images(potential: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return a potential under the eight symmetries of the square."""
    square = potential.reshape(3, 3, 2)
    turned = [np.rot90(square, k) for k in range(4)]
    return [np.ascontiguousarray(each).reshape(9, 2) for one in turned for each in (one, one.transpose(1, 0, 2))]
