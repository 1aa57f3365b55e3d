"""Optimal design: problem, solver, answer, proof."""

from .._system import cores
from ..proofs import LinearConstraint
from .closed_forms import ClosedForm, closed_form
from .coordinates import CoordinateBound, coordinate_bound
from .coordinates.spacing import (
    MOST_NEAR,
    MOST_VERTICES,
    LatticeChoice,
    check_lattice,
    choose_lattice,
    place_lattice,
    place_problem,
    refine_lattice,
)
from .design import at_medians, design
from .effort import Forecast, check_size, forecast
from .epsilon_goals import AttackerGoal, DesignGoal, EpsilonTrial, FoundEpsilon, LossGoal
from .epsilon_search import find_epsilon
from .extensions.robust import RobustDesign, design_robust
from .extensions.sensitive import least_information, least_vulnerability
from .extensions.sensitive_plane import least_leak_on_plane
from .extensions.sensitive_problem import INFORMATION, VULNERABILITY, SensitiveDesign, SensitiveProblem
from .extensions.true_point import seconds_for_points
from .problem import Problem
from .program_design import Equilibrium, equilibrium, maximise_distortion
from .result import Choice, Design, SolvedProgram
from .row_generation import LinearProgram, LinearSolver, Solution
from .solver import Answer, Control, Progress, Solver, Status
from .solver_registry import SMALL_PROBLEM, SOLVERS, Auto, Clarabel, Highs, resumable
from .structured import Generating, Structured
from .sweep import Point, sweep

__all__ = [
    "INFORMATION",
    "MOST_NEAR",
    "MOST_VERTICES",
    "SMALL_PROBLEM",
    "SOLVERS",
    "VULNERABILITY",
    "Answer",
    "AttackerGoal",
    "Auto",
    "Choice",
    "Clarabel",
    "ClosedForm",
    "Control",
    "CoordinateBound",
    "Design",
    "DesignGoal",
    "EpsilonTrial",
    "Equilibrium",
    "Forecast",
    "FoundEpsilon",
    "Generating",
    "Highs",
    "LatticeChoice",
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
    "at_medians",
    "check_lattice",
    "check_size",
    "choose_lattice",
    "closed_form",
    "coordinate_bound",
    "cores",
    "design",
    "design_robust",
    "equilibrium",
    "find_epsilon",
    "forecast",
    "least_information",
    "least_leak_on_plane",
    "least_vulnerability",
    "maximise_distortion",
    "place_lattice",
    "place_problem",
    "refine_lattice",
    "resumable",
    "seconds_for_points",
    "sweep",
]
