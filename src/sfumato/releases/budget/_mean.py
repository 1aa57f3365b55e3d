"""The interval of a mean from simulated values that are bounded."""

from __future__ import annotations

import math

from ...core.arrays import Floats


def mean_interval(values: Floats, bottom: float, top: float, failure: float) -> tuple[float, float, float]:
    """Return the mean of independent values within ``bottom`` and ``top``, and an interval of its expectation.

    The interval misses with probability at most ``failure``, for any number of values.

    Source:
        Maurer and Pontil, "Empirical Bernstein bounds", COLT 2009, theorem 4.
    """
    n = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    log = math.log(4 / failure)  # two sides, each of failure / 2 = 2 exp(-log)
    reach = math.sqrt(2 * variance * log / n) + 7 * (top - bottom) * log / (3 * (n - 1))
    return mean, max(bottom, mean - reach), min(top, mean + reach)
