"""A concave program on the simplex, by a primal-dual interior-point method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...core.arrays import Floats

_STEPS: Final = 100
_BACK: Final = 0.995  # of the way to the boundary


@dataclass(frozen=True, slots=True, eq=False)
class Maximum:
    """Where sum over o of f(o) ln p(o) + b . p is largest, up to a proved gap.

    Attributes:
        probabilities: Array (secrets,), positive, with sum one.
        value: The objective there.
        gap: No distribution has a larger objective by more than this.
        steps: How many Newton steps were taken.
    """

    probabilities: Floats
    value: float
    gap: float
    steps: int


def maximised(matrix: Floats, frequencies: Floats, slope: Floats, start: Floats, tolerance: float) -> Maximum:
    """Maximise the mean log-likelihood plus a linear term over the simplex.

    F(p) = sum over o of f(o) ln (p matrix)(o) + b . p

    The gap is max over s of F'(s) minus p . F', by concavity; it is computed from p alone,
    so it holds whatever the steps were. The best point met is returned.

    Args:
        matrix: Array (secrets, columns); each column has a positive entry.
        frequencies: Array (columns,), positive.
        slope: b, array (secrets,).
        start: Array (secrets,), positive.
        tolerance: The gap at which to stop.
    """
    x = start / start.sum()
    best: Maximum | None = None
    z = np.empty(0)
    nu = 0.0
    step = 0
    while True:
        received = x @ matrix
        gradient = matrix @ (frequencies / received) + slope
        gap = float(gradient.max() - x @ gradient)
        if best is None or gap < best.gap:
            best = Maximum(x, float(frequencies @ np.log(received) + slope @ x), gap, step)
        if best.gap <= tolerance or step == _STEPS:
            return best
        if step == 0:
            nu = float(gradient.max() + max(gap, tolerance) * 0.1)
            z = nu - gradient
        # Newton on: nu - gradient - z = 0, x z = target, sum x = 1.
        target = 0.1 * float(x @ z) / len(x)
        residual = nu - gradient - z
        hessian = (matrix * (frequencies / received**2)) @ matrix.T
        hessian[np.diag_indices_from(hessian)] += z / x
        try:
            factor = cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return best  # the gap says how good it is
        right = np.column_stack([target / x - z - residual, np.ones(len(x))])
        a, b = cho_solve(factor, right, check_finite=False).T
        dnu = float((a.sum() - (1.0 - x.sum())) / b.sum())
        dx = a - dnu * b
        dz = (target - x * z - z * dx) / x
        primal, dual = _room(x, dx), _room(z, dz)
        x = x + primal * dx
        x = x / x.sum()
        z, nu = z + dual * dz, nu + dual * dnu
        step += 1


def _room(value: Floats, direction: Floats) -> float:
    """Return how far one may go, at most 1, for the value to stay positive."""
    down = direction < 0
    return float(min(1.0, _BACK * np.min(-value[down] / direction[down], initial=np.inf)))
