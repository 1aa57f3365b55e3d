"""The distribution of the population and of each column, from private reports, by any of the methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..core import JointSpace
from ..core.arrays import Floats, readonly
from ..errors import InputError, argument
from ..geo import Places
from .districts import MOST_PLACES, settled_districts
from .estimate import ConfidenceIntervals, Estimate
from .identifiability import identifiability
from .intervals import Resampled, bootstrap_intervals, profile_intervals
from .inversion import least_squares, unbiased
from .likelihood import bayesian_updates, maximum_likelihood, updates
from .reports import AnyReports, Pooled, pooled

_FITTING: Final[dict[str, tuple[str, ...]]] = {
    "maximum-likelihood": ("profile", "bootstrap"),
    "early-stopped": (),
    "least-squares": ("bootstrap",),
    "inversion": ("normal",),
}
_GROWTH: Final = 1.15  # from one number of updates that is tried to the next


def cross_validated_updates(
    reports: AnyReports, *, folds: int = 10, most: int = 10_000, patience: float = 4.0, seed: int
) -> int:
    """Return the number of Bayesian updates after which held-out reports are likeliest.

    Where the mechanism blurs much, the likeliest distribution of all fits the noise of the
    reports: it is spiky, and can be further from the truth than what fewer updates give.
    Here the reports are dealt into folds; updates are run on all but one fold, from the
    uniform prior, and the likelihood of the fold left out is summed over the folds.

    Args:
        reports: Reports through one mechanism, or batches through several.
        folds: How many folds, at least 2.
        most: The most updates to try.
        patience: Updating stops after this many times the best number so far.
        seed: Of the dealing, a non-negative integer.

    Returns:
        A number for `bayesian_updates`, no larger than ``most``.

    Raises:
        InputError: If there are fewer reports than folds, or an option is out of range.

    Source:
        Stone, "Cross-validatory choice and assessment of statistical predictions", 1974.
    """
    pool = pooled(reports)
    if not 2 <= folds <= pool.total or most < 1 or not patience > 1 or seed < 0:
        raise InputError(
            f"{folds} folds of {pool.total} reports and {most} updates choose nothing.",
            "use at least 2 folds, at most as many as reports, patience above 1, and a non-negative seed.",
        )
    held_out = _deal(pool, folds, np.random.default_rng(seed))
    seen = pool.counts > 0
    rest = (pool.counts - held_out)[:, seen].astype(np.float64)
    rest /= rest.sum(axis=1, keepdims=True)
    matrix = pool.matrix[:, seen]
    p = np.full((folds, len(matrix)), 1.0 / len(matrix))
    best, best_value, done, goal = 1, -np.inf, 0, 1
    while True:
        p = updates(matrix, rest, p, goal - done).probabilities
        done = goal
        value = float((held_out[:, seen] * np.log(p @ matrix)).sum())
        if value > best_value:
            best, best_value = done, value
        if done >= most or done > patience * best + 10:
            return best
        goal = min(most, max(done + 1, int(done * _GROWTH)))


def _deal(pool: Pooled, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the counts of each fold, array (folds, columns); folds differ by at most one report."""
    columns = np.repeat(np.arange(len(pool.counts)), pool.integers("held-out reports"))
    rng.shuffle(columns)
    counts = [np.bincount(columns[fold::folds], minlength=len(pool.counts)) for fold in range(folds)]
    return np.array(counts, dtype=np.int64)


Method = Literal["maximum-likelihood", "early-stopped", "least-squares", "inversion"]
Kind = Literal["profile", "bootstrap", "normal"]


