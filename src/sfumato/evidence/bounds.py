"""How good any mechanism could be: bounds by Lagrangian duality.

Any multipliers of the right sign give a valid bound, whoever computed them and however
inexactly, so the bound is proved without trusting the solver.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats, frozen
from ..core.frozen import Frozen
from ..intervals import exp_above
from ..rounding import UNIT, down, sum_error, up

Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers(Frozen):
    """Prices of the constraints of a design problem; negative entries count as zero.

    Attributes:
        secrets: Array (k,), the s of each priced row p(o|s) <= exp(e) p(o|s').
        others: Array (k,), its s'.
        observables: Array (k,), its o.
        local: Array (k,), its price.
        exponents: Array (k,), its e.
        guesses: Array (guesses, observables), prices of the optimal-attack rows, or None.
        worst: Array (secrets,), prices of the worst-case rows, or None.
        loss: The price of the loss bound (dual game only).
    """

    secrets: Positions
    others: Positions
    observables: Positions
    local: Floats
    exponents: Floats
    guesses: Floats | None = None
    worst: Floats | None = None
    loss: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, frozen(value))


def loss_bound(
    prior: Floats, loss: Floats, multipliers: Multipliers, distance: Floats | None = None, minimum: float = 0.0
) -> float:
    """Return a proved lower bound of the loss of every mechanism that keeps the guarantees.

    Args:
        prior: Array (n,).
        loss: Array (n, m).
        multipliers: Prices from any solver.
        distance: Array (guesses, n) of the distortion guarantee, non-negative.
        minimum: The distortion that is guaranteed.
    """
    weights = prior
    if multipliers.worst is not None:
        prices = np.maximum(multipliers.worst, 0.0)
        prices = prices if prices.any() else np.ones_like(prices)
        # A little under one, so that rounding cannot push the sum of prices above it.
        weights = prices / prices.sum() * (1 - 4 * len(prices) * UNIT)
    reduced = weights[:, None] * loss
    size = np.abs(reduced)
    gained = 0.0
    if multipliers.guesses is not None and distance is not None:
        prices = np.maximum(multipliers.guesses, 0.0)
        earned = prior[:, None] * (distance.T @ prices)
        reduced, size = reduced - earned, size + np.abs(earned)
        gained = float(prices.sum(axis=0).min()) * (1 - 2 * (len(prices) + 2) * UNIT) * minimum
    found = down(gained + _rows_below(reduced, size, multipliers, len(distance) if distance is not None else 0))
    return max(found, _least_loss(prior, loss, worst=multipliers.worst is not None))


def distortion_bound(
    prior: Floats, loss: Floats, distance: Floats, max_loss: float, multipliers: Multipliers
) -> float:
    """Return a proved upper bound of the distortion privacy under a loss bound.

    Args:
        prior: Array (n,).
        loss: Array (n, m).
        distance: Array (guesses, n), non-negative.
        max_loss: The largest expected loss allowed.
        multipliers: Prices from any solver.
    """
    without_report = _blind_error(prior, distance)
    if multipliers.guesses is None:
        return without_report
    prices = np.maximum(multipliers.guesses, 0.0)
    total = prices.sum(axis=0)
    # A little over one per observable: the attacker's strategy must be a full one.
    strategy = np.where(total > 0, prices / np.where(total > 0, total, 1.0), 1.0 / len(prices))
    strategy = strategy * (1 + 4 * len(prices) * UNIT)
    price = max(multipliers.loss, 0.0)
    earned = prior[:, None] * (distance.T @ strategy)
    paid = price * prior[:, None] * loss
    below = _rows_below(paid - earned, np.abs(paid) + earned, multipliers, len(distance))
    return min(up(price * max_loss * (1 + 4 * UNIT) - below), without_report)


def _least_loss(prior: Floats, loss: Floats, *, worst: bool) -> float:
    """Return a lower bound of the loss of the truth itself, by the best report for every secret."""
    best = loss.min(axis=1)
    if worst:
        return float(best.max())
    terms = prior * best
    found = float(terms.sum()) - sum_error(len(terms), float(np.abs(terms).sum()))
    return max(down(found), 0.0) if (best >= 0).all() else down(found)


def _blind_error(prior: Floats, distance: Floats) -> float:
    """Return an upper bound of the error of the best guess without a report."""
    found = float((distance @ prior).min())
    return up(found + sum_error(len(prior), found))


def _rows_below(reduced: Floats, size: Floats, multipliers: Multipliers, terms: int) -> float:
    """Return a lower bound of sum over s of min over o of the reduced cost."""
    n, m = reduced.shape
    price = np.maximum(multipliers.local, 0.0)
    positive = price > 0
    price = price[positive]
    s, t = multipliers.secrets[positive], multipliers.others[positive]
    o = multipliers.observables[positive]
    # Exponents are sums of rounded products; the factor covers what rounding took from them.
    back = price * exp_above(multipliers.exponents[positive] * (1 + 4 * (n + 2) * UNIT))
    here = np.bincount(s * m + o, price, n * m).reshape(n, m)
    there = np.bincount(t * m + o, back, n * m).reshape(n, m)
    most = 2 * n + terms + 4  # terms of any one sum above
    low = (reduced + here - there) - 2 * (most + 8) * UNIT * (size + here + there)
    best = low.min(axis=1)
    return float(best.sum()) - sum_error(n, float(np.abs(best).sum()))
