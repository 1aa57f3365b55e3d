"""True points: where people were, the secrets these points are taken for, and the attacker's best guesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats, distinct_points, freeze
from ..core.immutable import CompactRepr, Immutable
from ..rounding import UNIT, above, below

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Indices = NDArray[np.intp]

_ENTRIES: Final = 2_000_000  # points times targets at a time
_GROUPS: Final = 1200  # of near points, where guesses are first looked for
_ROUGH: Final = 1e-4  # of the spread: how near the first guesses should be
_STEPS: Final = 48  # of Newton's method, on all points
_GAP: Final = 1e-7  # relative, between an error and its bound: small enough
_FLAT: Final = 1e-9  # of the trace squared: no second derivative to rely on
_FAR: Final = 300.0  # times Weiszfeld's step: Newton's is not trusted beyond
_ROUNDING: Final = 64  # operations on each term of a sum, with room to spare

DISTANCES: Final[dict[str, Callable[[Floats, Floats], Floats]]] = {
    "euclidean": lambda a, b: np.hypot(a[:, None, 0] - b[None, :, 0], a[:, None, 1] - b[None, :, 1]),
    "manhattan": lambda a, b: np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2),
}
"""Distances on the plane, from arrays (n, 2) and (m, 2) to an array (n, m)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Guesses(CompactRepr):
    """The best guess of the true point for each report, anywhere on the plane.

    Attributes:
        points: Metres east and north, array (reports, 2); for an impossible report the best guess without one.
        value: The expected distance from the true point to its guess, metres.
        lower: A proved lower bound on the mean error of any guesses, metres.
    """

    points: Floats
    value: float
    lower: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TruePoints(Immutable, CompactRepr):
    """Distinct points on the plane where people were, and the secrets they are taken for.

    Attributes:
        xy: Metres east and north, array (k, 2).
        masses: Sparse (k, n): the share of visits at this point that are taken for this secret; sums to one.
    """

    xy: Floats
    masses: csr_array

    def __post_init__(self) -> None:
        object.__setattr__(self, "xy", freeze(self.xy))

    @classmethod
    def of(cls, xy: Floats, shares: csr_array, times: NDArray[np.int64] | None = None) -> TruePoints:
        """Return points, equal ones merged.

        Args:
            xy: Metres on the plane, array (visits, 2).
            shares: Sparse (visits, n), the probabilities with which each is taken for a secret.
            times: Array (visits,), how often each counts; by default once.
        """
        from scipy.sparse import csr_array

        distinct, where, _ = distinct_points(xy)
        visits = len(xy)
        counts = np.ones(visits) if times is None else times
        together = csr_array((counts / counts.sum(), (where, np.arange(visits))), shape=(len(distinct), visits))
        return cls(distinct, csr_array(together @ shares))

    def distances(self, targets: Floats, kind: str = "euclidean") -> Floats:
        """Return the mean over all visits of mass times distance, array (n, targets), metres."""
        total = np.zeros((self.masses.shape[1], len(targets)))
        for rows in blocks(len(self.xy), len(targets)):
            total += self.masses[rows].T @ DISTANCES[kind](self.xy[rows], targets)
        return total

    def under(self, prior: Floats, centres: Floats) -> TruePoints:
        """Return the points as they are under other probabilities (n,) of the secrets.

        The distribution within a secret stays. A secret without visits is placed at its centre, array (n, 2),
        metres.
        """
        from scipy.sparse import csr_array, vstack

        seen = np.asarray(self.masses.sum(axis=0))
        unseen = np.flatnonzero((seen == 0) & (prior > 0))
        scale = np.divide(prior, seen, out=np.zeros_like(seen), where=seen > 0)
        added = csr_array((prior[unseen], (np.arange(len(unseen)), unseen)), shape=(len(unseen), len(prior)))
        masses = self.masses.multiply(scale[None, :])
        return TruePoints(
            np.concatenate([self.xy, centres[unseen]]), csr_array(vstack([csr_array(masses), added]))
        )

    def guesses(self, channel: Floats) -> Guesses:
        """Return the best guesses for the reports of a channel (n, reports), with a proved bound on any error.

        For each report o the mean distance F(y) of the true point from a guess y is convex in y. With unit
        vectors u from y towards the points x, s = E[u] over the points given o (where a point is y itself, any
        vector of length up to 1 may replace u), z their mean and the probability of o as the weight, the mean
        error of any guess is at least (F(y) - <s, z - y>) / (1 + |s|), by duality. It is F(y) itself where y is
        the median.
        """
        possible = self.masses.sum(axis=0) @ channel > 0
        found = Guesses(np.empty((0, 2)), 0.0, 0.0)
        if possible.any():
            found = _Search(self, np.ascontiguousarray(channel[:, possible])).run()
        points = np.empty((channel.shape[1], 2))
        points[possible] = found.points
        if not possible.all():
            points[~possible] = self.guesses(np.ones((len(channel), 1))).points
        return Guesses(points, found.value, found.lower)

    @property
    def reach(self) -> float:
        """The largest distance of a point from the centre of the plane, metres."""
        return float(np.hypot(*self.xy.T).max())


