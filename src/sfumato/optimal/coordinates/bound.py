"""Lower bound on the loss of every mechanism with a guarantee per metre."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket, Loss, Mechanism, Metric, MetricPrivacy, Prior, Space, units
from ...core.arguments import check_arguments
from ...core.arrays import Floats, floats, freeze
from ...core.immutable import Immutable, assign
from ...errors import InputError, SolverError, argument
from ...geo import Projection, Visits
from ...mechanisms import repair_to_private
from ...proofs import expected_loss_above, prove_metric_privacy
from ...rounding import UNIT, amount_at_least, amount_at_most, down, exactly, percent_at_most, plural, up
from ..program_design import solve_program
from ..result import Design
from ..solver import Stop, checked_time_limit
from .costs import KINDS, Mesh, PlaceGroups, lower_costs, points_inside, true_costs

_CORNERS: Final = 60  # of the first mesh
_GROWTH: Final = 0.8  # triangles are quartered at the corners with this share of the understated loss
_LATE: Final = 2.0  # a round that is expected to take more than this times the time left is not begun
_PER_ROOT_SECOND: Final = 20  # secrets
_PER_PAIR_S: Final = 1.5e-5  # of secrets, for a proof that a mechanism is private
_SHORT_S: Final = 1.0  # a proof that is always made
_PROOF: Final = 0.15  # of the time: more secrets than it takes to prove for are not used
_LEAST_GAP: Final = 1e-4  # of the programs
_SHARE_OF_GAP: Final = 0.2
_PATIENCE: Final = 2  # rounds without a better bound


def on_plane(places: Visits | ArrayLike) -> tuple[Floats, float]:
    """Return places on a plane, metres (n, 2), and its stretch; raise `InputError` for none.

    Within twice the places' distance from the centre, distances on the ground are no longer than on the plane, and
    at least those divided by the stretch.
    """
    if not isinstance(places, Visits):
        metres = floats(places, "the places", shape=(None, 2))
        if len(metres) == 0:
            raise InputError("there are no places.", "pass at least one.")
        return metres + 0.0, 1.0  # no negative zeros: they are the same place
    projection = Projection(*places.region().centre)
    xy = projection.forward(places.lat, places.lon)
    projection.check_reach(xy)
    reach = 2 * float(np.hypot(*xy.T).max()) * (1 + 1e-9)
    return xy, projection.stretch(reach)


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a bound."""

    corners: int  # reports in the program
    bound: float  # the bound of this round, in the unit of the answer
    understated: float  # about how much of the loss the program's costs leave out
    seconds: float  # since the start


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoordinateBound(Immutable):
    """Lower bound on the expected loss of any mechanism that keeps a promise per unit of distance.

    "Any" has no exception: reports may be points, cells or anything else that is read as a point of the plane,
    finitely many or not. The promise is M(x, B) <= e^(epsilon |x - x'|) M(x', B) for all of the places, all points
    in ``empty``, and all sets B of reports.

    Attributes:
        epsilon: The promise, per ``unit``.
        unit: The unit of lengths, such as ``"km"``.
        loss: ``euclidean`` or ``squared``.
        least: The least expected loss, in `loss_unit`. Its lower end, also its value, is proved for every
            mechanism. Its upper end, where finite, is the proved loss of a mechanism that keeps the promise
            between these places (not between all points of the plane).
        places: The distinct places, array (n, 2), metres.
        weights: Their shares, array (n,), with sum one.
        rows: Index of each given place among the distinct ones, array (visits,).
        heads: How many of the places are secrets of the program; each other one is represented by a nearby secret.
        empty: How many points without visits are secrets too.
        radius: The largest distance from a place to its secret, in ``unit``.
        log: The rounds.
        seconds: The time it took.
    """

    epsilon: float
    unit: str
    loss: str
    least: Bracket
    places: Floats
    weights: Floats
    rows: NDArray[np.intp]
    heads: int
    empty: int
    radius: float
    log: tuple[Round, ...]
    seconds: float

    def __post_init__(self) -> None:
        assign(self, **{name: freeze(getattr(self, name)) for name in ("places", "weights", "rows")})

    @property
    def loss_unit(self) -> str:
        """The unit of the loss."""
        return self.unit if self.loss == "euclidean" else f"{self.unit}^2"

    @property
    def lower(self) -> float:
        """The proved bound: no mechanism with the promise loses less."""
        return self.least.lower

    @property
    def sentence(self) -> str:
        """The proved statement, in words."""
        least, where = amount_at_least(self.lower, self.loss_unit), _count_places(len(self.rows), len(self.places))
        promise = f"No mechanism that keeps epsilon {exactly(self.epsilon)}/{self.unit} between all points can"
        if self.loss == "squared":
            return f"{promise} have a mean squared distance of less than {least} on these {where}."
        return f"{promise} lose less than {least} on average on these {where}."

    @check_arguments
    def excess(self, loss: float | ArrayLike) -> float:
        """Return an upper bound of the share by which a mechanism's loss on these places exceeds the least.

        ``loss`` is the mechanism's expected loss of the true point, in `loss_unit`: the mean over the places
        given, or an array with one value for each. The share is ``inf`` where the bound is 0. Raises `InputError`
        if the loss is less than any mechanism with the promise can lose, or does not fit the places.
        """
        mean = self._mean(loss)
        if mean < self.lower:
            raise InputError(
                f"a loss of {amount_at_most(mean, self.loss_unit)} was given, but no mechanism with this promise "
                f"loses less than {amount_at_least(self.lower, self.loss_unit)} on these places.",
                "give the mechanism's expected loss on the same places, and a mechanism with the same promise.",
            )
        if self.lower <= 0:
            return 0.0 if mean <= 0 else math.inf
        return max(0.0, mean / self.lower * (1 + 4 * UNIT) - 1 + 4 * UNIT)

    def comparison(self, loss: float | ArrayLike) -> str:
        """Return the sentence on how near a mechanism's loss is to the least; see `excess`."""
        share = self.excess(loss)
        if math.isinf(share):
            return "How near it is to the best that any mechanism of this epsilon could do is not known."
        return (
            f"It is within {percent_at_most(share)} of the best that any mechanism of this epsilon could do "
            "on these places."
        )

    def _mean(self, loss: float | ArrayLike) -> float:
        if np.ndim(loss) == 0:
            return float(floats(np.atleast_1d(np.asarray(loss)), "the loss", shape=(1,))[0])
        values = floats(loss, "the losses", shape=(len(self.rows),))
        share = self.weights[self.rows] / np.bincount(self.rows)[self.rows]
        return float(share @ values) * (1 + (len(values) + 8) * UNIT)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return (
            f"CoordinateBound: epsilon {exactly(self.epsilon)}/{self.unit}, {self.loss} loss at least "
            f"{amount_at_least(self.lower, self.loss_unit)} on {_count_places(len(self.rows), len(self.places))}"
        )


