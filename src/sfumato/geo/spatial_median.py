"""Geometric medians: of weighted points, with a bound, and of many posteriors on the same points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Bracket
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, SolverError

_STEPS: Final = 1_000
_SHARES: Final = tuple(0.5**k for k in range(12))  # of Newton's step: near a given point a whole one is too long
_ROUNDING: Final = 2.0**-50  # of sums of distances, for each of their terms
# Of medians of many posteriors at once:
_MANY_STEPS: Final = 60
_PAIRS: Final = 1 << 15  # of posteriors and points at a time
_FEW: Final = 256  # points of which all are tried
_GAIN: Final = 0.05  # of the tolerance: steps that gain less end the search
_THIN: Final = 0.7  # rows that have ended are left out as soon as so few are left
_FLAT: Final = 1e-9
_BLUNT: Final = 30  # times the tolerance: a first search that no single point stops
_FAR: Final = 50.0  # Newton's step is not trusted where it is so many times Weiszfeld's


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeometricMedian(CompactRepr):
    """The point of least weighted distance to given points.

    Attributes:
        point: Array (2,), or of as many coordinates as the points have.
        total: The least weighted sum of distances. The value and the upper bound are the sum at this point; no
            point has a sum below the lower bound, up to rounding.
    """

    point: Floats
    total: Bracket


def geometric_median(points: ArrayLike, weights: ArrayLike, tolerance: float = 1e-9) -> GeometricMedian:
    """Return the point y of least F(y) = sum of w(i) |x(i) - y|.

    If the best of the given points is not optimal, Weiszfeld's steps start from it, and Newton's replace them
    where they are better. They stop by a bound: with u(i) the unit vector from y to x(i) and g = |sum of w(i)
    u(i)|, no point is better than F(y) - g max |x(i) - y|, as F is convex and its least point lies among the x(i).

    Args:
        points: Array (n, k).
        weights: Array (n,), at least 0 and not all 0.
        tolerance: The largest F(y) - lower, relative to F(y), at which to stop.

    Raises:
        InputError: If sizes differ, a weight is negative, all are zero, or the tolerance is not positive.
        SolverError: If the tolerance is below what floats reach.

    Source:
        Weiszfeld, 1937; the step off a given point: Vardi and Zhang, "The multivariate
        L1-median and associated data depth", 2000.

    Example:
        >>> from sfumato.mechanisms import geometric_median
        >>> geometric_median([[0, 0], [2, 0], [0, 2], [2, 2]], [1, 1, 1, 1]).point
        array([1., 1.])
    """
    w = floats(weights, "the weights", shape=(None,))
    x = floats(points, "the points", shape=(len(w), None))
    if (w < 0).any() or not w.any():
        raise InputError(
            "a weight is negative or all are zero.", "use weights of at least 0, such as a posterior."
        )
    if not tolerance > 0:
        raise InputError(f"the tolerance {tolerance} is not positive.", "use a number such as 1e-9.")
    x, w = x[w > 0], w[w > 0]
    values = [float(w @ np.linalg.norm(x - point, axis=1)) for point in x]
    return median_from(x, w, x[int(np.argmin(values))], tolerance)


def median_from(x: Floats, w: Floats, start: Floats, tolerance: float) -> GeometricMedian:
    """Return the median of points (n, k) of positive weights, from a start no worse than any of them.

    The sum of distances only falls, so no later point is a given one, where Weiszfeld's step is undefined.
    A tolerance below what floats reach is a `SolverError`.
    """
    y, lower = start, 0.0
    for step in range(_STEPS):
        here = np.linalg.norm(x - y, axis=1)
        value = float(w @ here)
        pull, residual = _pull(x, w, y, here)
        lower = max(lower, value - residual * float(here.max()))
        if value - lower <= tolerance * value:
            return GeometricMedian(readonly(y.copy()), Bracket(lower, value, value))
        y = _off(w, y, here, pull, residual) if step == 0 else _next(x, w, y, here, pull)
    raise SolverError(
        f"the median is only known to within {(value - lower) / value:.2g}, but {tolerance:g} was asked for.",
        "ask for a larger tolerance.",
    )


def _pull(x: Floats, w: Floats, y: Floats, here: Floats) -> tuple[Floats, float]:
    """Return the sum of w u over points elsewhere, and by how much it exceeds the weight at y itself."""
    elsewhere = here > 0
    pull: Floats = (w[elsewhere] / here[elsewhere]) @ (x[elsewhere] - y)
    rounding = _ROUNDING * len(w) * float(w[elsewhere].sum())
    excess = float(np.linalg.norm(pull)) - float(w[~elsewhere].sum())
    return pull, excess + rounding if excess > 0 else 0.0


def _off(w: Floats, y: Floats, here: Floats, pull: Floats, residual: float) -> Floats:
    """Return Vardi and Zhang's step off a given point that is not optimal."""
    elsewhere = here > 0
    stiffness = float((w[elsewhere] / here[elsewhere]).sum())
    moved: Floats = y + pull / stiffness * (residual / float(np.linalg.norm(pull)))
    return moved


