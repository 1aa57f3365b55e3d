"""Programs in which attackers guess only near the report (appendix C of "Privacy Games").

A guess counts for some reports and not for others, so this is not distortion privacy, and a general back-end is
asked. Without metric privacy only secrets that occur matter: the others are given the report probabilities of a
typical secret.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sfumato.core import Mechanism, Metric, Prior, hamming, neighbours, paths_along
from sfumato.core.immutable import CompactRepr
from sfumato.errors import SolverError
from sfumato.mechanisms import repair_to_private
from sfumato.optimal import Highs, LinearProgram
from sfumato.proofs import expected_loss_above


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Near(CompactRepr):
    """A mechanism of least cost against attackers who guess near the report.

    Attributes:
        mechanism: The mechanism.
        cost: The share of false cells.
        rows: How many rows the attack had.
        seconds: The time it took.
    """

    mechanism: Mechanism
    cost: float
    rows: int
    seconds: float


def cheapest(
    prior: Prior, distance: Metric, minimum: float, threshold: float, epsilon: float | None = None
) -> Near:
    """Return the mechanism of least Hamming cost against which guesses near the report err by ``minimum``.

    minimise sum of prior(s) p(o|s) [o != s]  so that  sum over o of y(o) >= minimum  and
    y(o) <= sum over s of prior(s) p(o|s) d(g, s)  for all reports o and guesses g with d(g, o) <= threshold  and
    p(o|s) <= exp(epsilon d(s, s')) p(o|s')  for all o and secrets with d(s, s') <= threshold

    Args:
        prior: On n secrets, which are the reports and the guesses, too.
        distance: Between them.
        minimum: In the unit of the distance.
        threshold: In the same unit.
        epsilon: Per unit of the distance; None for no metric privacy.

    Raises:
        SolverError: If the back-end finds no optimum.

    Source:
        Shokri, "Privacy Games", equations 21 and 24 and appendix C.
    """
    begun = time.monotonic()
    n = len(prior)
    kept = prior.support if epsilon is None else np.arange(n)
    program, rows = _program(prior, distance, minimum, threshold, kept)
    if epsilon is not None:
        program = _private(program, distance, threshold, epsilon)
    solution = Highs().solve(program, time_limit=inf, stop=lambda: False)
    if solution.x is None:
        raise SolverError(
            f"no mechanism was found against guesses within {threshold:g} {distance.unit}.",
            "use another threshold.",
        )
    found = np.maximum(solution.x[: len(kept) * n].reshape(len(kept), n), 0.0)
    found /= found.sum(axis=1, keepdims=True)
    if epsilon is None:
        matrix = np.tile(prior.probabilities[kept] @ found, (n, 1))
        matrix[kept] = found
    else:
        matrix, _ = repair_to_private(found, epsilon * near_metric(distance, threshold).array)
    mechanism = Mechanism(matrix / matrix.sum(axis=1, keepdims=True), prior.space, prior.space)
    cost = expected_loss_above(mechanism, prior, hamming(prior.space))
    return Near(mechanism, cost, rows, time.monotonic() - begun)


def near_metric(distance: Metric, threshold: float) -> Metric:
    """Return the distances along pairs within a threshold; ``inf`` between values that none connect."""
    graph = neighbours(distance, threshold)
    paths = paths_along(graph.edges, graph.lengths, len(distance))
    return Metric(np.minimum(paths, paths.T), distance.unit, name="distance along near pairs", triangle=True)


def _program(
    prior: Prior, distance: Metric, minimum: float, threshold: float, kept: NDArray[np.intp]
) -> tuple[LinearProgram, int]:
    """Return the program in p(o|s) of the secrets that are kept, then y(o), and how many rows the attack has."""
    n, d = len(prior), distance.array
    mass = prior.probabilities[kept]
    size = len(kept) * n
    costs = np.repeat(mass[:, None], n, axis=1)
    costs[np.arange(len(kept)), kept] = 0.0
    o, guess = np.nonzero(d <= threshold)
    k = np.arange(len(o))
    places = np.arange(len(kept)) * n + o[:, None]
    seen = sparse.coo_array(
        ((mass * d[:, kept])[guess].ravel(), (np.repeat(k, len(kept)), places.ravel())),
        shape=(len(o), size + n),
    )
    least = sparse.coo_array((-np.ones(len(o)), (k, size + o)), shape=seen.shape)
    sums = sparse.kron(sparse.eye_array(len(kept)), np.ones((1, n)))
    whole = sparse.hstack([sums, sparse.coo_array((len(kept), n))])
    total = sparse.coo_array(np.concatenate([np.zeros(size), np.ones(n)])[None])
    program = LinearProgram(
        np.concatenate([costs.ravel(), np.zeros(n)]),
        sparse.csr_array(sparse.vstack([whole, seen + least, total])),
        np.concatenate([np.ones(len(kept)), np.zeros(len(o)), [minimum]]),
        np.concatenate([np.ones(len(kept)), np.full(len(o) + 1, inf)]),
        np.zeros(size + n),
    )
    return program, len(o)


def _private(program: LinearProgram, distance: Metric, threshold: float, epsilon: float) -> LinearProgram:
    """Return a program of all secrets with the rows of metric privacy of near pairs."""
    n, d = len(distance), distance.array
    s, t = np.nonzero((d <= threshold) & ~np.eye(n, dtype=bool))
    k = np.arange(len(s))
    entries = np.concatenate([np.exp(-epsilon * d[s, t]), -np.ones(len(s))])
    pairs = sparse.coo_array((entries, (np.concatenate([k, k]), np.concatenate([s, t]))), shape=(len(s), n))
    rows = sparse.kron(pairs, sparse.eye_array(n))
    wide = sparse.hstack([rows, sparse.coo_array((rows.shape[0], n))])
    return LinearProgram(
        program.cost,
        sparse.csr_array(sparse.vstack([program.rows, wide])),
        np.concatenate([program.lower, np.full(rows.shape[0], -inf)]),
        np.concatenate([program.upper, np.zeros(rows.shape[0])]),
        program.floor,
    )
