"""Clarabel on the plain program."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from .instances import Built
from .raw import Solved, Stopwatch, as_matrix, plain


def solve(built: Built, limit_s: float) -> Solved:
    """Solve with Clarabel; its set-up, which orders the factors, counts as solving."""
    program = plain(built)
    n, k = program.equal.shape[0], program.rows
    stacked = sparse.csc_matrix(sparse.vstack([program.equal, program.below, -sparse.identity(n * n)]))
    right = np.concatenate([np.ones(n), np.zeros(k + n * n)])
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(k + n * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = built.instance.gap
    settings.time_limit = limit_s
    quadratic = sparse.csc_matrix((n * n, n * n))
    with Stopwatch() as watch:
        found = clarabel.DefaultSolver(quadratic, program.cost, stacked, right, cones, settings).solve()
    status = str(found.status)
    return Solved(as_matrix(found.x, n), status == "Solved", status, watch, int(found.iterations), k)
