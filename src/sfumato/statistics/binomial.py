"""Clopper-Pearson bounds of a probability, from how often an event was seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from ..core.arrays import Floats
from ..errors import InputError, argument

Counts = NDArray[np.int64]

_ROUNDING: Final = 1e-9  # far above the error of the beta quantiles, far below any interval's width


def lower(hits: Counts, trials: Counts, failure: float) -> Floats:
    """Return lower bounds of probabilities, each wrong with probability at most ``failure``; 0 without any hit.

    The bound is the p at which as many hits or more have probability ``failure``, rounded down (Clopper and
    Pearson, Biometrika 26, 1934).
    """

    def bound(k: Counts, n: Counts) -> Floats:
        return np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, failure) * (1 - _ROUNDING), 0.0)

    return _on_distinct(hits, trials, bound)


def upper(hits: Counts, trials: Counts, failure: float) -> Floats:
    """Return upper bounds of probabilities, each wrong with probability at most ``failure``; 1 if all trials hit.

    The bound is the p at which as few hits or fewer have probability ``failure``, rounded up.
    """

    def bound(k: Counts, n: Counts) -> Floats:
        raised = betainccinv(k + 1, np.maximum(n - k, 1), failure) * (1 + _ROUNDING)
        return np.where(k < n, np.minimum(raised, 1.0), 1.0)

    return _on_distinct(hits, trials, bound)


def check_failure(failure: float) -> float:
    """Return a probability of failure; refuse one that is not between 0 and 1."""
    if not (math.isfinite(failure) and 0 < failure < 1):
        raise InputError(
            f"a failure probability of {failure} is not between 0 and 1.",
            f"use {argument('failure', 0.05)} for a confidence of 95 %.",
        )
    return float(failure)


def _on_distinct(hits: Counts, trials: Counts, bound: Callable[[Counts, Counts], Floats]) -> Floats:
    """Return bounds, computed once for each distinct (hits, trials): quantiles are slow, and counts repeat."""
    k, n = np.broadcast_arrays(hits, trials)
    base = int(n.max(initial=0)) + 1
    codes, back = np.unique(k * base + n, return_inverse=True)
    return np.asarray(bound(codes // base, codes % base)[back].reshape(k.shape))
