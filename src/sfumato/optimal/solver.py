"""A solver of design problems."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .answer import Answer, Control
from .problem import Problem


class Solver(ABC):
    """Takes a problem and gives a repaired matrix with a proved bound."""

    name: str

    @abstractmethod
    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem.

        Args:
            problem: The problem.
            control: How far and how long to go.
            start: An answer of this solver to a similar problem, to start from.

        Raises:
            InfeasibleError: If no mechanism satisfies the constraints.
            SolverError: If there is no usable answer in time.
        """
