"""The concave program of likelihood on the simplex, by a primal-dual interior-point method.

It finds the maximum-likelihood distribution of the secret, and the reports that reveal least for their loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ..core.arrays import Floats

_STEPS: Final = 200
_BACK: Final = 0.995  # of the way to the boundary
_SHRINK: Final = 0.1  # of the barrier per step, at best
_CANCELLED: Final = 1e10  # entries of the smaller system at which its solution loses too many digits
_FEW: Final = 3  # times as many rows as columns: the smaller system is then faster


class InteriorPoint(NamedTuple):
    """One point on the way to the largest F(x) = sum over o of f(o) ln (x matrix)(o) + b . x.

    ``x`` (n,) is positive with sum one, ``prices`` (n,) are about the fall of F per unit of each entry,
    ``gradient`` is F'(x), and ``step`` counts the Newton steps.
    """

    x: Floats
    prices: Floats
    gradient: Floats
    step: int

    @property
    def gap(self) -> float:
        """A bound, by concavity, of how much larger F can be at any distribution: max F' minus x . F'."""
        return float(self.gradient.max() - self.x @ self.gradient)


class Maximum(NamedTuple):
    """The maximum of F, at positive probabilities (n,); no F is larger by more than the gap."""

    probabilities: Floats
    value: float
    gap: float
    steps: int


def interior_points(
    matrix: Floats, frequencies: Floats, slope: Floats, start: Floats, tolerance: float
) -> Iterator[InteriorPoint]:
    """Yield the points of Newton's method for the largest F on the simplex, from the start on.

    F(x) = sum over o of f(o) ln (x matrix)(o) + b . x

    The caller stops by its own bound. The points end where the equations can no longer be solved in doubles. The
    matrix (n, columns) is at least 0, with a positive entry in each column; the frequencies f (columns,) and the
    start (n,) are positive, and b (n,) is the slope. The tolerance is the gap at which the caller will stop.
    """
    from scipy.linalg import LinAlgError

    x = start / start.sum()
    z, nu = np.empty(0), 0.0
    for step in range(_STEPS + 1):
        marginal = x @ matrix
        gradient = matrix @ (frequencies / marginal) + slope
        if step == 0:
            gap = float(gradient.max() - x @ gradient)
            nu = float(gradient.max() + max(gap, tolerance) * _SHRINK)
            z = nu - gradient
        yield InteriorPoint(x, z, gradient, step)
        # Newton on: nu - gradient - z = 0, x z = target, sum x = 1. Scaled by x, the system
        # stays well conditioned where entries vanish.
        target = _SHRINK * float(x @ z) / len(x)
        residual = nu - gradient - z
        factor = matrix * (np.sqrt(frequencies) / marginal) * x[:, None]
        right = np.column_stack([target - x * (z + residual), x])
        try:
            a, b = (x[:, None] * _solve(factor, x * z, right)).T
        except LinAlgError:
            return
        if not b.sum() > 0:  # rounding, as the system is positive
            return
        dnu = float((a.sum() - (1.0 - x.sum())) / b.sum())
        dx = a - dnu * b
        dz = (target - x * z - z * dx) / x
        room = _room(z, dz)
        x, z, nu = x + _room(x, dx) * dx, z + room * dz, nu + room * dnu
        x = x / x.sum()


def maximise(matrix: Floats, frequencies: Floats, slope: Floats, start: Floats, tolerance: float) -> Maximum:
    """Return where F is largest, by the best point; see `interior_points` for F and the arguments.

    The gap is computed from the point alone, so it holds for any steps.
    """
    points = interior_points(matrix, frequencies, slope, start, tolerance)
    best = last = next(points)
    while best.gap > tolerance:
        try:
            last = next(points)
        except StopIteration:
            break
        best = min(best, last, key=lambda point: point.gap)
    value = float(frequencies @ np.log(best.x @ matrix) + slope @ best.x)
    return Maximum(best.x, value, best.gap, last.step)


def _solve(factor: Floats, diagonal: Floats, right: Floats) -> Floats:
    """Return (F F' + D)^-1 right; for few columns by the smaller system I + F' D^-1 F (Woodbury)."""
    from scipy.linalg import LinAlgError

    rows, columns = factor.shape
    if rows > _FEW * columns:
        if not diagonal.min() > 0:
            raise LinAlgError("the diagonal vanishes")
        scaled: Floats = factor / diagonal[:, None]
        small = factor.T @ scaled
        if small.max() < _CANCELLED:
            small.flat[:: columns + 1] += 1.0
            part: Floats = right / diagonal[:, None]
            return part - scaled @ _solve_positive(small, factor.T @ part)
    system = factor @ factor.T
    system.flat[:: rows + 1] += diagonal
    return _solve_positive(system, right)


def _solve_positive(system: Floats, right: Floats) -> Floats:
    """Return system^-1 right for a positive definite system (n, n), which is overwritten."""
    from scipy.linalg import LinAlgError
    from scipy.linalg.lapack import dposv

    solution: Floats
    _, solution, failure = dposv(system.T, right, lower=True, overwrite_a=True)  # LAPACK's order, without a copy
    if failure:
        raise LinAlgError("the system is not positive definite")
    return solution


def _room(value: Floats, direction: Floats) -> float:
    """Return the longest step, at most 1, that leaves the value positive."""
    down = direction < 0
    return float(min(1.0, _BACK * np.min(-value[down] / direction[down], initial=np.inf)))
