"""Clarabel as a back-end: an independent interior-point method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..errors import MissingExtraError
from .linear import LinearProgram, Solution
from .row_generation import LinearSolver
from .solver import Status, Stop


@dataclass(frozen=True, slots=True)
class Clarabel(LinearSolver):
    """Clarabel's homogeneous interior-point method for conic programs (extra ``solvers``).

    Args:
        tolerance: The relative gap and infeasibility at which it stops.
    """

    tolerance: float = 1e-10

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in reports."""
        return "Clarabel"

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
        equal = np.flatnonzero(program.lower == program.upper)
        above = np.flatnonzero((program.lower != program.upper) & np.isfinite(program.lower))
        below = np.flatnonzero((program.lower != program.upper) & np.isfinite(program.upper))
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
        found = clarabel.DefaultSolver(quadratic, program.cost, stacked, right, cones, settings).solve()
        status = _STATUS.get(str(found.status), Status.INACCURATE)
        if status is Status.INFEASIBLE:
            return Solution(status, None, None, found.iterations)
        z = np.array(found.z)
        duals = np.zeros(rows.shape[0])
        duals[equal] = -z[: len(equal)]
        duals[above] += z[len(equal) : len(equal) + len(above)]
        duals[below] -= z[len(equal) + len(above) : len(equal) + len(above) + len(below)]
        return Solution(status, np.array(found.x), duals, found.iterations)


_STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.INACCURATE,
    "MaxTime": Status.TIME_LIMIT,
    "PrimalInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
}
