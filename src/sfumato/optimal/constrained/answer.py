"""Design problems that only a general linear program can hold: own constraints, or several attackers."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import Mechanism
from ...errors import InputError, SolverError, argument
from ...evidence import certify
from ..clarabel import Clarabel
from ..generate import LinearSolver
from ..highs import Highs
from ..problem import Problem
from ..solver import Answer, Control, Solver
from ..solvers import Auto
from .demands import Demands
from .search import searched

_MARGINS = (1e-9, 1e-8, 1e-7)  # of the exponents, left for rounding


def general_answer(problem: Problem, solver: Solver, control: Control) -> Answer:
    """Return the answer to a problem with linear constraints or several attackers; it is proved already.

    Raises:
        InputError: If the solver or the pairs are not for such problems.
        InfeasibleError: If no mechanism keeps what is asked, or it leaves no room for rounding.
        SolverError: If there is no answer within the time, or none that can be proved.
    """
    found = searched(Demands.of(problem), control, back_ends(solver, control.pairs), problem.negligible)
    demands, matrix = Demands.of(problem), found.matrix
    for margin in _MARGINS:
        mechanism = Mechanism(matrix, problem.prior.space, problem.observables)
        certificate = certify(
            mechanism,
            problem.prior,
            problem.loss,
            problem.guarantees,
            objective=problem.objective,
            bound=found.bound,
            constraints=problem.constraints,
        )
        if certificate.holds:
            return Answer(
                matrix,
                0.0,
                found.value,
                found.bound,
                found.status,
                found.log,
                f"{found.solver} (general program)",
                many=found.prices,
                mechanism=mechanism,
            )
        matrix = demands.private(found.matrix, 10 * margin)
    raise SolverError(
        "the answer could not be proved to keep what was asked after rounding to integers.",
        "ask for a little less.",
    )


def back_ends(solver: Solver, pairs: str) -> Sequence[LinearSolver]:
    """Return the back-ends to ask for a general program.

    Raises:
        InputError: If the solver or the pairs are not for such programs.
    """
    if pairs == "spanner":
        raise InputError(
            "a spanner was asked for, but a general program keeps all pairs.",
            f"use {argument('pairs', 'generated')}.",
        )
    if isinstance(solver, Auto):
        return Highs(), Highs("simplex"), Clarabel()
    if isinstance(solver, LinearSolver):
        return (solver,)
    raise InputError(
        f"the {solver.name} solver takes no linear constraints, and no more than one attacker and one prior.",
        f"leave {argument('solver', solver.name)} out, or use highs, simplex or clarabel.",
    )
