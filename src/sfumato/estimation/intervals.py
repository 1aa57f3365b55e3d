"""Confidence intervals by the profile likelihood and by the bootstrap."""

from __future__ import annotations

import math
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from .._system import single_blas_thread
from ..core.arrays import Floats, readonly
from ..core.bracket import bisect, geometric_mean
from ..errors import InputError, argument
from ..leakage import Maximum, maximise
from ..statistics.binomial import check_failure
from .estimators import fit_pool, nearest
from .identifiability import identifiability, least_reports, right_inverse
from .reports import AnyReports, ConfidenceIntervals, pool_reports, rows_of

_FINE: Final = 1e-4  # of the distance from the estimate to the end: by how much it may be too far
_GAP: Final = 0.1  # of that share of the permitted loss: how near each solve must come to its optimum
_CLOSE: Final = 1e-6  # of the functional's range
_TRIES: Final = 60
_UPDATES: Final = 2_000
_REPLICATE_GAP: Final = 1e-3  # nats; the likelihood of a replicate need not be better than this

Resampled = Literal["maximum-likelihood", "least-squares"]


def profile_intervals(
    reports: AnyReports, functionals: ArrayLike | None = None, *, failure: float = 0.05
) -> ConfidenceIntervals:
    """Return the values of a . p over all distributions p of nearly the largest likelihood.

    { a . p : log-likelihood of p >= its maximum - z^2 / 2 },  z the normal quantile

    The ends are optima of concave programs. For every price k > 0 the upper end is at most max over p of a . p +
    (log-likelihood - maximum + z^2 / 2) / k, whose maximum over p is bounded by its gradient; the least such bound
    met is returned. So an interval can only be too wide (by 1e-4 of itself or 1e-6 of the range of a), up to the
    rounding of doubles. Where the reports do not identify a . p, the interval is as wide as they leave it. The
    weights a, array (k, secrets), are by default those of each probability, which takes a few solves per secret
    and end (each grows with the cube of the secrets). ``failure`` is the probability that an interval misses, as
    the reports become many. Raises `InputError` if the weights do not fit, or the probability is not between 0 and
    1.

    Source:
        Wilks, Annals of Mathematical Statistics 9, 1938; Venzon and Moolgavkar, Applied Statistics 37, 1988.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, profile_intervals
        >>> twins = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
        >>> found = profile_intervals(Reports(twins, [500, 500]), [[0, 1, 0], [0, 1, 1]])
        >>> found.lower.round(2), found.upper.round(2)
        (array([0.  , 0.46]), array([0.54, 0.54]))
    """
    risk = check_failure(failure)
    pool = pool_reports(reports)
    weights, names = rows_of(functionals, pool.secrets)
    pool.integers("profile-likelihood intervals")
    allowed = float(ndtri(1 - risk / 2) ** 2) / 2 / pool.total
    best = fit_pool(pool, pool.frequencies[None], _GAP * _FINE * allowed, _UPDATES).probabilities[0]
    support = pool.counts > 0
    likely = LikelihoodSet(pool.matrix[:, support], pool.frequencies[support], best, allowed)
    with single_blas_thread():
        upper = np.array([likely.highest(row) for row in weights])
        lower = np.array([likely.lowest(row) for row in weights])
    return ConfidenceIntervals(readonly(lower), readonly(upper), risk, "profile-likelihood", False, names)


class LikelihoodSet:
    """The distributions whose log-likelihood per report is at most ``allowed`` nats below that of ``best``.

    The matrix is the channel to the received columns, with positive frequencies. An end of an interval may be too
    far by the share ``fine`` of its distance from ``best``.
    """

    def __init__(
        self, matrix: Floats, frequencies: Floats, best: Floats, allowed: float, fine: float = _FINE
    ) -> None:
        self._matrix, self._frequencies = matrix, frequencies
        # Attained, so at most the maximum: the set that it leaves is at least as large.
        self.floor = float(frequencies @ np.log(best @ matrix)) - allowed
        self.allowed, self.fine = allowed, fine
        likelihoods = best @ matrix
        root = matrix * np.sqrt(best)[:, None] * (np.sqrt(frequencies) / likelihoods)
        self._spread = np.linalg.pinv(root @ root.T, rcond=1e-6, hermitian=True)
        self.best = best

    def lowest(self, weights: Floats) -> float:
        """Return a lower bound, nearly attained, of a . p over the members p."""
        return 0.0 - self.highest(-weights)

    def highest(self, weights: Floats) -> float:
        """Return an upper bound, nearly attained, of a . p over the members p."""
        top, bottom = float(weights.max()), float(weights.min())
        if top == bottom:
            return top
        search = _End(self, (weights - bottom) / (top - bottom))
        bisect(search.permits, fails=math.inf, holds=0.0, middle=search.price, stop=search.is_near, steps=_TRIES)
        return top if search.upper == 1.0 else bottom + (top - bottom) * search.upper

    def deviation(self, a: Floats) -> float:
        """Return roughly the standard deviation of a . p per root of the reports; only the first price uses it."""
        weights = np.sqrt(self.best) * (a - self.best @ a)
        return float(np.sqrt(max(float(weights @ self._spread @ weights), self.allowed)))

    def solve(self, a: Floats, price: float) -> Maximum:
        """Return the largest log-likelihood plus ``price`` times a . p."""
        n = len(a)
        return maximise(
            self._matrix, self._frequencies, price * a, np.full(n, 1.0 / n), _GAP * self.fine * self.allowed
        )


