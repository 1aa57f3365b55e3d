"""Back-ends for general linear programs: HiGHS, and Clarabel as an independent interior-point method."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from ..errors import MissingExtraError, SolverError
from .row_generation import LinearProgram, LinearSolver, Solution
from .solver import Status, Stop

_METHODS = {"ipm": "highs-ipm", "simplex": "highs-ds"}
_SMALL = 2_000  # rows up to which moving to a vertex costs nothing, and gains the last digits
_SCIPY_STATUS = {0: Status.OPTIMAL, 1: Status.TIME_LIMIT, 2: Status.INFEASIBLE}
_CLARABEL_STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.INACCURATE,
    "MaxTime": Status.TIME_LIMIT,
    "PrimalInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
}


@dataclass(frozen=True, slots=True)
class Highs(LinearSolver):
    """HiGHS: an interior-point method without crossover, or the simplex method.

    Without highspy (extra ``solvers``) SciPy's HiGHS is used. It always moves to a vertex, which takes longer, and
    notices a stop only when it returns; it respects the time limit.

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
        if self.method not in _METHODS:
            raise SolverError(f"HiGHS has no method {self.method!r} here.", f"use one of {', '.join(_METHODS)}.")
        if find_spec("highspy") is None:
            return _solved_by_scipy(program, _METHODS[self.method], time_limit, stop)
        import highspy

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
    status = {
        highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
        highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
        highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
        highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
        highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.INFEASIBLE,
    }.get(h.getModelStatus(), Status.INACCURATE)
    info, solution = h.getInfo(), h.getSolution()
    iterations = max(info.ipm_iteration_count, 0) + max(info.simplex_iteration_count, 0)
    if status is Status.INFEASIBLE or not solution.value_valid:
        return Solution(status, None, None, iterations)
    duals = np.array(solution.row_dual) if solution.dual_valid else None
    return Solution(status, np.array(solution.col_value), duals, iterations)


def _sides(program: LinearProgram) -> list[NDArray[np.intp]]:
    """Return the positions of equations, and of rows that are bounded below and above."""
    lower, upper = program.lower, program.upper
    free = lower != upper
    return [np.flatnonzero(each) for each in (~free, free & np.isfinite(lower), free & np.isfinite(upper))]


def _solved_by_scipy(program: LinearProgram, method: str, time_limit: float, stop: Stop) -> Solution:
    if stop():
        return Solution(Status.INTERRUPTED, None, None, 0)
    rows, lower, upper = program.rows.tocsr(), program.lower, program.upper
    equal, above, below = _sides(program)
    options = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
    if method == "highs-ipm":
        options["ipm_optimality_tolerance"] = 1e-9
    if np.isfinite(time_limit):
        options["time_limit"] = max(time_limit, 0.01)
    result = linprog(
        program.cost,
        A_ub=sparse.vstack([-rows[above], rows[below]], format="csr"),
        b_ub=np.concatenate([-lower[above], upper[below]]),
        A_eq=rows[equal],
        b_eq=lower[equal],
        bounds=np.column_stack([program.floor, np.full(len(program.cost), np.inf)]),
        method=method,
        options=options,
    )
    status = _SCIPY_STATUS.get(result.status, Status.INACCURATE)
    if result.x is None or status is Status.INFEASIBLE:
        return Solution(status, None, None, int(result.nit))
    duals = np.zeros(rows.shape[0])
    duals[equal] = result.eqlin.marginals
    duals[above] -= result.ineqlin.marginals[: len(above)]
    duals[below] += result.ineqlin.marginals[len(above) :]
    return Solution(status, np.asarray(result.x), duals, int(result.nit))


@dataclass(frozen=True, slots=True)
class Clarabel(LinearSolver):
    """Clarabel's homogeneous interior-point method for conic programs (extra ``solvers``).

    Args:
        tolerance: The relative gap and infeasibility at which it stops.
    """

    name = "Clarabel"
    tolerance: float = 1e-10

    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Solve a program; a stop is noticed when the back-end returns.

        Raises:
            MissingExtraError: If clarabel is not installed.
        """
        try:
            import clarabel
        except ImportError:
            raise MissingExtraError("the solver Clarabel", "solvers") from None

        if stop():
            return Solution(Status.INTERRUPTED, None, None, 0)
        rows = program.rows.tocsr()
        equal, above, below = _sides(program)
        bounded = np.flatnonzero(np.isfinite(program.floor))
        identity = sparse.identity(len(program.cost), format="csr")[bounded]
        stacked = sparse.vstack([rows[equal], -rows[above], rows[below], -identity], format="csc")
        right = np.concatenate(
            [program.lower[equal], -program.lower[above], program.upper[below], -program.floor[bounded]]
        )
        cones = [clarabel.ZeroConeT(len(equal)), clarabel.NonnegativeConeT(len(right) - len(equal))]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = self.tolerance
        if np.isfinite(time_limit):
            settings.time_limit = max(time_limit, 0.01)
        quadratic = sparse.csc_matrix((len(program.cost), len(program.cost)))
        result = clarabel.DefaultSolver(quadratic, program.cost, stacked, right, cones, settings).solve()
        status = _CLARABEL_STATUS.get(str(result.status), Status.INACCURATE)
        if status is Status.INFEASIBLE:
            return Solution(status, None, None, result.iterations)
        z = np.array(result.z)
        duals = np.zeros(rows.shape[0])
        duals[equal] = -z[: len(equal)]
        duals[above] += z[len(equal) : len(equal) + len(above)]
        duals[below] -= z[len(equal) + len(above) : len(equal) + len(above) + len(below)]
        return Solution(status, np.array(result.x), duals, result.iterations)
