"""The search for an epsilon between those that reach a goal and those that do not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...core import Bracket
from ...core.bisection import bisect
from ..solver import Stop
from .goals import DesignGoal
from .result import EpsilonTrial
from .steps import Steps, log_odds

_MOST: Final = 14  # trials
_ALONE: Final = 6  # of them on one side of the goal
_SHARE: Final = 1 / 3  # of the time that is left, for one trial
_LEAST_S: Final = 1e-3


class Tried(NamedTuple):
    """The outcome of one trial.

    Attributes:
        measured: What the goal limits.
        near: About the same, for the choice of the next epsilon.
    """

    measured: Bracket
    near: float


OnTrial = Callable[[EpsilonTrial], None]
Attempt = Callable[[float, float], Tried | None]


@dataclass(slots=True)
class EpsilonSearch:
    """Trials of one kind of mechanism, each for one epsilon.

    Attributes:
        kind: ``program`` or ``noise``.
        attempt: From an epsilon and seconds to what was found; None where the time was over before.
        goal: The goal.
        limit: What is measured is to be at most this.
        extremes: About what is measured where reports say nothing, and where they say all.
        steps: The choice of the next epsilon.
        deadline: When the time is over.
        ended: Asked whether to stop, or the time is over.
        progress: Called with each trial.
        trials: All trials, in order.
    """

    kind: str
    attempt: Attempt
    goal: DesignGoal
    limit: float
    extremes: tuple[float, float]
    steps: Steps
    deadline: float
    ended: Stop
    progress: OnTrial | None
    trials: list[EpsilonTrial] = field(default_factory=list)

    def run(self, holds: float | None = None) -> None:
        """Try epsilons until two that are close differ in whether they reach the goal.

        Args:
            holds: An epsilon that was tried already, and reaches it.
        """
        fails, beyond = (0.0, math.inf) if self.goal.least else (math.inf, 0.0)
        bisect(self.tried, fails, beyond if holds is None else holds, middle=self.steps.following, done=self._done)

    @property
    def best(self) -> float | None:
        """The least, or largest, epsilon with which the goal is reached; None where none is known."""
        reached = [trial.epsilon for trial in self.trials if trial.holds]
        if not reached:
            return None
        return min(reached) if self.goal.least else max(reached)

    def tried(self, epsilon: float, attempt: Attempt | None = None) -> bool:
        """Return whether the goal is proved to be reached with an epsilon.

        Args:
            epsilon: The epsilon.
            attempt: Another one than that of the search.
        """
        begun = time.monotonic()
        found = (attempt or self.attempt)(epsilon, max(_SHARE * (self.deadline - begun), _LEAST_S))
        if found is None:
            return False
        measured, near = found
        trial = EpsilonTrial(epsilon, self.kind, measured, measured.upper <= self.limit, time.monotonic() - begun)
        self.trials.append(trial)
        self.steps.seen[epsilon] = log_odds(near, *self.extremes)
        if self.progress is not None:
            self.progress(trial)
        return trial.holds

    def _done(self, fails: float, holds: float) -> bool:
        held = sum(trial.holds for trial in self.trials)
        alone = len(self.trials) >= _ALONE and held in (0, len(self.trials))
        return self.ended() or alone or len(self.trials) >= _MOST or self.steps.close(fails, holds)
