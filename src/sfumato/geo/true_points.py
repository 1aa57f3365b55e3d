"""True points and the secrets they are taken for, the attacker's best guesses, and geometric medians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket
from ..core.arrays import Floats, distinct_points, floats, freeze, readonly
from ..core.immutable import CompactRepr, Immutable
from ..errors import InputError, SolverError
from ..rounding import UNIT, lower_end, upper_end

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

_MEDIAN_STEPS: Final = 1_000
_SHARES: Final = tuple(0.5**k for k in range(12))  # of Newton's step: near a given point a whole one is too long
_SUM_ROUNDING: Final = 2.0**-50  # of sums of distances, for each of their terms
# Of medians of many posteriors at once:
_MANY_STEPS: Final = 60
_PAIRS: Final = 1 << 15  # of posteriors and points at a time
_FEW: Final = 256  # points of which all are tried
_GAIN: Final = 0.05  # of the tolerance: steps that gain less end the search
_THIN: Final = 0.7  # rows that have ended are left out as soon as so few are left
_BLUNT: Final = 30  # times the tolerance: a first search that no single point stops
_FAR_STEP: Final = 50.0  # Newton's step is not trusted where it is so many times Weiszfeld's


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Guesses(CompactRepr):
    """The best guess of the true point for each report, anywhere on the plane; distances are metres.

    ``points`` are metres east and north, array (reports, 2), for an impossible report the best guess without one;
    ``value`` is the expected distance from the true point to its guess, and ``lower`` a proved bound for any
    guesses.
    """

    points: Floats
    value: float
    lower: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TruePoints(Immutable, CompactRepr):
    """Distinct points on the plane where people were, and the secrets they are taken for.

    ``xy`` is in metres east and north, array (k, 2), and ``masses``, sparse (k, n), the share of visits at this
    point that are taken for this secret, with sum one.
    """

    xy: Floats
    masses: csr_array

    def __post_init__(self) -> None:
        object.__setattr__(self, "xy", freeze(self.xy))

    @classmethod
    def of(cls, xy: Floats, shares: csr_array, times: NDArray[np.int64] | None = None) -> TruePoints:
        """Return points on the plane in metres, array (visits, 2), equal ones merged.

        ``shares`` are the probabilities with which each is taken for a secret, sparse (visits, n), and ``times``
        is how often each counts, array (visits,), by default once.
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
        """Return the points under other probabilities (n,) of the secrets, as they are distributed within each.

        A secret without visits is placed at its centre, array (n, 2), metres.
        """
        from scipy.sparse import csr_array, vstack

        totals = np.asarray(self.masses.sum(axis=0))
        gaps = np.flatnonzero((totals == 0) & (prior > 0))
        scale = np.divide(prior, totals, out=np.zeros_like(totals), where=totals > 0)
        more = csr_array((prior[gaps], (np.arange(len(gaps)), gaps)), shape=(len(gaps), len(prior)))
        masses = self.masses.multiply(scale[None, :])
        return TruePoints(np.concatenate([self.xy, centres[gaps]]), csr_array(vstack([csr_array(masses), more])))

    def guesses(self, channel: Floats, kind: str = "euclidean") -> Guesses:
        """Return the best guesses for the reports of a channel (n, reports), with a proved bound on any error.

        For the ``manhattan`` distance they are the medians of both coordinates.
        For each report o the mean distance F(y) of the true point from a guess y is convex in y. With unit vectors
        u from y towards the points x, s = E[u] over the points given o (where a point is y itself, any vector of
        length up to 1 may replace u), z their mean and the probability of o as the weight, the mean error of any
        guess is at least (F(y) - <s, z - y>) / (1 + |s|), by duality. It is F(y) itself where y is the median.
        """
        possible, points = self.masses.sum(axis=0) @ channel > 0, np.empty((channel.shape[1], 2))
        best = Guesses(np.empty((0, 2)), 0.0, 0.0)
        if possible.any():
            part = np.ascontiguousarray(channel[:, possible])
            best = _Search(self, part).run() if kind == "euclidean" else self._coordinate_medians(part)
        points[possible] = best.points
        if not possible.all():
            points[~possible] = self.guesses(np.ones((len(channel), 1)), kind).points
        return Guesses(points, best.value, best.lower)

    def _coordinate_medians(self, channel: Floats) -> Guesses:
        """Return the best guesses for the Manhattan distance; a median is wrong by no more mass than rounding."""
        medians, value, error = np.empty((channel.shape[1], 2)), 0.0, 0.0
        terms = len(self.xy) + channel.shape[0] + _ROUNDING
        for reports in blocks(channel.shape[1], len(self.xy)):
            for axis in (0, 1):
                order = np.argsort(self.xy[:, axis])
                ticks, masses = self.xy[order, axis], self.masses[order] @ channel[:, reports]
                sums = masses.cumsum(axis=0)
                middle = ticks[(2 * sums < sums[-1]).sum(axis=0)]
                medians[reports, axis] = middle
                value += float((masses * np.abs(ticks[:, None] - middle)).sum())
                error += 8 * terms * UNIT * float(sums[-1].sum()) * float(ticks[-1] - ticks[0])
        error += 4 * terms * UNIT * value
        return Guesses(medians, upper_end(value, error), max(0.0, lower_end(value, error)))

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
    mass: Floats  # (m,), mass at the guess itself
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
        value, lower, strong = here.value, self._dual_bounds(here, best, every), here.strong
        step, steady = self._steps(here)
        for number in range(_STEPS):
            open_ = np.flatnonzero(value - lower > _GAP * value)
            if float((value - lower).sum()) <= _GAP * float(value.sum()) or not len(open_):
                break
            trial = strong[open_] if number % 3 == 1 else best[open_] + step[open_]
            there = self._at(trial, open_)
            lower[open_] = np.maximum(lower[open_], self._dual_bounds(there, trial, open_))
            better = there.value < value[open_]
            rows = open_[better]
            best[rows], value[rows] = trial[better], there.value[better]
            newton, weiszfeld = self._steps(there)
            step[rows], steady[rows], strong[rows] = newton[better], weiszfeld[better], there.strong[better]
            if number % 3 != 1:
                stayed = open_[~better]
                step[stayed] = steady[stayed]
                steady[stayed] /= 2  # where that is no better either, floats are at their limits
        terms = len(self.points.xy) + self.channel.shape[0] + len(value)
        error = 2 * (terms + 64) * UNIT * float(value.sum())
        return Guesses(best, upper_end(float(value.sum()), error), max(0.0, lower_end(float(lower.sum()), error)))

    def _start(self) -> Floats:
        """Return medians of groups of near points; the masses of a group are at their mean."""
        from scipy.sparse import csr_array

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
        value, pull, mass, bend = np.zeros(m), np.zeros((m, 2)), np.zeros(m), np.zeros((m, 3))
        strong, most = y.copy(), np.zeros(m)
        for rows in blocks(len(points.xy), m):
            weight = points.masses[rows] @ channel
            dx, dy = (points.xy[rows, k, None] - y[None, :, k] for k in (0, 1))
            length = np.hypot(dx, dy)
            value += np.einsum("ij,ij->j", weight, length)
            there = length == 0
            mass += np.einsum("ij,ij->j", weight, there)
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
        return _At(value, pull, mass, bend, strong)

    def _steps(self, here: _At) -> tuple[Floats, Floats]:
        """Return steps towards the medians: Newton's where it can be trusted, and Weiszfeld's, which descend."""
        xx, xy, yy = here.bend.T
        force, trace, determinant = np.hypot(*here.pull.T), xx + yy, xx * yy - xy * xy
        free = np.maximum(force - here.mass, 0.0) / np.where(force > 0, force, 1.0)
        east, north = (here.pull * free[:, None]).T
        weiszfeld = np.column_stack([east, north]) / np.where(trace > 0, trace, 1.0)[:, None]
        sound = determinant > _FLAT * trace**2
        by = np.where(sound, determinant, 1.0)
        newton = np.column_stack([yy * east - xy * north, xx * north - xy * east]) / by[:, None]
        long, most = np.hypot(*newton.T), _FAR * np.hypot(*weiszfeld.T)
        newton *= np.minimum(1.0, most / np.where(long > 0, long, 1.0))[:, None]
        return np.where(sound[:, None], newton, weiszfeld), weiszfeld

    def _dual_bounds(self, here: _At, y: Floats, reports: Indices) -> Floats:
        """Return the dual bound of each report's mean distance, array (m,)."""
        mass, away = self.mass[reports], self.mean[reports] - y
        force = np.hypot(*here.pull.T)
        left = np.maximum(force - here.mass, 0.0) / np.where(force > 0, force, 1.0)
        rest = here.pull * left[:, None]
        bound = (here.value - np.einsum("ij,ij->i", rest, away)) / (1 + np.hypot(*rest.T) / mass)
        terms = len(self.points.xy) + self.channel.shape[0] + _ROUNDING
        error = 8 * terms * UNIT * (here.value + 4 * mass * (self.spread + np.hypot(*away.T)))
        return np.asarray(np.maximum(bound - error, 0.0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeometricMedian(CompactRepr):
    """The point of least weighted distance to given points.

    The value and the upper bound of ``total``, the least weighted sum of distances, are the sum at this point; no
    point has a sum below the lower bound, up to rounding.
    """

    point: Floats
    total: Bracket


def geometric_median(points: ArrayLike, weights: ArrayLike, tolerance: float = 1e-9) -> GeometricMedian:
    """Return the point y of least F(y) = sum of w(i) |x(i) - y|.

    If the best of the given points is not optimal, Weiszfeld's steps start from it, and Newton's replace them
    where they are better. They stop by a bound: with u(i) the unit vector from y to x(i) and g = |sum of w(i)
    u(i)|, no point is better than F(y) - g max |x(i) - y|, as F is convex and its least point lies among the x(i).
    Points are (n, k), weights (n,), at least 0 and not all 0, and the tolerance is the largest F(y) - lower,
    relative to F(y), at which to stop. Raises `InputError` if sizes differ, a weight is negative, all are zero, or
    the tolerance is not positive. Raises `SolverError` if the tolerance is below what floats reach.

    Source:
        Weiszfeld, 1937; the step off a given point: Vardi and Zhang, "The multivariate
        L1-median and associated data depth", 2000.

    Example:
        >>> from sfumato.mechanisms import geometric_median
        >>> geometric_median([[0, 0], [2, 0], [0, 2], [2, 2]], [1, 1, 1, 1]).point
        array([1., 1.])
    """
    w = floats(weights, "the weights", shape=(None,))
    x = floats(points, "the points", shape=(len(w), None))
    if (w < 0).any() or not w.any():
        raise InputError("a weight is negative or all are zero.", "use weights of at least 0.")
    if not tolerance > 0:
        raise InputError(f"the tolerance {tolerance} is not positive.", "use a number such as 1e-9.")
    x, w = x[w > 0], w[w > 0]
    values = [float(w @ np.linalg.norm(x - point, axis=1)) for point in x]
    return median_from(x, w, x[int(np.argmin(values))], tolerance)


def median_from(x: Floats, w: Floats, start: Floats, tolerance: float) -> GeometricMedian:
    """Return the median of points (n, k) of positive weights, from a start no worse than any of them.

    The sum of distances only falls, so no later point is a given one, where Weiszfeld's step is undefined. A
    tolerance below what floats reach is a `SolverError`.
    """
    y, lower = start, 0.0
    for step in range(_MEDIAN_STEPS):
        here = np.linalg.norm(x - y, axis=1)
        value = float(w @ here)
        elsewhere = here > 0  # the pull of all other points, and by how much it exceeds the weight at y itself
        pull: Floats = (w[elsewhere] / here[elsewhere]) @ (x[elsewhere] - y)
        rounding = _SUM_ROUNDING * len(w) * float(w[elsewhere].sum())
        excess = float(np.linalg.norm(pull)) - float(w[~elsewhere].sum())
        residual = excess + rounding if excess > 0 else 0.0
        lower = max(lower, value - residual * float(here.max()))
        if value - lower <= tolerance * value:
            return GeometricMedian(readonly(y.copy()), Bracket(lower, value, value))
        if step:
            y = _next(x, w, y, here, pull)
        else:  # Vardi and Zhang's step off a given point that is not optimal
            stiffness = float((w[elsewhere] / here[elsewhere]).sum())
            y = y + pull / stiffness * (residual / float(np.linalg.norm(pull)))
    raise SolverError(
        f"the median is only known to within {(value - lower) / value:.2g}, but {tolerance:g} was asked for.",
        "ask for a larger tolerance.",
    )


def _next(x: Floats, w: Floats, y: Floats, here: Floats, pull: Floats) -> Floats:
    """Return Newton's step, or a part of it, where it is better than Weiszfeld's, which always improves."""
    pulls = w / here
    steady: Floats = y + pull / pulls.sum()
    towards = (x - y) / here[:, None]
    curvature = pulls.sum() * np.eye(x.shape[1]) - (towards * pulls[:, None]).T @ towards
    if np.linalg.matrix_rank(curvature) < x.shape[1]:
        return steady
    newton = np.linalg.solve(curvature, pull)
    candidates = np.vstack([y + np.outer(_SHARES, newton), steady])
    best = int(np.argmin(np.linalg.norm(x[:, None] - candidates, axis=2).T @ w))
    return np.asarray(candidates[best])


def medians(points: Floats, weights: Floats, starts: Floats, tolerance: float) -> Floats:
    """Return points of nearly least weighted distance, array (m, 2).

    Weiszfeld's and Newton's steps minimise sqrt(|x - y|**2 + t**2), t the tolerance, whose least value is at most
    t above the true one. A step that does not improve is undone. At the end a given point is taken where it is no
    worse. Points are (n, 2), weights (m, n), at least 0 with rows of positive sums, and starts (m, 2). The
    tolerance is a target for the excess of the mean distance, as a length; it is not proved.
    """
    centres = np.empty_like(starts)
    tall = max(1, _PAIRS // len(points))
    for first in range(0, len(weights), tall):
        rows = slice(first, first + tall)
        share = weights[rows] / weights[rows].sum(axis=1, keepdims=True)
        near = starts[rows]
        for length in (_BLUNT * tolerance, tolerance):
            near = _descend(points, share, near, length)
        centres[rows] = _take_given(points, share, near)
    return centres


def _descend(x: Floats, w: Floats, start: Floats, tolerance: float) -> Floats:
    """Return points where the smoothed mean distance falls by no more than the tolerance."""
    best, value = start.copy(), np.full(len(start), np.inf)
    steady = np.zeros_like(start)  # Weiszfeld's step from the best point so far
    y, rows = start.copy(), np.arange(len(start))
    for _ in range(_MANY_STEPS):
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
    trusted = (determinant > _FLAT * mass[:, 0] ** 2) & (np.hypot(*newton.T) < _FAR_STEP * np.hypot(*weiszfeld.T))
    step: Floats = np.where(trusted[:, None], newton, weiszfeld)
    return here, weiszfeld, step, np.einsum("ij,ij->i", step, force)


def _take_given(x: Floats, w: Floats, y: Floats) -> Floats:
    """Return y, or a given point that is no worse: the nearest, the heaviest, or of few points any."""
    best, least = y, np.einsum("ij,ij->i", w, _distances(x, y))
    if len(x) <= _FEW:
        every = w @ _distances(x, x)
        candidates = [np.argmin(every, axis=1)]
    else:
        candidates = [np.argmin(_distances(x, y), axis=1), np.argmax(w, axis=1)]
    for candidate in candidates:
        value = np.einsum("ij,ij->i", w, _distances(x, x[candidate]))
        better = value <= least
        best, least = np.where(better[:, None], x[candidate], best), np.minimum(value, least)
    return best


def _distances(x: Floats, y: Floats) -> Floats:
    """Return the distance of each y to each x, array (m, n)."""
    return np.sqrt((x[:, 0] - y[:, :1]) ** 2 + (x[:, 1] - y[:, 1:]) ** 2)