def _count_places(visits: int, distinct: int) -> str:
    places = plural(distinct, "place")
    return places if visits == distinct else f"{plural(visits, 'visit')} to {places}"


Progress = Callable[[Round], None]


@check_arguments
def coordinate_bound(
    places: Visits | ArrayLike,
    epsilon: str | float,
    loss: str = "euclidean",
    *,
    weights: ArrayLike | None = None,
    unit: str = "km",
    points: int | None = None,
    empty: int = 0,
    gap: float = 5e-3,
    time_limit: float = 60.0,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> CoordinateBound:
    """Return a proved lower bound of the loss of every mechanism that keeps a promise per metre.

    No mechanism M with M(x, B) <= e^(epsilon |x - x'|) M(x', B) for all of the places x, x' and all sets B of
    reports, for any kind of reports, has a smaller expected distance from the true place to the report.

    The bound is the optimum of a design whose reports are the corners of a mesh, with costs that no report in
    between can beat. The mesh is refined where the optimum reports, until the gap or the time limit is reached. Of
    many places, near ones are represented by one, which loosens the bound a little. Raises `InputError` if a
    place, a weight, epsilon or an option cannot be used, or the loss is another one. Raises `UnitError` if epsilon
    is not per length.

    Args:
        places: Visits, or an array (n, 2) of metres on a plane with Euclidean distances.
        epsilon: Per length: text such as ``"1/km"``; a number is per ``unit``.
        loss: ``euclidean``, the distance to the report, or ``squared``.
        weights: Array (n,), the weight of each place; by default equal. A place of weight zero adds its promise to
            the others' and never lowers the bound.
        unit: The unit of the answer.
        points: The most places that are secrets of the program; by default, and at most, what the time allows.
        empty: About how many points without visits are secrets too, spread over the convex hull of the places. The
            bound then holds for mechanisms that keep the promise for all points of the hull; it is larger where
            places are sparse relative to 1 / epsilon.
        gap: The search ends where the mesh understates the loss by less than this share.
        time_limit: Seconds; the best bound so far is returned when they are over.
        stop: Called from time to time; True has the same effect.
        progress: Called after each round.

    Source:
        docs/proofs/coordinate-bound.md.
    """
    start = time.monotonic()
    if loss not in KINDS:
        raise InputError(
            f"there is no bound over all mechanisms for the loss {loss!r}.", f"use one of {', '.join(KINDS)}."
        )
    rate, scale = units.parse(epsilon, per=True, unit=unit, subject="epsilon"), units.factor(unit, "m")
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"epsilon must be a positive number, but {rate:g} was given.", "use '1/km'.")
    checked_time_limit(time_limit)
    if not gap > 0:
        raise InputError(f"a gap of {gap} is not positive.", f"use {argument('gap', 0.005)}.")
    most = points if points is not None else max(10, int(_PER_ROOT_SECOND * math.sqrt(min(time_limit, 3600.0))))
    if most < 1:
        raise InputError(f"points={most} is not at least 1.", f"use {argument('points', 300)}, or leave it out.")
    if empty < 0:
        raise InputError(f"empty={empty} is negative.", f"use {argument('empty', 50)}, or 0 for none.")
    provable = max(10, int(math.sqrt(_PROOF * time_limit / _PER_PAIR_S)))
    most, empty = min(most, provable), min(empty, provable)
    metres, stretch = on_plane(places)
    distinct, rows = np.unique(metres, axis=0, return_inverse=True)
    rows = np.asarray(rows, dtype=np.intp).ravel()
    shares = _shares(rows, weights)
    standing, inside = PlaceGroups.of(distinct, shares, most), points_inside(distinct, empty)
    groups = standing.extend(inside)
    square = loss == "squared"
    unit_of_loss = scale * scale if square else scale
    halt = stop or (lambda: False)
    search = _Search(groups, loss, rate / scale, gap, unit_of_loss, start, start + time_limit, halt, progress)
    search.run()
    terms = len(rows) + 16  # roundings of the shares, of their sum and of what follows
    of_loss = stretch**2 if square else stretch
    lower = max(0.0, down(search.best / of_loss / unit_of_loss * (1 - 2 * terms * UNIT)))
    upper = search.proved_loss(stretch) / unit_of_loss * (1 + 2 * terms * UNIT)
    radius = up(float(groups.away.max()) / scale)
    return CoordinateBound(
        rate,
        units.canonical(unit),
        loss,
        Bracket(lower, lower, max(upper, lower)),
        distinct,
        shares,
        rows,
        len(standing.heads),
        len(inside),
        radius,
        tuple(search.log),
        time.monotonic() - start,
    )


