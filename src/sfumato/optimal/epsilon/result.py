"""The result of a search for epsilon: the design, and what was tried."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import Bracket, units
from ...core.immutable import CompactRepr
from ...rounding import exactly
from ..result import Design
from .goals import DesignGoal


@dataclass(frozen=True, slots=True, repr=False)
class EpsilonTrial(CompactRepr):
    """One design of a search.

    Attributes:
        epsilon: Per unit of the promise.
        kind: ``program``, or ``noise`` for planar noise with a remap.
        measured: What the goal limits. Of a program's loss, the upper end is proved of the design, and the lower
            end of every mechanism with the same rows and reports. Of noise's loss and an attacker's chance,
            both ends are of what was tried.
        holds: Whether the design is proved to reach the goal.
        seconds: The time that the design and its measure took.
    """

    epsilon: float
    kind: str
    measured: Bracket
    holds: bool
    seconds: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoundEpsilon(CompactRepr):
    """The epsilon of a design that reaches a goal, and what was tried.

    Attributes:
        goal: What was asked for.
        design: The design.
        epsilon: Its epsilon, per unit of the promise.
        unit: The unit that epsilon is per.
        loss_unit: The unit of the loss.
        kind: ``program``, or ``noise`` where planar noise is kept.
        trials: All designs, in the order in which they were made.
        finished: Whether the next epsilon, which was tried and misses the goal, is as near as was asked for, and
            it was decided whether the program or the noise is the better one.
        seconds: The time it took.
    """

    goal: DesignGoal
    design: Design
    epsilon: float
    unit: str
    loss_unit: str
    kind: str
    trials: tuple[EpsilonTrial, ...]
    finished: bool
    seconds: float

    @property
    def found(self) -> EpsilonTrial:
        """The trial whose design this is."""
        return next(trial for trial in self._alike if trial.epsilon == self.epsilon)

    @property
    def missed(self) -> EpsilonTrial | None:
        """The next epsilon tried, smaller for a loss and larger for an attacker; None where there is none."""
        beyond = [trial for trial in self._alike if (trial.epsilon < self.epsilon) == self.goal.least]
        others = [trial for trial in beyond if trial.epsilon != self.epsilon]
        return min(others, key=lambda trial: abs(trial.epsilon - self.epsilon), default=None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The goal and the result of the search, in words."""
        which, per = "smallest" if self.goal.least else "largest", units.per_unit(self.unit)
        unit, missed, tried = self.loss_unit, self.missed, len({trial.epsilon for trial in self.trials})
        said = [
            f"Epsilon was searched for: {exactly(self.epsilon)}{per} is the {which} of {tried} tried "
            f"with which {self.goal.reached(self.found.measured, unit)}."
        ]
        if missed is not None:
            said.append(f"At {exactly(missed.epsilon)}{per} {self.goal.missed(missed.measured, unit, self.kind)}.")
        if not self.finished:
            said.append("NOT FINISHED: the search ended before the next epsilon was close.")
        return tuple(said)

    @property
    def _alike(self) -> list[EpsilonTrial]:
        return [trial for trial in self.trials if trial.kind == self.kind]
