"""HiGHS as a back-end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SolverError
from .linear import LinearProgram, Solution
from .row_generation import LinearSolver
from .solver import Status, Stop

_METHODS = ("ipm", "simplex")
_SMALL = 2_000  # rows up to which moving to a vertex costs nothing, and gains the last digits


@dataclass(frozen=True, slots=True)
class Highs(LinearSolver):
    """HiGHS: an interior-point method without crossover, or the simplex method.

    Args:
        method: ``ipm`` or ``simplex``.
        crossover: Whether the interior answer of a large program too is moved to a vertex.
    """

    method: str = "ipm"
    crossover: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in reports."""
        return f"HiGHS {self.method}"

    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Solve a program."""
        import highspy

        if self.method not in _METHODS:
            raise SolverError(f"HiGHS has no method {self.method!r} here.", f"use one of {', '.join(_METHODS)}.")
        h = highspy.Highs()
        options = {
            "output_flag": False,
            "solver": self.method,
            "run_crossover": "on" if self.crossover or program.rows.shape[0] <= _SMALL else "off",
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
            "ipm_optimality_tolerance": 1e-9,
        }
        if np.isfinite(time_limit):
            options["time_limit"] = max(time_limit, 0.01)
        for key, value in options.items():
            if h.setOptionValue(key, value) != highspy.HighsStatus.kOk:
                raise SolverError(
                    f"this version of HiGHS refuses the option {key}={value!r}.", "install highspy>=1.9."
                )
        h.passModel(_model(highspy, program))
        h.HandleUserInterrupt = True
        h.startSolve()
        while not h.wait(0.05)[0]:
            if stop():
                h.cancelSolve()
        return _solution(highspy, h)


def _model(highspy: Any, program: LinearProgram) -> Any:
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = program.rows.shape
    model.col_cost_ = program.cost
    model.col_lower_ = program.floor
    model.col_upper_ = np.full(len(program.cost), highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = program.lower, program.upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = program.rows.indptr
    model.a_matrix_.index_ = program.rows.indices
    model.a_matrix_.value_ = program.rows.data
    return model


def _solution(highspy: Any, h: Any) -> Solution:
    found = {
        highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
        highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
        highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
        highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
        highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.INFEASIBLE,
    }.get(h.getModelStatus(), Status.INACCURATE)
    info, solution = h.getInfo(), h.getSolution()
    iterations = max(info.ipm_iteration_count, 0) + max(info.simplex_iteration_count, 0)
    if found is Status.INFEASIBLE or not solution.value_valid:
        return Solution(found, None, None, iterations)
    duals = np.array(solution.row_dual) if solution.dual_valid else None
    return Solution(found, np.array(solution.col_value), duals, iterations)
