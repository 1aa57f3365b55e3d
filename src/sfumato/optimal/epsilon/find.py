"""The search for the epsilon that reaches a goal, over certified designs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

import numpy as np

from ...core import AnyLoss, CoordinatePrivacy, Loss, MetricPrivacy, Prior, Space, as_loss, units
from ...core.arguments import checked
from ...core.guarantees import as_guarantees
from ...errors import InfeasibleError, InputError, SolverError, argument, python
from ...geo import Visits
from ...proofs.coordinates import VertexPrivacy, bound_to
from ...rounding import exactly
from ..choice import BETTER, NOISE, PROGRAM
from ..coordinates.rival import Rivalry, rivalry
from ..problem import EXPECTED
from ..result import Design
from ..solver import Solver, Stop
from .goals import DesignGoal, LossGoal
from .result import EpsilonTrial, FoundEpsilon
from .search import Attempt, EpsilonSearch, OnTrial, Steps, log_odds, slope_at
from .trials import NoiseTrials, ProgramTrials, Promise

OfPoints = Callable[[float], CoordinatePrivacy]

_HALF: Final = 2.0  # epsilon times a mean distance with which about half of the loss can be avoided


@checked
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
    keep: str = BETTER,
) -> FoundEpsilon:
    """Return the design of least loss whose epsilon just reaches a goal.

    For a `LossGoal` it is the smallest epsilon, for an `AttackerGoal` the largest, up to the tolerance. What is
    tried is what `design` would return: for a loss of points on a lattice also planar noise with a remap, and with
    ``medians`` reports at the best places. First the epsilon is found with which the noise alone reaches the
    goal; then a program is designed for it and, where it loses little enough, for smaller ones. Each program
    starts from that of the nearest epsilon before, from its rows and its reports. About five are made.

    The least loss falls with epsilon. Where the next epsilon tried has a proved bound above the goal, neither the
    noise tried nor any mechanism of the program reaches it there. The attacker's chance need not grow with
    epsilon: designs make the loss small and nothing else. So the epsilon reaches the goal, and a larger one that
    was not tried may, too. For an attacker the program alone is looked at: of noise their chance is not proved.

    Args:
        prior: The prior on the n secrets.
        loss: The loss, array (n, m), a `Loss` or a `Metric`.
        goal: `LossGoal` or `AttackerGoal`.
        promise: From an epsilon to the promise: by default `CoordinatePrivacy`, per km, which needs a lattice; for
            cells ``lambda epsilon: MetricPrivacy(epsilon, metric)``.
        observables: The m observables; by default the secrets.
        solver: See `design`.
        gap: The relative gap of each design.
        tolerance: How near, relatively, the next epsilon is to be, which misses the goal.
        first: An epsilon to begin with; by default it is guessed.
        time_limit: Seconds; when they are over, the best design so far is returned.
        stop: Asked from time to time whether to stop, with the same effect.
        progress: Called with each trial.
        medians: The visits that the loss is from: reports are moved to the best places; see `design`.
        keep: ``better``, or ``program`` or ``noise`` to look at that one alone; see `design`.

    Raises:
        InfeasibleError: If no mechanism reaches the goal, or none that was designed did.
        InputError: If every epsilon reaches it, or an argument cannot be used.
        SolverError: If no design reached it within the time.

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
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 60)}."
        )
    started = time.monotonic()
    if keep not in (BETTER, PROGRAM, NOISE):
        raise InputError(f"{argument('keep', keep)} is unknown.", f"use {BETTER}, {PROGRAM} or {NOISE}.")
    costs = as_loss(loss, len(prior), len(prior.space if observables is None else observables))
    rows = _rows(prior, promise(1.0))
    field = _field(prior, costs, goal, promise, observables)
    if keep == NOISE and isinstance(field, str):
        raise InputError(
            f"planar noise cannot stand in for the program here: {field}.", f"leave out {argument('keep', NOISE)}."
        )
    noise = field if isinstance(field, Rivalry) and keep != PROGRAM else None
    blind, clear = goal.ends(prior, costs, bounded=noise is None)
    finding = _Finding(
        prior,
        goal,
        goal.limit(costs),
        (blind, clear),
        rows,
        tolerance,
        first,
        (started, started + time_limit),
        stop or (lambda: False),
        progress,
    )
    options = {"loss": costs, "observables": observables, "solver": solver, "gap": gap}
    programs = ProgramTrials(prior, promise, goal, medians, options, finding.ended)
    return finding.found(None if keep == NOISE else programs, noise, promise, costs.unit)


