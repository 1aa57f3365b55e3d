"""Solvers by name, and the automatic choice."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Final

from ..core.naming import DISTORTION
from ..errors import InfeasibleError, InputError, SolverError, argument
from .back_ends import Clarabel, Highs
from .closed_forms import closed_form, fallback
from .column_generation.solver import OF_PAIRS, Generating
from .effort import check_generated
from .forecast import NO_EDGES, NOT_QUICKER, STRUCTURED, MethodChoice, select_method
from .problem import Problem
from .row_generation import LinearSolver
from .solver import Answer, Control, Solver, Status, gap_of, objective_of
from .structured import Structured, cores

SMALL_PROBLEM = 2_500  # probabilities that a general back-end takes in seconds
_MORE = 600  # secrets up to which the structured method is tried where generation stops short
_PATIENCE_S, _PATIENCE_PER_PROBABILITY_S = 2.0, 0.01


@dataclass(frozen=True, slots=True)
class Auto(Solver):
    """A closed form where one is proved optimal, else generated observables or the structured method.

    Observables are generated from 150 secrets on, for an expected loss, where few of them are expected to be used
    or the structured method does not fit into memory. Where few edges do not imply all rows, generation must also
    be expected to be quicker. If generation stops short of the wanted gap, the structured method is tried too, up
    to 600 secrets. If that one stops short on a small problem, the installed general back-ends are tried. The best
    mechanism and the best bound are returned; the answer's ``solver`` says what was chosen and why.

    Args:
        threads: Worker threads; by default one per core.
        folder: Where the state between iterations is stored, to resume from; see `Structured` and `Generating`.
    """

    name = "automatic choice"
    threads: int = field(default_factory=cores)
    folder: str | os.PathLike[str] | None = None

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        simple = None if control.pairs == "spanner" else closed_form(problem, control.gap)
        if simple is not None:
            matrix = simple.mechanism.matrix
            name = f"closed form: {simple.name} ({simple.reason})"
            value = objective_of(problem, matrix)
            return Answer(
                matrix, 0.0, value, simple.bound, Status.OPTIMAL, (), name, simple.prices, None, simple.mechanism
            )
        return self._opinions(problem, control, start)

    def _opinions(self, problem: Problem, control: Control, start: Answer | None) -> Answer:
        """Run the structured method and, on small problems, other solvers until one reaches the gap."""
        n, m = problem.shape
        small = n * m <= SMALL_PROBLEM
        chosen = select_method(problem, control.pairs, control.gap)
        best, reason = None, chosen.reason
        if chosen.generated:
            best = self._generated(problem, control, start, chosen)
            if best is not None and (best.status is not Status.INACCURATE or n > _MORE):
                return best
            reason = "" if best is not None else NO_EDGES if chosen.of_pairs is not None else NOT_QUICKER
        infeasible: InfeasibleError | None = None
        limits = control
        for solver in (Structured(self.threads, folder=self.folder), *general_solvers()):
            try:
                best = _better(problem, control, best, solver.answer(problem, limits, start))
            except SolverError:
                pass  # another one may find an answer
            except InfeasibleError as error:
                infeasible = error
            if control.pairs == "spanner" and best is not None:
                break  # the wanted gap is out of its rows' reach
            if not small or control.stopped is not None or (best is not None and best.status is Status.OPTIMAL):
                break
            # Further opinions must not take long: back-ends can run without end where rounding errors dominate.
            patience = _PATIENCE_S + _PATIENCE_PER_PROBABILITY_S * problem.shape[0] * problem.shape[1]
            limits = replace(control, deadline=min(control.deadline, time.monotonic() + patience))
        if best is None and infeasible is not None and problem.objective == DISTORTION:
            raise infeasible  # a least loss without a limit is feasible, whatever a back-end says
        if best is None:
            best = fallback(problem, control.stopped or Status.INACCURATE, "no solver found an answer")
        if best is None:
            raise SolverError("no solver found a mechanism.", "allow more time, or ask for less.")
        explain = reason and best.solver == STRUCTURED
        return replace(best, solver=f"{best.solver} (chosen: {reason})") if explain else best

    def _generated(
        self, problem: Problem, control: Control, start: Answer | None, chosen: MethodChoice
    ) -> Answer | None:
        """Return the answer with generated observables; None where the problem needs the structured method."""
        allocated = float(problem.loss.array.nbytes)
        allocated += 0 if problem.exponents is None else problem.exponents.nbytes
        check_generated(*problem.shape, allocated, control.gap)
        of_pairs = chosen.of_pairs is not None
        answer = Generating(self.threads, folder=self.folder).own(problem, control, start, of_pairs=of_pairs)
        if answer is None:
            return None
        reason = chosen.of_pairs if answer.solver == OF_PAIRS else chosen.reason
        return replace(answer, solver=f"{answer.solver} (chosen: {reason})")


def general_solvers() -> tuple[LinearSolver, ...]:
    """Return the installed general back-ends, in the order in which they are tried."""
    clarabel = () if find_spec("clarabel") is None else (Clarabel(),)
    return (Highs(), Highs("simplex"), *clarabel)


def _better(problem: Problem, control: Control, best: Answer | None, other: Answer) -> Answer:
    """Return the better mechanism of two answers with the better bound: each is proved by itself."""
    sign = -1.0 if problem.objective == DISTORTION else 1.0
    if best is None:
        better, name = other, other.solver
        bounded = other
    else:
        better = other if sign * other.value < sign * best.value else best
        bounded = other if sign * other.bound > sign * best.bound else best
        name = better.solver
        if better is other:
            name += f" (the {best.solver} stopped short)"
        elif bounded is other:
            name += f" (its bound by {other.solver})"
    status = better.status
    if gap_of(problem, better.value, bounded.bound) <= control.gap:
        status = Status.OPTIMAL
    elif status is Status.OPTIMAL:
        status = Status.INACCURATE
    log = better.log if best is None else best.log + other.log
    state = better.state if best is None else best.state
    return replace(
        better, bound=bounded.bound, prices=bounded.prices, solver=name, status=status, log=log, state=state
    )


SOLVERS: Final[Mapping[str, Callable[[], Solver]]] = {
    "auto": Auto,
    "structured": Structured,
    "generating": Generating,
    "highs": Highs,
    "simplex": lambda: Highs("simplex"),
    "clarabel": Clarabel,
}


def resumable(name: str, folder: str | os.PathLike[str]) -> Solver:
    """Return a solver that stores its state in a folder, created where missing, and resumes from it.

    Its name is ``auto``, ``structured`` or ``generating``; other names raise an `InputError`.
    """
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
