"""Optimal design: problem, solver, answer, proof."""

from .answer import Answer, Control, Progress, Status
from .auto import Auto
from .clarabel import Clarabel
from .closed_forms import ClosedForm, closed_form
from .design import Design, design, design_private
from .effort import check_size
from .generate import LinearSolver
from .highs import Highs
from .linear import LinearProgram, Solution
from .problem import Problem
from .repair import repaired
from .sensitive import SensitiveDesign, SensitiveProblem, least_information, least_vulnerability
from .solver import Solver
from .solvers import SOLVERS
from .structured import Structured
from .sweep import Point, sweep

__all__ = [
    "SOLVERS",
    "Answer",
    "Auto",
    "Clarabel",
    "ClosedForm",
    "Control",
    "Design",
    "Highs",
    "LinearProgram",
    "LinearSolver",
    "Point",
    "Problem",
    "Progress",
    "SensitiveDesign",
    "SensitiveProblem",
    "Solution",
    "Solver",
    "Status",
    "Structured",
    "check_size",
    "closed_form",
    "design",
    "design_private",
    "least_information",
    "least_vulnerability",
    "repaired",
    "sweep",
]
