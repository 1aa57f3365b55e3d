"""The search for the epsilon that reaches a goal, over certified designs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ...core import AnyLoss, CoordinatePrivacy, MetricPrivacy, Prior, Space, as_loss, units
from ...core.arguments import checked
from ...core.bisection import bisect
from ...core.guarantees import as_guarantees
from ...errors import InfeasibleError, InputError, SolverError, argument, python
from ...evidence.coordinates import VertexPrivacy, bound_to
from ...rounding import exactly
from ..design import design
from ..result import Design
from ..solver import Solver, Stop
from .goals import DesignGoal
from .result import EpsilonTrial, FoundEpsilon
from .steps import Steps, log_odds, slope_at

Promise = Callable[[float], CoordinatePrivacy | MetricPrivacy]
OnTrial = Callable[[EpsilonTrial], None]

_MOST: Final = 14  # designs
_ALONE: Final = 6  # of them on one side of the goal
_HALF: Final = 2.0  # epsilon times a mean distance with which about half of the loss can be avoided
_SHARE: Final = 1 / 3  # of the time that is left, for one design
_LEAST_S: Final = 1e-3


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
) -> FoundEpsilon:
    """Return the design of least loss whose epsilon just reaches a goal.

    For a `LossGoal` it is the smallest epsilon, for an `AttackerGoal` the largest, up to the tolerance. Each
    epsilon that is tried gets a certified design, which starts from that of the nearest epsilon before. About five
    are made.

    The least loss falls with epsilon. Where the next epsilon tried has a proved bound above the goal, no mechanism
    reaches it there. The attacker's chance need not grow with epsilon: designs make the loss small and nothing
    else. So the epsilon reaches the goal, and a larger one that was not tried may, too.

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
    costs = as_loss(loss, len(prior), len(prior.space if observables is None else observables))
    limit, rows = goal.limit(costs), _rows(prior, promise(1.0))
    blind, clear = goal.ends(prior, costs)
    target = log_odds(limit, blind, clear)
    unit = rows.promise.unit if isinstance(rows, VertexPrivacy) else rows.metric.unit
    begin = first if first is not None else _first(prior, rows, target)
    options = {"loss": costs, "observables": observables, "solver": solver, "gap": gap, "stop": stop}
    search = _Search(
        prior,
        goal,
        promise,
        options,
        limit,
        (blind, clear),
        Steps(target, begin, tolerance),
        unit,
        started + time_limit,
        stop or (lambda: False),
        progress,
    )
    search.run()
    best = search.best()
    return FoundEpsilon(
        goal,
        replace(search.designs[best], answer=None),
        best,
        unit,
        tuple(search.trials),
        search.finished,
        time.monotonic() - started,
    )


@dataclass(slots=True)
class _Search:
    """The designs so far."""

    prior: Prior
    goal: DesignGoal
    promise: Promise
    options: dict[str, Any]
    limit: float
    extremes: tuple[float, float]
    steps: Steps
    unit: str  # that epsilon is per
    deadline: float
    stop: Stop
    progress: OnTrial | None
    trials: list[EpsilonTrial] = field(default_factory=list)
    designs: dict[float, Design] = field(default_factory=dict)

    def run(self) -> None:
        """Try epsilons until two that are close differ in whether they reach the goal."""
        ends = (0.0, math.inf) if self.goal.least else (math.inf, 0.0)
        bisect(self._holds, *ends, middle=self.steps.following, done=self._done)

    def best(self) -> float:
        """Return the least, or largest, epsilon with which the goal is reached.

        Raises:
            SolverError: If none is known because the time is over.
            InfeasibleError: If none is known.
        """
        reached = [trial.epsilon for trial in self.trials if trial.holds]
        if reached:
            return min(reached) if self.goal.least else max(reached)
        nearest = ""
        if self.trials:
            least = min(self.trials, key=lambda trial: trial.measured.upper)
            shown = self.goal.shown(least.measured, self.options["loss"].unit)
            nearest = f" The nearest was epsilon {exactly(least.epsilon)}{units.per_unit(self.unit)}: {shown}."
        if self._ended():
            raise SolverError(
                f"no design reached the goal before the search was stopped.{nearest}",
                f"allow more with {argument('time_limit')}",
                "use fewer or larger cells, or a wider spacing.",
            )
        raise InfeasibleError(
            f"no design reached the goal, with {len(self.trials)} epsilons that were tried.{nearest}",
            f"allow a {'larger loss' if self.goal.least else 'larger share'}.",
        )

    @property
    def finished(self) -> bool:
        """Whether the next epsilon beyond the best one was tried, and is close to it."""
        best = self.best()
        beyond = [trial.epsilon for trial in self.trials if (trial.epsilon < best) == self.goal.least]
        return any(self.steps.close(epsilon, best) for epsilon in beyond if epsilon != best)

    def _ended(self) -> bool:
        return self.stop() or time.monotonic() >= self.deadline

    def _done(self, fails: float, holds: float) -> bool:
        held = sum(trial.holds for trial in self.trials)
        alone = len(self.trials) >= _ALONE and held in (0, len(self.trials))
        return self._ended() or alone or len(self.trials) >= _MOST or self.steps.close(fails, holds)

    def _holds(self, epsilon: float) -> bool:
        """Design for an epsilon, and return whether the goal is proved to be reached."""
        begun = time.monotonic()
        start = None
        if self.designs:
            start = self.designs[min(self.designs, key=lambda other: abs(math.log(other / epsilon)))]
        limit = max(_SHARE * (self.deadline - begun), _LEAST_S)
        try:
            made = design(
                self.prior,
                guarantees=self.promise(epsilon),
                tie_break=False,
                time_limit=limit,
                start=start,
                **self.options,
            )
        except SolverError:
            if self._ended():
                return False
            raise
        measured = self.goal.measured(made)
        trial = EpsilonTrial(epsilon, measured, measured.upper <= self.limit, time.monotonic() - begun)
        self.trials.append(trial)
        self.designs[epsilon] = made
        self.steps.seen[epsilon] = log_odds(measured.upper, *self.extremes)
        if self.progress is not None:
            self.progress(trial)
        return trial.holds


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
