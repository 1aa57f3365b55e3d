"""Estimators: maximum likelihood, Bayesian updates, inversion, least squares and support counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.special import ndtri

from ..core import Mechanism, Prior
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, SolverError
from ..leakage import maximise
from ..mechanisms import FrequencyOracle
from ..statistics.binomial import check_failure, lower, upper
from .identifiability import identifiability, least_reports, right_inverse
from .reports import AnyReports, ConfidenceIntervals, Estimate, ReportPool, Reports, pool_reports, rows_of

RESOLVED: Final = 1e-13  # gaps per report below this are the rounding of doubles
_NEWTON: Final = 3000  # the most secrets for which Newton's method is affordable
_BEFORE_NEWTON: Final = 120
LEAST: Final = 1e-250  # no probability gets below, so that every secret can come back
_LEAST_SHARE: Final = 0.01  # of a probability stays in an extrapolation that would make it negative
_TOLERANCE: Final = 1e-12  # of squared frequency; sampling noise is of the order 1 / reports


class Fits(NamedTuple):
    """Fits of many vectors of counts, arrays (fits, secrets) and (fits,), with gaps of the mean log-likelihood."""

    probabilities: Floats
    gaps: Floats
    iterations: int


class _Point(NamedTuple):
    """Distributions p, array (fits, secrets), with the results of one evaluation."""

    p: Floats
    value: Floats  # the mean log-likelihood, array (fits,)
    updated: Floats  # the next Bayesian update, array (fits, secrets)
    gap: Floats  # max over s of the gradient, minus 1, array (fits,)


def fit(matrix: Floats, frequencies: Floats, start: Floats, tolerances: Floats, budget: int) -> Fits:
    """Return maximum-likelihood fits by at most ``budget`` accelerated updates, which stop at gaps, array (fits,).

    An update multiplies p(s) by g(s) = sum over o of f(o) p(o|s) / p(o), the gradient of the mean log-likelihood;
    the mean of g under p is 1, so by concavity no distribution is better by more than max g - 1 (Lindsay, "Mixture
    models", 1995). Two updates are extrapolated (SQUAREM, scheme 3: Varadhan and Roland, Scandinavian Journal of
    Statistics 35, 2008); where this loses likelihood, the two updates stand. So it never falls. The columns of the
    matrix, array (secrets, columns), and the starts, array (fits, secrets), have positive entries.
    """
    p, gaps = start.copy(), np.full(len(start), np.inf)
    active = np.arange(len(p))
    used = 0
    while True:
        first = _at(matrix, frequencies[active], p[active])
        gaps[active] = first.gap
        open_ = first.gap > tolerances[active]
        used += 1
        if not open_.any() or used + 2 > budget:
            return Fits(p, gaps, used)
        active, first = active[open_], _Point(*(part[open_] for part in first))
        second = _at(matrix, frequencies[active], first.updated)
        third = _at(matrix, frequencies[active], _extrapolate(first.p, second.p, second.updated))
        used += 2
        better = third.value >= second.value
        p[active] = np.where(better[:, None], third.updated, second.updated)


def updates(matrix: Floats, frequencies: Floats, start: Floats, count: int) -> Fits:
    """Return the result of exactly ``count`` plain updates, with its gaps."""
    p = start
    for _ in range(count):
        p = _at(matrix, frequencies, p).updated
    return Fits(p, _at(matrix, frequencies, p).gap, count)


def _at(matrix: Floats, frequencies: Floats, p: Floats) -> _Point:
    likelihoods = p @ matrix
    gradient = (frequencies / likelihoods) @ matrix.T
    updated = np.maximum(p * gradient, LEAST)
    updated /= updated.sum(axis=1, keepdims=True)
    value = (frequencies * np.log(likelihoods)).sum(axis=1)
    return _Point(p, value, updated, gradient.max(axis=1) - 1.0)


def _extrapolate(p0: Floats, p1: Floats, p2: Floats) -> Floats:
    """Return the point that two updates lead to with step length -|r| / |v|, at least 1."""
    r, v = p1 - p0, p2 - 2 * p1 + p0
    length = np.sqrt((r**2).sum(axis=1) / np.maximum((v**2).sum(axis=1), 1e-300))
    a = np.maximum(length, 1.0)[:, None]
    point = np.maximum(p0 + 2 * a * r + a**2 * v, _LEAST_SHARE * p2)  # not to lose a secret by one long step
    return np.asarray(point / point.sum(axis=1, keepdims=True))


def maximum_likelihood(reports: AnyReports, *, tolerance: float = 1e-6, max_updates: int = 20_000) -> Estimate:
    """Return the distribution that maximises the likelihood of the reports.

    max over p of sum over reports of ln sum over s of p(s) p(report|s)

    The log-likelihood is concave, and with its gradient g (the mean over reports of p(report|s) / p(report)) no
    distribution exceeds that of p by more than reports x (max over s of g(s) - 1) nats. The search stops where
    this bound is at most the tolerance, or 1e-13 per report if this is more. Accelerated Bayesian updates come
    first; where they are slow, Newton's method finishes (up to 3,000 secrets; with more, ``max_updates`` is the
    limit). Where the mechanism leaves combinations of secrets unidentified the maximum is not unique, and one of
    many is returned: see `identifiability`. The ``gap`` of the estimate is the proved bound in nats, converged or
    not. Raises `InputError` if the tolerance is not positive.

    Source:
        Agrawal and Aggarwal, PODS 2001 (EM for reports); ElSalamouny and Palamidessi, "Generalized iterative
        Bayesian update and applications to mechanisms for privacy protection", EuroS&P 2020; Lindsay, "Mixture
        models", 1995 (the bound).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, maximum_likelihood
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> maximum_likelihood(Reports(coin, [50, 50])).probabilities
        array([0.5, 0.5])
        >>> maximum_likelihood(Reports(coin, [80, 20])).probabilities.round(6)  # no distribution gives so many
        array([1., 0.])
    """
    pool = pool_reports(reports)
    if not (math.isfinite(tolerance) and tolerance > 0) or max_updates < 1:
        raise InputError(
            f"a tolerance of {tolerance} nats and {max_updates} updates give no estimate.",
            "use a positive tolerance, such as 1e-6, and at least one update.",
        )
    fits = fit_pool(pool, pool.frequencies[None], tolerance / pool.total, max_updates)
    return _estimate(pool, fits, "maximum likelihood", tolerance)


def bayesian_updates(reports: AnyReports, iterations: int, start: Prior | None = None) -> Estimate:
    """Return the result of a fixed number of iterative Bayesian updates (IBU), by default from uniform.

    p(s) <- sum over o of f(o) p(o|s) p(s) / sum over s' of p(s') p(o|s')

    f(o) is the share of reports equal to o. Each update gains likelihood. Stopped early it stays nearer to the
    start, which smooths an estimate from few reports; the gap bounds the distance from the maximum. Raises
    `InputError` if there is no iteration, or a secret has probability 0 in the start.

    Source:
        Biswas and Palamidessi, "PRIVIC", 2022 (10 iterations from uniform).
    """
    pool = pool_reports(reports)
    if iterations < 1:
        raise InputError(f"{iterations} iterations give no estimate.", "use at least one, such as 10.")
    n = len(pool.secrets)
    if start is not None and (len(start) != n or not start.probabilities.all()):
        raise InputError(
            "the start is for other secrets, or calls some impossible, which no update can change.",
            "start from a positive prior on the mechanism's secrets, such as the uniform one.",
        )
    begin = np.full(n, 1.0 / n) if start is None else start.probabilities
    support = pool.counts > 0
    fits = updates(pool.matrix[:, support], pool.frequencies[None, support], begin[None], iterations)
    return _estimate(pool, fits, "iterative Bayesian update", math.inf)


def fit_pool(pool: ReportPool, frequencies: Floats, tolerance: float, max_updates: int) -> Fits:
    """Return maximum-likelihood fits to rows of frequencies of a pool's columns, array (fits, columns).

    Updates end at the tolerance, a gap per report, or after ``max_updates``.
    """
    n = len(pool.secrets)
    support = frequencies.any(axis=0)
    matrix, shares = pool.matrix[:, support], frequencies[:, support]
    goal = max(tolerance, RESOLVED)
    finishing = n <= _NEWTON
    budget = min(max_updates, _BEFORE_NEWTON) if finishing else max_updates
    fits = fit(matrix, shares, np.full((len(shares), n), 1.0 / n), np.full(len(shares), goal), budget)
    if not finishing:
        return fits
    p, gaps, steps = fits.probabilities, fits.gaps.copy(), fits.iterations
    for i in np.flatnonzero(fits.gaps > goal):
        used = shares[i] > 0
        best = maximise(matrix[:, used], shares[i, used], np.zeros(n), np.full(n, 1.0 / n), goal)
        if best.gap < gaps[i]:
            p[i], gaps[i] = best.probabilities, best.gap
        steps = max(steps, fits.iterations + best.steps)
    return Fits(p, gaps, steps)


def _estimate(pool: ReportPool, fits: Fits, method: str, tolerance: float) -> Estimate:
    gap, p = max(float(fits.gaps[0]), 0.0) * pool.total, fits.probabilities[0].copy()
    converged = gap <= max(tolerance, RESOLVED * pool.total)
    return pool.estimate(p, method, gap, iterations=fits.iterations, converged=converged)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CollectionRound:
    """One round of an incremental collection, with the estimate after it."""

    reports: Reports
    estimate: Estimate

    def __repr__(self) -> str:
        return f"CollectionRound of {len(self.reports):,} reports: {self.estimate!r}"


def incremental(
    collect: Callable[[Mechanism, int], Reports],
    first: Mechanism,
    design: Callable[[Prior], Mechanism],
    rounds: int,
    *,
    iterations: int | None = None,
    pooled: bool = True,
) -> tuple[CollectionRound, ...]:
    """Collect reports in rounds, and design each round's mechanism for the estimate so far.

    Round 1 runs a mechanism that needs no prior. ``collect`` returns the reports of round 1, 2, ... for the
    mechanism that its users run. After each round the population is estimated, from all reports so far or, unless
    ``pooled``, from the round's, by a number of Bayesian updates from the uniform prior, or else by maximum
    likelihood, and the next round's users run ``design(estimate)``. No user may take part in two rounds: a user
    who reports in k rounds spends k budgets. A mechanism depends on reports alone, so its own guarantee is all
    that its users need. Raises `InputError` if there is no round, or the reports are not of the round's mechanism.

    Source:
        Biswas and Palamidessi, "PRIVIC: A privacy-preserving method for incremental collection of location data",
        2023: Blahut-Arimoto mechanisms, ``iterations=10``, ``pooled=False``.
    """
    if rounds < 1:
        raise InputError(f"{rounds} rounds collect nothing.", "use at least one round.")
    history: list[CollectionRound] = []
    mechanism = first
    for number in range(1, rounds + 1):
        reports = collect(mechanism, number)
        if reports.mechanism != mechanism:
            raise InputError(
                f"the reports of round {number} are of another mechanism than the round's.",
                "collect them with the mechanism that is passed.",
            )
        used = [*(past.reports for past in history), reports] if pooled else [reports]
        estimate = maximum_likelihood(used) if iterations is None else bayesian_updates(used, iterations)
        history.append(CollectionRound(reports, estimate))
        if number < rounds:
            mechanism = design(estimate.prior)
    return tuple(history)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inverse(CompactRepr):
    """A right inverse of the pool's channel, with the unbiased estimate f R that it gives.

    Attributes:
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
        weights a, array (k, secrets), for the numbers a . p, by default the probabilities. ``failure`` is the
        probability that an interval misses, as the reports become many. Raises `InputError` if the weights do not
        fit, or the probability is not between 0 and 1.
        """
        risk = check_failure(failure)
        weights, names = rows_of(functionals, self.estimate.space)
        centre = weights @ self.estimate.probabilities
        variance = np.einsum("ks,st,kt->k", weights, self.covariance, weights)
        low, high = weights.min(axis=1), weights.max(axis=1)
        length = float(np.linalg.norm(self.estimate.probabilities))
        slack = self.rounding * length * np.linalg.norm(weights, axis=1)
        reach = ndtri(1 - risk / 2) * np.sqrt(np.maximum(variance, 0.0)) + slack
        few = least_reports(self.channel, self.right, weights) > self.effective
        unknown = few | (2 * slack >= high - low)
        lower, upper = np.where(unknown, low, centre - reach), np.where(unknown, high, centre + reach)
        return ConfidenceIntervals(readonly(lower), readonly(upper), risk, "normal", False, names)


def unbiased_estimate(reports: AnyReports) -> Inverse:
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
        >>> from sfumato.estimation import Reports, unbiased_estimate
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> found = unbiased_estimate(Reports(coin, [60, 40]))
        >>> found.estimate.probabilities.round(9), found.covariance[0, 0].round(9)
        (array([0.7, 0.3]), np.float64(0.0096))
    """
    pool = pool_reports(reports)
    known = identifiability(reports)
    if not known.complete:
        raise InputError(
            f"the channel cannot be inverted: {known}", "estimate by maximum likelihood or least squares instead."
        )
    right = right_inverse(pool.matrix, known.rounding)
    estimate = pool.estimate(pool.frequencies @ right, "matrix inversion", 0.0)
    rounding = 2 * known.rounding * float(np.linalg.norm(right, 2))
    return Inverse(
        estimate, readonly(_covariance(pool, right)), pool.matrix, readonly(right), pool.effective, rounding
    )


def _covariance(pool: ReportPool, right: Floats) -> Floats:
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
    pool = pool_reports(reports)
    p = nearest(pool, pool.frequencies)
    gradient = 2 * pool.matrix @ (p @ pool.matrix - pool.frequencies)
    gap = max(float(p @ gradient - gradient.min()), 0.0)
    return pool.estimate(p, "least squares", gap, converged=gap <= _TOLERANCE)


def nearest(pool: ReportPool, frequencies: Floats) -> Floats:
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
    likelihood on it uses more of each report. The log-likelihood of the estimate is NaN, since the counts do not
    determine the reports. ``supported`` is the number of supporting reports of each category, array (categories,),
    as from ``oracle.support_counts(reports)``; ``failure`` is the probability that an interval misses. Raises
    `InputError` if the counts do not fit the categories or the reports.

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
    risk = check_failure(failure)
    space = oracle.space
    counts = floats(supported, "the counts", shape=(len(space),))
    if reports < 1 or (counts < 0).any() or (counts > reports).any() or (counts != np.rint(counts)).any():
        raise InputError(
            f"the counts from {counts.min():g} to {counts.max():g} are not of {reports} reports.",
            "pass for each category how many of the reports support it.",
        )
    p, q = oracle.support
    hits, trials = counts.astype(np.int64), np.array([reports])
    tail = risk / 2
    low, high = (readonly((bound(hits, trials, tail) - q) / (p - q)) for bound in (lower, upper))
    shares, method = readonly((counts / reports - q) / (p - q)), f"support counts of {oracle.name}"
    intervals = ConfidenceIntervals(low, high, risk, "Clopper-Pearson", True, space.labels)
    return Estimate(space, shares, method, int(reports), math.nan, 0.0, intervals=intervals)