def blocks(points: int, targets: int) -> list[slice]:
    """Return slices of points whose distances to all targets fit into memory."""
    tall = max(1, _ENTRIES // max(1, targets))
    return [slice(start, start + tall) for start in range(0, points, tall)]


@dataclass(slots=True)
class _At:
    """Mean distances of the reports' guesses, with derivatives."""

    value: Floats  # (m,), weighted by the probability of the report
    pull: Floats  # (m, 2), minus the gradient
    held: Floats  # (m,), mass at the guess itself
    bend: Floats  # (m, 3), the second derivatives: xx, xy, yy
    strong: Floats  # (m, 2), the point of most mass by distance: often the median itself


class _Search:
    """Newton's method for all reports at once, from medians of grouped points."""

    def __init__(self, points: TruePoints, channel: Floats) -> None:
        self.points, self.channel = points, channel
        moments = points.masses.T @ np.column_stack([np.ones(len(points.xy)), points.xy])
        sums = channel.T @ moments
        self.mass, self.mean = sums[:, 0], sums[:, 1:] / sums[:, :1]
        self.spread = float(np.hypot(*(points.xy - points.xy.mean(axis=0)).T).max())

    def run(self) -> Guesses:
        """Improve the guesses until they meet their bounds, or nothing improves."""
        best = self._start()
        every = np.arange(len(best))
        here = self._at(best, every)
        value, lower, strong = here.value, self._below(here, best, every), here.strong
        step, steady = self._steps(here)
        for number in range(_STEPS):
            open_ = np.flatnonzero(value - lower > _GAP * value)
            if float((value - lower).sum()) <= _GAP * float(value.sum()) or not len(open_):
                break
            tried = strong[open_] if number % 3 == 1 else best[open_] + step[open_]
            there = self._at(tried, open_)
            lower[open_] = np.maximum(lower[open_], self._below(there, tried, open_))
            better = there.value < value[open_]
            moved = open_[better]
            best[moved], value[moved] = tried[better], there.value[better]
            newton, weiszfeld = self._steps(there)
            step[moved], steady[moved], strong[moved] = newton[better], weiszfeld[better], there.strong[better]
            if number % 3 != 1:
                stayed = open_[~better]
                step[stayed] = steady[stayed]
                steady[stayed] /= 2  # where that is no better either, floats are at their limits
        terms = len(self.points.xy) + self.channel.shape[0] + len(value)
        error = 2 * (terms + 64) * UNIT * float(value.sum())
        return Guesses(best, above(float(value.sum()), error), max(0.0, below(float(lower.sum()), error)))

    def _start(self) -> Floats:
        """Return medians of groups of near points; the masses of a group are at their mean."""
        from scipy.sparse import csr_array

        from .spatial_median import medians

        xy, masses = self.points.xy, self.points.masses
        if len(xy) > _GROUPS:
            low, extent = xy.min(axis=0), float(np.ptp(xy, axis=0).max())
            side = extent / np.sqrt(_GROUPS)
            _, where, _ = distinct_points(np.floor((xy - low) / side))
            groups = int(where.max()) + 1
            into = csr_array((np.ones(len(xy)), (where, np.arange(len(xy)))), shape=(groups, len(xy)))
            weight = masses.sum(axis=1)
            xy = (into @ (xy * weight[:, None])) / (into @ weight)[:, None]
            masses = into @ masses
        posterior = np.ascontiguousarray((masses @ self.channel).T)
        tolerance = _ROUGH * max(self.spread, 1e-3)
        return medians(xy, posterior, self.mean, tolerance)

    def _at(self, y: Floats, reports: Indices) -> _At:
        m, points, channel = len(y), self.points, self.channel[:, reports]
        value, pull, held, bend = np.zeros(m), np.zeros((m, 2)), np.zeros(m), np.zeros((m, 3))
        strong, most = y.copy(), np.zeros(m)
        for rows in blocks(len(points.xy), m):
            weight = points.masses[rows] @ channel
            dx, dy = (points.xy[rows, k, None] - y[None, :, k] for k in (0, 1))
            length = np.hypot(dx, dy)
            value += np.einsum("ij,ij->j", weight, length)
            there = length == 0
            held += np.einsum("ij,ij->j", weight, there)
            length[there] = 1.0
            dx /= length
            dy /= length
            pull[:, 0] += np.einsum("ij,ij->j", weight, dx)
            pull[:, 1] += np.einsum("ij,ij->j", weight, dy)
            weight /= length
            weight[there] = 0.0
            first = np.argmax(weight, axis=0)
            stronger = weight[first, np.arange(m)] > most
            most[stronger] = weight[first, np.arange(m)][stronger]
            strong[stronger] = points.xy[rows][first[stronger]]
            bend[:, 0] += np.einsum("ij,ij,ij->j", weight, dy, dy)
            bend[:, 1] -= np.einsum("ij,ij,ij->j", weight, dx, dy)
            bend[:, 2] += np.einsum("ij,ij,ij->j", weight, dx, dx)
        return _At(value, pull, held, bend, strong)

    def _steps(self, here: _At) -> tuple[Floats, Floats]:
        """Return steps towards the medians: Newton's where it can be trusted, and Weiszfeld's, which descend."""
        xx, xy, yy = here.bend.T
        force, trace, determinant = np.hypot(*here.pull.T), xx + yy, xx * yy - xy * xy
        free = np.maximum(force - here.held, 0.0) / np.where(force > 0, force, 1.0)
        east, north = (here.pull * free[:, None]).T
        weiszfeld = np.column_stack([east, north]) / np.where(trace > 0, trace, 1.0)[:, None]
        sound = determinant > _FLAT * trace**2
        by = np.where(sound, determinant, 1.0)
        newton = np.column_stack([yy * east - xy * north, xx * north - xy * east]) / by[:, None]
        long, most = np.hypot(*newton.T), _FAR * np.hypot(*weiszfeld.T)
        newton *= np.minimum(1.0, most / np.where(long > 0, long, 1.0))[:, None]
        return np.where(sound[:, None], newton, weiszfeld), weiszfeld

    def _below(self, here: _At, y: Floats, reports: Indices) -> Floats:
        """Return the dual bound of each report's mean distance, array (m,)."""
        mass, away = self.mass[reports], self.mean[reports] - y
        force = np.hypot(*here.pull.T)
        left = np.maximum(force - here.held, 0.0) / np.where(force > 0, force, 1.0)
        rest = here.pull * left[:, None]
        found = (here.value - np.einsum("ij,ij->i", rest, away)) / (1 + np.hypot(*rest.T) / mass)
        terms = len(self.points.xy) + self.channel.shape[0] + _ROUNDING
        error = 8 * terms * UNIT * (here.value + 4 * mass * (self.spread + np.hypot(*away.T)))
        bound: Floats = np.maximum(found - error, 0.0)
        return bound
