"""Expected losses and errors of a mechanism, with rounding bounded on the safe side."""

from __future__ import annotations

import numpy as np

from ..core import AnyLoss, Mechanism, Prior, as_distance, as_loss
from ..rounding import UNIT, above, below, sum_error, underflow


def expected_loss_above(mechanism: Mechanism, prior: Prior, loss: AnyLoss) -> float:
    """Return a proved upper bound of the expected loss, tight to rounding; 0 where nothing is lost."""
    costs = as_loss(loss, *mechanism.shape).array
    if not costs[prior.probabilities > 0][mechanism.matrix[prior.probabilities > 0] > 0].any():
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mechanism.joint(prior) * costs
        error = sum_error(terms.size, float(np.abs(terms).sum()))
        return above(float(terms.sum()), error + underflow(terms.size, float(np.abs(costs).max())))


def worst_loss_above(mechanism: Mechanism, loss: AnyLoss) -> float:
    """Return a proved upper bound of the worst-case loss, tight to rounding; 0 where nothing is lost."""
    costs = as_loss(loss, *mechanism.shape).array
    if not costs[mechanism.matrix > 0].any():
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mechanism.matrix * costs
        sums, sizes = terms.sum(axis=1).tolist(), np.abs(terms).sum(axis=1).tolist()
    return max(above(total, sum_error(terms.shape[1], size)) for total, size in zip(sums, sizes, strict=True))


def distortion_below(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> float:
    """Return a proved lower bound of the optimal attack's expected error.

    Source:
        Shokri, "Privacy Games", equations 33 to 35:
        sum over o of min over guesses g of sum over s of prior(s) p(o|s) d(g, s).
        It is at least 0 where no distance is negative, whatever rounding says.
    """
    d, joint = as_distance(distance).array, mechanism.joint(prior)
    n, m = mechanism.shape
    lost = underflow(2 * n * m, float(np.abs(d).max(initial=0.0)))
    with np.errstate(over="ignore", invalid="ignore"):
        found = float((d @ joint).min(axis=0).sum())
        if (d < 0).any():
            return below(found, sum_error(n + m, float((np.abs(d) @ joint).max(axis=0).sum())) + lost)
    # Without negative terms each sum errs relatively, and small distortions are proved as sharply as large ones.
    return max(0.0, below(found * (1 - 2 * (n + m + 8) * UNIT), lost))
