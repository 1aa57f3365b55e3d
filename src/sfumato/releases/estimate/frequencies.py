"""Frequencies from reports that support categories: closed forms, however many categories there are."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.arrays import floats, readonly
from ...errors import InputError
from ...evidence.observed.binomial import lower, upper
from ...mechanisms import Bits, FrequencyOracle, Hashed
from .result import Estimate, Intervals, check_confidence

_BLOCK: Final = 1 << 22  # pairs of a report and a category at a time


def support_counts(oracle: FrequencyOracle, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many reports support each category, array (categories,).

    Args:
        oracle: The family that the reports are of.
        drawn: Array (reports, width), as the family's sampler draws them: positions; k bits;
            (a, b, bucket) of a hash; or the positions of a subset.

    Raises:
        InputError: If the array is not of such reports.
    """
    k, steps = len(oracle.space), oracle.steps()
    if drawn.ndim != 2 or drawn.dtype.kind not in "iu" or not drawn.size or drawn.min() < 0:
        raise InputError(
            f"an array of shape {drawn.shape} holds no reports.", "pass integers, one row for each report."
        )
    if isinstance(steps, Bits):
        if drawn.shape[1] != k or drawn.max() > 1:
            raise InputError(f"the reports are not {k} bits each.", "pass a row of zeros and ones per report.")
        return np.asarray(drawn.sum(axis=0), dtype=np.int64)
    if isinstance(steps, Hashed):
        if drawn.shape[1] != 3:
            raise InputError("the reports are not triples of a hash.", "pass rows of (a, b, bucket).")
        width = max(1, _BLOCK // k)
        counts = np.zeros(k, dtype=np.int64)
        for start in range(0, len(drawn), width):
            a, b, bucket = drawn[start : start + width].T[:, :, None]
            hashed = (a * np.arange(k) + b) % steps.prime % steps.response.shape[0]
            counts += (hashed == bucket).sum(axis=0)
        return counts
    if drawn.max() >= k:
        raise InputError(f"a report names category {drawn.max()} of {k}.", "pass positions of categories.")
    return np.bincount(drawn.ravel(), minlength=k).astype(np.int64)


def support_estimate(
    oracle: FrequencyOracle, supported: ArrayLike, reports: int, *, confidence: float = 0.95
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
        supported: Array (categories,): how many reports support each.
        reports: How many reports there are.
        confidence: Of each interval.

    Returns:
        The estimate. Its log-likelihood is NaN: the counts do not keep the reports.

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
    level = check_confidence(confidence)
    space = oracle.space
    counts = floats(supported, "the counts", shape=(len(space),))
    if reports < 1 or (counts < 0).any() or (counts > reports).any() or (counts != np.rint(counts)).any():
        raise InputError(
            f"the counts from {counts.min():g} to {counts.max():g} are not of {reports} reports.",
            "pass for each category how many of the reports support it.",
        )
    p, q = oracle.support
    hits, trials = counts.astype(np.int64), np.array([reports])
    tail = (1 - level) / 2
    ends = [(bound(hits, trials, tail) - q) / (p - q) for bound in (lower, upper)]
    return Estimate(
        space=space,
        probabilities=readonly((counts / reports - q) / (p - q)),
        method=f"support counts of {oracle.name}",
        reports=int(reports),
        log_likelihood=float("nan"),
        gap=0.0,
        intervals=Intervals(readonly(ends[0]), readonly(ends[1]), level, "Clopper-Pearson", True, space.labels),
    )
