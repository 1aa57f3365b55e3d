"""Bootstrap intervals: how the estimate would scatter if the reports were collected again."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, readonly
from ..errors import InputError, argument
from .identifiability import identifiability, least_reports, right_inverse
from .inversion import nearest
from .likelihood import fitted
from .reports import AnyReports, Pooled, pooled
from .result import ConfidenceIntervals, check_failure, rows_of

Resampled = Literal["maximum-likelihood", "least-squares"]
_GAP: Final = 1e-3  # nats; the likelihood of a replicate need not be better than this
_UPDATES: Final = 2_000


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

    Each replicate draws as many reports from the observed frequencies, batch by batch,
    and estimates again; all replicates are fitted at once. The ends are quantiles of the
    replicates. Near zero probabilities the bootstrap is known to be off, on either side:
    `profile_intervals` are the better choice there. Where the reports are too few to know a number
    better than by a guess (see `Identifiability.least_reports`), its interval is all that is possible.

    Args:
        reports: Reports through one mechanism, or batches through several.
        functionals: Array (k, secrets) of weights a, for the numbers a . p; by default the
            probabilities.
        method: The estimator.
        failure: The probability that an interval misses, as the reports become many.
        replicates: How many times to resample, at least 20.
        seed: Of the resampling, a non-negative integer.

    Raises:
        InputError: If an option is unknown or out of range.

    Source:
        Efron, "Bootstrap methods: another look at the jackknife", 1979; Andrews,
        Econometrica 68, 2000 (inconsistent on the boundary).
    """
    missed = check_failure(failure)
    if method not in get_args(Resampled):
        raise InputError(
            f"{argument('method', method)} is unknown.", f"use one of {', '.join(map(str, get_args(Resampled)))}."
        )
    if replicates < 20 or seed < 0:
        raise InputError(
            f"{replicates} replicates from the seed {seed} give no interval.",
            "use at least 20 replicates, such as 500, and a non-negative seed.",
        )
    pool = pooled(reports)
    weights, names = rows_of(functionals, pool.secrets)
    frequencies = _resampled(pool, replicates, np.random.default_rng(seed))
    if method == "least-squares":
        found = np.array([nearest(pool, row) for row in frequencies])
    else:
        found = fitted(pool, frequencies, _GAP / pool.total, _UPDATES).probabilities
    tail = missed / 2
    lower, upper = np.quantile(found @ weights.T, [tail, 1 - tail], axis=0)
    known = identifiability(reports)
    if known.complete:
        few = least_reports(pool.matrix, right_inverse(pool.matrix, known.rounding), weights) > pool.total
        lower = np.where(few, weights.min(axis=1), lower)
        upper = np.where(few, weights.max(axis=1), upper)
    return ConfidenceIntervals(readonly(lower), readonly(upper), missed, f"bootstrap ({method})", False, names)


def _resampled(pool: Pooled, replicates: int, rng: np.random.Generator) -> Floats:
    """Return frequencies of resampled reports, array (replicates, columns)."""
    integers = pool.integers("bootstrap intervals")
    drawn = []
    for number in range(int(pool.batch[-1]) + 1):
        counts = integers[pool.batch == number]
        drawn.append(rng.multinomial(counts.sum(), counts / counts.sum(), size=replicates))
    frequencies: Floats = np.hstack(drawn) / pool.total
    return frequencies
