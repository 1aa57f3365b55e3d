"""Appendix C of "Privacy Games": programs without far pairs and far guesses, and their true guarantees.

Without far pairs a mechanism has epsilon along the remaining edges: between any two cells, epsilon times the
dilation of their graph. Epsilon divided by the dilation first restores the guarantee (Bordenabe et al., CCS 2014).
Without far guesses the distortion is not guaranteed: the attacker may guess them all the same.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sfumato.attacks import optimal
from sfumato.core import Mechanism, Metric, MetricPrivacy, Prior, neighbours, paths_along
from sfumato.core.immutable import CompactRepr
from sfumato.errors import SolverError
from sfumato.mechanisms import repair_to_private
from sfumato.optimal import Highs, LinearProgram
from sfumato.proofs import distortion_below, expected_loss_above, prove_metric_privacy

from ..reproduction import SECONDS, Made
from ..results import columns_of
from .games import DISTORTION, JOINT, METRIC, Person, UserGame

PAIRS: Final = "pruned-pairs"
ATTACKS: Final = "pruned-attacks"
PAIR_TIMES: Final = f"{PAIRS}{SECONDS}"
ATTACK_TIMES: Final = f"{ATTACKS}{SECONDS}"

PRUNED: Final = "pruned"
CORRECTED: Final = "corrected"
EXACT: Final = "exact"


@dataclass(frozen=True, slots=True, repr=False)
class PairRow(CompactRepr):
    """Metric privacy without far pairs; lengths in km, epsilons per km, the cost is the share of false cells."""

    user: int
    kind: str  # pruned as in the paper; corrected: epsilon over the dilation; exact: all pairs
    threshold: float | None
    pairs: int
    dilation: float
    epsilon: float
    epsilon_true: float  # least epsilon proved for all pairs
    kept: bool  # whether epsilon is proved for all pairs
    cost: float
    cost_lower_bound: float
    error_best: float


@dataclass(frozen=True, slots=True, repr=False)
class AttackRow(CompactRepr):
    """*Distortion* without far guesses, or *joint* without far guesses and pairs; units as in `PairRow`."""

    user: int
    mechanism: str
    cells: int
    epsilon: float | None
    kind: str
    threshold: float | None
    rows: int  # of the attack
    distortion_asked: float
    distortion_lower: float  # proved
    error_best: float
    epsilon_true: float | None  # proved
    cost: float


@dataclass(frozen=True, slots=True)
class TimeRow:
    """The time that a program took, by user and threshold (km)."""

    user: int
    mechanism: str
    kind: str
    threshold: float | None
    seconds: float


def far_pairs(person: Person, epsilon: float, threshold: float | None, gap: float) -> Made:
    """Design *metric* with pairs within a threshold alone, as in the paper and with epsilon over the dilation."""
    game = UserGame(person)
    asked = MetricPrivacy(epsilon, game.distance)
    if threshold is None:
        found = game.design(epsilon, None, gap)
        count, dilation, designs = len(game.prior) * (len(game.prior) - 1), 1.0, [(EXACT, found)]
    else:
        graph = neighbours(game.distance, threshold)
        along = _near_metric(game.distance, threshold)
        count, dilation = 2 * len(graph), graph.dilation
        epsilons = {PRUNED: epsilon}
        if math.isfinite(dilation):
            epsilons[CORRECTED] = epsilon / dilation
        designs = [(kind, game.designed(MetricPrivacy(each, along), gap)) for kind, each in epsilons.items()]
    rows, times = [], []
    for kind, found in designs:
        proof = prove_metric_privacy(found.mechanism, asked)
        rows.append(
            PairRow(
                user=person.number,
                kind=kind,
                threshold=threshold,
                pairs=count,
                dilation=dilation,
                epsilon=epsilon,
                epsilon_true=proof.upper,
                kept=proof.holds,
                cost=found.certificate.loss,
                cost_lower_bound=found.certificate.lower_bound,
                error_best=optimal(found.mechanism, game.prior, game.distance).error,
            )
        )
        times.append(columns_of(TimeRow(person.number, METRIC, kind, threshold, found.seconds)))
    return {PAIRS: [columns_of(row) for row in rows], PAIR_TIMES: times}


def far_guesses(
    person: Person, share: float, threshold: float | None, gap: float, epsilon: float | None = None
) -> Made:
    """Design *distortion* against attackers who guess near the report, or *joint*, also without far pairs."""
    game = UserGame(person)
    minimum = share * game.most
    if threshold is None:
        found = game.design(epsilon, minimum, gap)
        mechanism, seconds, cost = found.mechanism, found.seconds, found.certificate.loss
        count = len(game.prior) ** 2
    else:
        begun = time.monotonic()
        mechanism, count = _cheapest(game.prior, game.distance, minimum, threshold, epsilon)
        cost, seconds = expected_loss_above(mechanism, game.prior, game.cost), time.monotonic() - begun
    asked = None if epsilon is None else MetricPrivacy(epsilon, game.distance)
    name = DISTORTION if epsilon is None else JOINT
    row = AttackRow(
        user=person.number,
        mechanism=name,
        cells=len(game.prior),
        epsilon=epsilon,
        kind=EXACT if threshold is None else PRUNED,
        threshold=threshold,
        rows=count,
        distortion_asked=minimum,
        distortion_lower=distortion_below(mechanism, game.prior, game.distance),
        error_best=optimal(mechanism, game.prior, game.distance).error,
        epsilon_true=None if asked is None else prove_metric_privacy(mechanism, asked).upper,
        cost=cost,
    )
    timed = TimeRow(person.number, name, row.kind, threshold, seconds)
    return {ATTACKS: [columns_of(row)], ATTACK_TIMES: [columns_of(timed)]}


def _cheapest(
    prior: Prior, distance: Metric, minimum: float, threshold: float, epsilon: float | None
) -> tuple[Mechanism, int]:
    """Return the mechanism of least Hamming cost against which guesses near the report err by ``minimum``.

    minimise sum of prior(s) p(o|s) [o != s]  so that  sum over o of y(o) >= minimum  and
    y(o) <= sum over s of prior(s) p(o|s) d(g, s)  for all reports o and guesses g with d(g, o) <= threshold  and
    p(o|s) <= exp(epsilon d(s, s')) p(o|s')  for all o and secrets with d(s, s') <= threshold
    (equations 21 and 24, appendix C). A guess counts for some reports only, so this is not distortion privacy, and
    a general back-end solves it. Without epsilon only secrets that occur matter. The number is the attack's rows.
    """
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
        matrix, _ = repair_to_private(found, epsilon * _near_metric(distance, threshold).array)
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), prior.space, prior.space), rows


def _near_metric(distance: Metric, threshold: float) -> Metric:
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
