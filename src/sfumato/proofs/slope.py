"""Change of reports with the true point: the steepest slope on a lattice, and the worst border between cells.

If vertices satisfy f(v) <= exp(L d(v, w)) f(w) for the octile distance d (1 to the four neighbours, sqrt(2) to the
diagonal ones), the slope of log f is at most S(L) per step of the lattice: docs/proofs/coordinates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Bracket, Mechanism
from ..core.arrays import Bools, Floats, Positions, readonly
from ..core.bracket import bisect
from ..core.units import factor, length_m
from ..errors import InputError
from ..geo import Lattice
from ..rounding import UNIT

FLATTEST: Final = 1e-9  # smaller slopes and exponents of rows are not examined
_CHUNK: Final = 20_000  # polynomials at a time
_CLOSE: Final = 1e-9  # relative distance of the two ends of the bracket
_ERROR: Final = 1e-12  # relative rounding of the coefficients
_LEAST: Final = 1e-14  # rounding of a slope per step that integers turned into floats may add, or hide
_BITS: Final = 128  # of the interval arithmetic
_DEEPEST: Final = 60  # halvings of the square; a few beyond what a margin of 1e-9 needs
_MARGINS: Final = (1e-10, 1e-9, 1e-7, 1e-5)  # by which floating point is mistrusted, until the proof succeeds
_STEEPEST: Final = 50.0  # nor above
_MISTRUST: Final = 1e-14  # of coefficients in floating point, relative to the largest
_MOST_BOXES: Final = 4096  # parts of squares left open: a proof that needs more is given up
_ROOT: Final = math.sqrt(2)
_SIDES: Final = tuple((i, j) for i in range(3) for j in range(3))
# Bernstein coefficients on [0, 1] of the three weights along an axis, doubled, and of their derivatives.
_WEIGHTS: Final = ((1, 0, 0), (1, 2, 1), (0, 0, 1))
_SLOPES: Final = tuple(tuple(2 * (b - a) for a, b in pairwise(row)) for row in _WEIGHTS)
_ROUNDINGS = 8 * UNIT  # of integers to floats, and of their quotient


@dataclass(frozen=True, slots=True)
class Steepest:
    """The supremum of |grad log M(x, o)| over the points x that a lattice serves and the reports o.

    It is the smallest epsilon that holds for nearby points; where the points served form a convex region, for all.
    It is per ``unit`` on the ground, and its lower end is attained at ``point`` (latitude and longitude in
    degrees) by the report at the position ``observable``.
    """

    epsilon: Bracket
    unit: str
    point: tuple[float, float]
    observable: int


def steepest(mechanism: Mechanism, unit: str = "km") -> Steepest:
    """Return the steepest slope of the logarithm of a mechanism's likelihoods, from its integers.

    On a triangle a likelihood is affine, and its slope is largest where it is least, at a corner. On a square it
    is a sum of products of splines: the slope is bounded by Bernstein coefficients of |grad f|**2 and f**2 on
    smaller and smaller parts, until both ends of the bracket agree to one part in 10**9. Raises `InputError` if
    the secrets are not the vertices of a lattice.
    """
    lattice = mechanism.secrets
    if not isinstance(lattice, Lattice):
        raise InputError(
            f"the slope at points needs the vertices of a lattice, but the secrets are {lattice!r}.",
            "design on sf.Lattice.covering(...).",
        )
    search = _search_square if lattice.kind == "square" else _search_triangles
    lower, upper, place, observable = search(mechanism, lattice)
    per_unit = 1 / (lattice.spacing_m * factor("m", unit))
    lat, lon = lattice.projection.inverse(place[None])[0]
    slack = 0.0 if (mechanism.weights == mechanism.weights[0]).all() else _LEAST  # equal rows are equal exactly
    bracket = Bracket(
        max(0.0, lower * (1 - _ERROR) - slack) * per_unit,
        lower * per_unit,
        (upper * (1 + _ERROR) + slack) * per_unit * lattice.stretch,
    )
    return Steepest(bracket, unit, (float(lat), float(lon)), observable)


def _search_triangles(mechanism: Mechanism, lattice: Lattice) -> tuple[float, float, Floats, int]:
    pieces, weights = lattice.pieces, mechanism.weights.astype(np.float64)
    best, where = -1.0, (0, 0)
    for k, corners in enumerate(pieces):
        f = weights[corners]
        p, q, low = f[1] - f[0], f[2] - f[0], f.min(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = np.sqrt(np.maximum(p * p - p * q + q * q, 0)) * 2 / math.sqrt(3) / low
        steep[f.max(axis=0) == 0] = 0.0
        o = int(np.argmax(steep))
        if steep[o] > best:
            best, where = float(steep[o]), (k, o)
    corners = pieces[where[0]]
    vertex = corners[int(np.argmin(weights[corners, where[1]]))]
    return best, best, np.asarray(lattice.coordinates)[vertex], where[1]


def _search_square(mechanism: Mechanism, lattice: Lattice) -> tuple[float, float, Floats, int]:
    pieces, weights = lattice.pieces, mechanism.weights.astype(np.float64)
    m = weights.shape[1]
    best, where = 0.0, (0, 0, 0.0, 0.0)
    step = max(1, _CHUNK // m)
    for start in range(0, len(pieces), step):
        columns = weights[pieces[start : start + step]].transpose(0, 2, 1).reshape(-1, 3, 3)
        top = columns.max(axis=(1, 2))
        used = np.flatnonzero(top > 0)
        steep, value = gradient_and_value(columns[used] / top[used, None, None])
        box = np.tile([0.0, 0.0, 1.0, 1.0], (len(used), 1))  # west, south, east, north
        depth = 0
        while len(used):
            with np.errstate(divide="ignore", invalid="ignore"):
                corners = (steep[::4, ::4] / value[::4, ::4]).transpose(2, 0, 1)
                bounds = np.where(value > 0, steep / value, np.where(steep > 0, np.inf, 0.0)).max(axis=(0, 1))
            corners[np.isnan(corners)] = 0.0
            k, i, j = np.unravel_index(int(np.argmax(corners)), corners.shape)
            if corners[k, i, j] > best:
                best = float(corners[k, i, j])
                piece, o = divmod(int(used[k]), m)
                side = box[k]
                where = (start + piece, o, float(side[2 * i]), float(side[2 * j + 1]))
            open_ = bounds > best * (1 + _CLOSE)
            if math.isinf(best) or not open_.any():
                break
            axis = depth % 2
            steep = np.concatenate(halve(steep[..., open_], axis), axis=-1)
            value = np.concatenate(halve(value[..., open_], axis), axis=-1)
            used, low = np.tile(used[open_], 2), box[open_]
            high, middle = low.copy(), (low[:, axis] + low[:, axis + 2]) / 2
            low[:, axis + 2], high[:, axis] = middle, middle
            box, depth = np.concatenate([low, high]), depth + 1
    piece, o, u, v = where
    place = np.asarray(lattice.coordinates)[pieces[piece][4]] + lattice.spacing_m * np.array([u - 0.5, v - 0.5])
    return math.sqrt(best), math.sqrt(best * (1 + _CLOSE)), place, o


@lru_cache(maxsize=256)
def octile_exponent(slope: float) -> float:
    """Return an exponent L, close to the largest, with S(L) at most a slope, proved by interval arithmetic.

    L is about 0.9 times the slope, or less for a steep slope; 0 where none is proved, as below a billionth.
    """
    if slope < FLATTEST:
        return 0.0
    steep = min(slope, _STEEPEST)

    def believed_at(exponent: float) -> bool:
        return _positive(_excess(_steepest_columns(exponent), steep), _MISTRUST)

    believed = bisect(believed_at, steep, 0.0, relative=1e-12).holds
    for margin in _MARGINS:
        candidate = believed * (1 - margin)
        if slope_holds(candidate, steep):
            return candidate
    return 0.0


@lru_cache(maxsize=256)
def octile_slope(exponent: float) -> float:
    """Return a slope close to S(exponent) and no less, proved by interval arithmetic; `inf` if there is none."""
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
        candidate = believed * (1 + margin)
        if slope_holds(exponent, candidate):
            return candidate
    return math.inf


def slope_holds(exponent: float, slope: float) -> bool:
    """Prove that S(exponent) <= slope, or return False where that is wrong or not proved."""
    from flint import arb, ctx

    with ctx.workprec(_BITS):
        root, scale = arb(2).sqrt(), arb(exponent)
        corners = np.unique(_columns().reshape(-1, 2), axis=0)
        values = {(a, b): (scale * (int(a) + int(b) * root)).exp() for a, b in corners}
        columns = np.array(
            [[[values[tuple(entry)] for entry in row] for row in column] for column in _columns().tolist()], object
        )
        return _positive(_excess(columns, arb(slope)), 0.0)


def _steepest_columns(exponent: float) -> Floats:
    """Return the extreme columns at the nine vertices, array (k, 3, 3)."""
    return np.asarray(np.exp(exponent * _value(_columns())))


def _excess(columns: NDArray[Any], slope: Any) -> NDArray[Any]:
    """Return the Bernstein coefficients of (slope f)**2 - |grad f|**2 on the square, array (5, 5, k)."""
    steep, value = gradient_and_value(columns)
    return np.asarray(slope * slope * value - steep)


def gradient_and_value(columns: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the Bernstein coefficients of |grad f|**2 and f**2 on the square, two arrays (5, 5, k).

    ``columns`` (k, 3, 3) are four times f at the nine vertices, west to east and within that south to north.
    """
    weights, slopes = np.array(_WEIGHTS), np.array(_SLOPES)
    east, north = _squares(slopes.T @ columns @ weights), _squares(weights.T @ columns @ slopes)
    for _ in range(2):
        east, north = _elevate_degree(east, 0), _elevate_degree(north, 1)
    return east + north, _squares(weights.T @ columns @ weights)


