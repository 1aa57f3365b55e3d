"""Mechanisms that reveal least about a sensitive value, with reports anywhere on the plane."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from ...core import Loss, Mechanism, Space
from ...core.arrays import Floats
from ...errors import InfeasibleError, SolverError
from ...geo import Places, TruePoints
from ..solver import Status, Stop, check_gap, checked_time_limit
from .free_reports import median_reports, report_space
from .sensitive import SearchEnd, least_information, least_vulnerability, prove_best
from .sensitive_problem import VULNERABILITY, SensitiveDesign

_SIDE: Final = 16  # rectangles along each side, at first
_MOST: Final = 2_000  # rectangles: some ten seconds
_INNER: Final = 0.1  # of the wanted gap: that of each program
_USED: Final = 1e-4  # probability of a rectangle that is split
_SAFE: Final = 1 - 1e-12  # of a distance, and
_SAFE_M: Final = 1e-6  # metres less: float arithmetic is off by less
_QUARTERS: Final = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)]) / 2
_AT_ONCE: Final = 1 << 20  # distances


def least_leak_on_plane(
    joint: ArrayLike,
    places: Places,
    points: ArrayLike,
    secrets: ArrayLike,
    max_loss_m: float,
    *,
    objective: str = VULNERABILITY,
    gap: float = 0.02,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
) -> SensitiveDesign:
    """Return a mechanism of nearly the least leak within a loss, with a bound for reports anywhere on the plane.

    The loss is the mean distance from points to the report. A report outside the rectangle around the points is no
    better than the nearest one inside. The rectangle is covered by smaller ones. If a report in one of them costs
    a point its distance to this rectangle, the least leak bounds that of every mechanism. Rectangles that are used
    are split until the bound is near the leak of a mechanism with reports at their middles, or there are too many.

    ``joint`` is P(x, w), array (classes, n), ``places`` the n values of W, and ``points``, array (k, 2), metres on
    their plane, belong to the secrets at the positions ``secrets``, array (k,). The objective is ``vulnerability``
    or ``information``, and the other arguments and errors are those of `least_vulnerability`. The strategy and the
    price of the result prove a bound for its own reports only.
    """
    check_gap(gap)
    deadline = time.monotonic() + checked_time_limit(time_limit)
    halt: Stop = stop or (lambda: False)
    solve = least_vulnerability if objective == VULNERABILITY else least_information
    true = _points_of(places, np.asarray(points, dtype=np.float64), np.asarray(secrets, dtype=np.intp))
    weights = np.asarray(joint, dtype=np.float64).sum(axis=0)
    low, high = true.xy.min(axis=0), true.xy.max(axis=0)
    half = np.maximum((high - low) / (2 * _SIDE), _SAFE_M)
    ticks = np.arange(_SIDE) * 2 + 1
    middles = low + half * np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    parts = np.column_stack([middles, np.tile(half, (len(middles), 1))])
    bound, unfinished = 0.0, True

    def at(losses: Floats, space: Space) -> SensitiveDesign:
        cost = Loss(losses, "m", true_point="euclidean")
        left = max(deadline - time.monotonic(), 1e-3)
        return solve(
            joint, places, cost, max_loss_m, observables=space, gap=_INNER * gap, time_limit=left, stop=halt
        )

    def at_reports(reports: Floats) -> SensitiveDesign:
        space = report_space(places, reports)
        return at(_mean_losses(true, places, places.on_plane(space), np.zeros(2)), space)

    support = np.flatnonzero(weights > 0)
    medians = median_reports(np.eye(len(places))[:, support], true)
    best = at_reports(np.concatenate([medians, np.asarray(places.coordinates)]))  # or the limit is out of reach
    while True:
        relaxed = at(_part_losses(true, places, parts), Space(range(len(parts))))
        bound = max(bound, relaxed.lower_bound)
        used = weights @ relaxed.mechanism.matrix > _USED
        try:
            design = at_reports(np.concatenate([medians, parts[_touching(parts, used), :2]]))
            best = min(best, design, key=lambda design: design.value)
        except SolverError:
            break
        unfinished = best.value - bound > gap * max(best.value, best.problem.negligible)
        if not unfinished or halt() or time.monotonic() > deadline:
            break
        if len(parts) + 3 * int(used.sum()) > _MOST:
            break
        size = parts[used, 2:] / 2
        quarters = [np.column_stack([parts[used, :2] + quarter * parts[used, 2:], size]) for quarter in _QUARTERS]
        parts = np.concatenate([parts[~used], *quarters])
    status = Status.INACCURATE if unfinished else Status.OPTIMAL
    best = _fill_rows(best, support)
    return replace(best, lower_bound=min(bound, best.value), status=status, free_reports=True)


def _fill_rows(design: SensitiveDesign, support: NDArray[np.intp]) -> SensitiveDesign:
    """Return a design in which a secret that never occurs is reported as the nearest one that does."""
    centres = np.asarray(design.problem.secrets.coordinates)
    nearest = support[cKDTree(centres[support]).query(centres)[1]]
    mechanism = design.mechanism
    likely = Mechanism(mechanism.matrix[nearest], mechanism.secrets, mechanism.observables)
    end = SearchEnd(design.strategy, design.price, design.status, design.log, design.rows)
    try:
        return prove_best(design.problem, (likely,), end, design.gap, design.seconds)
    except InfeasibleError:  # rounding of the integers
        return design


def _points_of(places: Places, points: Floats, secrets: NDArray[np.intp]) -> TruePoints:
    """Return the points with their secrets; a secret without points has one at its centre, of no mass."""
    shares = csr_array((np.ones(len(points)), (np.arange(len(points)), secrets)), shape=(len(points), len(places)))
    return TruePoints.of(points, shares)


def _mean_losses(true: TruePoints, places: Places, reports: Floats, half: Floats) -> Floats:
    """Return the mean distance in metres from the points of each secret to rectangles around reports, (n, m)."""
    total = np.zeros((len(places), len(reports)))
    tall = max(1, _AT_ONCE // len(reports))
    for start in range(0, len(true.xy), tall):
        rows = slice(start, start + tall)
        total += true.masses[rows].T @ _distances(true.xy[rows], reports, half)
    masses = np.asarray(true.masses.sum(axis=0))
    empty = masses == 0
    total[~empty] /= masses[~empty, None]
    total[empty] = _distances(np.asarray(places.coordinates)[empty], reports, half)
    return total


def _part_losses(true: TruePoints, places: Places, parts: Floats) -> Floats:
    """Return a lower bound of the mean distance from the points of each secret to any report in a part."""
    return np.maximum(_mean_losses(true, places, parts[:, :2], parts[:, 2:]) * _SAFE - _SAFE_M, 0.0)


def _distances(xy: Floats, reports: Floats, half: Floats) -> Floats:
    apart = np.maximum(np.abs(xy[:, None] - reports[None]) - half, 0.0)
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))


def _touching(parts: Floats, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which parts are used or touch one that is, array (m,)."""
    touching = used.copy()
    for part in parts[used]:
        near = np.abs(parts[:, :2] - part[:2]) <= (parts[:, 2:] + part[2:]) * (1 + 1e-9)
        touching |= near.all(axis=1)
    return touching
