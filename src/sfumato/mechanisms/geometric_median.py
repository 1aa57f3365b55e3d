"""The geometric median, with a bound on how far from optimal it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Bracket
from ..core.arrays import Floats, floats, readonly
from ..core.frozen import Short
from ..errors import InputError, SolverError

_STEPS: Final = 1_000
_SHARES: Final = tuple(0.5**k for k in range(12))  # of Newton's step: near a given point a whole one is too long
_ROUNDING: Final = 2.0**-50  # of sums of distances, for each of their terms


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeometricMedian(Short):
    """The point of least weighted distance to given points.

    Attributes:
        point: Array (2,) (or of as many coordinates as the points have).
        total: The least weighted sum of distances: the value and upper bound are the sum to this
            point; no point has one below the lower bound, up to rounding.
    """

    point: Floats
    total: Bracket


def geometric_median(points: ArrayLike, weights: ArrayLike, tolerance: float = 1e-9) -> GeometricMedian:
    """Return the point y of least F(y) = sum of w(i) |x(i) - y|.

    If the best of the given points is not optimal, Weiszfeld's steps start from it, and
    Newton's replace them where they are better. They stop by a bound: with u(i) the unit
    vector from y to x(i) and g = |sum of w(i) u(i)|, no point is better than
    F(y) - g max |x(i) - y|, as F is convex and its least point lies among the x(i).

    Args:
        points: Array (n, k).
        weights: Array (n,), at least 0 and not all 0.
        tolerance: The largest F(y) - lower, relative to F(y), at which to stop.

    Raises:
        InputError: If sizes differ, a weight is negative, all are zero, or the tolerance is
            not positive.
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

    The sum of distances only falls from the start, so that no later point is a given one,
    where Weiszfeld's step is undefined.

    Raises:
        SolverError: If the tolerance is below what floats reach.
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
