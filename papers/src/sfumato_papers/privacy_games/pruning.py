"""Appendix C of "Privacy Games": programs without far pairs and far guesses, and their true guarantees.

Without far pairs a mechanism has epsilon along the remaining edges: between any two cells, epsilon times the
dilation of their graph. Epsilon divided by the dilation first restores the guarantee (Bordenabe et al., CCS 2014).
Without far guesses the distortion is not guaranteed: the attacker may guess them all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from scipy import sparse

from sfumato.attacks import optimal
from sfumato.core import Mechanism, Metric, MetricPrivacy, Prior, neighbours, paths_along
from sfumato.core.immutable import CompactRepr
from sfumato.errors import SolverError
from sfumato.optimal import Highs, LinearProgram
from sfumato.proofs import distortion_below, expected_loss_above, prove_metric_privacy

from ..reproduction import Tables
from .games import Person, UserGame

PAIRS: Final = "pruned-pairs"
ATTACKS: Final = "pruned-attacks"

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
    """*Distortion* without far guesses; units as in `PairRow`."""

    user: int
    cells: int
    kind: str
    threshold: float | None
    rows: int  # of the attack
    distortion_asked: float
    distortion_lower: float  # proved
    error_best: float
    cost: float


def far_pairs(person: Person, epsilon: float, threshold: float | None, gap: float) -> Tables:
    """Design *metric* with pairs within a threshold alone, as in the paper and with epsilon over the dilation."""
    game = UserGame(person)
    guarantee = MetricPrivacy(epsilon, game.distance)
    if threshold is None:
        design = game.design(epsilon, None, gap)
        count, dilation, designs = len(game.prior) * (len(game.prior) - 1), 1.0, [(EXACT, design)]
    else:
        graph = neighbours(game.distance, threshold)
        paths = paths_along(graph.edges, graph.lengths, len(game.prior))  # inf between cells that none connect
        along = Metric(np.minimum(paths, paths.T), "km", name="distance along near pairs", triangle=True)
        count, dilation = 2 * len(graph), graph.dilation
        epsilons = {PRUNED: epsilon}
        if math.isfinite(dilation):
            epsilons[CORRECTED] = epsilon / dilation
        designs = [(kind, game.design(level, None, gap, apart=along)) for kind, level in epsilons.items()]
    rows = []
    for kind, design in designs:
        proof = prove_metric_privacy(design.mechanism, guarantee)
        row = PairRow(
            user=person.number,
            kind=kind,
            threshold=threshold,
            pairs=count,
            dilation=dilation,
            epsilon=epsilon,
            epsilon_true=proof.upper,
            kept=proof.holds,
            cost=design.certificate.loss,
            cost_lower_bound=design.certificate.lower_bound,
            error_best=optimal(design.mechanism, game.prior, game.distance).error,
        )
        rows.append(row)
    return {PAIRS: rows}


def far_guesses(person: Person, share: float, threshold: float | None, gap: float) -> Tables:
    """Design *distortion* against attackers who guess near the report."""
    game = UserGame(person)
    minimum = share * game.most
    if threshold is None:
        design = game.design(None, minimum, gap)
        mechanism, cost, count = design.mechanism, design.certificate.loss, len(game.prior) ** 2
    else:
        mechanism, count = _cheapest(game.prior, game.distance, minimum, threshold)
        cost = expected_loss_above(mechanism, game.prior, game.cost)
    row = AttackRow(
        user=person.number,
        cells=len(game.prior),
        kind=EXACT if threshold is None else PRUNED,
        threshold=threshold,
        rows=count,
        distortion_asked=minimum,
        distortion_lower=distortion_below(mechanism, game.prior, game.distance),
        error_best=optimal(mechanism, game.prior, game.distance).error,
        cost=cost,
    )
    return {ATTACKS: [row]}


def _cheapest(prior: Prior, distance: Metric, minimum: float, threshold: float) -> tuple[Mechanism, int]:
    """Return the mechanism of least Hamming cost against which guesses near the report err by ``minimum``.

    minimise sum of prior(s) p(o|s) [o != s]  so that  sum over o of y(o) >= minimum  and
    y(o) <= sum over s of prior(s) p(o|s) d(g, s)  for all reports o and guesses g with d(g, o) <= threshold
    (equation 21, appendix C). A guess counts for some reports only, so this is not distortion privacy, and
    a general back-end solves it. Only secrets that occur matter. The number is the attack's rows.
    """
    n, d, occur = len(prior), distance.array, prior.support
    mass = prior.probabilities[occur]
    size = len(occur) * n
    costs = np.repeat(mass[:, None], n, axis=1)
    costs[np.arange(len(occur)), occur] = 0.0
    o, guess = np.nonzero(d <= threshold)
    k = np.arange(len(o))
    places = np.arange(len(occur)) * n + o[:, None]
    errors = sparse.coo_array(
        ((mass * d[:, occur])[guess].ravel(), (np.repeat(k, len(occur)), places.ravel())),
        shape=(len(o), size + n),
    )
    least = sparse.coo_array((-np.ones(len(o)), (k, size + o)), shape=errors.shape)
    sums = sparse.kron(sparse.eye_array(len(occur)), np.ones((1, n)))
    whole = sparse.hstack([sums, sparse.coo_array((len(occur), n))])
    total = sparse.coo_array(np.concatenate([np.zeros(size), np.ones(n)])[None])
    program = LinearProgram(
        np.concatenate([costs.ravel(), np.zeros(n)]),
        sparse.csr_array(sparse.vstack([whole, errors + least, total])),
        np.concatenate([np.ones(len(occur)), np.zeros(len(o)), [minimum]]),
        np.concatenate([np.ones(len(occur)), np.full(len(o) + 1, inf)]),
        np.zeros(size + n),
    )
    solution = Highs().solve(program, time_limit=inf, stop=lambda: False)
    if solution.x is None:
        raise SolverError(
            f"no mechanism was found against guesses within {threshold:g} {distance.unit}.",
            "use another threshold.",
        )
    channel = np.maximum(solution.x[:size].reshape(len(occur), n), 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    matrix = np.tile(mass @ channel, (n, 1))
    matrix[occur] = channel
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), prior.space, prior.space), len(o)
