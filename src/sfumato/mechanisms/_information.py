"""The least of information plus b times loss, by an interior-point method, with its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..errors import SolverError

_STEPS: Final = 200
_SHRINK: Final = 0.1  # of the barrier per step, at best
_FINISHED: Final = 1e-4  # of the tolerance: if dropping shares does not help by then, none is dropped
_ROUNDING: Final = 2.0**-52  # of sums, for each of their terms
_BACK: Final = 0.99  # of the way to the nearest bound
_COVERED: Final = 1e-290  # what few shares give a secret at least, so that dividing by it stays finite


@dataclass(frozen=True, slots=True, eq=False)
class Marginal:
    """A distribution of reports q, near the least of F(q) = -sum of prior(s) ln (A q)(s).

    Attributes:
        shares: q, array (m,), sum one.
        excess: F(q) is above its least value by at most this much (nats): ln of the
            largest sum over s of prior(s) A(s, o) / (A q)(s), for any o.
        steps: How many Newton steps were taken.
    """

    shares: Floats
    excess: float
    steps: int


def best_marginal(prior: Floats, decay: Floats, tolerance: float) -> Marginal:
    """Return the q of least F(q) = -sum of prior(s) ln (A q)(s).

    F plus the sum of q over all q >= 0 has its least value at sum one. Newton's method
    follows the barrier -mu sum of ln q, with z = mu / q as its prices. At the end shares
    below their prices are dropped, as they would vanish, where the bound allows it.

    Args:
        prior: Array (k,), positive, sum one.
        decay: A, array (k, m), at least 0, positive somewhere in every row.
        tolerance: The excess (nats) at which to stop.

    Raises:
        SolverError: If the tolerance is below what floats reach.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    m = decay.shape[1]
    q, z = np.full(m, 1.0 / m), np.ones(m)
    best = _improved(prior, decay, q, 0)
    for step in range(1, _STEPS + 1):
        mixed = decay @ q
        gains = prior / mixed @ decay
        mu = float(q @ z) / m * _SHRINK
        factor = decay * (np.sqrt(prior) / mixed)[:, None]
        # Scaled by q, the system stays well conditioned where shares vanish.
        scaled = q[:, None] * (factor.T @ factor) * q + np.diag(q * z)
        try:
            direction = q * cho_solve(cho_factor(scaled), q * (gains - 1) + mu)
        except LinAlgError:
            break
        price = mu / q - z - z / q * direction
        q = q + _length(q, direction) * direction
        z = z + _length(z, price) * price
        best = min(_improved(prior, decay, q, step), best, key=lambda marginal: marginal.excess)
        sparse = np.where(q > z / m, q, 0.0)
        if (decay @ sparse > _COVERED).all():
            found = _improved(prior, decay, sparse, step)
            if found.excess <= tolerance:
                return found
        if best.excess <= _FINISHED * tolerance:
            break
    if best.excess <= tolerance:
        return best
    raise SolverError(
        f"the least information is known to {best.excess:.2g} nats only, but {tolerance:.2g} was asked for.",
        "ask for a larger tolerance.",
    )


def _improved(prior: Floats, decay: Floats, q: Floats, steps: int) -> Marginal:
    """Return q after one step of Blahut and Arimoto, which makes its sum one, with its excess."""
    shares = q * (prior / (decay @ q) @ decay)
    shares = shares / shares.sum()
    excess = float(np.log((prior / (decay @ shares) @ decay).max()))
    return Marginal(shares, max(excess, 0.0) + _ROUNDING * (2 * len(prior) + len(q) + 16), steps)


def _length(value: Floats, direction: Floats) -> float:
    """Return how far to go, at most 1, so that all values stay positive."""
    falling = direction < 0
    if not falling.any():
        return 1.0
    return min(1.0, _BACK * float((-value[falling] / direction[falling]).min()))
