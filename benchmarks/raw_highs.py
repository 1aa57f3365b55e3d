"""HiGHS on the plain program."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy import sparse

from .instances import Built
from .raw import Solved, Stopwatch, as_matrix, plain


def solve(built: Built, limit_s: float, *, method: str) -> Solved:
    """Solve with HiGHS's interior-point method (without crossover) or its simplex method."""
    program = plain(built)
    rows = sparse.csr_array(sparse.vstack([program.equal, program.below], format="csr"))
    n, k = program.equal.shape[0], program.rows
    model: Any = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows.shape
    model.col_cost_ = program.cost
    model.col_lower_ = np.zeros(n * n)
    model.col_upper_ = np.full(n * n, highspy.kHighsInf)
    model.row_lower_ = np.concatenate([np.ones(n), np.full(k, -highspy.kHighsInf)])
    model.row_upper_ = np.concatenate([np.ones(n), np.zeros(k)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    h: Any = highspy.Highs()
    options = {
        "output_flag": False,
        "solver": method,
        "run_crossover": "off",
        "ipm_optimality_tolerance": built.instance.gap,
        "time_limit": limit_s,
        "threads": 1,
    }
    for key, value in options.items():
        if h.setOptionValue(key, value) != highspy.HighsStatus.kOk:
            raise RuntimeError(f"HiGHS refuses the option {key}={value!r}.")
    h.passModel(model)
    with Stopwatch() as watch:
        h.run()
    status = h.getModelStatus()
    info, solution = h.getInfo(), h.getSolution()
    matrix = as_matrix(solution.col_value, n) if solution.value_valid else None
    iterations = max(info.ipm_iteration_count, 0) + max(info.simplex_iteration_count, 0)
    return Solved(
        matrix,
        status == highspy.HighsModelStatus.kOptimal,
        h.modelStatusToString(status),
        watch,
        iterations,
        k,
    )
