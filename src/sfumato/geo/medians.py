"""Geometric medians of many posteriors on the same points at once, close to the best."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..core.arrays import Floats

_STEPS: Final = 60
_PAIRS: Final = 1 << 15  # of posteriors and points at a time
_FEW: Final = 256  # points of which all are tried
_GAIN: Final = 0.05  # of the tolerance: steps that gain less end the search
_THIN: Final = 0.7  # rows that have ended are left out as soon as so few are left
_FLAT: Final = 1e-9
_BLUNT: Final = 30  # times the tolerance: a first search that no single point stops
_FAR: Final = 50.0  # Newton's step is not trusted where it is so many times Weiszfeld's


def medians(points: Floats, weights: Floats, starts: Floats, tolerance: float) -> Floats:
    """Return points of nearly least weighted distance, array (m, 2).

    Weiszfeld's and Newton's steps on sqrt(|x - y|**2 + t**2), t the tolerance, whose least value is
    at most t above the true one; a step that does not improve is taken back. At the end
    a given point is taken where it is no worse.

    Args:
        points: Array (n, 2).
        weights: Array (m, n), at least 0, each row of a positive sum.
        starts: Array (m, 2).
        tolerance: A length: how close the mean distance should come to the least; not proved.
    """
    found = np.empty_like(starts)
    tall = max(1, _PAIRS // len(points))
    for first in range(0, len(weights), tall):
        rows = slice(first, first + tall)
        share = weights[rows] / weights[rows].sum(axis=1, keepdims=True)
        near = starts[rows]
        for length in (_BLUNT * tolerance, tolerance):
            near = _descended(points, share, near, length)
        found[rows] = _or_given(points, share, near)
    return found


def _descended(x: Floats, w: Floats, start: Floats, tolerance: float) -> Floats:
    """Return points from which the smoothed mean distance hardly falls any more."""
    best, value = start.copy(), np.full(len(start), np.inf)
    steady = np.zeros_like(start)  # Weiszfeld's step from the best point so far
    y, rows = start.copy(), np.arange(len(start))
    for _ in range(_STEPS):
        here, weiszfeld, step, gain = _steps(x, w, y, tolerance)
        better = here < value[rows]
        up, back = rows[better], rows[~better]
        value[up], best[up], steady[up] = here[better], y[better], weiszfeld[better]
        y[better] += step[better]
        y[~better] = best[back] + steady[back]
        steady[back] /= 2  # where that is no better either, floats are at their limits
        going = np.where(better, gain > _GAIN * tolerance, np.hypot(*steady[rows].T) > _GAIN * tolerance)
        if not going.any():
            break
        if going.sum() < _THIN * len(rows):
            rows, y, w = rows[going], y[going], w[going]
    return best


def _steps(x: Floats, w: Floats, y: Floats, tolerance: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the smoothed mean distance from each y, Weiszfeld's step, the step to take, and what it gains."""
    length = x[:, 0] - y[:, :1]
    length *= length
    other = x[:, 1] - y[:, 1:]
    other *= other
    length += other
    length += tolerance**2
    np.sqrt(length, out=length)
    here = np.einsum("ij,ij->i", w, length)
    pull = np.divide(w, length, out=other)
    mass = pull @ np.column_stack([np.ones(len(x)), x])
    weiszfeld = mass[:, 1:] / mass[:, :1] - y
    length *= length
    pull /= length
    a, b = y[:, 0], y[:, 1]
    n, e, f, ee, ef, ff = (pull @ np.column_stack([np.ones(len(x)), x, x[:, :1] * x, x[:, 1] ** 2])).T
    p = mass[:, 0] - (ee - 2 * a * e + a * a * n)
    q = mass[:, 0] - (ff - 2 * b * f + b * b * n)
    r = ef - a * f - b * e + a * b * n
    force = weiszfeld * mass[:, :1]
    determinant = p * q - r * r
    newton = np.column_stack([q * force[:, 0] + r * force[:, 1], p * force[:, 1] + r * force[:, 0]])
    newton /= np.where(determinant > 0, determinant, np.inf)[:, None]
    trusted = (determinant > _FLAT * mass[:, 0] ** 2) & (np.hypot(*newton.T) < _FAR * np.hypot(*weiszfeld.T))
    step: Floats = np.where(trusted[:, None], newton, weiszfeld)
    return here, weiszfeld, step, np.einsum("ij,ij->i", step, force)


def _or_given(x: Floats, w: Floats, y: Floats) -> Floats:
    """Return a given point instead of y where one is no worse: the nearest, the heaviest, or of few any."""
    found, least = y, np.einsum("ij,ij->i", w, _distances(x, y))
    if len(x) <= _FEW:
        every = w @ _distances(x, x)
        candidates = [np.argmin(every, axis=1)]
    else:
        candidates = [np.argmin(_distances(x, y), axis=1), np.argmax(w, axis=1)]
    for chosen in candidates:
        value = np.einsum("ij,ij->i", w, _distances(x, x[chosen]))
        better = value <= least
        found, least = np.where(better[:, None], x[chosen], found), np.minimum(value, least)
    return found


def _distances(x: Floats, y: Floats) -> Floats:
    """Return the distance of each y to each x, array (m, n)."""
    found: Floats = np.sqrt((x[:, 0] - y[:, :1]) ** 2 + (x[:, 1] - y[:, 1:]) ** 2)
    return found
