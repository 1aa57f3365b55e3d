"""libqif, the field's own library, through its Python package."""

from __future__ import annotations

from importlib import import_module

from .instances import Built
from .raw import Solved, Stopwatch, as_matrix


def solve(built: Built, limit_s: float, *, solver: str) -> Solved:
    """Solve with libqif; it knows no time limit, so the run is ended from outside."""
    qif = import_module("qif")
    n, epsilon = len(built.prior), built.instance.epsilon
    d, loss = built.metric.array.tolist(), built.loss_array.tolist()
    qif.lp.defaults.solver = solver
    with Stopwatch() as watch:
        found = qif.mechanism.d_privacy.min_loss_given_d(
            built.prior.probabilities,
            n,
            lambda s, t: epsilon * d[s][t],
            lambda s, o: loss[s][o],
        )
    status = f"returned within {limit_s:g} s, and says no more"
    return Solved(as_matrix(found, n), True, status, watch, None, n * (n - 1) * n)
