"""Games of the true point with reports anywhere on the plane: reports at medians, mixed with a constant one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from ...core import WGS84, AnyLoss, Guarantee, Loss, Prior, Space, units
from ...core.arrays import Floats
from ...core.naming import DISTORTION, EXPECTED
from ...errors import InfeasibleError, InputError, SolverError, python
from ...geo import DISTANCES, Guesses, Lattice, Places, TruePoints, Visits
from ...mechanisms import rate_distortion_of_loss
from ...proofs import Multipliers, Optimality, PlaceDistortion, prove_optimality, scope_text
from ...rounding import amount_at_least, amount_at_most, down, up
from ..problem import Problem, least_loss, limit_amount, most_distortion
from ..result import Design, SolvedProgram
from ..solver import Answer, Progress, Status, Stop, gap_of, prove_answer, with_promises
from .report_mesh import SolveAt, design_on_plane

_APART_M: Final = 0.1  # reports nearer to each other are one
_SAME_M: Final = 1e-3  # a constant report this near to another is that one
_PROJECTION_M: Final = 2e-6  # float arithmetic of the projection is off by less
_FEW: Final = 100  # reports with which the least information is sought
_ROUNDS: Final = 8  # of reports moved to medians
_ROOM: Final = 1e-7  # of a limit of the loss, left for rounding and repair
_MARGINS: Final = (1e-8, 1e-7, 1e-6, 1e-5)  # of a least error, above it
_NEAR: Final = 1e-3  # relative, of the loss of a mechanism of least information before its reports move
_FREE_GAP: Final = 1e-4  # of the designs of least loss that a game starts from
_UNUSED: Final = 1e-9  # probability of a report that no secret makes in practice
_SHARE: Final = 0.5  # of the loss that is sought: what the nearest of few reports should lose


def free_loss(
    prior: Prior, loss: AnyLoss, target: PlaceDistortion, objective: str, observables: Space | None
) -> Loss | None:
    """Return the loss if it is the target's distance from the same true points, and reports are not prescribed.

    Then an attacker can guess the report itself: the error of the best attacker is at most the loss.
    """
    points = loss.points if isinstance(loss, Loss) and loss.true_point == target.kind else None
    if not isinstance(loss, Loss) or points is None or observables is not None or objective != EXPECTED:
        return None
    weights = np.asarray(target.points.masses.sum(axis=1))
    is_same = (
        prior.space == target.places
        and np.array_equal(points.xy, target.points.xy)
        and np.allclose(points.weights, weights, rtol=1e-9, atol=0)
    )
    return loss if is_same else None


def report_space(places: Places, reports: Floats) -> Space:
    """Return reports on the plane of places, array (k, 2), metres, as a space in degrees."""
    digits = len(str(len(reports)))
    labels = [f"r{number:0{digits}}" for number in range(1, len(reports) + 1)]
    return Space(labels, places.projection.inverse(reports), crs=WGS84)


def median_reports(matrix: Floats, points: TruePoints, least: float = 0.0) -> Floats:
    """Return the distinct medians (k, 2) of the reports that some secret makes with at least this probability."""
    largest = matrix.max(axis=0)
    used = (points.masses.sum(axis=0) @ matrix > 0) & (largest >= min(least, float(largest.max())))
    return _distinct(points.guesses(matrix[:, used]).points)


def _distinct(xy: Floats) -> Floats:
    _, first = np.unique(np.rint(xy / _APART_M), axis=0, return_index=True)
    return np.asarray(xy[np.sort(first)])


def solve_on_plane(
    prior: Prior, loss: AnyLoss, visits: Visits, solve: SolveAt, *, gap: float, time_limit: float, stop: Stop
) -> Design:
    """Return the best design with reports at medians, with a bound for all reports on the plane if there is time.

    The loss is the mean distance from the true points of the visits, and ``solve`` returns the design for such a
    loss, its reports and a gap. Raises `InputError` if the loss is another one.
    """
    places = prior.space
    if not isinstance(places, Places) or not isinstance(loss, Loss) or not loss.true_point:
        raise InputError(
            "reports are moved only where the loss is the distance of the true point.",
            python("pass loss=places.loss(visits), or leave medians= out."),
        )
    deadline = time.monotonic() + time_limit
    kind, unit, certain = loss.true_point, loss.unit, np.eye(len(prior))[:, prior.support]
    points = places.true_points(visits).under(prior.probabilities, np.asarray(places.coordinates))

    def at_medians(matrix: Floats) -> tuple[Loss, Space]:
        medians = points.guesses(np.column_stack([matrix, certain]), kind).points  # or a limit may be out of reach
        space = report_space(places, _distinct(medians))
        return places.loss(visits, kind, unit, observables=space), space

    first = solve(*at_medians(certain), gap)
    return design_on_plane(first, points, solve, at_medians, gap=gap, deadline=deadline, stop=stop)


@dataclass(frozen=True, slots=True, eq=False)
class _Channel:
    """A mechanism with reports on the plane, its expected loss in metres, and a bound of the least loss."""

    reports: Floats  # array (k, 2)
    matrix: Floats  # array (n, k)
    loss: float
    least: float = 0.0  # of mechanisms on the same places, with the reports of the design if it is not for all
    design: Design | None = None  # of the program that found it, with its reports not moved


class FreeGame:
    """The game of a user with free reports against an attacker who guesses any point.

    With a loss that is the attacker's distance from the true point, the error of the best attacker is at most the
    loss, because they can guess the report, and at most the error without a report. A mechanism whose reports are
    the medians of what they reveal attains the first bound, a constant report at the median of all attains both,
    and a mixture of the two attains each value between. So the largest error within a loss L is the smaller of L
    and the error without a report, if some mechanism with the guarantees loses at most L.

    Without guarantees the mixture starts from a mechanism of nearly the least information for the loss, whose
    reports are moved to medians; with them from the design of least loss, which ``solve`` returns.
    """

    def __init__(
        self,
        prior: Prior,
        unit: str,
        target: PlaceDistortion,
        guarantees: Sequence[Guarantee],
        solve: SolveAt,
        *,
        enough: float,
        plane_gap: float,
        time_limit: float,
        stop: Stop,
    ) -> None:
        self.prior, self.target, self.guarantees, self.solve = prior, target, tuple(guarantees), solve
        self.places, self.enough, self.plane_gap, self.stop = target.places, enough, plane_gap, stop
        self.start = time.monotonic()
        self.deadline = self.start + time_limit
        self.centres = np.asarray(target.places.coordinates)
        self.points = target.points.under(prior.probabilities, self.centres)
        self.unit, self.metres = unit, units.factor(unit, "m")
        self.error_unit = units.factor("m", target.distance.unit)
        self.silent = self._medians(np.ones((len(prior), 1)))

    def most_error(self, loss: Loss, max_loss: float) -> Design:
        """Return the mechanism of the largest error within a loss, in the unit of the loss."""
        limit_m = max_loss * self.metres * (1 - _ROOM)
        if limit_m >= self.silent.value:
            channel = _Channel(self.silent.points, np.ones((len(self.prior), 1)), self.silent.value)
        else:
            channel = self._mix(self._within(loss, limit_m, max_loss), limit_m)
        space, losses = self._losses(channel)
        price = self.metres * self.error_unit
        bound = min(max_loss if price == 1 else up(max_loss * price), up(up(self.silent.value * self.error_unit)))
        known = self._known(channel)
        problem = most_distortion(self.prior, losses, known.distance, max_loss, self.guarantees, space)
        prices = _prices(len(channel.reports), 1.0, price) if limit_m < self.silent.value else _prices(0)
        design = self._prove(problem, channel, bound, prices)
        if design is None:
            raise SolverError(
                f"no mechanism could be proved to lose at most {limit_amount(max_loss, self.unit)}.",
                "allow slightly more loss.",
            )
        return design

    def least_loss(self, loss: Loss) -> Design:
        """Return the mechanism of least loss with at least the target's error."""
        self.target.check_possible(self.prior)
        need_m = self.target.upper(self.target.minimum) / self.error_unit + _PROJECTION_M
        start = self._at_least(loss, need_m)
        price = 1 / (self.metres * self.error_unit)
        bound = self.target.minimum if price == 1 else down(self.target.minimum * price)
        if start.design is not None and start.loss >= need_m and down(start.least / self.metres) > bound:
            start = self._at_medians(self._on_plane(start.design))
        for margin in _MARGINS:
            aim_m = need_m * (1 + margin)
            by_program = start.loss >= aim_m and down(start.least / self.metres) > bound
            if by_program:
                channel = self._of_program(start)
            else:
                channel = start if start.loss >= aim_m else self._mix(self._least_information(start, aim_m), aim_m)
            space, losses = self._losses(channel)
            guarantees = (*self.guarantees, self._known(channel))
            problem = least_loss(self.prior, losses, guarantees, EXPECTED, space)
            prices = _prices(len(channel.reports), price)
            design = self._prove(problem, channel, bound, prices, by_program=by_program)
            if design is not None:
                return design
        raise SolverError(
            "no mechanism could be proved to force the distortion of the true point.",
            "require slightly less distortion.",
        )

    def _within(self, loss: Loss, limit_m: float, max_loss: float) -> _Channel:
        """Return a mechanism with the guarantees that loses at most the limit."""
        start = self._least(loss, limit_m)
        if start.loss <= limit_m:
            return self._least_information(start, limit_m)
        is_proved = start.least > max_loss * self.metres
        least = amount_at_least((start.least if is_proved else start.loss) / self.metres, self.unit)
        mechanisms = scope_text(len(self.guarantees), lattice=isinstance(self.places, Lattice))
        limit = limit_amount(max_loss, self.unit)
        raise InfeasibleError(
            f"no mechanism {mechanisms} loses at most {limit}: the least possible with them is {least}."
            if is_proved
            else f"no mechanism could be proved to lose at most {limit}: the least proved is {least}.",
            f"allow at least {amount_at_most(start.loss * (1 + 2 * _ROOM) / self.metres, self.unit)}"
            f"{', or raise epsilon' if self.guarantees else ''}.",
        )

    def _at_least(self, loss: Loss, need_m: float) -> _Channel:
        """Return the mechanism of least loss with the guarantees, for an error that is needed."""
        return self._least(loss, -np.inf if self.guarantees else need_m)

    def _least(self, loss: Loss, limit_m: float) -> _Channel:
        """Return the mechanism of least loss with the guarantees, or one within the limit."""
        if not self.guarantees:
            return self._truth()
        design = self.solve(loss, None, _FREE_GAP)
        channel = self._at_medians(design)
        if channel.loss <= limit_m or self._is_late():
            return channel
        space = report_space(self.places, channel.reports)
        try:
            return self._at_medians(self.solve(self._loss_at(space), space, _FREE_GAP))
        except SolverError:
            return channel

    def _at_medians(self, design: Design) -> _Channel:
        least = max(0.0, design.certificate.bound * self.metres)
        matrix = design.mechanism.matrix
        guesses = self._medians(matrix)
        return _Channel(guesses.points, matrix, self._expected(guesses.points, matrix), least, design)

    def _of_program(self, channel: _Channel) -> _Channel:
        """Return the design of a channel with its reports not moved, which the bound of its program is for."""
        if channel.design is None:
            return channel
        design, places = channel.design, self.places
        reports = np.asarray(places.on_plane(design.problem.observables))
        return replace(channel, reports=reports, matrix=design.matrix, loss=self._expected(reports, design.matrix))

    def _on_plane(self, design: Design) -> Design:
        """Return a design of least loss with a bound for all reports on the plane, if there is time for it."""

        def at_medians(matrix: Floats) -> tuple[Loss, Space]:
            space = report_space(self.places, _distinct(self._medians(matrix).points))
            return self._loss_at(space), space

        solve, gap, deadline = self.solve, self.plane_gap, self.deadline
        return design_on_plane(design, self.points, solve, at_medians, gap=gap, deadline=deadline, stop=self.stop)

    def _truth(self) -> _Channel:
        """Return the mechanism that reports the median of the points taken for the secret."""
        support = self.prior.support
        guesses = self._medians(np.eye(len(self.prior))[:, support])
        reports, places = _distinct(guesses.points), self.centres.copy()
        places[support] = guesses.points
        matrix = np.zeros((len(self.prior), len(reports)))
        matrix[np.arange(len(matrix)), cKDTree(reports).query(places)[1]] = 1.0
        return _Channel(reports, matrix, self._expected(reports, matrix), guesses.lower)

    def _least_information(self, start: _Channel, loss_m: float) -> _Channel:
        """Return a mechanism of nearly the least information for a loss, reports at medians; or the start."""
        if self.guarantees or not start.loss < loss_m < self.silent.value:
            return start
        best = start
        reports = self._few_reports(start.reports, loss_m)
        for _ in range(_ROUNDS):
            if self._is_late():
                break
            array = self._mean_losses(reports)
            try:
                optimum = rate_distortion_of_loss(
                    self.prior,
                    array,
                    loss_m,
                    Space(range(len(reports))),
                    largest_loss=float(array.max()),
                    tolerance=_NEAR if best is start else _ROOM,
                )
            except (InfeasibleError, InputError, SolverError):
                break
            matrix = optimum.mechanism.matrix
            used = matrix.max(axis=0) > _UNUSED
            matrix = matrix[:, used] / matrix[:, used].sum(axis=1, keepdims=True)
            reports = self._medians(matrix).points
            best = _Channel(reports, matrix, self._expected(reports, matrix), start.least)
            reports = _distinct(reports)
            if best.loss >= loss_m * (1 - self.enough * _NEAR):
                break
        return best if best.loss <= loss_m else start

    def _few_reports(self, reports: Floats, loss_m: float) -> Floats:
        """Return the reports that reduce the loss most, chosen greedily, and the median of all."""
        losses = self._distances(reports)
        near: Floats = self._distances(self.silent.points)[:, 0]
        picks: list[int] = []
        while len(picks) < min(_FEW, len(reports)) and float(near.sum()) > _SHARE * loss_m:
            best = int(np.maximum(near[:, None] - losses, 0.0).sum(axis=0).argmax())
            picks.append(best)
            near = np.minimum(near, losses[:, best])
        return _distinct(np.concatenate([self.silent.points, reports[picks]]))

    def _mix(self, channel: _Channel, loss_m: float) -> _Channel:
        """Return the mixture with the constant report at the median of all that has a loss, if there is one."""
        reports, matrix, constant = channel.reports, channel.matrix, self.silent.points
        apart = np.hypot(*(reports - constant).T)
        place = int(apart.argmin())
        if apart[place] > _SAME_M:
            reports, place = np.concatenate([reports, constant]), len(reports)
            matrix = np.column_stack([matrix, np.zeros(len(matrix))])
        silence = np.zeros_like(matrix)
        silence[:, place] = 1.0
        low, high = (self._expected(reports, rows) for rows in (matrix, silence))
        share = float(np.clip((loss_m - low) / (high - low), 0.0, 1.0)) if high > low else 0.0
        if not share:
            return channel
        mixture = (1 - share) * matrix + share * silence
        return _Channel(reports, mixture, self._expected(reports, mixture), channel.least)

    def _expected(self, reports: Floats, matrix: Floats) -> float:
        return float((self._distances(reports) * matrix).sum())

    def _medians(self, matrix: Floats) -> Guesses:
        return self.points.guesses(matrix, self.target.kind)

    def _distances(self, reports: Floats) -> Floats:
        return self.points.distances(reports, self.target.kind)

    def _mean_losses(self, reports: Floats) -> Floats:
        """Return the mean distance to the reports from the points of each secret, array (n, k), metres."""
        total, masses = self._distances(reports), self.prior.probabilities
        empty = masses == 0
        total[~empty] /= masses[~empty, None]
        total[empty] = DISTANCES[self.target.kind](self.centres[empty], reports)
        return total

    def _loss_at(self, space: Space) -> Loss:
        return self.places.loss(self.target.visits, self.target.kind, self.unit, observables=space)

    def _losses(self, channel: _Channel) -> tuple[Space, Loss]:
        space = report_space(self.places, channel.reports)
        return space, self._loss_at(space)

    def _known(self, channel: _Channel) -> PlaceDistortion:
        """Return the target for a program whose attacker guesses the reports."""
        target = self.target
        parts = (target.minimum, target.places, target.degrees, target.times, channel.reports)
        return PlaceDistortion.of_places(*parts, target.distance.unit, target.kind)

    def _is_late(self) -> bool:
        return self.stop() or time.monotonic() > self.deadline

    def _prove(
        self, problem: Problem, channel: _Channel, bound: float, prices: Multipliers, *, by_program: bool = False
    ) -> Design | None:
        """Return the design of a channel, proved on its integers; None where a proof fails.

        With ``by_program`` the bound is for mechanisms on these places: for all reports on the plane, if it was
        proved for them; else that of the prices of the channel's program, for its reports only.
        """
        name = "closed form: reports at medians, mixed with a constant one"
        answer = Answer(channel.matrix, 0.0, channel.loss, bound, Status.OPTIMAL, (), name, prices)
        optimality: Optimality | None = None
        log: tuple[Progress, ...] = ()
        is_free, enough = not by_program, self.enough
        if by_program:
            optimality = Optimality(EXPECTED, _prices(0))  # each secret at the report nearest to it
            if channel.design is not None and channel.design.optimality is not None:
                optimality, log = replace(channel.design.optimality, candidates=None), channel.design.log
            is_free = channel.design is None or channel.design.certificate.free_reports
            if is_free:
                bound, enough = down(down(channel.least / self.metres)), max(enough, self.plane_gap)
            else:
                bound = prove_optimality(problem.prior, problem.loss, problem.guarantees, optimality)
            answer = replace(answer, bound=bound)
        proof = prove_answer(problem, answer)
        if proof is None:
            return None
        mechanism, certificate = proof
        is_game = problem.objective == DISTORTION
        value = certificate.value
        if is_game:
            value = self.target.lower(self.target.attack(mechanism, self.prior))
        certificate = replace(certificate, value=value, free_reports=is_free, all_secrets=not by_program)
        distance = problem.distance if is_game else None
        optimality = optimality or Optimality(problem.objective, prices, distance, problem.max_loss)
        status = Status.OPTIMAL
        if gap_of(problem, value, bound) > enough:
            status = Status.TIME_LIMIT if time.monotonic() > self.deadline else Status.INACCURATE
            status = Status.INTERRUPTED if self.stop() else status
        program = SolvedProgram(problem, status, name, log, None, enough, optimality)
        seconds = time.monotonic() - self.start
        return Design.of_program(with_promises(mechanism, problem.guarantees), certificate, program, seconds)


def _prices(reports: int, price: float = 0.0, loss: float = 0.0) -> Multipliers:
    """Return the prices of an attacker who guesses the report; of one who sees no report for no reports."""
    return Multipliers.without_rows(price * np.eye(reports) if reports else None, loss=loss)
