"""Maximum likelihood and the iterative Bayesian update, with a proved distance to the maximum."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...core import Prior
from ...core.arrays import Floats, readonly
from ...core.likelihood import maximised
from ...errors import InputError
from .expectation_maximisation import Fits, fit, updates
from .reports import AnyReports, Pooled, pooled
from .result import Estimate

RESOLVED: Final = 1e-13  # gaps per report below this are the rounding of doubles
_NEWTON: Final = 3000  # the most secrets for which Newton's method is affordable
_BEFORE_NEWTON: Final = 120


def maximum_likelihood(reports: AnyReports, *, tolerance: float = 1e-6, max_updates: int = 20_000) -> Estimate:
    """Return the distribution under which the reports are likeliest.

    max over p of sum over reports of ln sum over s of p(s) p(report|s)

    The log-likelihood is concave, and with its gradient g (the mean over reports of
    p(report|s) / p(report)) no distribution exceeds that of p by more than
    reports x (max over s of g(s) - 1) nats. The search stops by this bound. Accelerated
    Bayesian updates come first; where they are slow, Newton's method finishes (up to
    3,000 secrets). Where the mechanism leaves combinations of secrets unidentified the
    maximum is not unique, and one of many is returned: see `identifiability`.

    Args:
        reports: Reports through one mechanism, or batches through several.
        tolerance: The gap in nats at which to stop, or 1e-13 per report if this is more.
        max_updates: The most Bayesian updates, where there are too many secrets for Newton.

    Returns:
        The estimate; its ``gap`` is the proved bound in nats, whether or not it converged.

    Raises:
        InputError: If the tolerance is not positive.

    Source:
        Agrawal and Aggarwal, PODS 2001 (EM for reports); ElSalamouny and Palamidessi,
        "Generalized iterative Bayesian update and applications to mechanisms for privacy
        protection", EuroS&P 2020; Lindsay, "Mixture models", 1995 (the bound).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.releases.estimate import Reports, maximum_likelihood
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> maximum_likelihood(Reports(coin, [50, 50])).probabilities
        array([0.5, 0.5])
        >>> maximum_likelihood(Reports(coin, [80, 20])).probabilities.round(6)  # no distribution gives so many
        array([1., 0.])
    """
    pool = pooled(reports)
    if not (math.isfinite(tolerance) and tolerance > 0) or max_updates < 1:
        raise InputError(
            f"a tolerance of {tolerance} nats and {max_updates} updates give no estimate.",
            "use a positive tolerance, such as 1e-6, and at least one update.",
        )
    fits = fitted(pool, pool.frequencies[None], tolerance / pool.total, max_updates)
    return _estimate(pool, fits, "maximum likelihood", tolerance)


def bayesian_updates(reports: AnyReports, iterations: int, start: Prior | None = None) -> Estimate:
    """Return what a fixed number of iterative Bayesian updates (IBU) makes of a prior.

    p(s) <- sum over o of f(o) p(o|s) p(s) / sum over s' of p(s') p(o|s')

    f(o) is the share of reports equal to o. Each update gains likelihood; stopped early
    it stays nearer to the start, which smooths an estimate from few reports. The gap says
    how far from the maximum it was stopped.

    Args:
        reports: Reports through one mechanism, or batches through several.
        iterations: How many updates.
        start: The prior to begin with, uniform if left out.

    Raises:
        InputError: If there is no iteration, or the start calls a secret impossible.

    Source:
        Biswas and Palamidessi, "PRIVIC", 2022 (10 iterations from uniform).
    """
    pool = pooled(reports)
    if iterations < 1:
        raise InputError(f"{iterations} iterations give no estimate.", "use at least one, such as 10.")
    n = len(pool.secrets)
    if start is not None and (len(start) != n or not start.probabilities.all()):
        raise InputError(
            "the start is for other secrets, or calls some impossible, which no update can change.",
            "start from a positive prior on the mechanism's secrets, such as the uniform one.",
        )
    begin = np.full(n, 1.0 / n) if start is None else start.probabilities
    seen = pool.counts > 0
    found = updates(pool.matrix[:, seen], pool.frequencies[None, seen], begin[None], iterations)
    return _estimate(pool, found, "iterative Bayesian update", math.inf)


def fitted(pool: Pooled, frequencies: Floats, tolerance: float, max_updates: int) -> Fits:
    """Return maximum-likelihood fits to rows of frequencies of a pool's columns.

    Args:
        pool: What the columns are.
        frequencies: Array (fits, columns); positive only where some secret reaches.
        tolerance: The gap per report at which to stop.
        max_updates: The most Bayesian updates.
    """
    n = len(pool.secrets)
    seen = frequencies.any(axis=0)
    matrix, shares = pool.matrix[:, seen], frequencies[:, seen]
    goal = max(tolerance, RESOLVED)
    finishing = n <= _NEWTON
    budget = min(max_updates, _BEFORE_NEWTON) if finishing else max_updates
    found = fit(matrix, shares, np.full((len(shares), n), 1.0 / n), np.full(len(shares), goal), budget)
    if not finishing:
        return found
    p, gaps, steps = found.probabilities, found.gaps.copy(), found.iterations
    for i in np.flatnonzero(found.gaps > goal):
        used = shares[i] > 0
        best = maximised(matrix[:, used], shares[i, used], np.zeros(n), np.full(n, 1.0 / n), goal)
        if best.gap < gaps[i]:
            p[i], gaps[i] = best.probabilities, best.gap
        steps = max(steps, found.iterations + best.steps)
    return Fits(p, gaps, steps)


def _estimate(pool: Pooled, fits: Fits, method: str, tolerance: float) -> Estimate:
    p = readonly(fits.probabilities[0].copy())
    gap = max(float(fits.gaps[0]), 0.0) * pool.total
    return Estimate(
        space=pool.secrets,
        probabilities=p,
        method=method,
        reports=pool.total,
        log_likelihood=pool.log_likelihood(p),
        gap=gap,
        iterations=fits.iterations,
        converged=gap <= max(tolerance, RESOLVED * pool.total),
        effective=pool.effective if pool.weighted else None,
    )
