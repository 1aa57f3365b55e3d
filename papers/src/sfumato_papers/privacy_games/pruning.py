"""Appendix C of "Privacy Games": programs without far pairs and far guesses, and their true guarantees.

Without far pairs a mechanism has epsilon along the remaining edges: between any two cells, epsilon times the
dilation of their graph. Epsilon divided by the dilation first restores the guarantee (Bordenabe et al., CCS 2014).
Without far guesses the distortion is not guaranteed: the attacker may guess them all the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final, TypeVar

import numpy as np
from scipy import sparse

from sfumato.attacks import optimal
from sfumato.core import Mechanism, Metric, MetricPrivacy, Prior, neighbours, paths_along
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import SolverError
from sfumato.optimal import Highs, LinearProgram
from sfumato.proofs import distortion_below, expected_loss_above, prove_metric_privacy

from ..reproduction import Tables
from .games import DISTORTION, METRIC, Person, UserGame

PAIRS: Final = "pruned-pairs"
ATTACKS: Final = "pruned-attacks"
TIMES: Final = "pruned-seconds"

PRUNED: Final = "pruned"
CORRECTED: Final = "corrected"
EXACT: Final = "exact"

_Result = TypeVar("_Result")
_ROUNDING: Final = 1e-12  # more than float sums of a bound are off by


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
    cost_lower_bound: float  # proved, of the program with these guesses


@dataclass(frozen=True, slots=True, repr=False)
class TimeRow(CompactRepr):
    """The CPU seconds of one design of a `PairRow` or an `AttackRow`."""

    user: int
    mechanism: str
    kind: str
    threshold: float | None
    seconds: float


def far_pairs(person: Person, epsilon: float, threshold: float | None, gap: float) -> Tables:
    """Design *metric* with pairs within a threshold alone, as in the paper and with epsilon over the dilation."""
    game = UserGame(person)
    guarantee = MetricPrivacy(epsilon, game.distance)
    if threshold is None:
        count, dilation = len(game.prior) * (len(game.prior) - 1), 1.0
        epsilons, along = {EXACT: epsilon}, game.distance
    else:
        graph = neighbours(game.distance, threshold)
        paths = paths_along(graph.edges, graph.lengths, len(game.prior))  # inf between cells that none connect
        along = Metric(np.minimum(paths, paths.T), "km", name="distance along near pairs", triangle=True)
        count, dilation = 2 * len(graph), graph.dilation
        epsilons = {PRUNED: epsilon}
        if math.isfinite(dilation):
            epsilons[CORRECTED] = epsilon / dilation
    rows, times = [], []
    for kind, level in epsilons.items():
        design, seconds = _measure_time(game.design, level, None, gap, None, along)
        times.append(TimeRow(person.number, METRIC, kind, threshold, seconds))
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
    return {PAIRS: rows, TIMES: times}


def far_guesses(person: Person, share: float, threshold: float | None, gap: float) -> Tables:
    """Design *distortion* against attackers who guess near the report."""
    game = UserGame(person)
    minimum = share * game.most
    kind = EXACT if threshold is None else PRUNED
    if threshold is None:
        design, seconds = _measure_time(game.design, None, minimum, gap)
        mechanism, bound, count = design.mechanism, design.certificate.lower_bound, len(game.prior) ** 2
    else:
        (mechanism, bound, count), seconds = _measure_time(
            _cheapest, game.prior, game.distance, minimum, threshold
        )
    row = AttackRow(
        user=person.number,
        cells=len(game.prior),
        kind=kind,
        threshold=threshold,
        rows=count,
        distortion_asked=minimum,
        distortion_lower=distortion_below(mechanism, game.prior, game.distance),
        error_best=optimal(mechanism, game.prior, game.distance).error,
        cost=expected_loss_above(mechanism, game.prior, game.cost),
        cost_lower_bound=bound,
    )
    return {ATTACKS: [row], TIMES: [TimeRow(person.number, DISTORTION, kind, threshold, seconds)]}


def _measure_time(design: Callable[..., _Result], *arguments: object) -> tuple[_Result, float]:
    """Return the result of a function, and its CPU seconds in this process."""
    start = time.process_time()
    return design(*arguments), time.process_time() - start


def _cheapest(prior: Prior, distance: Metric, minimum: float, threshold: float) -> tuple[Mechanism, float, int]:
    """Return the mechanism of least Hamming cost against which guesses near the report err by ``minimum``.

    minimise sum of prior(s) p(o|s) [o != s]  so that  sum over o of y(o) >= minimum  and
    y(o) <= sum over s of prior(s) p(o|s) d(g, s)  for all reports o and guesses g with d(g, o) <= threshold
    (equation 21, appendix C). A guess counts for some reports only, so this is not distortion privacy, and
    a general back-end solves it. Only secrets that occur matter. The numbers are a proved lower bound of the cost,
    and the attack's rows.
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
    if solution.x is None or solution.duals is None:
        raise SolverError(
            f"no mechanism was found against guesses within {threshold:g} {distance.unit}.",
            "use another threshold.",
        )
    channel = np.maximum(solution.x[:size].reshape(len(occur), n), 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    matrix = np.tile(mass @ channel, (n, 1))
    matrix[occur] = channel
    weights = np.zeros((n, n))
    weights[o, guess] = np.maximum(solution.duals[len(occur) : -1], 0.0)
    bound = least_cost(mass, d[:, occur], np.eye(n)[occur], weights, float(solution.duals[-1]), minimum)
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), prior.space, prior.space), bound, len(o)


def least_cost(
    mass: Floats, distance: Floats, truthful: Floats, weights: Floats, price: float, minimum: float
) -> float:
    """Return a lower bound of the cost of all mechanisms of the program, from a strategy of the attacker.

    The strategy guesses by weights (reports, guesses); without any it guesses the report. Its error is at least
    ``minimum``, so the price times the excess is subtracted from the cost, and each of the k secrets that occur
    chooses its best report. Mass has shape (k,), distance (guesses, k), and truthful (k, reports) is 1 where the
    report is the secret.
    """
    price = max(price, 0.0)
    weights[weights.sum(axis=1) == 0] = np.eye(len(weights))[weights.sum(axis=1) == 0]
    strategy = weights / weights.sum(axis=1, keepdims=True)
    remainder = (1.0 - truthful - price * (strategy @ distance).T).min(axis=1)
    return float(price * minimum + mass @ remainder - _ROUNDING * (1 + price * distance.max()))
