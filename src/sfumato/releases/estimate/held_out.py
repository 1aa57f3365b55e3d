"""The number of Bayesian updates, chosen by the likelihood of reports that were held out."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .expectation_maximisation import updates
from .reports import AnyReports, Pooled, pooled

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
    held = _dealt(pool, folds, np.random.default_rng(seed))
    seen = pool.counts > 0
    kept = (pool.counts - held)[:, seen].astype(np.float64)
    kept /= kept.sum(axis=1, keepdims=True)
    matrix = pool.matrix[:, seen]
    p = np.full((folds, len(matrix)), 1.0 / len(matrix))
    best, best_value, done, goal = 1, -np.inf, 0, 1
    while True:
        p = updates(matrix, kept, p, goal - done).probabilities
        done = goal
        value = float((held[:, seen] * np.log(p @ matrix)).sum())
        if value > best_value:
            best, best_value = done, value
        if done >= most or done > patience * best + 10:
            return best
        goal = min(most, max(done + 1, int(done * _GROWTH)))


def _dealt(pool: Pooled, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the counts of each fold, array (folds, columns); folds differ by at most one report."""
    columns = np.repeat(np.arange(len(pool.counts)), pool.integers("held-out reports"))
    rng.shuffle(columns)
    counts = [np.bincount(columns[fold::folds], minlength=len(pool.counts)) for fold in range(folds)]
    return np.array(counts, dtype=np.int64)