@dataclass(slots=True)
class _Finding:
    """One search: noise first where it can stand in for the program, then programs."""

    prior: Prior
    goal: DesignGoal
    limit: float
    extremes: tuple[float, float]
    rows: MetricPrivacy
    tolerance: float
    first: float | None
    time: tuple[float, float]  # of the start and of the deadline
    stop: Stop
    progress: OnTrial | None

    def ended(self) -> bool:
        """Return whether the time is over, or it was asked to stop."""
        return self.stop() or time.monotonic() >= self.time[1]

    def found(
        self, programs: ProgramTrials | None, field: Rivalry | None, promise: Promise, loss_unit: str
    ) -> FoundEpsilon:
        """Return what is found.

        Raises:
            SolverError: If no epsilon reaches the goal that was tried because the time is over.
            InfeasibleError: If none does.
        """
        unit = self.rows.promise.unit if isinstance(self.rows, VertexPrivacy) else self.rows.metric.unit
        looks: EpsilonSearch | None = None
        tries: EpsilonSearch | None = None
        noise = NoiseTrials(field, cast("OfPoints", promise), self.limit) if field is not None else None
        if noise is not None:
            looks = self._search(NOISE, noise, 0.0)
            if self.first is None and not self.ended():
                looks.steps.first = noise.guess(looks.steps.first)
            looks.run()
        reached = None if looks is None else looks.best
        if programs is not None and (self.limit > self.extremes[1] or not self.goal.least):
            tries = self._search(PROGRAM, programs, self.extremes[1])
            if reached is None:
                tries.run()
            elif tries.tried(reached, partial(programs.against, most=self.limit)):
                tries.run(reached)
        trials = [trial for each in (looks, tries) if each is not None for trial in each.trials]
        least = None if tries is None else tries.best
        epsilon = reached if least is None else least
        if epsilon is None:
            raise self._none(trials, loss_unit, unit)
        made: Design | None = None if programs is None else programs.designs.get(epsilon)
        if noise is not None:
            seconds = time.monotonic() - self.time[0], self.time[1] - time.monotonic()
            made = noise.better(epsilon, None if programs is None else programs.designs.get(epsilon), seconds)
        made = cast("Design", made)
        last = tries if made.has_program else looks
        tried = any(trial.kind == NOISE and trial.epsilon == epsilon for trial in trials)
        if made.choice is not None and made.choice.kept == NOISE and not tried:
            trials.append(EpsilonTrial(epsilon, NOISE, made.choice.noise, holds=True, seconds=0.0))
        found = FoundEpsilon(
            self.goal,
            made.without_answer(),
            epsilon,
            unit,
            loss_unit,
            made.kind,
            tuple(trials),
            False,
            0.0,
        )
        missed = found.missed
        close = last is not None and missed is not None and last.steps.close(missed.epsilon, epsilon)
        decided = made.has_program or made.finished
        return replace(found, finished=close and decided, seconds=time.monotonic() - self.time[0])

    def _search(self, kind: str, attempt: Attempt, clear: float) -> EpsilonSearch:
        blind = self.extremes[0]
        target = log_odds(self.limit, blind, clear)
        begin = self.first if self.first is not None else _first(self.prior, self.rows, target)
        steps = Steps(target, begin, self.tolerance)
        return EpsilonSearch(
            kind, attempt, self.goal, self.limit, (blind, clear), steps, self.time[1], self.ended, self.progress
        )

    def _none(self, trials: list[EpsilonTrial], loss_unit: str, unit: str) -> SolverError | InfeasibleError:
        nearest = ""
        if trials:
            least = min(trials, key=lambda trial: trial.measured.upper)
            shown = self.goal.shown(least.measured, loss_unit)
            nearest = f" The nearest was epsilon {exactly(least.epsilon)}{units.per_unit(unit)}: {shown}."
        if self.ended():
            return SolverError(
                f"no design reached the goal before the search was stopped.{nearest}",
                f"allow more with {argument('time_limit')}",
                "use fewer or larger cells, or a wider spacing.",
            )
        tried = len({trial.epsilon for trial in trials})
        return InfeasibleError(
            f"no design reached the goal, with {tried} epsilons that were tried.{nearest}",
            f"allow a {'larger loss' if self.goal.least else 'larger share'}.",
        )


def _field(
    prior: Prior, loss: Loss, goal: DesignGoal, promise: Promise, observables: Space | None
) -> Rivalry | str:
    """Return what a program and planar noise can both keep, or why the noise cannot stand in for it."""
    if not isinstance(goal, LossGoal):
        return "how often an attacker is near is not proved of it"
    return rivalry(prior, loss, as_guarantees(promise(1.0)), EXPECTED, observables)


def _rows(prior: Prior, promise: CoordinatePrivacy | MetricPrivacy) -> MetricPrivacy:
    """Return the rows that a promise asks of the secrets.

    Raises:
        InputError: If it is not one promise of an epsilon.
    """
    found = bound_to(prior.space, as_guarantees(promise))
    if len(found) != 1 or not isinstance(found[0], MetricPrivacy):
        raise InputError(
            "the promise is not one epsilon.",
            python("pass a function from a number to CoordinatePrivacy or MetricPrivacy."),
        )
    return found[0]


def _first(prior: Prior, rows: MetricPrivacy, target: float) -> float:
    """Return about the epsilon with which the goal is reached; the rows are those for an epsilon of 1."""
    if isinstance(rows, VertexPrivacy):
        distances = rows.lattice.metric("euclidean", unit=rows.promise.unit).array
    else:
        distances = rows.metric.array
    known = np.isfinite(distances)
    mean = float(np.outer(prior.probabilities, prior.probabilities)[known] @ distances[known])
    return float(f"{_HALF / mean * math.exp(target / slope_at(target)):.3g}") if mean > 0 else 1.0
