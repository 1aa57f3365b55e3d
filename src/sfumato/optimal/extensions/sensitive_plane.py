"""Mechanisms that reveal least about a sensitive value, with reports anywhere on the plane."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
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
_STEPS: Final = 1 << 20  # of the corners of rectangles, along each side
_ENTRIES: Final = 4_000_000  # secrets times rectangles: some gigabytes
_INNER: Final = 0.1  # of the wanted gap: that of each program
_USED: Final = 1e-5  # probability of a corner that the mechanism may report
_MINOR: Final = 1e-3  # of what the relaxation gains: at a corner with less, no rectangle is split
_SAFE_M: Final = 1e-6  # metres: float arithmetic is off by less
_CORNERS: Final = np.array([(0, 0), (1, 0), (0, 1), (1, 1)])
_AT_ONCE: Final = 1 << 20  # distances


@dataclass(frozen=True, slots=True, eq=False)
class _Partition:
    """Rectangles that cover the rectangle from the point ``low``; ``step`` is in metres, both of shape (2,)."""

    low: Floats
    step: Floats
    first: NDArray[np.intp]  # array (m, 2), the lower corner of each, in steps
    size: NDArray[np.intp]  # array (m,), the sides of each, in steps

    @classmethod
    def of_extent(cls, points: Floats) -> _Partition:
        """Return equal rectangles that cover the extent of points."""
        low, high = points.min(axis=0), points.max(axis=0)
        size = _STEPS // _SIDE
        ticks = np.arange(_SIDE, dtype=np.intp) * size
        first = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
        step = np.maximum(high - low, _SAFE_M) / _STEPS
        return cls(low, step, first, np.full(len(first), size))

    @property
    def parts(self) -> Floats:
        """The middle and half the sides of each rectangle in metres, array (m, 4)."""
        half = self.size[:, None] / 2
        return np.column_stack([self.low + (self.first + half) * self.step, half * self.step])

    @property
    def corners(self) -> tuple[Floats, NDArray[np.intp]]:
        """The distinct corners in metres, array (k, 2), and the positions of those of each rectangle, (m, 4)."""
        every = self.first[:, None] + _CORNERS * self.size[:, None, None]
        distinct, where = np.unique(every.reshape(-1, 2), axis=0, return_inverse=True)
        return self.low + distinct * self.step, where.reshape(-1, 4)

    def split(self, where: NDArray[np.bool_]) -> _Partition:
        """Return a partition in which some rectangles, array (m,), are divided into four."""
        first, half = self.first[where], self.size[where] // 2
        quarters = [first + corner * half[:, None] for corner in _CORNERS]
        return replace(
            self,
            first=np.concatenate([self.first[~where], *quarters]),
            size=np.concatenate([self.size[~where], np.tile(half, 4)]),
        )


def least_leak_on_plane(
    joint: ArrayLike,
    places: Places,
    points: ArrayLike,
    secrets: ArrayLike,
    max_loss_m: float,
    *,
    objective: str = VULNERABILITY,
    gap: float = 0.01,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
) -> SensitiveDesign:
    """Return a mechanism of nearly the least leak within a loss, with a bound for reports anywhere on the plane.

    The loss is the mean distance from points to the report. A report outside the rectangle around the points is no
    better than the nearest one inside. The rectangle is covered by smaller ones. A report moves to a random corner
    of its rectangle, with the report as the mean. This reveals no more, and adds a loss of second order. So the
    least leak of reports at corners, with this excess taken from their losses, bounds the leak of every mechanism.
    Rectangles with much excess are split until the bound is near the leak of a mechanism, or there are too many.

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
    bound, unfinished = 0.0, True

    def at(losses: Floats, space: Space, limit_m: float = max_loss_m) -> SensitiveDesign:
        cost = Loss(losses, "m", true_point="euclidean")
        left = max(deadline - time.monotonic(), 1e-3)
        return solve(joint, places, cost, limit_m, observables=space, gap=_INNER * gap, time_limit=left, stop=halt)

    def at_reports(reports: Floats) -> SensitiveDesign:
        space = report_space(places, reports)
        return at(_mean_losses(true, places, places.on_plane(space)), space)

    support = np.flatnonzero(weights > 0)
    medians = median_reports(np.eye(len(places))[:, support], true)
    best = at_reports(np.concatenate([medians, np.asarray(places.coordinates)]))  # or the limit is out of reach
    partition = _Partition.of_extent(np.concatenate([true.xy, _centres_of_empty(true, places, weights)]))
    while True:
        corners, where = partition.corners
        excess = _mean_excess(true, places, partition.parts)
        most = np.zeros((len(places), len(corners)))
        for column in where.T:
            np.maximum.at(most.T, column, excess.T)
        shift = float(most.max()) + 2 * _SAFE_M  # a loss is not negative
        losses = _mean_losses(true, places, corners) - most + (shift - _SAFE_M)
        relaxed = at(losses, Space(range(len(corners))), max_loss_m + shift)
        bound = max(bound, relaxed.lower_bound)
        mass = weights[:, None] * relaxed.mechanism.matrix
        try:
            design = at_reports(np.concatenate([medians, corners[mass.sum(axis=0) > _USED]]))
            best = min(best, design, key=lambda design: design.value)
        except SolverError:
            break
        unfinished = best.value - bound > gap * max(best.value, best.problem.negligible)
        if not unfinished or halt() or time.monotonic() > deadline:
            break
        gain = (mass * most).sum(axis=0)
        parts = np.stack([np.einsum("ij,ij->j", mass[:, column], excess) for column in where.T], axis=1)
        # A corner has at most four rectangles, and one of them has a quarter of its gain or more.
        split = ((parts >= gain[where] / 4) & (gain > _MINOR * gain.sum())[where]).any(axis=1)
        split &= partition.size > 1
        if not split.any() or (len(split) + 3 * int(split.sum())) * len(places) > _ENTRIES:
            break
        partition = partition.split(split)
    status = Status.INACCURATE if unfinished else Status.OPTIMAL
    if unfinished and (halt() or time.monotonic() > deadline):
        status = Status.INTERRUPTED if halt() else Status.TIME_LIMIT
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


