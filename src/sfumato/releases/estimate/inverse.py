"""Right inverses of channels, and how far estimates by them are off."""

from __future__ import annotations

import numpy as np

from ...core.arrays import Floats


def right_inverse(matrix: Floats, rounding: float) -> Floats:
    """Return R with C R = I and R 1 = 1, of least squares: f R is nearest to f among the p C with sum one.

    Args:
        matrix: The channel C, array (secrets, columns), of full rank.
        rounding: Below which share of the largest a singular value counts as zero.
    """
    free: Floats = np.linalg.pinv(matrix, rcond=rounding).astype(np.float64, copy=False)
    weights = (free.T @ free).sum(axis=1)  # (C C')^-1 1, along which the sum is mended
    return free + np.outer(1.0 - free.sum(axis=1), weights / weights.sum())


def least_reports(matrix: Floats, right: Floats, weights: Floats) -> Floats:
    """Return from how many reports on inversion knows numbers better than a guess does, array (k,).

    With n reports the variance of (f R) . a is at most 1/n of the mean of (R a - c)^2 over the reports of the
    secret for which it is largest, for every c. The guess c, midway between the least and the largest value
    of p . a, is never off by more than half their distance. So the standard error is at most that for every
    population from n on, where n is the quotient of the two squares. Without noise it is 1, and 0 for a single
    secret.

    Args:
        matrix: The channel, array (secrets, columns), whose rows sum to one.
        right: Its right inverse.
        weights: Array (k, secrets) of weights a; 0 is returned where all weights are equal.
    """
    low, high = weights.min(axis=1), weights.max(axis=1)
    squares = matrix @ (right @ weights.T - (low + high) / 2) ** 2
    guess = ((high - low) / 2) ** 2
    found: Floats = np.divide(squares.max(axis=0), guess, out=np.zeros(len(weights)), where=guess > 0)
    return found