def _next(x: Floats, w: Floats, y: Floats, here: Floats, pull: Floats) -> Floats:
    """Return Newton's step, or a part of it, where it is better than Weiszfeld's, which always improves."""
    pulls = w / here
    steady: Floats = y + pull / pulls.sum()
    towards = (x - y) / here[:, None]
    curvature = pulls.sum() * np.eye(x.shape[1]) - (towards * pulls[:, None]).T @ towards
    if np.linalg.matrix_rank(curvature) < x.shape[1]:
        return steady
    newton = np.linalg.solve(curvature, pull)
    tried = (*(y + share * newton for share in _SHARES), steady)
    best: Floats = min(tried, key=lambda point: float(w @ np.linalg.norm(x - point, axis=1)))
    return best


def medians(points: Floats, weights: Floats, starts: Floats, tolerance: float) -> Floats:
    """Return points of nearly least weighted distance, array (m, 2).

    Weiszfeld's and Newton's steps minimise sqrt(|x - y|**2 + t**2), t the tolerance, whose least value is at most
    t above the true one. A step that does not improve is undone. At the end a given point is taken where it is no
    worse.

    Args:
        points: Array (n, 2).
        weights: Array (m, n), at least 0, each row of a positive sum.
        starts: Array (m, 2).
        tolerance: Target for the excess of the mean distance, as a length; not proved.
    """
    found = np.empty_like(starts)
    tall = max(1, _PAIRS // len(points))
    for first in range(0, len(weights), tall):
        rows = slice(first, first + tall)
        share = weights[rows] / weights[rows].sum(axis=1, keepdims=True)
        near = starts[rows]
        for length in (_BLUNT * tolerance, tolerance):
            near = _descend(points, share, near, length)
        found[rows] = _take_given(points, share, near)
    return found


def _descend(x: Floats, w: Floats, start: Floats, tolerance: float) -> Floats:
    """Return points where the smoothed mean distance falls by no more than the tolerance."""
    best, value = start.copy(), np.full(len(start), np.inf)
    steady = np.zeros_like(start)  # Weiszfeld's step from the best point so far
    y, rows = start.copy(), np.arange(len(start))
    for _ in range(_MANY_STEPS):
        here, weiszfeld, step, gain = _steps(x, w, y, tolerance)
        better = here < value[rows]
        up, back = rows[better], rows[~better]
        value[up], best[up], steady[up] = here[better], y[better], weiszfeld[better]
        y[better] += step[better]
        y[~better] = best[back] + steady[back]
        steady[back] /= 2  # where that is no better either, floats are at their limits
        going = np.where(better, gain > _GAIN * tolerance, np.hypot(*steady[rows].T) > _GAIN * tolerance)
        if not going.any():
            break
        if going.sum() < _THIN * len(rows):
            rows, y, w = rows[going], y[going], w[going]
    return best


def _steps(x: Floats, w: Floats, y: Floats, tolerance: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the smoothed mean distance from each y, Weiszfeld's step, the step to take, and what it gains."""
    length = x[:, 0] - y[:, :1]
    length *= length
    other = x[:, 1] - y[:, 1:]
    other *= other
    length += other
    length += tolerance**2
    np.sqrt(length, out=length)
    here = np.einsum("ij,ij->i", w, length)
    pull = np.divide(w, length, out=other)
    mass = pull @ np.column_stack([np.ones(len(x)), x])
    weiszfeld = mass[:, 1:] / mass[:, :1] - y
    length *= length
    pull /= length
    a, b = y[:, 0], y[:, 1]
    n, e, f, ee, ef, ff = (pull @ np.column_stack([np.ones(len(x)), x, x[:, :1] * x, x[:, 1] ** 2])).T
    p = mass[:, 0] - (ee - 2 * a * e + a * a * n)
    q = mass[:, 0] - (ff - 2 * b * f + b * b * n)
    r = ef - a * f - b * e + a * b * n
    force = weiszfeld * mass[:, :1]
    determinant = p * q - r * r
    newton = np.column_stack([q * force[:, 0] + r * force[:, 1], p * force[:, 1] + r * force[:, 0]])
    newton /= np.where(determinant > 0, determinant, np.inf)[:, None]
    trusted = (determinant > _FLAT * mass[:, 0] ** 2) & (np.hypot(*newton.T) < _FAR * np.hypot(*weiszfeld.T))
    step: Floats = np.where(trusted[:, None], newton, weiszfeld)
    return here, weiszfeld, step, np.einsum("ij,ij->i", step, force)


def _take_given(x: Floats, w: Floats, y: Floats) -> Floats:
    """Return y, or a given point that is no worse: the nearest, the heaviest, or of few points any."""
    found, least = y, np.einsum("ij,ij->i", w, _distances(x, y))
    if len(x) <= _FEW:
        every = w @ _distances(x, x)
        candidates = [np.argmin(every, axis=1)]
    else:
        candidates = [np.argmin(_distances(x, y), axis=1), np.argmax(w, axis=1)]
    for chosen in candidates:
        value = np.einsum("ij,ij->i", w, _distances(x, x[chosen]))
        better = value <= least
        found, least = np.where(better[:, None], x[chosen], found), np.minimum(value, least)
    return found


def _distances(x: Floats, y: Floats) -> Floats:
    """Return the distance of each y to each x, array (m, n)."""
    found: Floats = np.sqrt((x[:, 0] - y[:, :1]) ** 2 + (x[:, 1] - y[:, 1:]) ** 2)
    return found
