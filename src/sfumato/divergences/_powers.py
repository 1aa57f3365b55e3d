"""The terms of the power divergences, none of them negative, so that small divergences keep their digits."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Floats
from ._distributions import log_ratios

_NEAR = 1e-4  # below this relative difference the terms cancel, and their series is exact


def power_sum(p: Floats, q: Floats, order: float) -> Floats:
    """Return the sum of q g(p/q) with g(t) = (t**a - t) / (a - 1) - (t - 1), for order a > 0.

    For order 1 it is the limit, g(t) = t ln t - t + 1. On distributions the sum equals
    (sum of p**a q**(1-a) - 1) / (a - 1): Kullback-Leibler at 1, chi-square at 2.

    Args:
        p: Array (..., m) of distributions.
        q: Array (..., m) of distributions.
        order: The order a.

    Returns:
        Array (...); ``inf`` where the sum is, or exceeds the largest float.
    """
    logs = log_ratios(p, q)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        stretched = logs if order == 1 else np.expm1((order - 1) * logs) / (order - 1)
        terms = np.where(p > 0, p * stretched, 0.0) - (p - q)
        t = (p - q) / q
        series = t * t * (order / 2) * (1 + t * ((order - 2) / 3 + t * ((order - 2) * (order - 3) / 12)))
        near = np.abs(t) * max(1.0, order) < _NEAR
        terms = np.where(near, q * series, terms)
    return np.asarray(np.maximum(terms, 0.0).sum(axis=-1))
