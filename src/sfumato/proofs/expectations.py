"""Expected losses and errors of a mechanism, with rounding bounded on the safe side.

Small ones are computed in integers, without any rounding but that of the answer: a loss of
exactly 1 is then stated as 1, and not as slightly more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import AnyLoss, Mechanism, Prior, as_distance, as_loss
from ..core.arrays import Floats
from ..rounding import UNIT, above, below, float_above, float_below, sum_error, underflow

_EXACT: Final = 1 << 17  # products of integers that are quick to add up
Integers = NDArray[Any]  # of Python's own, which do not overflow


def expected_loss_above(mechanism: Mechanism, prior: Prior, loss: AnyLoss) -> float:
    """Return a proved upper bound of the expected loss, tight to rounding; 0 where nothing is lost."""
    mechanism.secrets.check_order(prior.space, "the prior")
    costs = as_loss(loss, *mechanism.shape).array
    if not costs[prior.probabilities > 0][mechanism.matrix[prior.probabilities > 0] > 0].any():
        return 0.0
    if costs.size <= _EXACT:
        (weights, a), (prices, b) = _integers(prior.probabilities), _integers(costs)
        return float_above(
            _scaled((weights * (_exact(mechanism) * prices).sum(axis=1)).sum(), a + b - mechanism.bits)
        )
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mechanism.joint(prior) * costs
        error = sum_error(terms.size, float(np.abs(terms).sum()))
        return above(float(terms.sum()), error + underflow(terms.size, float(np.abs(costs).max())))


def worst_loss_above(mechanism: Mechanism, loss: AnyLoss) -> float:
    """Return a proved upper bound of the worst-case loss, tight to rounding; 0 where nothing is lost."""
    costs = as_loss(loss, *mechanism.shape).array
    if not costs[mechanism.matrix > 0].any():
        return 0.0
    if costs.size <= _EXACT:
        prices, shift = _integers(costs)
        return float_above(_scaled((_exact(mechanism) * prices).sum(axis=1).max(), shift - mechanism.bits))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mechanism.matrix * costs
        sums, sizes = terms.sum(axis=1).tolist(), np.abs(terms).sum(axis=1).tolist()
    return max(above(total, sum_error(terms.shape[1], size)) for total, size in zip(sums, sizes, strict=True))


def weighted_sum_above(mechanism: Mechanism, coefficients: Floats) -> float:
    """Return a proved upper bound of the sum over s, o of A[s, o] p(o|s), tight to rounding."""
    if not coefficients[mechanism.matrix > 0].any():
        return 0.0
    if coefficients.size <= _EXACT:
        prices, shift = _integers(coefficients)
        return float_above(_scaled((_exact(mechanism) * prices).sum(), shift - mechanism.bits))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mechanism.matrix * coefficients
        error = sum_error(terms.size, float(np.abs(terms).sum()))
        return above(float(terms.sum()), error + underflow(terms.size, float(np.abs(coefficients).max())))


def distortion_below(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> float:
    """Return a proved lower bound of the optimal attack's expected error.

    Source:
        Shokri, "Privacy Games", equations 33 to 35:
        sum over o of min over guesses g of sum over s of prior(s) p(o|s) d(g, s).
        It is at least 0 where no distance is negative, whatever the rounding.
    """
    d, joint = as_distance(distance).array, mechanism.joint(prior)
    n, m = mechanism.shape
    if len(d) * n * m <= _EXACT:
        (weights, a), (errors, b) = _integers(prior.probabilities), _integers(d)
        least = (errors @ (weights[:, None] * _exact(mechanism))).min(axis=0).sum()
        return float_below(_scaled(least, a + b - mechanism.bits))
    lost = underflow(2 * n * m, float(np.abs(d).max(initial=0.0)))
    with np.errstate(over="ignore", invalid="ignore"):
        found = float((d @ joint).min(axis=0).sum())
        if (d < 0).any():
            return below(found, sum_error(n + m, float((np.abs(d) @ joint).max(axis=0).sum())) + lost)
    # Without negative terms each sum errs relatively, and small distortions are proved as sharply as large ones.
    return max(0.0, below(found * (1 - 2 * (n + m + 8) * UNIT), lost))


def _exact(mechanism: Mechanism) -> Integers:
    return mechanism.weights.astype(object)


def _integers(array: Floats) -> tuple[Integers, int]:
    """Return integers and a power of two by which they are the floats, array of the same shape."""
    fractions, powers = np.frexp(array)
    found = (fractions * 2.0**53).astype(np.int64).astype(object)
    lowest = int(powers[array != 0].min(initial=2000))
    return found << np.where(array != 0, powers - lowest, 0).astype(object), lowest - 53


def _scaled(value: int, power: int) -> Fraction:
    return Fraction(value << power) if power >= 0 else Fraction(value, 1 << -power)
