"""The default solver: it chooses, and says what it chose and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..errors import SfumatoError
from .answer import Answer, Control, Status, gap_of, objective_of
from .closed_forms import closed_form
from .highs import Highs
from .problem import Problem
from .solver import Solver
from .structured import Structured, applies_to, cores

_SMALL = 1_000  # probabilities that a general back-end takes in no time


@dataclass(frozen=True, slots=True)
class Auto(Solver):
    """A closed form where one is proved optimal, else the structured method; HiGHS for spanners.

    Args:
        threads: Worker threads of the structured method; by default one per core.
    """

    threads: int = field(default_factory=cores)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in reports."""
        return "automatic choice"

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        if control.pairs == "spanner":
            found = Highs().answer(problem, control, start)
            return replace(found, solver=f"{found.solver} (a spanner was asked for)")
        simple = closed_form(problem, control.gap)
        if simple is not None:
            matrix = simple.mechanism.matrix
            name = f"closed form: {simple.name} ({simple.reason})"
            value = objective_of(problem, matrix)
            return Answer(
                matrix, 0.0, value, simple.bound, Status.OPTIMAL, (), name, simple.prices, None, simple.mechanism
            )
        if not applies_to(problem.exponents):
            found = Highs().answer(problem, control, start)
            return replace(found, solver=f"{found.solver} (some values are nearly the same)")
        found = Structured(self.threads).answer(problem, control, start)
        if found.status is not Status.INACCURATE or problem.shape[0] * problem.shape[1] > _SMALL:
            return found
        return self._second_opinion(problem, control, found)

    def _second_opinion(self, problem: Problem, control: Control, found: Answer) -> Answer:
        """Return the better of an inaccurate answer and that of a general back-end."""
        try:
            other = Highs().answer(problem, control)
        except SfumatoError:
            return found
        if gap_of(problem, other.value, other.bound) >= gap_of(problem, found.value, found.bound):
            return found
        return replace(other, solver=f"{other.solver} (the structured method stalled)", log=found.log + other.log)