class _End:
    """The search for the end of one interval: for the price whose solution has just the permitted likelihood."""

    def __init__(self, program: LikelihoodSet, weights: Floats) -> None:
        self.program, self.weights = program, weights
        self.upper = 1.0
        self.base = float(weights @ program.best)
        self.inside, self.outside = (self.base, 1.0), (1.0, -math.inf)  # a . p, and the share of the loss left
        self.guess = math.sqrt(2 * program.allowed) / program.deviation(weights)

    def permits(self, price: float) -> bool:
        """Solve at a price, store its bound of the end, and return whether its solution is permitted."""
        best = self.program.solve(self.weights, price)
        value = float(self.weights @ best.probabilities)
        left = best.value - price * value - self.program.floor
        self.upper = min(self.upper, value + (left + best.gap) / price)
        share = left / self.program.allowed
        if share >= 0:
            self.inside = max(self.inside, (value, share))
        else:
            self.outside = value, share
        # The loss grows about as the square of the price.
        self.guess = price * min(max(math.sqrt(1 / max(1 - share, 1e-6)), 1 / 30), 30.0)
        return share >= 0

    def price(self, above: float, below: float) -> float:
        """Return the price to try next, between one that is too high and one that is not."""
        if below < self.guess < above:
            return self.guess
        return geometric_mean(above, below) if below else above / 4

    def is_near(self, _above: float, _below: float) -> bool:
        """Return whether the bound is near enough to a permitted value."""
        (value, share), (beyond, deficit) = self.inside, self.outside
        # The likelihood is concave, so on the way from inside to outside this much is permitted.
        inner = value + share / (share - deficit) * (beyond - value)
        return self.upper - inner <= max(self.program.fine * (self.upper - self.base), _CLOSE)


def bootstrap_intervals(
    reports: AnyReports,
    functionals: ArrayLike | None = None,
    *,
    method: Resampled = "maximum-likelihood",
    failure: float = 0.05,
    replicates: int = 500,
    seed: int,
) -> ConfidenceIntervals:
    """Return percentile intervals of estimates from resampled reports.

    Each replicate draws as many reports from the observed frequencies, batch by batch, and estimates again. The
    ends are quantiles of the replicates. Near zero probabilities the bootstrap is known to be off, on either side:
    `profile_intervals` are better there. With fewer reports than `Identifiability.least_reports` for a number, its
    interval is all that is possible. ``functionals`` are weights a, array (k, secrets), for the numbers a . p, by
    default the probabilities. ``failure`` is the probability that an interval misses, as the reports become many.
    There are at least 20 replicates, and the seed is a non-negative integer. Raises `InputError` if an option is
    unknown or out of range.

    Source:
        Efron, "Bootstrap methods: another look at the jackknife", 1979; Andrews,
        Econometrica 68, 2000 (inconsistent on the boundary).
    """
    risk = check_failure(failure)
    if method not in get_args(Resampled):
        raise InputError(
            f"{argument('method', method)} is unknown.", f"use one of {', '.join(map(str, get_args(Resampled)))}."
        )
    if replicates < 20 or seed < 0:
        raise InputError(
            f"{replicates} replicates from the seed {seed} give no interval.",
            "use at least 20 replicates, such as 500, and a non-negative seed.",
        )
    pool = pool_reports(reports)
    weights, names = rows_of(functionals, pool.secrets)
    integers, rng = pool.integers("bootstrap intervals"), np.random.default_rng(seed)
    samples = []
    for number in range(int(pool.batch[-1]) + 1):
        counts = integers[pool.batch == number]
        samples.append(rng.multinomial(counts.sum(), counts / counts.sum(), size=replicates))
    frequencies = np.hstack(samples) / pool.total
    if method == "least-squares":
        estimates = np.array([nearest(pool, row) for row in frequencies])
    else:
        estimates = fit_pool(pool, frequencies, _REPLICATE_GAP / pool.total, _UPDATES).probabilities
    tail = risk / 2
    lower, upper = np.quantile(estimates @ weights.T, [tail, 1 - tail], axis=0)
    known = identifiability(reports)
    if known.complete:
        few = least_reports(pool.matrix, right_inverse(pool.matrix, known.rounding), weights) > pool.total
        lower = np.where(few, weights.min(axis=1), lower)
        upper = np.where(few, weights.max(axis=1), upper)
    return ConfidenceIntervals(readonly(lower), readonly(upper), risk, f"bootstrap ({method})", False, names)
