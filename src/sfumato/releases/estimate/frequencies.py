"""Frequencies from reports that support categories: closed forms, however many categories there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import floats, readonly
from ...errors import InputError
from ...evidence.observed.binomial import lower, upper
from ...mechanisms import FrequencyOracle
from .result import ConfidenceIntervals, Estimate, check_failure


def support_estimate(
    oracle: FrequencyOracle, supported: ArrayLike, reports: int, *, failure: float = 0.05
) -> Estimate:
    """Return the frequency of each category from how many reports support it.

    (share - q) / (p - q), unbiased, with variance c (1 - c) / (reports (p - q)^2) where
    c = q + frequency (p - q) is the probability of support

    For reporters drawn from a population each count is binomial, so the Clopper-Pearson
    interval of the share, moved by the same line, covers the population's frequency for
    every number of reports. The variance over the mechanism's randomness alone, for these
    very reporters, is ``oracle.estimate_variance``.

    The estimates need not lie between 0 and 1, nor sum to one. Where the matrix can be
    written out, maximum likelihood on it uses more of each report.

    Args:
        oracle: Such as `RandomisedResponse`, `UnaryEncoding`, `SubsetSelection`, `LocalHashing`.
        supported: Array (categories,): how many reports support each;
            ``oracle.support_counts(reports)``.
        reports: How many reports there are.
        failure: The probability that an interval misses.

    Returns:
        The estimate. Its log-likelihood is NaN, since the counts do not keep the reports.

    Raises:
        InputError: If the counts do not fit the categories or the reports.

    Source:
        Wang, Blocki, Li and Jha, USENIX Security 2017; Clopper and Pearson, 1934.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import UnaryEncoding
        >>> from sfumato.releases.estimate import support_estimate
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
