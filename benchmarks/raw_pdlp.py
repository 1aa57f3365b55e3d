"""OR-tools' first-order method on the plain program."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from scipy import sparse

from .instances import Built
from .raw import Solved, Stopwatch, as_matrix, plain


def solve(built: Built, limit_s: float) -> Solved:
    """Solve with PDLP to the instance's gap, relative."""
    pdlp = import_module("ortools.pdlp.python.pdlp")
    solvers = import_module("ortools.pdlp.solvers_pb2")
    logs = import_module("ortools.pdlp.solve_log_pb2")
    program = plain(built)
    n, k = program.equal.shape[0], program.rows
    lp = pdlp.QuadraticProgram()
    lp.resize_and_initialize(n * n, n + k)
    lp.objective_vector = program.cost
    lp.constraint_matrix = sparse.csc_matrix(sparse.vstack([program.equal, program.below]))
    lp.constraint_lower_bounds = np.concatenate([np.ones(n), np.full(k, -np.inf)])
    lp.constraint_upper_bounds = np.concatenate([np.ones(n), np.zeros(k)])
    lp.variable_lower_bounds = np.zeros(n * n)
    lp.variable_upper_bounds = np.full(n * n, np.inf)
    parameters = solvers.PrimalDualHybridGradientParams()
    parameters.num_threads = 1
    criteria = parameters.termination_criteria
    criteria.time_sec_limit = limit_s
    criteria.simple_optimality_criteria.eps_optimal_absolute = 0.0
    criteria.simple_optimality_criteria.eps_optimal_relative = built.instance.gap
    with Stopwatch() as watch:
        found = pdlp.primal_dual_hybrid_gradient(lp, parameters)
    reason = logs.TerminationReason.Name(found.solve_log.termination_reason)
    return Solved(
        as_matrix(found.primal_solution, n),
        reason == "TERMINATION_REASON_OPTIMAL",
        reason.removeprefix("TERMINATION_REASON_").replace("_", " ").lower(),
        watch,
        int(found.solve_log.iteration_count),
        k,
    )
