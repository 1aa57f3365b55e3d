"""Back-ends for general linear programs (HiGHS, Clarabel), solvers by name, and the automatic choice."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from .._system import cores
from ..core.arrays import Floats
from ..core.naming import DISTORTION
from ..errors import InfeasibleError, InputError, MissingExtraError, SolverError, argument
from .baseline import better_of, fallback
from .closed_forms import closed_form
from .effort import (
    NO_EDGES,
    NOT_QUICKER,
    OF_PAIRS,
    STRUCTURED,
    MethodChoice,
    check_generated,
    select_method,
)
from .problem import Problem
from .row_generation import LinearProgram, LinearSolver, Solution
from .solver import Answer, Control, Solver, Status, Stop, objective_of
from .structured import Generating, Structured

SMALL_PROBLEM = 2_500  # probabilities that a general back-end takes in seconds
_MORE = 600  # secrets up to which the structured method is tried where generation stops short
_PATIENCE_S, _PATIENCE_PER_PROBABILITY_S = 2.0, 0.01
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
    notices a stop only when it returns; it respects the time limit. ``method`` is ``ipm`` or ``simplex``; with
    ``crossover`` the interior answer of a large program is moved to a vertex, too.
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
        h.passModel(model)
        h.HandleUserInterrupt = True
        h.startSolve()
        while not h.wait(0.05)[0]:
            if stop():
                h.cancelSolve()
        return _solution(highspy, h)


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


def _one_sided(program: LinearProgram) -> tuple[Any, Floats, Any, Floats, Callable[[Floats], Floats]]:
    """Return equations with limits, rows with upper bounds, and a function from their duals to the program's."""
    rows, lower, upper = program.rows.tocsr(), program.lower, program.upper
    free = lower != upper
    equal, above, below = map(np.flatnonzero, (~free, free & np.isfinite(lower), free & np.isfinite(upper)))

    def duals(of_sides: Floats) -> Floats:
        out, ends = np.zeros(rows.shape[0]), np.cumsum([len(equal), len(above), len(below)])
        out[equal] = of_sides[: ends[0]]
        out[above] -= of_sides[ends[0] : ends[1]]
        out[below] += of_sides[ends[1] : ends[2]]
        return out

    limits = sparse.vstack([-rows[above], rows[below]], format="csr")
    return rows[equal], lower[equal], limits, np.concatenate([-lower[above], upper[below]]), duals


def _solved_by_scipy(program: LinearProgram, method: str, time_limit: float, stop: Stop) -> Solution:
    if stop():
        return Solution(Status.INTERRUPTED, None, None, 0)
    equations, equal, limits, most, duals = _one_sided(program)
    options = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
    if method == "highs-ipm":
        options["ipm_optimality_tolerance"] = 1e-9
    if np.isfinite(time_limit):
        options["time_limit"] = max(time_limit, 0.01)
    result = linprog(
        program.cost,
        A_ub=limits,
        b_ub=most,
        A_eq=equations,
        b_eq=equal,
        bounds=np.column_stack([program.floor, np.full(len(program.cost), np.inf)]),
        method=method,
        options=options,
    )
    status = _SCIPY_STATUS.get(result.status, Status.INACCURATE)
    if result.x is None or status is Status.INFEASIBLE:
        return Solution(status, None, None, int(result.nit))
    of_sides = np.concatenate([result.eqlin.marginals, result.ineqlin.marginals])
    return Solution(status, np.asarray(result.x), duals(of_sides), int(result.nit))


