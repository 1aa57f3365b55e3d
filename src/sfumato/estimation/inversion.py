"""Estimates in closed form: matrix inversion, constrained least squares and support counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.special import ndtri

from ..core.arrays import Floats, floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, SolverError
from ..mechanisms import FrequencyOracle
from ..statistics.binomial import check_failure, lower, upper
from .identifiability import identifiability, least_reports, right_inverse
from .reports import AnyReports, ConfidenceIntervals, Estimate, Pooled, pooled, rows_of

_TOLERANCE: Final = 1e-12  # of squared frequency; sampling noise is of the order 1 / reports


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inverse(CompactRepr):
    """A right inverse of the pool's channel, with the estimate that it gives.

    Attributes:
        estimate: f R, the unbiased estimate.
        covariance: Array (secrets, secrets), the estimated covariance of its entries.
        channel: Array (secrets, columns), the pool's channel.
        right: Array (columns, secrets), its right inverse.
        effective: The number of reports of equal weight that vary as much.
        rounding: The share of its length by which rounded doubles can move the estimate, to first order.
    """

    estimate: Estimate
    covariance: Floats
    channel: Floats
    right: Floats
    effective: float
    rounding: float

    def intervals(self, functionals: ArrayLike | None = None, failure: float = 0.05) -> ConfidenceIntervals:
        """Return normal intervals, estimate -+ (quantile x standard error + rounding).

        With fewer reports than `Identifiability.least_reports`, or rounding as large as half of the possible
        range, the interval is all that is possible: from 0 to 1 for a probability. The variance is estimated from
        the reports received, and then reports that were not received would dominate it. ``functionals`` are
        weights a, array (k, secrets), for the numbers a . p, by default the probabilities; the failure is reached
        as the reports become many. Raises `InputError` if the weights do not fit, or the probability is not
        between 0 and 1.
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

    For weighted reports f are shares of the weights. The covariance is that of a weighted mean, the sum of
    w^2 (r - p)(r - p)' over the reports divided by the square of the sum of w.

    For a square mechanism R is its inverse; with more observables than secrets it is that of least squares with
    sum one. The expectation of p is the true distribution, entry by entry, which is why entries may be negative.
    Raises `InputError` if the mechanism does not identify all secrets.

    Source:
        Särndal, Swensson and Wretman, "Model assisted survey sampling", 1992, section 5.7 (weighted means);
        Warner, 1965; Agrawal, Haritsa and Prakash, "FRAPP", 2009.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, unbiased
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
    estimate = pool.estimate(pool.frequencies @ right, "matrix inversion", 0.0)
    rounding = 2 * known.rounding * float(np.linalg.norm(right, 2))
    covariance = readonly(_covariance(pool, right))
    return Inverse(estimate, covariance, pool.matrix, readonly(right), pool.effective, rounding)


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


def least_squares(reports: AnyReports) -> Estimate:
    """Return the distribution whose expected frequencies are nearest to those observed.

    min over p >= 0 with sum 1 of sum over o of (sum over s of p(s) p(o|s) - f(o))^2

    With b(s) = p(.|s) - f it is the point of least norm in the convex hull of the b(s), and x / sum x for the x >=
    0 that minimises |sum x(s) b(s)|^2 + c (sum x - 1)^2, for every c > 0: at a fixed p the best scale leaves c r /
    (c + r), which grows with r = |sum p(s) b(s)|^2. That is non-negative least squares, which an active-set method
    solves exactly up to rounding. The ``gap`` bounds the distance of the sum of squares from its minimum, by the
    gradient D: p . D - min over s of D(s). Raises `SolverError` if the active-set method does not end.

    Source:
        Lawson and Hanson, "Solving least squares problems", 1974, chapter 23 (the reduction
        is that of least distance programming).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, least_squares
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> least_squares(Reports(coin, [60, 40])).probabilities.round(9)
        array([0.7, 0.3])
    """
    pool = pooled(reports)
    p = nearest(pool, pool.frequencies)
    gradient = 2 * pool.matrix @ (p @ pool.matrix - pool.frequencies)
    gap = max(float(p @ gradient - gradient.min()), 0.0)
    return pool.estimate(p, "least squares", gap, converged=gap <= _TOLERANCE)


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
    return np.asarray(x / x.sum())


def support_estimate(
    oracle: FrequencyOracle, supported: ArrayLike, reports: int, *, failure: float = 0.05
) -> Estimate:
    """Return the frequency of each category from the number of reports that support it.

    (share - q) / (p - q), unbiased, with variance c (1 - c) / (reports (p - q)^2) where
    c = q + frequency (p - q) is the probability of support

    For reporters drawn from a population each count is binomial. So the Clopper-Pearson interval of the share,
    moved by the same line, covers the population's frequency for every number of reports. The variance over the
    mechanism's randomness alone, for these reporters, is ``oracle.estimate_variance``.

    The estimates need not lie between 0 and 1, nor sum to one. Where the matrix can be written out, maximum
    likelihood on it uses more of each report. Raises `InputError` if the counts do not fit the categories or the
    reports.

    Args:
        oracle: Such as `RandomisedResponse`, `UnaryEncoding`, `SubsetSelection`, `LocalHashing`.
        supported: Array (categories,), the supporting reports of each; ``oracle.support_counts(reports)``.
        reports: The number of reports.
        failure: The probability that an interval misses.

    Returns:
        The estimate. Its log-likelihood is NaN, since the counts do not determine the reports.

    Source:
        Wang, Blocki, Li and Jha, USENIX Security 2017; Clopper and Pearson, 1934.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import UnaryEncoding
        >>> from sfumato.estimation import support_estimate
        >>> oracle = UnaryEncoding(sf.Space("abc"), 2.0, "optimised")
        >>> found = support_estimate(oracle, [300, 250, 120], 1000)
        >>> found.probabilities.round(3)
        array([0.475, 0.343, 0.002])
    """
    missed = check_failure(failure)
    space = oracle.space
    counts = floats(supported, "the counts", shape=(len(space),))
    if reports < 1 or (counts < 0).any() or (counts > reports).any() or (counts != np.rint(counts)).any():
        raise InputError(
            f"the counts from {counts.min():g} to {counts.max():g} are not of {reports} reports.",
            "pass for each category how many of the reports support it.",
        )
    p, q = oracle.support
    hits, trials = counts.astype(np.int64), np.array([reports])
    tail = missed / 2
    ends = [(bound(hits, trials, tail) - q) / (p - q) for bound in (lower, upper)]
    return Estimate(
        space=space,
        probabilities=readonly((counts / reports - q) / (p - q)),
        method=f"support counts of {oracle.name}",
        reports=int(reports),
        log_likelihood=float("nan"),
        gap=0.0,
        intervals=ConfidenceIntervals(
            readonly(ends[0]), readonly(ends[1]), missed, "Clopper-Pearson", True, space.labels
        ),
    )
