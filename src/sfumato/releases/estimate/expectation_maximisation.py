"""Expectation maximisation for many vectors of counts at once, with squared extrapolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats

LEAST: Final = 1e-250  # no probability gets below, so that every secret can come back
_KEPT: Final = 0.01  # of a probability stays in an extrapolation that would make it negative


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Fits of many vectors of counts.

    Attributes:
        probabilities: Array (fits, secrets).
        gaps: Array (fits,), per report: no distribution has a larger mean log-likelihood
            by more than this.
        iterations: How many updates were made.
    """

    probabilities: Floats
    gaps: Floats
    iterations: int


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Distributions, with the results of one evaluation.

    Attributes:
        p: Array (fits, secrets).
        value: Array (fits,), the mean log-likelihood.
        updated: Array (fits, secrets), the next Bayesian update.
        gap: Array (fits,), max over s of the gradient, minus 1.
    """

    p: Floats
    value: Floats
    updated: Floats
    gap: Floats


def fit(matrix: Floats, frequencies: Floats, start: Floats, tolerances: Floats, budget: int) -> Fits:
    """Return maximum-likelihood fits by accelerated updates.

    An update multiplies p(s) by g(s) = sum over o of f(o) p(o|s) / p(o), the gradient of
    the mean log-likelihood; the mean of g under p is 1, so by concavity no distribution is
    better by more than max g - 1. Two updates are extrapolated (SQUAREM, scheme 3); where
    this loses likelihood, the two updates stand. So it never falls.

    Args:
        matrix: Array (secrets, columns); each column has a positive entry.
        frequencies: Array (fits, columns), rows sum to one.
        start: Array (fits, secrets), positive.
        tolerances: Array (fits,): the gaps at which to stop.
        budget: The most updates.

    Source:
        Varadhan and Roland, Scandinavian Journal of Statistics 35, 2008; Lindsay, "Mixture
        models", 1995 (the gradient bound).
    """
    p, gaps = start.copy(), np.full(len(start), np.inf)
    active = np.arange(len(p))
    used = 0
    while True:
        first = _at(matrix, frequencies[active], p[active])
        gaps[active] = first.gap
        open_ = first.gap > tolerances[active]
        used += 1
        if not open_.any() or used + 2 > budget:
            return Fits(p, gaps, used)
        active, first = active[open_], _some(first, open_)
        second = _at(matrix, frequencies[active], first.updated)
        third = _at(matrix, frequencies[active], _extrapolated(first.p, second.p, second.updated))
        used += 2
        better = third.value >= second.value
        p[active] = np.where(better[:, None], third.updated, second.updated)


def updates(matrix: Floats, frequencies: Floats, start: Floats, count: int) -> Fits:
    """Return what exactly ``count`` plain updates give, with the gaps there."""
    p = start
    for _ in range(count):
        p = _at(matrix, frequencies, p).updated
    return Fits(p, _at(matrix, frequencies, p).gap, count)


def _at(matrix: Floats, frequencies: Floats, p: Floats) -> _Point:
    received = p @ matrix
    gradient = (frequencies / received) @ matrix.T
    updated = np.maximum(p * gradient, LEAST)
    updated /= updated.sum(axis=1, keepdims=True)
    value = (frequencies * np.log(received)).sum(axis=1)
    return _Point(p, value, updated, gradient.max(axis=1) - 1.0)


def _some(point: _Point, chosen: NDArray[np.bool_]) -> _Point:
    return _Point(point.p[chosen], point.value[chosen], point.updated[chosen], point.gap[chosen])


def _extrapolated(p0: Floats, p1: Floats, p2: Floats) -> Floats:
    """Return the point to which two updates lead if they go on, step length -|r| / |v|, at least 1."""
    r, v = p1 - p0, p2 - 2 * p1 + p0
    length = np.sqrt((r**2).sum(axis=1) / np.maximum((v**2).sum(axis=1), 1e-300))
    a = np.maximum(length, 1.0)[:, None]
    point = np.maximum(p0 + 2 * a * r + a**2 * v, _KEPT * p2)  # not to lose a secret by one long step
    nearest: Floats = point / point.sum(axis=1, keepdims=True)
    return nearest