@dataclass(frozen=True, slots=True)
class Clarabel(LinearSolver):
    """Clarabel's interior-point method for conic programs (extra ``solvers``), to a relative ``tolerance``."""

    name = "Clarabel"
    tolerance: float = 1e-10

    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Solve a program; a stop is noticed when the back-end returns.

        Raises `MissingExtraError` if clarabel is not installed.
        """
        try:
            import clarabel
        except ImportError:
            raise MissingExtraError("the solver Clarabel", "solvers") from None

        if stop():
            return Solution(Status.INTERRUPTED, None, None, 0)
        equations, equal, limits, most, duals = _one_sided(program)
        bounded = np.flatnonzero(np.isfinite(program.floor))
        identity = sparse.identity(len(program.cost), format="csr")[bounded]
        stacked = sparse.vstack([equations, limits, -identity], format="csc")
        right = np.concatenate([equal, most, -program.floor[bounded]])
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
        return Solution(status, np.array(result.x), duals(-np.array(result.z)), result.iterations)


@dataclass(frozen=True, slots=True)
class Auto(Solver):
    """A closed form where one is proved optimal, else generated observables or the structured method.

    Observables are generated from 150 secrets on, for an expected loss, where few of them are expected to be used
    or the structured method does not fit into memory. Where few edges do not imply all rows, generation must also
    be expected to be quicker. If generation stops short of the wanted gap, the structured method is tried too, up
    to 600 secrets. If that one stops short on a small problem, the installed general back-ends are tried. The best
    mechanism and the best bound are returned; the answer's ``solver`` says what was chosen and why. There is by
    default one worker thread per core. For ``folder`` see `Structured` and `Generating`.
    """

    name = "automatic choice"
    threads: int = field(default_factory=cores)
    folder: str | os.PathLike[str] | None = None

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        simple = None if control.pairs == "spanner" else closed_form(problem, control.gap)
        if simple is None:
            return self._opinions(problem, control, start)
        name, exact = f"closed form: {simple.name} ({simple.reason})", simple.mechanism
        value = objective_of(problem, exact.matrix)
        return Answer(
            exact.matrix, 0.0, value, simple.bound, Status.OPTIMAL, (), name, simple.prices, mechanism=exact
        )

    def _opinions(self, problem: Problem, control: Control, start: Answer | None) -> Answer:
        """Run the structured method and, on small problems, other solvers until one reaches the gap."""
        n, m = problem.shape
        small = n * m <= SMALL_PROBLEM
        choice = select_method(problem, control.pairs, control.gap)
        best, reason = None, choice.reason
        if choice.generated:
            best = self._try_generating(problem, control, start, choice)
            if best is not None and (best.status is not Status.INACCURATE or n > _MORE):
                return best
            reason = "" if best is not None else NO_EDGES if choice.of_pairs is not None else NOT_QUICKER
        infeasible: InfeasibleError | None = None
        limits = control
        for solver in (Structured(self.threads, folder=self.folder), *general_solvers()):
            try:
                best = better_of(problem, control.gap, best, solver.answer(problem, limits, start))
            except SolverError:
                pass  # another one may find an answer
            except InfeasibleError as error:
                infeasible = error
            if control.pairs == "spanner" and best is not None:
                break  # the wanted gap is out of its rows' reach
            if not small or control.cutoff is not None or (best is not None and best.status is Status.OPTIMAL):
                break
            # Further opinions must not take long: back-ends can run without end where rounding errors dominate.
            patience = _PATIENCE_S + _PATIENCE_PER_PROBABILITY_S * problem.shape[0] * problem.shape[1]
            limits = replace(control, deadline=min(control.deadline, time.monotonic() + patience))
        if best is None and infeasible is not None and problem.objective == DISTORTION:
            raise infeasible  # a least loss without a limit is always feasible
        if best is None:
            best = fallback(problem, control.cutoff or Status.INACCURATE, "no solver found an answer")
        if best is None:
            raise SolverError("no solver found a mechanism.", "allow more time, or ask for less.")
        explain = reason and best.solver == STRUCTURED
        return replace(best, solver=f"{best.solver} (chosen: {reason})") if explain else best

    def _try_generating(
        self, problem: Problem, control: Control, start: Answer | None, choice: MethodChoice
    ) -> Answer | None:
        """Return the answer with generated observables; None where the problem needs the structured method."""
        arrays = [problem.loss.array, *([] if problem.exponents is None else [problem.exponents])]
        check_generated(*problem.shape, float(sum(array.nbytes for array in arrays)), control.gap)
        of_pairs = choice.of_pairs is not None
        answer = Generating(self.threads, folder=self.folder).attempt(problem, control, start, of_pairs=of_pairs)
        if answer is None:
            return None
        reason = choice.of_pairs if answer.solver == OF_PAIRS else choice.reason
        return replace(answer, solver=f"{answer.solver} (chosen: {reason})")


def general_solvers() -> tuple[LinearSolver, ...]:
    """Return the installed general back-ends, in the order in which they are tried."""
    clarabel = () if find_spec("clarabel") is None else (Clarabel(),)
    return (Highs(), Highs("simplex"), *clarabel)


SOLVERS: Final[Mapping[str, Callable[[], Solver]]] = {
    "auto": Auto,
    "structured": Structured,
    "generating": Generating,
    "highs": Highs,
    "simplex": lambda: Highs("simplex"),
    "clarabel": Clarabel,
}


def resumable(name: str, folder: str | os.PathLike[str]) -> Solver:
    """Return a solver that resumes from a folder: ``auto``, ``structured`` or ``generating``."""
    solver = solver_of(name)
    if not isinstance(solver, Auto | Structured | Generating):
        raise InputError(
            f"{argument('solver', name)} stores no state to resume from.", "use auto, structured or generating."
        )
    return replace(solver, folder=folder)


def solver_of(solver: Solver | str | None) -> Solver:
    """Return a solver given as such or by its name in `SOLVERS`, `Auto` for None; raise `InputError` otherwise."""
    if isinstance(solver, Solver):
        return solver
    name = "auto" if solver is None else solver
    if name not in SOLVERS:
        raise InputError(f"{argument('solver', name)} is unknown.", f"use one of {', '.join(SOLVERS)}.")
    return SOLVERS[name]()