def _squares(polynomials: NDArray[Any]) -> NDArray[Any]:
    """Return the Bernstein coefficients of the squares of polynomials (k, a, b), array (2 a - 1, 2 b - 1, k)."""
    factors = np.ascontiguousarray(polynomials.transpose(1, 2, 0))
    a, b = factors.shape[0] - 1, factors.shape[1] - 1
    often, parts = np.outer(_binomials(a), _binomials(b)), np.outer(_binomials(2 * a), _binomials(2 * b))
    squares: NDArray[Any] = np.zeros((2 * a + 1, 2 * b + 1, 1), factors.dtype) + 0 * factors[:1, :1]
    for i, j in np.ndindex(a + 1, b + 1):
        squares[i : i + a + 1, j : j + b + 1] += factors[i, j] * factors * (often[i, j] * often)[..., None]
    return np.asarray(squares / parts[..., None])


def _binomials(degree: int) -> list[int]:
    return [math.comb(degree, i) for i in range(degree + 1)]


def _elevate_degree(polynomials: NDArray[Any], axis: int) -> NDArray[Any]:
    """Return the same polynomials with coefficients of one degree more along an axis."""
    row = polynomials.swapaxes(0, axis)
    degree = len(row)
    k = np.arange(1, degree)[:, None, None]
    inner = (row[:-1] * k + row[1:] * (degree - k)) / degree
    return np.concatenate([row[:1], inner, row[-1:]]).swapaxes(0, axis)


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
        coefficients = np.concatenate(halve(coefficients.take(open_, axis=-1), depth % 2), axis=-1)
    return False


