"""Leakage about a sensitive X behind a secret W reported as Z: upper bounds of a mechanism, lower bounds of any.

The lower bounds take an adversary's strategy and a price of the loss, of any origin: docs/proofs/sensitive.md. A
joint distribution of floats sums to one only nearly; its information is taken as that of
sum over x, z of P(x, z) ln(T P(x, z) / (P(x) P(z))) with T its sum, which is never negative.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..core import Mechanism
from ..core.arrays import Floats
from ..rounding import UNIT, down, lower_end, sum_error, underflow, up, upper_end
from .bounds import Multipliers, rows_below

_TERMS: Final = 12  # of the series of the logarithm; the rest is below 2**-60 of its sum
_LOG_ERROR: Final = 48 * UNIT
_NO_ROWS: Final = Multipliers.without_rows()
_LEAST: Final = 1e-290  # of a guess: an impossible guess would make the bound minus infinity


def class_vulnerability_above(mechanism: Mechanism, joint: Floats) -> float:
    """Return a proved upper bound on the chance to guess the class: sum over z of max over x of P(x, z).

    ``joint`` is P(x, w), array (classes, n), for a mechanism from the n secrets to the reports.
    """
    best = (joint @ mechanism.matrix).max(axis=0)
    slack = underflow(joint.shape[1] * len(best))
    return upper_end(float(best.sum()) * (1 + 2 * (joint.shape[1] + len(best) + 8) * UNIT), slack)


def class_error_below(mechanism: Mechanism, joint: Floats) -> float:
    """Return a proved lower bound on the Bayes error: sum over z of all P(x, z) but the largest."""
    masses = joint @ mechanism.matrix
    masses[np.argmax(masses, axis=0), np.arange(masses.shape[1])] = 0.0
    # Of the rounded masses the largest is left out, and no other choice leaves less: rounding is relative.
    slack = underflow(joint.shape[1] * masses.size)
    return max(0.0, lower_end(float(masses.sum()) * (1 - 2 * (joint.shape[1] + masses.size + 8) * UNIT), slack))


def class_information_above_bits(mechanism: Mechanism, joint: Floats) -> float:
    """Return a proved upper bound on I(X; Z) in bits."""
    masses = joint @ mechanism.matrix
    classes, reports = joint.sum(axis=1), masses.sum(axis=0)
    x, z = np.nonzero(masses)
    mass = masses[x, z]
    logs = [_logarithm(part) for part in (mass, classes[x], reports[z], classes.sum(keepdims=True))]
    value = logs[0][0] - logs[1][0] - logs[2][0] + logs[3][0]
    error = sum(log[1] for log in logs) + 4 * UNIT * np.abs(value)
    # Every mass is a sum of non-negative products: its error is relative, and so its logarithm's absolute.
    relative = 4 * (joint.shape[0] + joint.shape[1] + 8) * UNIT
    size = float((mass * (np.abs(value) + error)).sum())
    slack = float((mass * error).sum()) + relative * (size + 5.0 * float(mass.sum()))
    # Where products underflow, a mass and its logarithm are off by more; no logarithm of a float exceeds 1,000.
    slack += underflow(masses.size * (joint.shape[1] + 2), 4000.0)
    nats = max(0.0, float((mass * value).sum()) + slack + sum_error(len(mass), size))
    return up(nats / math.log(2) * (1 + 4 * UNIT))


def class_loss_above(mechanism: Mechanism, joint: Floats, loss: Floats) -> float:
    """Return a proved upper bound on the expected loss, sum over w, z of P(w) p(z|w) l(w, z); 0 if all terms are.

    ``joint`` is an array (classes, n), ``loss`` (n, reports).
    """
    mass = joint.sum(axis=0)
    if not loss[(mass[:, None] > 0) & (mechanism.matrix > 0)].any():
        return 0.0
    slack = underflow(loss.size, float(np.abs(loss).max()))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mass[:, None] * mechanism.matrix * loss
        # Sums over rows first: the number of terms added in a chain is what counts.
        error = sum_error(sum(terms.shape) + len(joint), float(np.abs(terms).sum()))
        return upper_end(float(terms.sum(axis=1).sum()), error + slack)


def class_vulnerability_bound(
    joint: Floats, loss: Floats, max_loss: float, strategy: Floats, price: float, rows: Multipliers | None = None
) -> float:
    """Return a proved lower bound on the Bayes vulnerability of every mechanism within the loss.

    ``joint`` is P(x, w), array (classes, n), ``loss`` an array (n, reports), ``max_loss`` the largest expected
    loss, and the strategy, array (classes, reports), the weight of each guess of the class after a report, scaled
    to probabilities here. The price is that of the loss per unit; ``rows`` are the prices of rows of metric
    privacy that every mechanism satisfies too, of which only ``local`` and positions count. Negative weights and
    prices count as zero.
    """
    guess = _strategy(np.maximum(strategy, 0.0))
    earned = joint.T @ guess
    bound = _bound(earned, earned, joint, loss, max_loss, price, rows or _NO_ROWS)
    blind = float(joint.sum(axis=1).max()) * (1 - 2 * (joint.shape[1] + 8) * UNIT)
    return down(max(bound, blind))


def class_information_bound_bits(
    joint: Floats, loss: Floats, max_loss: float, strategy: Floats, price: float
) -> float:
    """Return a proved lower bound on I(X; Z) in bits for every mechanism within the loss.

    The arguments are those of `class_vulnerability_bound`. The strategy (classes, reports) is the belief about the
    class after a report, and the price is in nats per unit.

    Source:
        Barber and Agakov, NIPS 2003 (the variational bound of the information).
    """
    possible = joint.sum(axis=1) > 0
    masses = joint[possible]
    weights = np.maximum(strategy[possible], 0.0)
    shares = _strategy(np.where(weights.max(axis=0) > 0, weights, 1.0))
    belief, belief_error = _logarithm(np.maximum(shares, _LEAST))  # far less than rounding left below one
    before, before_error = _logarithm(masses.sum(axis=1))
    total, total_error = _logarithm(joint.sum(axis=1).sum(keepdims=True))
    off = before_error + total_error + 4 * (sum(joint.shape) + 8) * UNIT
    error = belief_error + off[:, None]
    gain = belief - (before - total)[:, None]
    error = error + 4 * UNIT * np.abs(gain)
    earned = masses.T @ gain - (1 + 1e-6) * (masses.T @ error)
    size = masses.T @ (np.abs(gain) + error)
    nats = max(0.0, _bound(earned, size, joint, loss, max_loss, price, _NO_ROWS))
    return max(0.0, down(nats / math.log(2) * (1 - 4 * UNIT)))


def _bound(
    earned: Floats, size: Floats, joint: Floats, loss: Floats, max_loss: float, price: float, rows: Multipliers
) -> float:
    """Return a lower bound on the row minima of earned + price P(w) l(w, z) and the priced rows, less price L."""
    price = max(price, 0.0)
    products = 2 * len(joint) + 2
    slack = products * (float(np.abs(loss).max()) + 1001.0)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = price * joint.sum(axis=0)

        def costs(part: slice) -> tuple[Floats, Floats]:
            charge = weights[part, None] * loss[part]
            return earned[part] + charge, size[part] + np.abs(charge)

        total = rows_below(costs, loss.shape, rows, products, slack)
        allowed = price * max_loss
        return lower_end(total - upper_end(allowed, 2 * UNIT * abs(allowed) + underflow(1)), 0.0)


def _strategy(weights: Floats) -> Floats:
    """Return columns of sum at most one despite rounding; a column of zeros guesses nothing."""
    most = weights.max(axis=0)
    # By the largest first, because the sum may overflow.
    shares = weights / np.where(most > 0, most, 1.0)
    total = shares.sum(axis=0)
    return np.asarray(shares / np.where(total > 0, total, 1.0) * (1 - 4 * (len(weights) + 4) * UNIT))


def _logarithm(values: Floats) -> tuple[Floats, Floats]:
    """Return natural logarithms of positive floats by 2 artanh((f - 1) / (f + 1)), and bounds on their errors."""
    fraction, exponent = np.frexp(values)
    small = fraction < math.sqrt(0.5)
    fraction, exponent = np.where(small, 2 * fraction, fraction), exponent - small
    s = (fraction - 1) / (fraction + 1)
    square = s * s
    series = np.full_like(s, 1 / (2 * _TERMS + 1))
    for k in range(_TERMS - 1, -1, -1):
        series = series * square + 1 / (2 * k + 1)
    near, far = 2 * s * series, exponent * math.log(2)
    return near + far, _LOG_ERROR * (np.abs(near) + np.abs(far))
