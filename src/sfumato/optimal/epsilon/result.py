"""The result of a search for epsilon: the design, and what was tried."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import Bracket, units
from ...core.frozen import Short
from ...rounding import exactly
from ..result import Design
from .goals import DesignGoal


@dataclass(frozen=True, slots=True, repr=False)
class EpsilonTrial(Short):
    """One design of a search.

    Attributes:
        epsilon: Per unit of the promise.
        measured: What the goal limits. Of a loss, the upper end is proved of the design, and the lower end of
            every mechanism with the same rows. Of an attacker's chance, both ends are of the design.
        holds: Whether the design is proved to reach the goal.
        seconds: The time that the design and its measure took.
    """

    epsilon: float
    measured: Bracket
    holds: bool
    seconds: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoundEpsilon(Short):
    """The epsilon of a design that reaches a goal, and what was tried.

    Attributes:
        goal: What was asked for.
        design: The design.
        epsilon: Its epsilon, per unit of the promise.
        unit: The unit that epsilon is per.
        trials: All designs, in the order in which they were made.
        finished: Whether the next epsilon, which was tried and misses the goal, is as near as was asked for.
        seconds: The time it took.
    """

    goal: DesignGoal
    design: Design
    epsilon: float
    unit: str
    trials: tuple[EpsilonTrial, ...]
    finished: bool
    seconds: float

    @property
    def found(self) -> EpsilonTrial:
        """The trial whose design this is."""
        return next(trial for trial in self.trials if trial.epsilon == self.epsilon)

    @property
    def missed(self) -> EpsilonTrial | None:
        """The next epsilon tried, smaller for a loss and larger for an attacker; None where there is none."""
        beyond = [trial for trial in self.trials if (trial.epsilon < self.epsilon) == self.goal.least]
        others = [trial for trial in beyond if trial.epsilon != self.epsilon]
        return min(others, key=lambda trial: abs(trial.epsilon - self.epsilon), default=None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The goal and the result of the search, in words."""
        which, per = "smallest" if self.goal.least else "largest", units.per_unit(self.unit)
        unit, missed = self.design.certificate.loss_unit, self.missed
        said = [
            f"Epsilon was searched for: {exactly(self.epsilon)}{per} is the {which} of {len(self.trials)} tried "
            f"with which {self.goal.reached(self.found.measured, unit)}."
        ]
        if missed is not None:
            said.append(f"At {exactly(missed.epsilon)}{per} {self.goal.missed(missed.measured, unit)}.")
        if not self.finished:
            said.append("NOT FINISHED: the search ended before the next epsilon was close.")
        return tuple(said)
