"""The linear program of an adversary who plays against the worst case."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron

from ..core.arrays import Floats
from ..errors import SolverError

_OFF = 1e-6  # how far from probabilities the solver's answer may be


def solve(rows: csr_array, observables: int, guesses: int, time_limit: float | None) -> tuple[Floats, Floats]:
    """Return the strategy q that minimises the largest entry of rows @ q, and the dual weights.

    Args:
        rows: Sparse array (cases, guesses * observables), entries of magnitude at most
            one; the variable of guess g at observable o is number g * observables + o.
        observables: How many observables there are.
        guesses: How many guesses there are.
        time_limit: Seconds, or None.

    Returns:
        The strategy, array (observables, guesses), and the weights of the cases, array
        (cases,). Both are probabilities: rounding of the solver below 1e-6 is removed,
        so values must be recomputed from them.

    Raises:
        SolverError: If there is no optimum, or it is not made of probabilities.
    """
    cases = rows.shape[0]
    cost = np.zeros(guesses * observables + 1)
    cost[-1] = 1.0
    sums = kron(np.ones((1, guesses)), eye_array(observables))
    result = linprog(
        cost,
        A_ub=hstack([rows, csr_array(-np.ones((cases, 1)))], format="csr"),
        b_ub=np.zeros(cases),
        A_eq=hstack([sums, csr_array((observables, 1))], format="csr"),
        b_eq=np.ones(observables),
        bounds=[(0.0, None)] * (guesses * observables) + [(None, None)],
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if result.status != 0:
        limit = "" if time_limit is None else f" within {time_limit:g} s"
        raise SolverError(
            f"the prior-free attack on {observables} observables with {guesses} guesses was not solved"
            f"{limit}: {result.message}",
            "allow more time, or use fewer guesses; attacks.unweighted needs no solver.",
        )
    strategy = result.x[:-1].reshape(guesses, observables).T
    return _probabilities(strategy), _probabilities(-result.ineqlin.marginals[None, :])[0]


def _probabilities(found: NDArray[np.float64]) -> Floats:
    positive = np.maximum(found, 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    off = max(float((positive - found).max()), float(np.abs(sums - 1.0).max()))
    if not off <= _OFF:
        raise SolverError(
            f"the solver's answer is off by {off:.2g} from being probabilities.",
            "use a distance of more even scale; attacks.unweighted needs no solver.",
        )
    probabilities: Floats = positive / sums
    return probabilities
