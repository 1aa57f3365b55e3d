"""Constrained least squares: the distribution whose reports come nearest to those received."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import nnls

from ...core.arrays import Floats, readonly
from ...errors import SolverError
from .reports import AnyReports, Pooled, pooled
from .result import Estimate

_TOLERANCE: Final = 1e-12  # of squared frequency; sampling noise is of the order 1 / reports


def least_squares(reports: AnyReports) -> Estimate:
    """Return the distribution whose expected frequencies are nearest to those observed.

    min over p >= 0 with sum 1 of sum over o of (sum over s of p(s) p(o|s) - f(o))^2

    With b(s) = p(.|s) - f it is the point of least norm in the convex hull of the b(s),
    and x / sum x for the x >= 0 that minimises |sum x(s) b(s)|^2 + c (sum x - 1)^2, for
    every c > 0: at a fixed p the best scale leaves c r / (c + r), which grows with
    r = |sum p(s) b(s)|^2. That is non-negative least squares, which an active-set method
    solves exactly up to rounding.

    Args:
        reports: Reports through one mechanism, or batches through several.

    Returns:
        The estimate; its ``gap`` bounds how far the sum of squares is from its minimum, by
        the gradient D: p . D - min over s of D(s).

    Raises:
        SolverError: If the active-set method does not end.

    Source:
        Lawson and Hanson, "Solving least squares problems", 1974, chapter 23 (the reduction
        is that of least distance programming).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.releases.estimate import Reports, least_squares
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> least_squares(Reports(coin, [60, 40])).probabilities.round(9)
        array([0.7, 0.3])
    """
    pool = pooled(reports)
    p = readonly(nearest(pool, pool.frequencies))
    gap = _gap(pool.matrix, pool.frequencies, p)
    return Estimate(
        space=pool.secrets,
        probabilities=p,
        method="least squares",
        reports=pool.total,
        log_likelihood=pool.log_likelihood(p),
        gap=gap,
        converged=gap <= _TOLERANCE,
        effective=pool.effective if pool.weighted else None,
    )


def nearest(pool: Pooled, frequencies: Floats) -> Floats:
    """Return the distribution nearest to one vector of frequencies of a pool's columns."""
    differences = pool.matrix - frequencies
    # Any c does; this one gives both parts of the system the same size.
    scale = float(np.sqrt((differences**2).sum(axis=1).max())) or 1.0
    system = np.vstack([differences.T, np.full(len(differences), scale)])
    goal = np.append(np.zeros(len(frequencies)), scale)
    try:
        x, _ = nnls(system, goal, maxiter=30 * len(differences))
    except RuntimeError as error:
        raise SolverError(
            f"non-negative least squares did not end ({error}).", "estimate by maximum likelihood instead."
        ) from error
    p: Floats = x / x.sum()
    return p


def _gap(matrix: Floats, frequencies: Floats, p: Floats) -> float:
    gradient = 2 * matrix @ (p @ matrix - frequencies)
    return max(float(p @ gradient - gradient.min()), 0.0)