def _centres_of_empty(true: TruePoints, places: Places, weights: Floats) -> Floats:
    """Return the centres of the secrets that occur but have no points, array (k, 2)."""
    empty = np.asarray(true.masses.sum(axis=0)) == 0
    return np.asarray(np.asarray(places.coordinates)[empty & (weights > 0)])


def _mean_losses(true: TruePoints, places: Places, reports: Floats) -> Floats:
    """Return the mean distance in metres from the points of each secret to reports, array (n, m)."""
    return _means(true, places, len(reports), lambda xy: _distances(xy, reports, np.zeros(2)))


def _mean_excess(true: TruePoints, places: Places, parts: Floats) -> Floats:
    """Return how much more a corner costs each secret than a report in a part, at most, array (n, m), metres.

    The corner is random with the report as its mean, so its mean square distance from the report is at most the
    square of half the diagonal h. At a distance d of a point from the part the excess is at most sqrt(d**2 + h**2)
    - d, by Jensen's inequality.
    """
    half = np.hypot(*parts[:, 2:].T)

    def excess(xy: Floats) -> Floats:
        apart = _distances(xy, parts[:, :2], parts[:, 2:])
        return np.asarray(half * half / (np.hypot(apart, half) + apart))

    return _means(true, places, len(parts), excess)


def _means(true: TruePoints, places: Places, columns: int, measure: Callable[[Floats], Floats]) -> Floats:
    """Return the mean of a measure over the points of each secret, array (n, columns)."""
    total = np.zeros((len(places), columns))
    tall = max(1, _AT_ONCE // columns)
    for start in range(0, len(true.xy), tall):
        rows = slice(start, start + tall)
        total += true.masses[rows].T @ measure(true.xy[rows])
    masses = np.asarray(true.masses.sum(axis=0))
    empty = masses == 0
    total[~empty] /= masses[~empty, None]
    total[empty] = measure(np.asarray(places.coordinates)[empty])
    return total


def _distances(xy: Floats, middles: Floats, half: Floats) -> Floats:
    """Return the distances of points to rectangles, array (k, m)."""
    apart = np.maximum(np.abs(xy[:, None] - middles[None]) - half, 0.0)
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))
