"""Optimal design: problem, program, solver, solution."""

from .clarabel import Clarabel
from .design import Design, design, design_private
from .generate import Progress
from .highs import Highs
from .problem import Problem
from .repair import repaired
from .solver import LinearProgram, Solution, Solver, Status

__all__ = [
    "Clarabel",
    "Design",
    "Highs",
    "LinearProgram",
    "Problem",
    "Progress",
    "Solution",
    "Solver",
    "Status",
    "design",
    "design_private",
    "repaired",
]