def _shares(rows: np.ndarray[tuple[int], np.dtype[np.intp]], weights: ArrayLike | None) -> Floats:
    counts = np.ones(len(rows)) if weights is None else floats(weights, "the weights", shape=(len(rows),))
    if (counts < 0).any() or not counts.any():
        raise InputError("a weight is negative or all are zero.", "use weights of at least 0, such as counts.")
    # By the largest first: sums of large weights may overflow.
    totals = np.bincount(rows, counts / counts.max())
    return np.asarray(totals / totals.sum())


@dataclass(slots=True)
class _Search:
    """The rounds: a program, its proof, a finer mesh."""

    groups: PlaceGroups
    kind: str
    epsilon: float  # per metre
    gap: float
    unit: float  # of the loss, in metres or square metres
    start: float
    deadline: float
    stop: Stop
    progress: Progress | None
    best: float = 0.0
    least: float = math.inf  # expected loss of the mechanism found
    log: list[Round] = field(default_factory=list)
    solution: tuple[Design, Mesh] | None = None

    def run(self) -> None:
        """Solve on finer and finer meshes until the gap is reached, the time is over, or nothing improves."""
        groups = self.groups
        heads, shares = groups.points, groups.shares
        prior = Prior(Space(range(len(heads))), shares / shares.sum())
        promise = MetricPrivacy(self.epsilon, Metric(groups.distances, name="distance", triangle=True))
        mesh = Mesh.covering(groups.places, _CORNERS)
        thresholds = np.zeros(len(groups.places))
        idle, least_shortage = 0, math.inf
        while idle < _PATIENCE:
            begin = time.monotonic()
            costed = groups.costs(mesh, self.kind, self.epsilon, thresholds, self.is_over)
            if costed is None:
                return
            costs, constant = costed
            design = self._solve(prior, promise, costs)
            if design is None:
                return
            bound, matrix = design.certificate.bound + constant, design.matrix
            at_corners = true_costs(heads, mesh.corners, self.kind)
            left_out = prior.probabilities @ (matrix * (at_corners - lower_costs(heads, mesh, self.kind)))
            shortage, total = float(left_out.sum()), float(prior.probabilities @ (matrix * at_corners).sum(axis=1))
            better = bound > self.best + 0.25 * self.gap * abs(bound) or shortage < 0.9 * least_shortage
            idle = 0 if better else idle + 1
            self.best, least_shortage = max(self.best, bound), min(least_shortage, shortage)
            if total < self.least:
                self.least, self.solution = total, (design, mesh)
            now = time.monotonic()
            self.log.append(Round(len(mesh), bound / self.unit, shortage / self.unit, now - self.start))
            if self.progress is not None:
                self.progress(self.log[-1])
            untried = len(groups.heads) < len(groups.places) and not thresholds.any()
            enough = shortage <= self.gap * total
            finer = mesh if enough else mesh.quarter(mesh.around(_largest(left_out)))
            if len(finer) == len(mesh) and not untried:
                return
            if self.stop() or (now - begin) * len(finer) / len(mesh) > _LATE * (self.deadline - now):
                return
            thresholds = groups.thresholds(matrix, mesh, self.kind, self.epsilon, self.is_over)
            mesh = finer

    def _solve(self, prior: Prior, promise: MetricPrivacy, costs: Floats) -> Design | None:
        """Return the design for the costs; None if there is no time for one."""
        left = self.deadline - time.monotonic() - self.proof_seconds
        if left <= 0 or self.stop():
            return None
        try:
            return solve_program(
                prior,
                loss=Loss(costs),
                guarantees=promise,
                observables=Space(range(costs.shape[1])),
                gap=max(_LEAST_GAP, _SHARE_OF_GAP * self.gap),
                tie_break=False,
                time_limit=left,
                stop=self.stop,
            )
        except (SolverError, InputError):  # no answer, or no proof, in the time that is left
            return None

    @property
    def proof_seconds(self) -> float:
        return _PER_PAIR_S * len(self.groups.heads) ** 2

    def is_over(self) -> bool:
        return time.monotonic() > self.deadline or self.stop()

    def proved_loss(self, stretch: float) -> float:
        """Return the proved loss of a mechanism that satisfies the promise between the places; ``inf`` without."""
        groups = self.groups
        if self.solution is None or len(groups.heads) < len(groups.places):
            return math.inf
        if time.monotonic() + self.proof_seconds > self.deadline and self.proof_seconds > _SHORT_S:
            return math.inf
        design, mesh = self.solution
        near = groups.distances * ((1 - 2.0**-48) / stretch)
        matrix, _ = repair_to_private(design.matrix, self.epsilon * near)
        mechanism = Mechanism(matrix, design.mechanism.secrets, design.problem.observables)
        promise = MetricPrivacy(self.epsilon, Metric(near, name="distance", triangle=True))
        if not prove_metric_privacy(mechanism, promise).holds:
            return math.inf
        shares = groups.shares
        prior = Prior(mechanism.secrets, shares / shares.sum())
        return expected_loss_above(mechanism, prior, Loss(true_costs(groups.points, mesh.corners, self.kind)))


def _largest(shortage: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return the fewest corners, a mask (m,), with a good share of what the costs understate."""
    order = np.argsort(-shortage)
    sums = np.cumsum(shortage[order])
    marked = np.zeros(len(shortage), dtype=bool)
    marked[order[: int(np.searchsorted(sums, _GROWTH * sums[-1])) + 1]] = True
    return marked