def halve(polynomials: NDArray[Any], axis: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the coefficients (a, b, k) on both halves of the square along an axis, by de Casteljau's scheme."""
    row = polynomials.swapaxes(0, axis)
    left, right = np.empty_like(row), np.empty_like(row)
    for k in range(len(left)):
        left[k], right[-1 - k] = row[0], row[-1]
        row = (row[:-1] + row[1:]) / 2
    return left.swapaxes(0, axis), right.swapaxes(0, axis)


@lru_cache(maxsize=1)
def _columns() -> Positions:
    """Return the extreme columns on nine vertices, one of each class of symmetry: array (k, 3, 3, 2).

    Their logarithms are L (a + b sqrt(2)): the corners of the polytope of potentials p with p(v) - p(w) <= d(v, w)
    for neighbours and p = 0 in the middle. From a corner, every edge raises a set of vertices together until
    another row is met. Numbers a + b sqrt(2) of this size lie apart by more than 1/100, so floating point
    separates them.
    """
    distance = np.full((9, 9, 2), -1, dtype=np.intp)
    for v, (i, j) in enumerate(_SIDES):
        for w, (k, m) in enumerate(_SIDES):
            if max(abs(i - k), abs(j - m)) == 1:
                distance[v, w] = (0, 1) if abs(i - k) == abs(j - m) else (1, 0)
    neighbours = distance[..., 0] >= 0
    subsets = np.array([[bool(mask >> v & 1) for v in range(9)] for mask in range(1, 511)])
    crossing = (subsets[:, :, None] & ~subsets[:, None, :]) & neighbours  # (sets, from, to)
    # octile distances from one corner of the block.
    start = np.array([(abs(i - j), min(i, j) - 1) for i, j in _SIDES], dtype=np.intp)
    corners = {image.tobytes(): image for image in _images(start)}
    frontier = [start]
    while frontier:
        corner = frontier.pop()
        slack = distance - (corner[:, None] - corner[None, :])
        gaps = np.where(crossing, _value(slack), np.inf).reshape(len(subsets), -1)
        nearest, steps = gaps.argmin(axis=1), gaps.min(axis=1)
        raised = (steps > 1e-6) & (steps < np.inf)
        potentials = corner + subsets[raised, :, None] * slack.reshape(-1, 2)[nearest[raised], None]
        potentials -= potentials[:, 4:5]
        for potential in potentials[_are_corners(potentials, distance, neighbours)]:
            if potential.tobytes() not in corners:
                corners |= {image.tobytes(): image for image in _images(potential)}
                frontier.append(potential)
    classes = {min(image.tobytes() for image in _images(corner)): corner for corner in corners.values()}
    return np.array([corner.reshape(3, 3, 2) for _, corner in sorted(classes.items())])


def _value(exact: Positions) -> Floats:
    return np.asarray(exact[..., 0] + _ROOT * exact[..., 1])


def _are_corners(potentials: Positions, distance: Positions, neighbours: Bools) -> Bools:
    """Return whether potentials (k, 9, 2) satisfy all rows, and the rows that each meets connect all vertices."""
    apart = potentials[:, :, None] - potentials[:, None, :]
    room = np.where(neighbours, _value(distance - apart), np.inf)
    met = room < 1e-6
    paths = (met | met.transpose(0, 2, 1) | np.eye(9, dtype=bool)).astype(float)
    for _ in range(3):  # paths of up to eight steps
        paths = np.minimum(paths @ paths, 1.0)
    return np.asarray((room.min(axis=(1, 2)) >= -1e-6) & (paths[:, 4] > 0).all(axis=1))


def _images(potential: Positions) -> list[Positions]:
    """Return a potential under the eight symmetries of the square."""
    square = potential.reshape(3, 3, 2)
    turns = [np.rot90(square, k) for k in range(4)]
    return [np.ascontiguousarray(view).reshape(9, 2) for turn in turns for view in (turn, turn.transpose(1, 0, 2))]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Border:
    """Two points on the two sides of a border with the largest likelihood ratio of a report.

    ``factor`` is the likelihood ratio of the report ``observable`` from the first point to that from the second,
    and may be infinite. ``points`` are their latitudes and longitudes, array (2, 2), degrees, and ``cells`` their
    positions.
    """

    factor: Bracket
    points: Floats
    apart_m: float
    cells: tuple[int, int]
    observable: int

    def __repr__(self) -> str:
        return f"Border of cells {self.cells}: points {self.apart_m:g} m apart, likelihood ratio {self.factor}"


def worst_border(mechanism: Mechanism, apart: float | str = "1 m") -> Border:
    """Return two points on the two sides of a border between cells with the largest likelihood ratio of a report.

    A point counts as the middle of its cell, so a guarantee for the middles says nothing about two points a step
    apart on the two sides of a border. Cells with a common side or corner are compared. ``apart`` is the distance
    of the points across the border. Raises `InputError` if the secrets are not the cells of a `Grid`, or the
    distance is not below the sides of a cell.
    """
    from ..geo import Grid

    grid = mechanism.secrets
    if not isinstance(grid, Grid):
        raise InputError(f"borders are those of the cells of a grid, but the secrets are {grid!r}.", "use a Grid.")
    step = length_m(apart, "the distance of the points")
    if not 0 < step < min(grid.cell_m):
        raise InputError(
            f"points {step:g} m apart across a border do not fit cells of {min(grid.cell_m):g} m.",
            "use a length above 0 and below the side of a cell, such as '1 m'.",
        )
    weights = mechanism.weights.astype(np.float64).reshape(grid.rows, grid.columns, -1)
    best, where, first = -1.0, (0, 0, 0, 0, 0), 0
    for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        low, high = max(0, -right), grid.columns - max(0, right)
        here = weights[: grid.rows - up, low:high]
        there = weights[up:, low + right : high + right]
        for top, bottom, swapped in ((here, there, 0), (there, here, 1)):
            if not top.size:
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                factors = top / bottom
            factors[np.isnan(factors)] = 0.0
            position = np.unravel_index(int(np.argmax(factors)), factors.shape)
            if factors[position] > best:
                best = float(factors[position])
                where = (int(position[0]), int(position[1]) + low, up, right, int(position[2]))
                first = swapped
    row, column, up, right, observable = where
    cells = (row * grid.columns + column, (row + up) * grid.columns + column + right)
    direction = np.array([right, up]) / np.hypot(right, up)
    corner = np.array(grid.origin) + np.array(grid.cell_m) * (
        (column + (1 + right) / 2 if right else column + 0.5),
        (row + 1 if up else row + 0.5),
    )
    plane = np.stack([corner - step / 2 * direction, corner + step / 2 * direction])
    points = grid.projection.inverse(plane)
    order = [1, 0] if first else [0, 1]
    exact = best == 1.0 and bool((mechanism.weights == mechanism.weights[0]).all())
    factor = Bracket.exact(best) if exact else Bracket(best * (1 - _ROUNDINGS), best, best * (1 + _ROUNDINGS))
    return Border(factor, readonly(points[order]), step, (cells[order[0]], cells[order[1]]), observable)
