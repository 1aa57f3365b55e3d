"""The proof of metric privacy over the integers of a mechanism, for all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, MetricPrivacy
from ..core.arrays import Floats
from ..core.frozen import Short
from ..intervals import exp_below, exp_below_exact
from ..rounding import up

_RATIO_ERROR = 2.0**-50  # two conversions, a reciprocal and a product round by less


@dataclass(frozen=True, slots=True, repr=False)
class EpsilonProof(Short):
    """A proof of p(o|s) <= exp(epsilon d(s, s')) p(o|s').

    Attributes:
        claimed: The epsilon that was asked for, per unit of the metric.
        upper: A proved upper bound of the mechanism's true epsilon; ``inf`` if a pair
            at finite distance has an infinite likelihood ratio.
        holds: Whether the claim is proved.
        worst_pair: Positions (s, s') of the secrets that attain it.
        worst_observable: Position of the observable that attains it.
        unit: The unit of the metric.
        guarantee: The guarantee in words.
    """

    claimed: float
    upper: float
    holds: bool
    worst_pair: tuple[int, int]
    worst_observable: int
    unit: str
    guarantee: str


def worst_ratios(mechanism: Mechanism) -> tuple[Floats, NDArray[np.intp]]:
    """Return max over o of p(o|s) / p(o|s') and the o that attains it, arrays (n, n).

    The ratios carry a relative error below 2**-50; 0 against positive gives ``inf``,
    and observables that neither secret produces are left out.
    """
    weights = mechanism.weights.astype(np.float64)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / weights
    zeros = bool(np.isinf(inverse).any())
    n = len(weights)
    ratios, where = np.empty((n, n)), np.empty((n, n), dtype=np.intp)
    rows = np.arange(n)
    for s in range(n):
        with np.errstate(invalid="ignore"):
            quotient = weights[s] * inverse
        if zeros:
            quotient[np.isnan(quotient)] = 0.0
        where[s] = quotient.argmax(axis=1)
        ratios[s] = quotient[rows, where[s]]
    return ratios, where


def prove_metric_privacy(mechanism: Mechanism, guarantee: MetricPrivacy) -> EpsilonProof:
    """Prove a bound on the epsilon of a mechanism, over all pairs and observables.

    The likelihood ratios of the integers are compared with exponentials that interval
    arithmetic rounds down; where floats cannot decide the claim, exact integers do.
    How the mechanism was made is not used.

    Args:
        mechanism: A mechanism of n secrets.
        guarantee: The claim; its metric must be on the same n secrets.

    Raises:
        InputError: If it is for other secrets.
    """
    guarantee.check_secrets(mechanism.secrets)
    d, epsilon = guarantee.metric.array, guarantee.epsilon
    ratios, where = worst_ratios(mechanism)
    np.fill_diagonal(ratios, 1.0)
    upper, pair = _upper(mechanism, ratios, d)
    holds = upper <= epsilon
    if not holds and np.isfinite(upper) and not _broken(ratios, d, epsilon):
        holds = _holds_exactly(mechanism, ratios, d, epsilon)
        upper = epsilon if holds else upper
    s, t = pair
    observable = int(where[pair])
    if d[pair] == 0 and s != t:  # floats may not separate integers that differ
        observable = int(np.argmax(mechanism.weights[s] > mechanism.weights[t]))
    return EpsilonProof(epsilon, upper, holds, pair, observable, guarantee.metric.unit, str(guarantee))


def _upper(mechanism: Mechanism, ratios: Floats, d: Floats) -> tuple[float, tuple[int, int]]:
    """Return a proved bound of the tight epsilon and the pair that attains it."""
    zero = (d == 0) & ~np.eye(len(d), dtype=bool)
    for s, t in np.argwhere(zero):
        if not np.array_equal(mechanism.weights[s], mechanism.weights[t]):
            return float("inf"), (int(s), int(t))
    protected = (d > 0) & np.isfinite(d)
    distances = np.where(protected, d, np.inf)
    with np.errstate(divide="ignore"):
        logs = np.where(protected, np.log(ratios), 0.0)
    with np.errstate(over="ignore"):  # a quotient beyond all floats is infinite, which is a bound
        tight = np.where(protected, logs / distances, -np.inf)
    s, t = np.unravel_index(int(np.argmax(tight)), tight.shape)
    pair = (int(s), int(t))
    if tight[pair] == np.inf:
        return float("inf"), pair
    # The logarithms only propose a bound; the exponentials then prove it.
    for margin in (1e-14, 1e-13, 1e-12, 1e-10):
        slack = margin * (1 + np.abs(logs))
        with np.errstate(over="ignore"):
            bound = float(np.max((logs + slack) / distances, initial=0.0))
        if bound == np.inf:
            break
        bound = up(bound)
        if not _doubtful(ratios, d, bound).size:
            return bound, pair
    return float("inf"), pair


def _doubtful(ratios: Floats, d: Floats, epsilon: float) -> NDArray[np.intp]:
    """Return the pairs that floats cannot prove, array (k, 2)."""
    limit = exp_below(epsilon, d) * (1 - _RATIO_ERROR)
    unproved = ~(ratios <= limit) & (d > 0) & np.isfinite(d)
    return np.argwhere(unproved)


def _broken(ratios: Floats, d: Floats, epsilon: float) -> bool:
    """Return whether floats suffice to see that a pair's ratio is too large."""
    with np.errstate(over="ignore"):
        limit = exp_below(epsilon, d) * (1 + 4 * _RATIO_ERROR)
    return bool(((ratios > limit) & np.isfinite(d)).any())


def _holds_exactly(mechanism: Mechanism, ratios: Floats, d: Floats, epsilon: float) -> bool:
    """Settle with exact integers the pairs that floats leave open."""
    for s, t in _doubtful(ratios, d, epsilon):
        if np.array_equal(mechanism.weights[s], mechanism.weights[t]):
            continue  # also where exp(epsilon d) is nearer to one than intervals can resolve
        p, k = exp_below_exact(epsilon, float(d[s, t]))
        for a, b in zip(mechanism.weights[s].tolist(), mechanism.weights[t].tolist(), strict=True):
            if a << k > p * b:
                return False
    return True
