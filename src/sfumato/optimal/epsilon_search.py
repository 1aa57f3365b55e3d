"""Search for the epsilon that reaches a goal, over certified designs: noise first, then programs.

A measure is taken as odds between its values for reports that reveal nothing and for reports that reveal the
secret. The logarithm of these odds is nearly linear in the logarithm of epsilon, so a few secants find the
crossing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, cast

import numpy as np

from ..core import AnyLoss, Bracket, CoordinatePrivacy, MetricPrivacy, Prior, Space, as_guarantees, as_loss, units
from ..core.arguments import check_arguments
from ..core.bracket import bisect
from ..core.naming import EXPECTED
from ..errors import InfeasibleError, InputError, SolverError, argument, python
from ..geo import Visits
from ..proofs import VertexPrivacy, bound_to
from ..rounding import exactly
from .coordinates.rival import FINE, ROUGH, Rival, Rivalry, noise_estimate, noise_rival, rivalry
from .design import GAIN, check_method, choose, move_to_medians
from .epsilon_goals import DesignGoal, EpsilonTrial, FoundEpsilon, LossGoal
from .program_design import solve_program
from .result import BEST, NOISE, TABLE, Design
from .solver import Solver, Stop, checked_time_limit

Promise = Callable[[float], CoordinatePrivacy | MetricPrivacy]
OfPoints = Callable[[float], CoordinatePrivacy]

_MOST: Final = 14  # trials
_ALONE: Final = 6  # of them on one side of the goal
_SHARE: Final = 1 / 3  # of the time that is left, for one trial
_LEAST_S: Final = 1e-3
_SLOPES: Final = (2.2, 1.4)  # of the line, before two designs show it: below even odds, and above
_FLATTEST: Final = 0.3
_WIDEST: Final = math.log(4)  # one step where an end is unknown
_MOST_ODDS: Final = 12.0
_STRAIGHT: Final = 7  # designs after which every other step halves an interval
_FAR: Final = 3.0  # in log-odds: an end so far from the goal says little of the line there
_MARGIN: Final = 0.1  # of an interval, at its ends
_DIGITS: Final = 4  # of an epsilon
_GUESS_S: Final = 1.0  # for one estimate
_GUESSES: Final = 8
_NEAR: Final = 0.003  # relative: of estimates, where the search of them ends
_LONGEST_S: Final = 30.0
_LEAST_LOOK_S: Final = 1.0
_LOOK_SHARE: Final = 0.3  # of the time that is left, for one look
_HALF: Final = 2.0  # epsilon times a mean distance with which about half of the loss can be avoided


def log_odds(value: float, blind: float, clear: float) -> float:
    """Return the log-odds of a value between the blind and the clear one, clipped to +-12."""
    share = (blind - value) / (blind - clear)
    if not 0 < share < 1:
        return math.copysign(_MOST_ODDS, share - 0.5)
    return max(-_MOST_ODDS, min(_MOST_ODDS, math.log(share) - math.log1p(-share)))


@dataclass(slots=True)
class Steps:
    """Choice of the next epsilon to try."""

    target: float  # the log-odds of the goal
    first: float  # the epsilon to begin with
    tolerance: float  # the relative distance of epsilons that ends the search
    odds: dict[float, float] = field(default_factory=dict)  # the log-odds of each epsilon tried

    def close(self, fails: float, holds: float) -> bool:
        """Return whether two epsilons are within the tolerance."""
        low, high = sorted((fails, holds))
        return low > 0 and high < math.inf and high <= low * (1 + self.tolerance)

    def following(self, fails: float, holds: float) -> float:
        """Return the next epsilon between the nearest that fails and that holds; 0 or infinite if unknown."""
        low, high = sorted((fails, holds))
        if not self.odds:
            return self.first
        if low > 0 and high < math.inf:
            log_epsilon = self._interpolate(low, high)
        else:
            log_epsilon = self._extrapolate(low if low > 0 else high, 1 if low > 0 else -1)
        rounded = float(f"{math.exp(log_epsilon):.{_DIGITS - 1}e}")
        return rounded if low < rounded < high else math.exp(log_epsilon)

    def _interpolate(self, below: float, above: float) -> float:
        low, high = math.log(below), math.log(above)
        width = high - low
        bent = max(abs(self.odds[end] - self.target) for end in (below, above)) > _FAR
        if bent or (len(self.odds) >= _STRAIGHT and len(self.odds) % 2):
            return low + width / 2
        aimed = self._crossing(3)
        if not low < aimed < high:
            aimed = min(high, max(low, self._crossing(2)))
        # A little to the side that is farther away, so that both ends come near.
        aimed += math.copysign(self.tolerance / 3, high - aimed - (aimed - low))
        edge = _MARGIN * width
        return min(high - edge, max(low + edge, aimed))

    def _crossing(self, count: int) -> float:
        """Return where a polynomial through the nearest points, log epsilon over log-odds, meets the target."""
        near = sorted(self.odds.items(), key=lambda item: abs(item[1] - self.target))[:count]
        odds = [value for _, value in near]
        if len(set(odds)) < len(odds):
            return math.nan
        crossing = 0.0
        for k, (epsilon, here) in enumerate(near):
            ratios = [(self.target - other) / (here - other) for other in odds[:k] + odds[k + 1 :]]
            crossing += math.log(epsilon) * math.prod(ratios)
        return crossing

    def _extrapolate(self, end: float, sign: int) -> float:
        """Return the next log epsilon above (sign 1) or below (sign -1) the only known end."""
        at, odds = math.log(end), self.odds[end]
        slope: float = _SLOPES[self.target > 0]
        rest = [epsilon for epsilon in self.odds if epsilon != end]
        if rest:
            last = min(rest, key=lambda epsilon: abs(math.log(epsilon) - at))
            slope = max(_FLATTEST, (odds - self.odds[last]) / (at - math.log(last)))
        least = self.tolerance * 2.0 ** (2 * len(rest) - 1)  # where the line says "here", growing steps
        step = max(least, sign * (self.target - odds) / slope + self.tolerance / 3)
        widest = 2 * _WIDEST if rest and slope > _FLATTEST else _WIDEST
        return at + sign * min(step, widest)


Trial = tuple[Bracket, float]  # the quantity that the goal limits, and about the same, for the next epsilon
OnTrial = Callable[[EpsilonTrial], None]
Attempt = Callable[[float, float], Trial | None]


@dataclass(slots=True)
class EpsilonSearch:
    """Trials of one kind of mechanism, each for one epsilon."""

    kind: str  # `program` or `noise`
    attempt: Attempt  # from an epsilon and seconds to a measure; None without time
    goal: DesignGoal
    limit: float  # the upper limit of the measure
    extremes: tuple[float, float]  # about the measure of blind and of fully revealing reports
    steps: Steps
    deadline: float
    is_over: Stop  # whether to stop, or the time is over
    progress: OnTrial | None
    trials: list[EpsilonTrial] = field(default_factory=list)

    def run(self, holds: float | None = None) -> None:
        """Try epsilons until two close ones differ in whether they reach the goal; ``holds`` reaches it."""
        fails, beyond = (0.0, math.inf) if self.goal.least else (math.inf, 0.0)
        bisect(self.check, fails, beyond if holds is None else holds, middle=self.steps.following, stop=self._ends)

    @property
    def best(self) -> float | None:
        """The least, or largest, epsilon that reaches the goal; None where none is known."""
        successes = (trial.epsilon for trial in self.trials if trial.holds)
        return min(successes, default=None) if self.goal.least else max(successes, default=None)

    def check(self, epsilon: float, attempt: Attempt | None = None) -> bool:
        """Return whether an epsilon is proved to reach the goal, by ``attempt`` if given."""
        begin = time.monotonic()
        outcome = (attempt or self.attempt)(epsilon, max(_SHARE * (self.deadline - begin), _LEAST_S))
        if outcome is None:
            return False
        measure, near = outcome
        trial = EpsilonTrial(epsilon, self.kind, measure, measure.upper <= self.limit, time.monotonic() - begin)
        self.trials.append(trial)
        self.steps.odds[epsilon] = log_odds(near, *self.extremes)
        if self.progress is not None:
            self.progress(trial)
        return trial.holds

    def _ends(self, fails: float, holds: float) -> bool:
        successes = sum(trial.holds for trial in self.trials)
        alone = len(self.trials) >= _ALONE and successes in (0, len(self.trials))
        return self.is_over() or alone or len(self.trials) >= _MOST or self.steps.close(fails, holds)


@dataclass(slots=True)
class NoiseTrials:
    """Planar noise for each epsilon, with its best remap."""

    both: Rivalry  # the guarantee that noise and program can both give, for any epsilon
    promise: OfPoints
    limit: float  # of the loss
    rivals: dict[float, Rival] = field(default_factory=dict)  # by epsilon

    def __call__(self, epsilon: float, seconds: float) -> Trial:
        """Return the loss of the noise between bounds; near the limit from a finer table."""
        rival = self.look(epsilon, ROUGH, seconds)
        near = rival.loss.value
        if rival.noise.remap is not None and rival.loss.lower <= self.limit < rival.loss.upper:
            rival = self._finer(rival, epsilon, seconds)
            near = rival.loss.upper
        self.rivals[epsilon] = rival
        return rival.loss, near

    def guess(self, begin: float) -> float:
        """Return about the epsilon at which the noise reaches the limit, from estimates alone."""
        low, high, epsilon = 0.0, math.inf, begin
        for _ in range(_GUESSES):
            loss = noise_estimate(self._at(epsilon), _GUESS_S)
            if abs(loss - self.limit) <= _NEAR * self.limit:
                break
            low, high = (epsilon, high) if loss > self.limit else (low, epsilon)
            trial = epsilon * loss / self.limit
            epsilon = trial if low < trial < high else math.sqrt(low * high)
        return float(f"{epsilon:.4g}")

    def better(self, epsilon: float, table: Design | None, seconds: tuple[float, float]) -> Design:
        """Return the program or the noise, whichever loses less; ``seconds`` are those spent and those left."""
        elapsed, left = seconds
        rival = self.rivals.get(epsilon) or self.look(epsilon, ROUGH, left)
        if rival.noise.remap is not None and (table is None or table.certificate.loss > rival.loss.lower):
            rival = self._finer(rival, epsilon, left)
        return choose(table, rival, self.promise(epsilon), self.both.loss.unit, elapsed)

    def look(self, epsilon: float, fineness: float, seconds: float) -> Rival:
        """Return the noise of an epsilon."""
        return noise_rival(self._at(epsilon), fineness, max(_LEAST_LOOK_S, min(_LONGEST_S, _LOOK_SHARE * seconds)))

    def _finer(self, rough: Rival, epsilon: float, seconds: float) -> Rival:
        finer = self.look(epsilon, FINE, seconds)
        return finer if finer.loss.upper < rough.loss.upper else rough

    def _at(self, epsilon: float) -> Rivalry:
        return replace(self.both, promise=self.promise(epsilon))


@dataclass(slots=True)
class ProgramTrials:
    """A program for each epsilon, started from that of the nearest epsilon before."""

    prior: Prior
    promise: Promise
    goal: DesignGoal
    medians: Visits | None  # the visits of the loss, where reports are moved to medians
    options: dict[str, Any]  # more of the design
    stop: Stop
    designs: dict[float, Design] = field(default_factory=dict)  # by epsilon

    def __call__(self, epsilon: float, seconds: float, most: float = math.inf) -> Trial | None:
        """Return the measure of the design for an epsilon; None without time or with a loss above ``most``."""
        try:
            design = self._design(epsilon, seconds, most)
        except SolverError:
            if most < math.inf or self.stop():
                return None
            raise
        self.designs[epsilon] = design
        measure = self.goal.measure(design)
        return measure, measure.upper

    def _design(self, epsilon: float, seconds: float, most: float) -> Design:
        deadline = time.monotonic() + seconds
        promise = self.promise(epsilon)
        near: Design | None = None
        if self.designs:
            near = self.designs[min(self.designs, key=lambda other: abs(math.log(other / epsilon)))]
        if near is not None and self.medians is not None:
            return self._move_reports(near, promise, deadline)
        room, bound = 1.0 if self.medians is None else 1 - GAIN, -math.inf

        def watch(step: Any) -> None:
            nonlocal bound
            bound = max(bound, step.bound)

        design = solve_program(
            self.prior,
            guarantees=promise,
            tie_break=False,
            time_limit=seconds,
            start=near,
            stop=lambda: self.stop() or room * bound > most,
            progress=watch,
            **self.options,
        )
        if self.medians is None or not design.is_finished:
            return design
        try:
            again = self._move_reports(design, promise, deadline)
        except SolverError:
            return design
        return again if again.certificate.loss < design.certificate.loss else design

    def _move_reports(self, near: Design, promise: CoordinatePrivacy | MetricPrivacy, deadline: float) -> Design:
        left, options = max(deadline - time.monotonic(), 1e-3), {k: self.options[k] for k in ("solver", "gap")}
        visits = cast("Visits", self.medians)
        return move_to_medians(
            near, visits, guarantees=promise, time_limit=left, stop=self.stop, start=near, **options
        )


@check_arguments
def find_epsilon(
    prior: Prior,
    *,
    loss: AnyLoss,
    goal: DesignGoal,
    promise: Promise = CoordinatePrivacy,
    observables: Space | None = None,
    solver: Solver | str | None = None,
    gap: float = 1e-4,
    tolerance: float = 0.01,
    first: float | None = None,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
    progress: OnTrial | None = None,
    medians: Visits | None = None,
    method: str = BEST,
) -> FoundEpsilon:
    """Return the design of least loss whose epsilon just reaches a goal.

    For a `LossGoal` it is the smallest epsilon, for an `AttackerGoal` the largest, up to the tolerance. Each trial
    is what `design` would return: for a loss of points on a lattice also planar noise with a remap, and with
    ``medians`` reports at the best places. The search first finds the epsilon at which the noise alone reaches the
    goal; then a program is designed for it and, where it loses little enough, for smaller ones. Each program
    starts from the rows and reports of the one for the nearest epsilon. About five are made.

    The least loss falls with epsilon. Where the next epsilon tried has a proved bound above the goal, neither the
    noise tried nor any mechanism of the program reaches the goal there. The attacker's chance need not grow with
    epsilon, because designs minimise the loss only: a larger epsilon that was not tried may reach the goal too.
    For an attacker only the program is tried, because the attacker's chance is not proved for noise.

    ``promise`` is a function from an epsilon to the guarantee: by default `CoordinatePrivacy`, per km, which needs
    a lattice; for cells ``lambda epsilon: MetricPrivacy(epsilon, metric)``. ``tolerance`` is the relative distance
    to the next epsilon, which misses the goal, and ``first`` an epsilon to begin with, by default an estimate.
    When ``time_limit`` seconds are over, the best design so far is returned; ``progress`` is called with each
    trial. The other arguments are those of `design`. Raises `InfeasibleError` if no mechanism reaches the goal, or
    none that was designed did. Raises `InputError` if every epsilon reaches it, or an argument cannot be used.
    Raises `SolverError` if no design reached it within the time.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.optimal import LossGoal, find_epsilon
        >>> line = sf.Space.numbers(range(5), unit="km")
        >>> metric = line.metric("absolute")
        >>> found = find_epsilon(
        ...     sf.Prior.uniform(line),
        ...     loss=metric,
        ...     goal=LossGoal("500 m"),
        ...     promise=lambda epsilon: sf.MetricPrivacy(epsilon, metric),
        ... )
        >>> 0.49 < found.design.certificate.loss <= 0.5
        True
    """
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise InputError(f"a tolerance of {tolerance:g} is not positive.", f"use {argument('tolerance', 0.01)}.")
    if first is not None and not (math.isfinite(first) and first > 0):
        raise InputError(f"an epsilon of {first:g} is not positive.", f"use {argument('first', 1.0)}.")
    checked_time_limit(time_limit)
    start = time.monotonic()
    check_method(method)
    costs = as_loss(loss, len(prior), len(prior.space if observables is None else observables))
    rows = _rows(prior, promise(1.0))
    field: Rivalry | str = "an attacker's chance to be near is not proved for it"
    if isinstance(goal, LossGoal):
        field = rivalry(prior, costs, as_guarantees(promise(1.0)), EXPECTED, observables)
    check_method(method, field)
    both = field if isinstance(field, Rivalry) and method != TABLE else None
    blind, clear = goal.ends(prior, costs, bounded=both is None)
    limit, deadline = goal.limit(costs), start + time_limit
    halt: Stop = stop or (lambda: False)

    def is_over() -> bool:
        return halt() or time.monotonic() >= deadline

    def search(kind: str, attempt: Attempt, clear: float) -> EpsilonSearch:
        target = log_odds(limit, blind, clear)
        steps = Steps(target, first if first is not None else _first(prior, rows, target), tolerance)
        return EpsilonSearch(kind, attempt, goal, limit, (blind, clear), steps, deadline, is_over, progress)

    looks: EpsilonSearch | None = None
    tries: EpsilonSearch | None = None
    noise: NoiseTrials | None = None
    programs: ProgramTrials | None = None
    if both is not None:
        noise = NoiseTrials(both, cast("OfPoints", promise), limit)
        looks = search(NOISE, noise, 0.0)
        if first is None and not is_over():
            looks.steps.first = noise.guess(looks.steps.first)
        looks.run()
    noise_epsilon = None if looks is None else looks.best
    if method != NOISE:
        options = {"loss": costs, "observables": observables, "solver": solver, "gap": gap}
        programs = ProgramTrials(prior, promise, goal, medians, options, is_over)
        if limit > clear or not goal.least:
            tries = search(TABLE, programs, clear)
            if noise_epsilon is None:
                tries.run()
            elif tries.check(noise_epsilon, partial(programs, most=limit)):
                tries.run(noise_epsilon)
    trials = [trial for stage in (looks, tries) if stage is not None for trial in stage.trials]
    least = None if tries is None else tries.best
    epsilon = noise_epsilon if least is None else least
    unit = rows.promise.unit if isinstance(rows, VertexPrivacy) else rows.metric.unit
    if epsilon is None:
        raise _not_found(trials, goal, costs.unit, unit, is_over=is_over())
    design = None if programs is None else programs.designs.get(epsilon)
    if noise is not None:
        design = noise.better(epsilon, design, (time.monotonic() - start, deadline - time.monotonic()))
    design = cast("Design", design)
    last = tries if design.has_program else looks
    has_noise = any(trial.kind == NOISE and trial.epsilon == epsilon for trial in trials)
    if design.choice is not None and design.choice.kind == NOISE and not has_noise:
        trials.append(EpsilonTrial(epsilon, NOISE, design.choice.noise, holds=True, seconds=0.0))
    result = FoundEpsilon(
        goal, design.without_answer(), epsilon, unit, costs.unit, design.kind, tuple(trials), False, 0.0
    )
    next_trial = result.next_trial
    close = last is not None and next_trial is not None and last.steps.close(next_trial.epsilon, epsilon)
    decided = design.has_program or design.is_finished
    return replace(result, is_finished=close and decided, seconds=time.monotonic() - start)


def _not_found(
    trials: list[EpsilonTrial], goal: DesignGoal, loss_unit: str, unit: str, *, is_over: bool
) -> SolverError | InfeasibleError:
    nearest = ""
    if trials:
        least = min(trials, key=lambda trial: trial.measure.upper)
        summary = goal.describe(least.measure, loss_unit)
        nearest = f" The nearest was epsilon {exactly(least.epsilon)}{units.per_unit(unit)}: {summary}."
    if is_over:
        return SolverError(
            f"no design reached the goal before the search was stopped.{nearest}",
            f"allow more with {argument('time_limit')}",
            "use fewer or larger cells, or a wider spacing.",
        )
    count = len({trial.epsilon for trial in trials})
    return InfeasibleError(
        f"no design reached the goal; {count} epsilons were tried.{nearest}",
        f"allow a {'larger loss' if goal.least else 'larger share'}.",
    )


def _rows(prior: Prior, promise: CoordinatePrivacy | MetricPrivacy) -> MetricPrivacy:
    """Return the rows that a promise needs; raise `InputError` if it is not one promise of an epsilon."""
    rows = bound_to(prior.space, as_guarantees(promise))
    if len(rows) != 1 or not isinstance(rows[0], MetricPrivacy):
        raise InputError(
            "the promise is not one epsilon.",
            python("pass a function from a number to CoordinatePrivacy or MetricPrivacy."),
        )
    return rows[0]


def _first(prior: Prior, rows: MetricPrivacy, target: float) -> float:
    """Return about the epsilon that reaches the goal; the rows are those for an epsilon of 1."""
    if isinstance(rows, VertexPrivacy):
        distances = rows.lattice.metric("euclidean", unit=rows.promise.unit).array
    else:
        distances = rows.metric.array
    known = np.isfinite(distances)
    mean = float(np.outer(prior.probabilities, prior.probabilities)[known] @ distances[known])
    return float(f"{_HALF / mean * math.exp(target / _SLOPES[target > 0]):.3g}") if mean > 0 else 1.0