def estimate_population(
    reports: AnyReports,
    method: Method = "maximum-likelihood",
    *,
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int | None = None,
) -> Estimate:
    """Estimate the distribution of secrets in a population from its private reports.

    Where reports by maximum likelihood settle no shares of single places, the estimate has the smallest
    ``districts`` whose shares they settle.

    Args:
        reports: Reports through one mechanism, or batches through several.
        method: ``"maximum-likelihood"``; ``"early-stopped"`` Bayesian updates, as many as
            held-out reports favour: nearer to the truth where the mechanism blurs much;
            ``"least-squares"``; or ``"inversion"``, unbiased but possibly negative.
        intervals: For each probability: ``"profile"`` or ``"bootstrap"`` with maximum
            likelihood, ``"bootstrap"`` with least squares, ``"normal"`` with inversion. Early
            stopping smooths, which biases by an unknown amount, and so has none.
        failure: The probability that an interval misses; of districts, that any does.
        seed: For the bootstrap, and for dealing reports out to be held out.

    Raises:
        InputError: If an option is unknown, the intervals do not fit the method, or the
            mechanism cannot be inverted.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, estimate_population
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> found = estimate_population(Reports(coin, [600, 400]), intervals="profile")
        >>> found
        Estimate of 2 values from 1,000 reports by maximum likelihood, with 2 profile-likelihood intervals of ...
    """
    if method not in get_args(Method):
        raise InputError(
            f"{argument('method', method)} is unknown.", f"use one of {', '.join(map(str, get_args(Method)))}."
        )
    if intervals is not None and intervals not in _FITTING[method]:
        raise InputError(
            f"{intervals!r} intervals do not go with {method}.",
            f"use {' or '.join(map(repr, _FITTING[method])) or 'none'}.",
        )
    if method == "inversion":
        inverse = unbiased(reports)
        if intervals is None:
            return inverse.estimate
        return inverse.estimate.with_intervals(inverse.intervals(failure=failure))
    if seed is None and (method == "early-stopped" or intervals == "bootstrap"):
        raise InputError(
            "holding out reports and the bootstrap need a seed.",
            f"pass {argument('seed', 7)}, say, so that they can be repeated.",
        )
    if method == "early-stopped":
        return bayesian_updates(reports, cross_validated_updates(reports, seed=seed or 0))
    estimate = maximum_likelihood(reports) if method == "maximum-likelihood" else least_squares(reports)
    if intervals == "profile":
        return estimate.with_intervals(profile_intervals(reports, failure=failure))
    if intervals == "bootstrap":
        return estimate.with_intervals(
            bootstrap_intervals(reports, method=method, failure=failure, seed=seed or 0)
        )
    places = isinstance(estimate.space, Places) and len(estimate.space) <= MOST_PLACES
    if method == "maximum-likelihood" and places and identifiability(reports).unsettled(estimate):
        return replace(estimate, districts=settled_districts(reports, failure=failure))
    return estimate


def estimate_margins(
    estimate: Estimate,
    reports: AnyReports,
    *,
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int | None = None,
) -> dict[str, Estimate]:
    """Return the shares of each column's values: sums of the estimated shares of combinations.

    Args:
        estimate: The estimate on a `JointSpace`; on another space there are no margins.
        reports: The reports that it was made from.
        intervals: As for `estimate_population`: intervals of the sums themselves, not sums of intervals.
        failure: The probability that an interval misses.
        seed: For the bootstrap.

    Returns:
        An estimate for each column, by its name.
    """
    space = estimate.space
    if not isinstance(space, JointSpace):
        return {}
    rows = {name: space.margin(name) for name in space.names}
    every = None
    if intervals is not None:
        every = _intervals(estimate, reports, np.vstack(list(rows.values())), intervals, failure, seed)
    margins = {}
    start = 0
    for name, part in zip(space.names, space.parts, strict=True):
        stop = start + len(part)
        ends = (
            every
            if every is None
            else replace(
                every,
                lower=readonly(every.lower[start:stop].copy()),
                upper=readonly(every.upper[start:stop].copy()),
                names=part.labels,
            )
        )
        shares = readonly(rows[name] @ estimate.probabilities)
        margins[name] = replace(estimate, space=part, probabilities=shares, intervals=ends)
        start = stop
    return margins


def _intervals(
    estimate: Estimate, reports: AnyReports, rows: Floats, kind: Kind, failure: float, seed: int | None
) -> ConfidenceIntervals:
    if kind == "normal":
        return unbiased(reports).intervals(rows, failure)
    if kind == "profile":
        return profile_intervals(reports, rows, failure=failure)
    method: Resampled = "least-squares" if estimate.method == "least squares" else "maximum-likelihood"
    return bootstrap_intervals(reports, rows, method=method, failure=failure, seed=seed or 0)
