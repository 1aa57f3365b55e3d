"""Optimal design: problem, solver, answer, proof."""

from ..proofs import LinearConstraint
from .blend import Blend, DesignLine, LineDesign, likeliest
from .choice import Choice
from .clarabel import Clarabel
from .closed_forms import ClosedForm, closed_form
from .column_generation.solver import Generating
from .coordinates import CoordinateBound, SuitedLattice, check_lattice, coordinate_bound, suited_lattice
from .design import design
from .effort import check_size
from .epsilon import AttackerGoal, DesignGoal, EpsilonTrial, FoundEpsilon, LossGoal, find_epsilon
from .equilibrium import Equilibrium, equilibrium
from .forecast import Forecast, forecast
from .highs import Highs
from .linear import LinearProgram, Solution
from .medians import at_medians
from .problem import Problem
from .program_design import design_private
from .result import Design, SolvedProgram
from .robust import RobustDesign, design_robust
from .row_generation import LinearSolver
from .sensitive import SensitiveDesign, SensitiveProblem, least_information, least_vulnerability
from .solver import Answer, Control, Progress, Solver, Status
from .solvers import SOLVERS, Auto, resumable
from .structured import Structured
from .sweep import Point, sweep
from .true_place import seconds_for_points

__all__ = [
    "SOLVERS",
    "Answer",
    "AttackerGoal",
    "Auto",
    "Blend",
    "Choice",
    "Clarabel",
    "ClosedForm",
    "Control",
    "CoordinateBound",
    "Design",
    "DesignGoal",
    "DesignLine",
    "EpsilonTrial",
    "Equilibrium",
    "Forecast",
    "FoundEpsilon",
    "Generating",
    "Highs",
    "LineDesign",
    "LinearConstraint",
    "LinearProgram",
    "LinearSolver",
    "LossGoal",
    "Point",
    "Problem",
    "Progress",
    "RobustDesign",
    "SensitiveDesign",
    "SensitiveProblem",
    "Solution",
    "SolvedProgram",
    "Solver",
    "Status",
    "Structured",
    "SuitedLattice",
    "at_medians",
    "check_lattice",
    "check_size",
    "closed_form",
    "coordinate_bound",
    "design",
    "design_private",
    "design_robust",
    "equilibrium",
    "find_epsilon",
    "forecast",
    "least_information",
    "least_vulnerability",
    "likeliest",
    "resumable",
    "seconds_for_points",
    "suited_lattice",
    "sweep",
]
