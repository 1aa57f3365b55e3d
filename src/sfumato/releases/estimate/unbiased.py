"""Matrix inversion: unbiased, with its variance in closed form, and sometimes negative."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ...core.arrays import Floats, readonly
from ...core.frozen import Short
from ...errors import InputError
from .identifiability import identifiability
from .inverse import least_reports, right_inverse
from .reports import AnyReports, Pooled, pooled
from .result import ConfidenceIntervals, Estimate, check_failure, rows_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inverse(Short):
    """A right inverse of the pool's channel, with what it makes of the reports.

    Attributes:
        estimate: f R, the unbiased estimate.
        covariance: Array (secrets, secrets), the estimated covariance of its entries.
        channel: Array (secrets, columns), the pool's channel.
        right: Array (columns, secrets), its right inverse.
        effective: How many reports of equal weight vary as much as these.
        rounding: By which share of its length the estimate can be off because doubles are rounded, to first order.
    """

    estimate: Estimate
    covariance: Floats
    channel: Floats
    right: Floats
    effective: float
    rounding: float

    def intervals(self, functionals: ArrayLike | None = None, failure: float = 0.05) -> ConfidenceIntervals:
        """Return normal intervals, estimate -+ (quantile x standard error + rounding).

        Where so few reports can tell less than a guess (see `Identifiability.least_reports`), or rounding is as
        large as that, the interval is all that is possible: from 0 to 1 for a probability. The variance is found
        from the reports received, and those that were not would dominate it.

        Args:
            functionals: Array (k, secrets) of weights a, for the numbers a . p; by default
                the probabilities.
            failure: The probability that an interval misses, as the reports become many.

        Raises:
            InputError: If the weights do not fit, or the probability is not between 0 and 1.
        """
        missed = check_failure(failure)
        weights, names = rows_of(functionals, self.estimate.space)
        centre = weights @ self.estimate.probabilities
        variance = np.einsum("ks,st,kt->k", weights, self.covariance, weights)
        low, high = weights.min(axis=1), weights.max(axis=1)
        length = float(np.linalg.norm(self.estimate.probabilities))
        slack = self.rounding * length * np.linalg.norm(weights, axis=1)
        reach = ndtri(1 - missed / 2) * np.sqrt(np.maximum(variance, 0.0)) + slack
        few = least_reports(self.channel, self.right, weights) > self.effective
        unknown = few | (2 * slack >= high - low)
        lower, upper = np.where(unknown, low, centre - reach), np.where(unknown, high, centre + reach)
        return ConfidenceIntervals(readonly(lower), readonly(upper), missed, "normal", False, names)


def unbiased(reports: AnyReports) -> Inverse:
    """Return the unbiased estimate by matrix inversion, with its covariance.

    p = f R with C R = I; covariance (R' diag(f) R - p p') / reports

    Of weighted reports f are shares of the weights, and the covariance is that of a weighted mean, the sum of
    w^2 (r - p)(r - p)' over the reports by the square of the sum of w.

    For a square mechanism R is its inverse; with more observables than secrets it is that of
    least squares with sum one. The mean of p over all reports that might have come is the
    true distribution, entry by entry, which is why entries may be negative.

    Args:
        reports: Reports through one mechanism, or batches through several.

    Raises:
        InputError: If the mechanism does not identify all secrets.

    Source:
        Särndal, Swensson and Wretman, "Model assisted survey sampling", 1992, section 5.7 (weighted means);
        Warner, 1965; Agrawal, Haritsa and Prakash, "FRAPP", 2009.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.releases.estimate import Reports, unbiased
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> found = unbiased(Reports(coin, [60, 40]))
        >>> found.estimate.probabilities.round(9), found.covariance[0, 0].round(9)
        (array([0.7, 0.3]), np.float64(0.0096))
    """
    pool = pooled(reports)
    known = identifiability(reports)
    if not known.complete:
        raise InputError(
            f"the channel cannot be inverted: {known}", "estimate by maximum likelihood or least squares instead."
        )
    right = right_inverse(pool.matrix, known.rounding)
    p = pool.frequencies @ right
    estimate = Estimate(
        space=pool.secrets,
        probabilities=readonly(p),
        method="matrix inversion",
        reports=pool.total,
        log_likelihood=pool.log_likelihood(p),
        gap=0.0,
        effective=pool.effective if pool.weighted else None,
    )
    rounding = 2 * known.rounding * float(np.linalg.norm(right, 2))
    return Inverse(
        estimate, readonly(_covariance(pool, right)), pool.matrix, readonly(right), pool.effective, rounding
    )


def _covariance(pool: Pooled, right: Floats) -> Floats:
    """Return the plug-in covariance: each mechanism's reports are drawn independently of the others."""
    covariance = np.zeros((len(pool.secrets),) * 2)
    edges = np.flatnonzero(np.diff(pool.batch, prepend=-1, append=-1))
    for start, end in pairwise(edges.tolist()):
        counts, squares, rows = pool.counts[start:end], pool.squares[start:end], right[start:end]
        mean = counts @ rows / counts.sum()
        cross = np.outer(squares @ rows, mean)
        covariance += (rows.T * squares) @ rows - cross - cross.T + squares.sum() * np.outer(mean, mean)
    return covariance / pool.total**2
