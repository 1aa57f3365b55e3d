"""The distribution of reports of least information plus b times loss, with its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..errors import SolverError
from ..leakage.likelihood import interior_points

_FINISHED: Final = 1e-4  # of the tolerance: if dropping shares does not help by then, none is dropped
_ROUNDING: Final = 2.0**-52  # of sums, for each of their terms
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

    -F is a likelihood on the simplex, of prior as frequencies and A as rows. Shares below
    their prices are dropped, as they would vanish, where the bound allows it.

    Args:
        prior: Array (k,), positive, sum one.
        decay: A, array (k, m), at least 0, positive somewhere in every row.
        tolerance: The excess (nats) at which to stop.

    Raises:
        SolverError: If the tolerance is below what floats reach.
    """
    m = decay.shape[1]
    best = _improved(prior, decay, np.full(m, 1.0 / m), 0)
    for point in interior_points(decay.T, prior, np.zeros(m), np.full(m, 1.0 / m), tolerance):
        best = min(_improved(prior, decay, point.x, point.step), best, key=lambda marginal: marginal.excess)
        sparse = np.where(point.x > point.prices / m, point.x, 0.0)
        if (decay @ sparse > _COVERED).all():
            found = _improved(prior, decay, sparse, point.step)
            if found.excess <= tolerance:
                return found
        if best.excess <= _FINISHED * tolerance:
            break
    if best.excess <= tolerance:
        return best
    raise SolverError(
        f"the least information is known only to {best.excess:.2g} nats, but {tolerance:.2g} was asked for.",
        "ask for a larger tolerance.",
    )


def _improved(prior: Floats, decay: Floats, q: Floats, steps: int) -> Marginal:
    """Return q after one step of Blahut and Arimoto, which makes its sum one, with its excess."""
    shares = q * (prior / (decay @ q) @ decay)
    shares = shares / shares.sum()
    excess = float(np.log((prior / (decay @ shares) @ decay).max()))
    return Marginal(shares, max(excess, 0.0) + _ROUNDING * (2 * len(prior) + len(q) + 16), steps)
